/* SPDX-License-Identifier: MIT */
#include "task_builder.h"

namespace nvdla::test
{

nvdla_data_cube featureCube(int16_t address, uint32_t offset, unsigned int width,
			    unsigned int height, unsigned int channels,
			    unsigned int bytesPerElement)
{
	return nvdla_test_feature(address, offset, width, height, channels, bytesPerElement);
}

nvdla_data_cube streamCube(unsigned int width, unsigned int height, unsigned int channels,
			   unsigned int bytesPerElement)
{
	return nvdla_test_stream(width, height, channels, bytesPerElement);
}

nvdla_data_cube weightCube(int16_t address, uint32_t offset, uint32_t size)
{
	return nvdla_test_weights(address, offset, size);
}

TaskBuilder::TaskBuilder() : variant(*nvdla_variant_nv_full()), extents(NVDLA_TEST_NUM_EXTENTS)
{
	nvdla_test_fill_extents(extents.data());
}

/* The graph as the functions in C see it. */
nvdla_test_task TaskBuilder::view()
{
	nvdla_test_task task = {};
	task.variant = variant;
	task.graph = graph.data();
	task.operations = operations.data();
	task.surfaces = surfaces.data();
	task.luts = luts.data();
	task.extents = extents.data();
	task.num_operations = static_cast<uint32_t>(graph.size());
	task.num_luts = static_cast<uint32_t>(luts.size());
	task.num_extents = static_cast<uint32_t>(extents.size());
	task.flags = flags;
	return task;
}

/* What \a function returns for the graph with the room that it may need. */
template<typename Function, typename... Arguments>
auto TaskBuilder::append(Function function, Arguments... arguments)
{
	const uint32_t operationsBefore = static_cast<uint32_t>(graph.size());
	const uint32_t lutsBefore = static_cast<uint32_t>(luts.size());
	const auto resize = [this](uint32_t numOperations, uint32_t numLuts) {
		graph.resize(numOperations);
		operations.resize(numOperations);
		surfaces.resize(numOperations);
		luts.resize(numLuts);
	};

	resize(operationsBefore + 2, lutsBefore + 1);
	nvdla_test_task task = view();
	task.num_operations = operationsBefore;
	task.num_luts = lutsBefore;
	const auto last = function(&task, arguments...);
	resize(task.num_operations, task.num_luts);
	return last;
}

size_t TaskBuilder::add(nvdla_op_type type)
{
	return append(nvdla_test_add, type);
}

void TaskBuilder::edge(size_t node, size_t target, nvdla_event event)
{
	nvdla_test_task task = view();
	nvdla_test_edge(&task, static_cast<uint32_t>(node), static_cast<uint32_t>(target), event);
}

size_t TaskBuilder::addBdma(unsigned int transfers)
{
	return append(nvdla_test_add_bdma, transfers);
}

size_t TaskBuilder::addConv()
{
	return append(nvdla_test_add_conv);
}

size_t TaskBuilder::addWinograd()
{
	return append(nvdla_test_add_winograd);
}

size_t TaskBuilder::addCompressed()
{
	return append(nvdla_test_add_compressed);
}

size_t TaskBuilder::addImage(unsigned int format)
{
	return append(nvdla_test_add_image, format);
}

void TaskBuilder::setChannels(size_t i, unsigned int channels)
{
	nvdla_test_task task = view();
	nvdla_test_set_channels(&task, static_cast<uint32_t>(i), channels);
}

void TaskBuilder::setKernels(size_t i, unsigned int kernels)
{
	nvdla_test_task task = view();
	nvdla_test_set_kernels(&task, static_cast<uint32_t>(i), kernels);
}

size_t TaskBuilder::addSdp()
{
	return append(nvdla_test_add_sdp);
}

size_t TaskBuilder::addComparison()
{
	return append(nvdla_test_add_comparison);
}

size_t TaskBuilder::addPdp()
{
	return append(nvdla_test_add_pdp);
}

size_t TaskBuilder::addSplitPdp()
{
	return append(nvdla_test_add_split_pdp);
}

size_t TaskBuilder::addSdpPdp()
{
	return append(nvdla_test_add_sdp_pdp);
}

size_t TaskBuilder::addCdp()
{
	return append(nvdla_test_add_cdp);
}

size_t TaskBuilder::addRubik(nvdla_rubik_mode mode)
{
	return append(nvdla_test_add_rubik, mode);
}

int16_t TaskBuilder::addLut()
{
	return append(nvdla_test_add_lut);
}

void TaskBuilder::useLut(size_t i)
{
	append([i](nvdla_test_task *task) {
		nvdla_test_use_lut(task, static_cast<uint32_t>(i));
		return 0;
	});
}

nvdla_task_source TaskBuilder::source() const
{
	nvdla_task_source source = {};
	source.graph = graph.data();
	source.operations = operations.data();
	source.surfaces = surfaces.data();
	source.luts = luts.data();
	source.extents = extents.data();
	source.num_operations = static_cast<uint32_t>(graph.size());
	source.num_luts = static_cast<uint32_t>(luts.size());
	source.num_extents = static_cast<uint32_t>(extents.size());
	source.flags = flags;
	return source;
}

Created TaskBuilder::create() const
{
	const nvdla_task_source description = source();
	Created created;
	nvdla_task *task = nullptr;

	created.result = nvdla_task_create(&variant, &description, &created.error, &task);
	created.task.reset(task);
	return created;
}

} /* namespace nvdla::test */
