/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include <cerrno>
#include <vector>

#include "user/nvdla_engine.h"

namespace nvdla
{

namespace
{

/* Address of every buffer in these checks: aligned as the strictest rule of the driver demands. */
constexpr uint64_t someAddress = 1 << 20;

template<typename T>
const T *at(uint64_t pointer)
{
	return reinterpret_cast<const T *>(pointer);
}

nvdla_task_source sourceOf(const drm_nvdla_task &args)
{
	nvdla_task_source source = {};

	source.graph = at<nvdla_graph_node>(args.graph);
	source.operations = at<nvdla_operation_desc>(args.operations);
	source.surfaces = at<nvdla_surface_desc>(args.surfaces);
	source.luts = at<nvdla_lut_desc>(args.luts);
	source.num_operations = args.num_operations;
	source.num_luts = args.num_luts;
	source.num_extents = args.num_addresses;
	return source;
}

nvdla_task_source sourceOf(const PreparedGraph &graph)
{
	nvdla_task_source source = {};

	source.graph = graph.graph.data();
	source.operations = graph.operations.data();
	source.surfaces = graph.surfaces.data();
	source.luts = graph.luts.data();
	source.num_operations = static_cast<u32>(graph.graph.size());
	source.num_luts = static_cast<u32>(graph.luts.size());
	source.num_extents = graph.addresses;
	return source;
}

/* Does the driver's checks in the driver's order. Returns 0, or -EINVAL with the violated rule in
 * \a why, or another negative errno. */
int check(uint32_t variant, DeviceBackend &backend, const drm_nvdla_task &args, nvdla_refusal &why)
{
	std::shared_ptr<const PreparedGraph> graph;

	if (nvdla_args_check_task(&args, &why))
		return -EINVAL;
	if (args.handle && !(graph = backend.graphs().find(args.handle)))
		return -ENOENT;
	if (graph && nvdla_args_check_prepared(&args, graph->addresses, &why))
		return -EINVAL;

	std::vector<nvdla_task_extent> extents(args.num_addresses);
	for (uint32_t i = 0; i < args.num_addresses; i++) {
		const drm_nvdla_address &address = at<drm_nvdla_address>(args.addresses)[i];
		const auto memory = backend.handles().find(address.handle);
		nvdla_task_extent whole = {};
		if (memory) {
			whole.dma_addr = someAddress;
			whole.size = memory->bytes;
			whole.mem_type = memory->onChip ? NVDLA_MEM_CV : NVDLA_MEM_MC;
			whole.present = true;
		}
		if (nvdla_args_extent(&address, i, memory ? &whole : nullptr, &extents[i], &why))
			return -EINVAL;
	}

	nvdla_task_source source = graph ? sourceOf(*graph) : sourceOf(args);
	nvdla_task *task = nullptr;
	source.extents = extents.data();
	const int error = nvdla_task_create(&nvdla_variants[variant], &source, &why, &task);
	nvdla_task_destroy(task);
	return error;
}

} /* namespace */

std::optional<nvdla_refusal> explain(uint32_t variant, const drm_nvdla_task &args)
{
	nvdla_refusal why = {};
	nvdla_prepared *created = nullptr;

	if (variant >= NVDLA_NUM_VARIANTS)
		return std::nullopt;
	if (nvdla_args_check_template(&args, &why))
		return why;
	const nvdla_task_source source = sourceOf(args);
	const int error = nvdla_prepared_create(&nvdla_variants[variant], &source, &why, &created);
	nvdla_prepared_destroy(error ? nullptr : created);
	return error == -EINVAL ? std::optional(why) : std::nullopt;
}

std::optional<nvdla_refusal> explain(uint32_t variant, DeviceBackend &backend,
				     const drm_nvdla_submit &args)
{
	nvdla_refusal why = {};

	if (variant >= NVDLA_NUM_VARIANTS)
		return std::nullopt;
	if (nvdla_args_check_submit(&args, &why))
		return why;
	for (uint32_t i = 0; i < args.num_tasks; i++) {
		const int error = check(variant, backend, at<drm_nvdla_task>(args.tasks)[i], why);
		why.error.task = i;
		if (error == -EINVAL)
			return why;
		if (error)
			break;
	}
	return std::nullopt;
}

} /* namespace nvdla */
