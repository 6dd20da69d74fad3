/* SPDX-License-Identifier: MIT */
/*
 * What the umd tests share: where reference data lies and small loadables.
 */
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/device.h>
#include <nvdla/loadable.h>

#include "loadable/network_descriptor.h"
#include "read_file.h"

namespace nvdla::test
{

/** \return the reference data's folder; nothing if there is none, the test then has to skip */
std::optional<std::filesystem::path> findReference();

/** \brief Skip the current test unless there is reference data; sets \a variable */
#define NVDLA_NEED_REFERENCE(variable)                                                             \
	const auto variable##Found = ::nvdla::test::findReference();                               \
	if (!variable##Found)                                                                      \
		GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";                     \
	const std::filesystem::path variable = *variable##Found

/** \return the device that NVDLA_DEVICE names, or the embedded one: Device::open()'s path */
std::string devicePath();

/** \return devicePath(), with FP16 in f32 on the embedded device: whole networks in seconds */
std::string fastDevicePath();

/** \brief Open devicePath() */
Device openDevice();

/** \brief All loadables of the reference data, sorted */
std::vector<std::filesystem::path> referenceLoadables(const std::filesystem::path &reference);

template<typename T>
std::vector<std::byte> bytesOf(const std::vector<T> &values)
{
	const auto *first = reinterpret_cast<const std::byte *>(values.data());
	return std::vector<std::byte>(first, first + values.size() * sizeof(T));
}

template<typename T>
std::vector<std::byte> bytesOf(const T &value)
{
	return bytesOf(std::vector<T>{ value });
}

/** \brief Puts a loadable together, one memory per address */
class LoadableBuilder
{
public:
	/** \brief Add a memory and an address that covers it; \return the id of both */
	uint16_t memory(uint64_t size, uint16_t flags = MemoryAlloc);

	/** \brief Add a memory that holds \a data from the start */
	uint16_t content(const std::string &name, std::vector<std::byte> data,
			 Interface interface = Interface::None, Version version = {});

	/** \brief Add a memory for a tensor that the application binds */
	uint16_t tensor(const TensorDesc &desc, MemoryFlags direction);

	/** \brief Add a task with the given addresses, submitted after those before */
	uint16_t task(Interface interface, std::vector<uint16_t> addresses);

	Loadable loadable;
};

/** \brief Descriptors of a task for the core */
struct DlaDescriptors {
	nvdla_network_desc network = {};
	std::vector<nvdla_graph_node> graph;
	std::vector<nvdla_operation_desc> operations;
	std::vector<nvdla_surface_desc> surfaces;
	std::vector<nvdla_lut_desc> luts;
	Version version{ 0, 12, 3 };

	/** \brief Add the lists to \a builder as a task that also has the addresses \a data */
	uint16_t addTo(LoadableBuilder &builder, std::vector<uint16_t> data) const;
};

/** \return a node without edges */
nvdla_graph_node graphNode(nvdla_op_type type);

/** \return the embedded device, whatever the tests run on */
Device openEmbedded();

/** \return whether \a part is in \a text */
bool has(std::string_view text, std::string_view part);

/** \return a loadable whose one task copies \a input to the output tensor "copy" by BDMA */
Loadable copyLoadable(const std::vector<std::byte> &input);

/** \return a loadable whose one task copies the input "in" to the output "out", both laid out as
 * \a desc, of whole atoms
 */
Loadable passLoadable(TensorDesc desc);

/** \return the same for INT8 1 x c x 1 x w */
Loadable passLoadable(uint32_t channels, uint32_t width);

/** \return \a size bytes of which \a seed decides */
std::vector<std::byte> pattern(size_t size, unsigned seed);

} /* namespace nvdla::test */
