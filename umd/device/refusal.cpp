/* SPDX-License-Identifier: MIT */
#include "refusal.h"

#include <fmt/format.h>

#include "loadable/text/layout_fields.h"

namespace nvdla
{

namespace
{

using text::Field;
using text::Kind;
using text::Layout;

constexpr Field submitFields[] = {
	FIELD(drm_nvdla_submit, num_tasks),	FIELD(drm_nvdla_submit, task_size),
	FIELD(drm_nvdla_submit, num_in_syncs),	FIELD(drm_nvdla_submit, num_out_syncs),
	FIELD(drm_nvdla_submit, sync_size),	FIELD(drm_nvdla_submit, timeout_ms),
	FIELD(drm_nvdla_submit, flags),		FIELD(drm_nvdla_submit, result_handle),
	FIELD(drm_nvdla_submit, result_offset),
};
constexpr Layout submitLayout{ "submit", sizeof(drm_nvdla_submit), submitFields };

constexpr Field taskFields[] = {
	FIELD(drm_nvdla_task, num_operations), FIELD(drm_nvdla_task, num_luts),
	FIELD(drm_nvdla_task, num_addresses),  FIELD(drm_nvdla_task, address_size),
	FIELD(drm_nvdla_task, node_size),      FIELD(drm_nvdla_task, operation_size),
	FIELD(drm_nvdla_task, surface_size),   FIELD(drm_nvdla_task, lut_size),
	FIELD(drm_nvdla_task, graph),	       FIELD(drm_nvdla_task, operations),
	FIELD(drm_nvdla_task, surfaces),       FIELD(drm_nvdla_task, luts),
	FIELD(drm_nvdla_task, addresses),      FIELD(drm_nvdla_task, handle),
	FIELD(drm_nvdla_task, reserved),
};
constexpr Layout taskLayout{ "task", sizeof(drm_nvdla_task), taskFields };

constexpr Field addressFields[] = {
	FIELD(drm_nvdla_address, handle),
	FIELD(drm_nvdla_address, reserved),
	FIELD(drm_nvdla_address, offset),
	FIELD(drm_nvdla_address, size),
};
constexpr Layout addressLayout{ "address", sizeof(drm_nvdla_address), addressFields };

/* Returns the name of the member of \a size bytes at \a offset, which may be a structure or a
 * member of one. */
std::string memberName(const Layout &layout, size_t offset, size_t size)
{
	for (const Field &field : layout.fields) {
		const size_t all = field.bytes * field.count;
		if (offset < field.offset || offset - field.offset >= all)
			continue;

		const size_t inside = offset - field.offset;
		std::string name = field.name;
		if (field.count > 1 && size == all)
			return name;
		if (field.count > 1)
			name += fmt::format("[{}]", inside / field.bytes);
		if (field.kind != Kind::Struct || size == field.bytes)
			return name;
		return name + "." + memberName(*field.layout, inside % field.bytes, size);
	}
	return fmt::format("byte {}", offset);
}

/* Returns the layout of a list's entries. Lists of operations and surfaces have one layout for each
 * engine; other lists have only one, with the index 0. */
const Layout *layoutOf(const text::ListKind &list, uint32_t engine)
{
	return engine < list.entries.size() ? list.entries[engine] : nullptr;
}

} /* namespace */

std::string refusedField(const drm_nvdla_error &error, uint32_t engine)
{
	const Layout *layout = nullptr;
	std::string array;

	switch (error.member_of) {
	case DRM_NVDLA_STRUCT_SUBMIT:
		layout = &submitLayout;
		break;
	case DRM_NVDLA_STRUCT_TASK:
		layout = &taskLayout;
		break;
	case DRM_NVDLA_STRUCT_ADDRESS:
		layout = &addressLayout;
		array = fmt::format("addresses[{}].", error.index);
		break;
	case DRM_NVDLA_STRUCT_NODE:
		layout = layoutOf(text::dlaGraphList, 0);
		break;
	case DRM_NVDLA_STRUCT_OPERATION:
		layout = layoutOf(text::dlaOperationList, engine);
		break;
	case DRM_NVDLA_STRUCT_SURFACE:
		layout = layoutOf(text::dlaSurfaceList, engine);
		break;
	case DRM_NVDLA_STRUCT_LUT:
		layout = layoutOf(text::dlaLutList, 0);
		array = fmt::format("luts[{}].", error.index);
		break;
	}
	return layout ? array + memberName(*layout, error.offset, error.size) : std::string();
}

std::string refusedField(const nvdla_refusal &refusal)
{
	return refusedField(refusal.error, refusal.op_type);
}

std::string refusalReason(const nvdla_refusal &refusal)
{
	return fmt::format("{} (is {}, limit {})", refusal.rule, refusal.value, refusal.limit);
}

std::string describeRefusal(const nvdla_refusal &refusal)
{
	const std::string field = refusedField(refusal);

	return field.empty() ? refusalReason(refusal) : field + ": " + refusalReason(refusal);
}

} /* namespace nvdla */
