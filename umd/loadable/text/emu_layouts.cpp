/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of CPU tasks, field by field, and the index of all kinds of lists.
 */
#include <algorithm>
#include <array>

#include "layout_fields.h"
#include "loadable/emu_descriptors.h"

namespace nvdla::text
{

namespace
{

constexpr size_t emuNetworkBytes = 256;

constexpr Field networkFields[] = {
	FIELD(EmuNetworkDesc, operation_desc_index),
	FIELD(EmuNetworkDesc, operation_buffer_desc_index),
	FIELD(EmuNetworkDesc, num_operations),
};
constexpr Layout networkLayout{ "network", sizeof(EmuNetworkDesc), networkFields };

constexpr Field powerFields[] = {
	FIELD_NAMED(EmuOperationDesc, op_type, emuOpName),
	FIELD_NUMBERS(EmuOperationDesc, reserved),
	FIELD(EmuOperationDesc, in_scale),
	FIELD(EmuOperationDesc, out_scale),
	FIELD_AS("power", EmuOperationDesc, power.power),
	FIELD_AS("scale", EmuOperationDesc, power.scale),
	FIELD_AS("shift", EmuOperationDesc, power.shift),
};
constexpr Layout powerLayout{ "power", sizeof(EmuOperationDesc), powerFields };

constexpr Field softmaxFields[] = {
	FIELD_NAMED(EmuOperationDesc, op_type, emuOpName),
	FIELD_NUMBERS(EmuOperationDesc, reserved),
	FIELD(EmuOperationDesc, in_scale),
	FIELD(EmuOperationDesc, out_scale),
	FIELD(EmuOperationDesc, axis),
};
constexpr Layout softmaxLayout{ "softmax", sizeof(EmuOperationDesc), softmaxFields };

constexpr Field reshapeFields[] = {
	FIELD_NAMED(EmuOperationDesc, op_type, emuOpName),
	FIELD_NUMBERS(EmuOperationDesc, reserved),
	FIELD(EmuOperationDesc, in_scale),
	FIELD(EmuOperationDesc, out_scale),
	FIELD_NUMBERS(EmuOperationDesc, axes),
};
constexpr Layout reshapeLayout{ "reshape", sizeof(EmuOperationDesc), reshapeFields };

constexpr Field plainFields[] = {
	FIELD_NAMED(EmuOperationDesc, op_type, emuOpName),
	FIELD_NUMBERS(EmuOperationDesc, reserved),
	FIELD(EmuOperationDesc, in_scale),
	FIELD(EmuOperationDesc, out_scale),
};
constexpr Layout argMaxLayout{ "arg_max", sizeof(EmuOperationDesc), plainFields };
constexpr Layout normalizeLayout{ "normalize", sizeof(EmuOperationDesc), plainFields };
constexpr Layout localResponseLayout{ "local_response", sizeof(EmuOperationDesc), powerFields };
constexpr Layout logSoftmaxLayout{ "log_softmax", sizeof(EmuOperationDesc), plainFields };
constexpr Layout standardizeLayout{ "standardize", sizeof(EmuOperationDesc), powerFields };
constexpr Layout largestLayout{ "largest", sizeof(EmuOperationDesc), plainFields };

/* Of the reserved bytes, the last two have the inner function and the function. */
constexpr Field reservedBeforeFunction{ .name = "reserved",
					.offset = offsetof(EmuOperationDesc, reserved),
					.bytes = 1,
					.count = emuInnerFunction,
					.optional = true };
constexpr Field innerFunctionField{ .name = "inner",
				    .offset =
					    offsetof(EmuOperationDesc, reserved) + emuInnerFunction,
				    .bytes = 1,
				    .nameOf = elementFunctionName,
				    .optional = true };
constexpr Field functionField{ .name = "function",
			       .offset = offsetof(EmuOperationDesc, reserved) + emuFunction,
			       .bytes = 1,
			       .nameOf = elementFunctionName };
constexpr Field functionFields[] = {
	FIELD_NAMED(EmuOperationDesc, op_type, emuOpName),
	reservedBeforeFunction,
	innerFunctionField,
	functionField,
	FIELD(EmuOperationDesc, in_scale),
	FIELD(EmuOperationDesc, out_scale),
	FIELD_AS("parameter", EmuOperationDesc, power.power),
	FIELD_AS("scale", EmuOperationDesc, power.scale),
	FIELD_AS("shift", EmuOperationDesc, power.shift),
};
constexpr Layout functionLayout{ "function", sizeof(EmuOperationDesc), functionFields };
constexpr Layout smallestLayout{ "smallest", sizeof(EmuOperationDesc), plainFields };
constexpr Layout normalizeTwiceLayout{ "normalize_twice", sizeof(EmuOperationDesc), plainFields };

constexpr Field packWeightsFields[] = {
	FIELD_NAMED(EmuOperationDesc, op_type, emuOpName),
	FIELD_NUMBERS(EmuOperationDesc, reserved),
	FIELD(EmuOperationDesc, in_scale),
	FIELD(EmuOperationDesc, out_scale),
	FIELD_AS("group_kernels", EmuOperationDesc, weights.group_kernels),
	FIELD_AS("block_channels", EmuOperationDesc, weights.block_channels),
	FIELD_AS("lines", EmuOperationDesc, weights.lines),
	FIELD_AS("columns", EmuOperationDesc, weights.columns),
	FIELD_AS("of_channels", EmuOperationDesc, weights.of_channels),
};
constexpr Layout packWeightsLayout{ "pack_weights", sizeof(EmuOperationDesc), packWeightsFields };

constexpr Field legacyPowerFields[] = {
	FIELD_NAMED(EmuLegacyOperationDesc, op_type, emuOpName),
	FIELD_NUMBERS(EmuLegacyOperationDesc, reserved),
	FIELD_AS("power", EmuLegacyOperationDesc, power.power),
	FIELD_AS("scale", EmuLegacyOperationDesc, power.scale),
	FIELD_AS("shift", EmuLegacyOperationDesc, power.shift),
};
constexpr Layout legacyPowerLayout{ "power", sizeof(EmuLegacyOperationDesc), legacyPowerFields };

constexpr Field legacySoftmaxFields[] = {
	FIELD_NAMED(EmuLegacyOperationDesc, op_type, emuOpName),
	FIELD_NUMBERS(EmuLegacyOperationDesc, reserved),
	FIELD(EmuLegacyOperationDesc, axis),
};
constexpr Layout legacySoftmaxLayout{ "softmax", sizeof(EmuLegacyOperationDesc),
				      legacySoftmaxFields };

constexpr Field cubeFields[] = {
	FIELD(EmuBufferDesc, address),	   FIELD(EmuBufferDesc, offset),
	FIELD(EmuBufferDesc, size),	   FIELD(EmuBufferDesc, format),
	FIELD(EmuBufferDesc, width),	   FIELD(EmuBufferDesc, height),
	FIELD(EmuBufferDesc, channel),	   FIELD(EmuBufferDesc, line_stride),
	FIELD(EmuBufferDesc, surf_stride),
};
constexpr Layout cubeLayout{ "buffer", sizeof(EmuBufferDesc), cubeFields };

constexpr Field legacyCubeFields[] = {
	FIELD(EmuLegacyBufferDesc, address),	 FIELD(EmuLegacyBufferDesc, size),
	FIELD(EmuLegacyBufferDesc, format),	 FIELD(EmuLegacyBufferDesc, width),
	FIELD(EmuLegacyBufferDesc, height),	 FIELD(EmuLegacyBufferDesc, channel),
	FIELD(EmuLegacyBufferDesc, line_stride), FIELD(EmuLegacyBufferDesc, surf_stride),
};
constexpr Layout legacyCubeLayout{ "buffer", sizeof(EmuLegacyBufferDesc), legacyCubeFields };

template<typename Pair, const Layout &cube>
constexpr Field pairFields[] = {
	FIELD_STRUCT(Pair, src_data, cube),
	FIELD_STRUCT(Pair, dst_data, cube),
};

template<typename Cube, const Layout &cube>
constexpr Layout pairLayout{ "buffers", sizeof(EmuBufferPair<Cube>),
			     pairFields<EmuBufferPair<Cube>, cube> };

constexpr const Layout *networkEntries[] = { &networkLayout };
constexpr const Layout *operationEntries[] = {
	&powerLayout,	    &softmaxLayout,	  &reshapeLayout,    &argMaxLayout,
	&normalizeLayout,   &localResponseLayout, &logSoftmaxLayout, &standardizeLayout,
	&largestLayout,	    &functionLayout,	  &smallestLayout,   &normalizeTwiceLayout,
	&packWeightsLayout,
};
constexpr const Layout *legacyOperationEntries[] = { &legacyPowerLayout, &legacySoftmaxLayout };
constexpr const Layout *bufferEntries[] = { &pairLayout<EmuBufferDesc, cubeLayout> };
constexpr const Layout *legacyBufferEntries[] = {
	&pairLayout<EmuLegacyBufferDesc, legacyCubeLayout>
};

constexpr const ListKind *allKinds[] = {
	&dlaNetworkList,   &dlaGraphList,	    &dlaOperationList, &dlaExtendedOperationList,
	&dlaSurfaceList,   &dlaLegacySurfaceList,   &dlaLutList,       &emuNetworkList,
	&emuOperationList, &emuLegacyOperationList, &emuBufferList,    &emuLegacyBufferList,
};

} /* namespace */

const ListKind emuNetworkList{ "emu_network", emuNetworkBytes, networkEntries };
const ListKind emuOperationList{ "emu_operations", sizeof(EmuOperationDesc), operationEntries };
const ListKind emuLegacyOperationList{ "emu_legacy_operations", sizeof(EmuLegacyOperationDesc),
				       legacyOperationEntries };
const ListKind emuBufferList{ "emu_buffers", emuBufferPairBytes, bufferEntries };
const ListKind emuLegacyBufferList{ "emu_legacy_buffers", emuBufferPairBytes, legacyBufferEntries };

const ListKind *findListKind(std::string_view name)
{
	const auto kind = std::find_if(std::begin(allKinds), std::end(allKinds),
				       [&](const ListKind *kind) { return kind->name == name; });
	return kind == std::end(allKinds) ? nullptr : *kind;
}

std::string allListKinds()
{
	std::string all;

	for (const ListKind *kind : allKinds)
		all += (all.empty() ? "" : ", ") + std::string(kind->name);
	return all;
}

} /* namespace nvdla::text */
