/* SPDX-License-Identifier: MIT */
/*
 * The small valid task graphs of kmd/engine/tests, of any size.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <drm/nvdla_descriptors.h>

#include <user/nvdla_engine.h>
#include <tests/nvdla_test_task.h>

namespace nvdla::test
{

struct TaskDeleter {
	void operator()(nvdla_task *task) const { nvdla_task_destroy(task); }
};
using TaskPtr = std::unique_ptr<nvdla_task, TaskDeleter>;

/** \brief What nvdla_task_create() answered */
struct Created {
	int result = 0;
	nvdla_refusal error = {};
	TaskPtr task;
};

/**
 * \brief A task graph under construction
 *
 * The add functions append valid operations and return the index of the last
 * one. Memory is one large extent per address in system memory (addresses 0 to
 * 3), and one in CVSRAM (address 4).
 */
class TaskBuilder
{
public:
	static constexpr uint64_t extentBytes = NVDLA_TEST_EXTENT_BYTES;
	static constexpr uint64_t firstAddress = NVDLA_TEST_FIRST_ADDRESS;
	static constexpr int16_t cvsram = NVDLA_TEST_CVSRAM;

	TaskBuilder();

	/** \brief Where extent \a index begins */
	static uint64_t address(unsigned int index) { return firstAddress + index * extentBytes; }

	/** \brief A node of \a type with empty descriptors and no edges */
	size_t add(nvdla_op_type type);

	/** \brief A copy of \a transfers lines */
	size_t addBdma(unsigned int transfers = 1);
	/** \brief An 8x8x32 INT8 convolution with 3x3 kernels and SDP behind it; SDP's index */
	size_t addConv();
	/** \brief The same in winograd mode, 8x8 output */
	size_t addWinograd();
	/** \brief The same with compressed weights */
	size_t addCompressed();
	/** \brief A convolution of an 8x8 image in \a format; SDP's index */
	size_t addImage(unsigned int format);
	/** \brief Give convolution \a i of INT8 features another number of channels */
	void setChannels(size_t i, unsigned int channels);
	/** \brief Give convolution \a i and its SDP another number of INT8 kernels */
	void setKernels(size_t i, unsigned int kernels);
	/** \brief Bias addition with ReLU from memory to memory, 8x8x32 INT8 */
	size_t addSdp();
	/** \brief Comparison of two cubes of 8x8x32 INT8 */
	size_t addComparison();
	/** \brief Maximum pooling 2x2 with stride 2 of 8x8x32 INT8 */
	size_t addPdp();
	/** \brief Pooling of 96 columns in three parts */
	size_t addSplitPdp();
	/** \brief SDP and PDP as one stream; PDP's index */
	size_t addSdpPdp();
	/** \brief Normalisation of 8x8x32 INT8 with a look-up table */
	size_t addCdp();
	/** \brief Reshape of a small INT8 cube */
	size_t addRubik(nvdla_rubik_mode mode);
	/** \brief A look-up table that suits every engine; its index */
	int16_t addLut();
	/** \brief Give Y of operation \a sdp a look-up table */
	void useLut(size_t sdp);

	/** \brief \a target waits for \a event of \a node */
	void edge(size_t node, size_t target, nvdla_event event);

	nvdla_conv_op_desc &conv(size_t i) { return operations[i].conv; }
	nvdla_sdp_op_desc &sdp(size_t i) { return operations[i].sdp; }
	nvdla_pdp_op_desc &pdp(size_t i) { return operations[i].pdp; }
	nvdla_cdp_op_desc &cdp(size_t i) { return operations[i].cdp; }
	nvdla_rubik_op_desc &rubik(size_t i) { return operations[i].rubik; }
	nvdla_bdma_surface_desc &bdma(size_t i) { return surfaces[i].bdma; }
	nvdla_conv_surface_desc &convCubes(size_t i) { return surfaces[i].conv; }
	nvdla_sdp_surface_desc &sdpCubes(size_t i) { return surfaces[i].sdp; }
	nvdla_pair_surface_desc &pdpCubes(size_t i) { return surfaces[i].pdp; }
	nvdla_pair_surface_desc &cdpCubes(size_t i) { return surfaces[i].cdp; }
	nvdla_pair_surface_desc &rubikCubes(size_t i) { return surfaces[i].rubik; }

	nvdla_task_source source() const;
	Created create() const;

	nvdla_variant variant;
	uint32_t flags = 0;
	std::vector<nvdla_graph_node> graph;
	std::vector<nvdla_operation_desc> operations;
	std::vector<nvdla_surface_desc> surfaces;
	std::vector<nvdla_lut_desc> luts;
	std::vector<nvdla_task_extent> extents;

private:
	nvdla_test_task view();
	template<typename Function, typename... Arguments>
	auto append(Function function, Arguments... arguments);
};

/** \brief A packed feature cube in system memory */
nvdla_data_cube featureCube(int16_t address, uint32_t offset, unsigned int width,
			    unsigned int height, unsigned int channels,
			    unsigned int bytesPerElement = 1);

/** \brief The same as a stream between two engines */
nvdla_data_cube streamCube(unsigned int width, unsigned int height, unsigned int channels,
			   unsigned int bytesPerElement = 1);

/** \brief Weights, their mask or group sizes: \a size bytes in system memory */
nvdla_data_cube weightCube(int16_t address, uint32_t offset, uint32_t size);

} /* namespace nvdla::test */
