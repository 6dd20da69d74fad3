/* SPDX-License-Identifier: MIT */
/*
 * Models on the embedded device.
 */
#pragma once

#include <vector>

#include <nvdla/core_geometry.h>
#include <nvdla/network.h>

#include "reference.h"

namespace nvdla::test
{

/**
 * \brief A compiled network on the device that NVDLA_DEVICE names, or the embedded one, given and
 * asked for the elements of the model
 *
 * A network for another core than nv_full has an embedded device with that core.
 *
 * Elements are in the order of the model's file. Of uint8 models they are the file's, 0 to 255:
 * what the compiler made of them is undone.
 */
class CoreRun
{
public:
	/** \brief Load a network; \a source is the model as imported */
	static Result<CoreRun> load(const compiler::Model &source, const Loadable &loadable);

	/** \brief Compile what an importer made and load it; the first error of all that */
	static Result<CoreRun> of(Result<compiler::Model> source);

	/** \brief One run; floats are numbers, integers elements */
	Result<std::vector<Numbers>> run(const std::vector<Numbers> &inputs);

private:
	CoreRun(Device device, Network network, const compiler::Model &source);

	Device device_;
	Network network_;
	std::vector<compiler::ElementType> inputTypes_;
	std::vector<compiler::ElementType> outputTypes_;
	std::vector<ElementOrder> inputOrders_;
	std::vector<ElementOrder> outputOrders_;
};

/** \brief Compile a model as imported: passes, lowering, assembly */
Result<Loadable> compile(compiler::Model model, const CoreGeometry &core = nvFull);

} /* namespace nvdla::test */
