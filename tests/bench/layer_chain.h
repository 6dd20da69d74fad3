/* SPDX-License-Identifier: MIT */
/*
 * Chains of small layers of which each waits for the one before it, run on a device.
 */
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device.h"
#include "task_builder.h"

namespace nvdla::bench
{

using Microseconds = std::chrono::duration<double, std::micro>;

/** \brief A layer that computes next to nothing */
struct LayerKind {
	const char *name;
	/** \brief Adds one. \return its last operation */
	size_t (*add)(test::TaskBuilder &builder);
};

/** \return one of each engine, and CDP with a table of its own */
std::span<const LayerKind> layerKinds();

/** \return the convolution among them, with its SDP */
const LayerKind &convolutionLayer();

/** \return \a layers in a row, each of which waits until the one before it is complete */
test::TaskBuilder layerChain(const LayerKind &kind, size_t layers);

/** \brief Layers of a chain, and of one that is longer by what is measured */
constexpr size_t shortChain = 1;
constexpr size_t longChain = 65;

/** \brief A task with its buffers on a device, to be run again and again */
class ChainRun
{
public:
	/** \param builder has to outlive this */
	ChainRun(const test::Device &device, const test::TaskBuilder &builder);

	/** \brief Have the driver check the descriptors now, once. \return an error in words */
	std::string prepare();

	/** \brief How long one run took */
	struct Times {
		Microseconds all;    /**< from the ioctl to the wake-up */
		Microseconds submit; /**< of them the ioctl */
	};

	/** \return an error in words */
	std::string once(Times &times);

	/**
	 * \brief Queues jobs and waits for them
	 * \param time how long they took
	 * \param idle gets what the engines were idle between each two
	 * \return an error in words
	 */
	std::string burst(unsigned int jobs, Microseconds &time, std::vector<Microseconds> &idle);

private:
	drm_nvdla_task describe() const;

	const test::Device &device_;
	const test::TaskBuilder &builder_;
	uint32_t syncobj_;
	uint32_t prepared_ = 0;
	std::vector<std::unique_ptr<test::Buffer>> buffers_;
	std::vector<drm_nvdla_address> addresses_;
	std::vector<std::unique_ptr<test::JobResult>> results_;
};

/** \brief Several runs of the same, in microseconds */
struct Spread {
	double best, median;
};

/** \return of \a times, at least one */
Spread spreadOf(std::vector<Microseconds> times);

/** \return what runs of a chain took, or nothing after an error, which is printed */
std::optional<Spread> measureChain(const test::Device &device, const LayerKind &kind, size_t layers,
				   unsigned int repeats);

} /* namespace nvdla::bench */
