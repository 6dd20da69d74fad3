/* SPDX-License-Identifier: MIT */
#include "layer_chain.h"

#include <algorithm>
#include <cstdio>

#include "device/refusal.h"

namespace nvdla::bench
{

using namespace nvdla::test;
using nvdla::refusedField;

namespace
{

using Clock = std::chrono::steady_clock;

constexpr uint64_t bufferBytes = 4 << 20;

size_t addCdpWithFirstTable(TaskBuilder &builder)
{
	const size_t i = builder.addCdp();
	builder.cdp(i).lut_index = 0;
	return i;
}

/* As layers have them that differ in a step of their numbers: a few entries are other ones. */
size_t addCdpWithSimilarTable(TaskBuilder &builder)
{
	const size_t i = builder.addCdp();

	builder.luts.back() = builder.luts.front();
	for (size_t entry = 0; entry < 8; entry++)
		builder.luts.back().le_table[entry] = static_cast<int16_t>(i);
	return i;
}

constexpr LayerKind kinds[] = {
	{ "BDMA 1 line", [](TaskBuilder &builder) { return builder.addBdma(); } },
	{ "convolution + SDP 8x8x32", [](TaskBuilder &builder) { return builder.addConv(); } },
	{ "SDP 8x8x32", [](TaskBuilder &builder) { return builder.addSdp(); } },
	{ "PDP 8x8x32", [](TaskBuilder &builder) { return builder.addPdp(); } },
	{ "CDP 8x8x32", addCdpWithFirstTable },
	{ "CDP 8x8x32, new table", [](TaskBuilder &builder) { return builder.addCdp(); } },
	{ "CDP 8x8x32, similar one", addCdpWithSimilarTable },
};

/* \return from the first op_enable of a job to its last interrupt; nothing else is filled */
drm_nvdla_operation_result worked(const JobResult &result)
{
	drm_nvdla_operation_result all = result.operation(0);

	for (uint32_t i = 1; i < result.job().num_operations; i++) {
		const drm_nvdla_operation_result one = result.operation(i);
		all.start_ns = std::min(all.start_ns, one.start_ns);
		all.end_ns = std::max(all.end_ns, one.end_ns);
	}
	return all;
}

} /* namespace */

std::span<const LayerKind> layerKinds()
{
	return kinds;
}

const LayerKind &convolutionLayer()
{
	return kinds[1];
}

TaskBuilder layerChain(const LayerKind &kind, size_t layers)
{
	TaskBuilder builder;

	for (size_t i = 0; i < layers; i++) {
		const size_t first = builder.graph.size();
		kind.add(builder);
		if (i > 0)
			builder.edge(first - 1, first, NVDLA_EVENT_OP_COMPLETED);
	}
	return builder;
}

ChainRun::ChainRun(const Device &device, const TaskBuilder &builder)
	: device_(device), builder_(builder), syncobj_(device.createSyncobj())
{
	for (size_t i = 0; i < builder.extents.size(); i++)
		addresses_.push_back({});
	for (unsigned int i = 0; i < TaskBuilder::cvsram; i++) {
		buffers_.push_back(std::make_unique<Buffer>(device, bufferBytes));
		addresses_[i].handle = buffers_.back()->handle();
	}
}

std::string ChainRun::prepare()
{
	drm_nvdla_error error = {};
	const int64_t handle = device_.prepareTask(describe(), error);
	if (handle < 0)
		return std::string("not prepared: ") + refusedField(error, ~0u);
	prepared_ = static_cast<uint32_t>(handle);
	return {};
}

std::string ChainRun::once(Times &times)
{
	Submit submit;
	submit.tasks.push_back(describe());
	submit.outSyncs.push_back({ syncobj_, 0, 0 });

	const Clock::time_point start = Clock::now();
	const int refused = submit.run(device_);
	times.submit = Clock::now() - start;
	const int waited = refused ? 0 : device_.waitSyncobj(syncobj_);
	times.all = Clock::now() - start;

	if (refused)
		return std::string("refused: ") + refusedField(submit.error, ~0u);
	if (waited || device_.fenceStatus(syncobj_) != 1)
		return "the job failed";
	return {};
}

std::string ChainRun::burst(unsigned int jobs, Microseconds &time, std::vector<Microseconds> &idle)
{
	Submit submit;
	submit.tasks.push_back(describe());
	submit.outSyncs.push_back({ syncobj_, 0, 0 });
	while (results_.size() < jobs)
		results_.push_back(std::make_unique<JobResult>(device_));

	const Clock::time_point start = Clock::now();
	for (unsigned int i = 0; i < jobs; i++) {
		submit.resultHandle = results_[i]->buffer().handle();
		if (submit.run(device_))
			return std::string("refused: ") + refusedField(submit.error, ~0u);
	}
	const int waited = device_.waitSyncobj(syncobj_);
	time = Clock::now() - start;
	if (waited || device_.fenceStatus(syncobj_) != 1)
		return "a job failed";

	for (unsigned int i = 1; i < jobs; i++)
		idle.push_back(std::chrono::nanoseconds(static_cast<int64_t>(
			worked(*results_[i]).start_ns - worked(*results_[i - 1]).end_ns)));
	return {};
}

drm_nvdla_task ChainRun::describe() const
{
	const nvdla_task_source source = builder_.source();
	drm_nvdla_task task = {};
	task.addresses = reinterpret_cast<uintptr_t>(addresses_.data());
	task.num_addresses = static_cast<uint32_t>(addresses_.size());
	task.address_size = sizeof(addresses_[0]);
	task.handle = prepared_;
	if (prepared_)
		return task;
	task.graph = reinterpret_cast<uintptr_t>(source.graph);
	task.operations = reinterpret_cast<uintptr_t>(source.operations);
	task.surfaces = reinterpret_cast<uintptr_t>(source.surfaces);
	task.luts = reinterpret_cast<uintptr_t>(source.luts);
	task.num_operations = source.num_operations;
	task.num_luts = source.num_luts;
	task.node_size = sizeof(nvdla_graph_node);
	task.operation_size = sizeof(nvdla_operation_desc);
	task.surface_size = sizeof(nvdla_surface_desc);
	task.lut_size = sizeof(nvdla_lut_desc);
	return task;
}

Spread spreadOf(std::vector<Microseconds> times)
{
	std::ranges::sort(times);
	return { times.front().count(), times[times.size() / 2].count() };
}

std::optional<Spread> measureChain(const Device &device, const LayerKind &kind, size_t layers,
				   unsigned int repeats)
{
	const TaskBuilder builder = layerChain(kind, layers);
	ChainRun run(device, builder);
	std::vector<Microseconds> all(repeats);
	ChainRun::Times times;

	/* The first one finds registers and caches cold. */
	for (unsigned int i = 0; i <= repeats; i++) {
		const std::string error = run.once(times);
		if (!error.empty()) {
			std::fprintf(stderr, "%s: %s\n", kind.name, error.c_str());
			return std::nullopt;
		}
		all[i % repeats] = times.all;
	}
	return spreadOf(std::move(all));
}

} /* namespace nvdla::bench */
