/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of the core's tasks but for the surfaces, field by field, as in
 * include/uapi/drm/nvdla_descriptors.h.
 */
#include <drm/nvdla_descriptors.h>

#include "layout_fields.h"
#include "loadable/network_descriptor.h"

namespace nvdla::text
{

namespace
{

constexpr Field networkFields[] = {
	FIELD(nvdla_network_desc, operation_desc_index),
	FIELD(nvdla_network_desc, surface_desc_index),
	FIELD(nvdla_network_desc, dependency_graph_index),
	FIELD(nvdla_network_desc, lut_data_index),
	FIELD(nvdla_network_desc, roi_array_index),
	FIELD(nvdla_network_desc, surface_index),
	FIELD(nvdla_network_desc, stat_list_index),
	FIELD_OPTIONAL(nvdla_network_desc, reserved1, 0),
	FIELD_NUMBERS(nvdla_network_desc, op_head),
	FIELD(nvdla_network_desc, num_rois),
	FIELD(nvdla_network_desc, num_operations),
	FIELD(nvdla_network_desc, num_luts),
	FIELD(nvdla_network_desc, num_addresses),
	FIELD(nvdla_network_desc, input_layer),
	FIELD(nvdla_network_desc, dynamic_roi),
	FIELD_OPTIONAL(nvdla_network_desc, reserved, 0),
};
constexpr Layout networkLayout{ "network", sizeof(nvdla_network_desc), networkFields };

constexpr Field consumerFields[] = {
	FIELD_OPTIONAL(nvdla_consumer, index, -1),
	FIELD_NAMED_OPTIONAL(nvdla_consumer, event, eventName),
	FIELD_OPTIONAL(nvdla_consumer, reserved, 0),
};
constexpr Layout consumerLayout{ "consumer", sizeof(nvdla_consumer), consumerFields };

constexpr Field nodeFields[] = {
	FIELD(nvdla_graph_node, index),
	FIELD(nvdla_graph_node, roi_index),
	FIELD_NAMED(nvdla_graph_node, op_type, engineName),
	FIELD(nvdla_graph_node, dependency_count),
	FIELD_NUMBERS(nvdla_graph_node, reserved),
	FIELD_STRUCTS(nvdla_graph_node, consumers, consumerLayout, engineName),
	FIELD_STRUCT(nvdla_graph_node, fused_parent, consumerLayout),
};
constexpr Layout nodeLayout{ "graph node", sizeof(nvdla_graph_node), nodeFields };

constexpr Field converterFields[] = {
	FIELD(nvdla_cvt_param, scale),
	FIELD(nvdla_cvt_param, truncate),
	FIELD(nvdla_cvt_param, enable),
	FIELD(nvdla_cvt_param, offset),
};
constexpr Layout converterLayout{ "converter", sizeof(nvdla_cvt_param), converterFields };

/* Fields that follow the operation descriptor of each engine. */
#define EXTENDED_FIELDS                                                                            \
	FIELD_OPTIONAL(nvdla_extended_op_desc, nan_to_zero, 0),                                    \
		FIELD_OPTIONAL(nvdla_extended_op_desc, pixel_x_offset, 0),                         \
		FIELD_OPTIONAL(nvdla_extended_op_desc, reserved, 0)

constexpr Field bdmaOperationFields[] = {
	FIELD(nvdla_bdma_op_desc, num_transfers),
	FIELD_OPTIONAL(nvdla_bdma_op_desc, reserved, 0),
	EXTENDED_FIELDS,
};
constexpr Layout bdmaOperationLayout{ "bdma", sizeof(nvdla_bdma_op_desc), bdmaOperationFields };

constexpr Field convOperationFields[] = {
	FIELD_NAMED(nvdla_conv_op_desc, conv_mode, convModeName),
	FIELD(nvdla_conv_op_desc, data_reuse),
	FIELD(nvdla_conv_op_desc, weight_reuse),
	FIELD(nvdla_conv_op_desc, skip_data_rls),
	FIELD(nvdla_conv_op_desc, skip_weight_rls),
	FIELD_OPTIONAL(nvdla_conv_op_desc, reserved0, 0),
	FIELD(nvdla_conv_op_desc, entry_per_slice),
	FIELD_NAMED(nvdla_conv_op_desc, data_format, formatName),
	FIELD(nvdla_conv_op_desc, pixel_mapping),
	FIELD(nvdla_conv_op_desc, fetch_grain),
	FIELD_NUMBERS(nvdla_conv_op_desc, reserved_b),
	FIELD(nvdla_conv_op_desc, batch),
	FIELD_NAMED(nvdla_conv_op_desc, weight_format, weightFormatName),
	FIELD(nvdla_conv_op_desc, data_bank),
	FIELD(nvdla_conv_op_desc, weight_bank),
	FIELD(nvdla_conv_op_desc, batch_stride),
	FIELD(nvdla_conv_op_desc, post_extension),
	FIELD(nvdla_conv_op_desc, pixel_override),
	FIELD(nvdla_conv_op_desc, release),
	FIELD(nvdla_conv_op_desc, input_width_csc),
	FIELD(nvdla_conv_op_desc, input_height_csc),
	FIELD(nvdla_conv_op_desc, input_channel_csc),
	FIELD(nvdla_conv_op_desc, kernel_width_csc),
	FIELD(nvdla_conv_op_desc, kernel_height_csc),
	FIELD(nvdla_conv_op_desc, kernel_channel_csc),
	FIELD(nvdla_conv_op_desc, input_width_cmac),
	FIELD(nvdla_conv_op_desc, input_height_cmac),
	FIELD(nvdla_conv_op_desc, bytes_per_kernel),
	FIELD(nvdla_conv_op_desc, mean_ry),
	FIELD(nvdla_conv_op_desc, mean_gu),
	FIELD(nvdla_conv_op_desc, mean_bv),
	FIELD(nvdla_conv_op_desc, mean_ax),
	FIELD(nvdla_conv_op_desc, mean_format),
	FIELD(nvdla_conv_op_desc, conv_stride_x),
	FIELD(nvdla_conv_op_desc, conv_stride_y),
	FIELD(nvdla_conv_op_desc, pad_x_left),
	FIELD(nvdla_conv_op_desc, pad_x_right),
	FIELD(nvdla_conv_op_desc, pad_y_top),
	FIELD(nvdla_conv_op_desc, pad_y_bottom),
	FIELD(nvdla_conv_op_desc, dilation_x),
	FIELD(nvdla_conv_op_desc, dilation_y),
	FIELD_NUMBERS(nvdla_conv_op_desc, reserved2),
	FIELD(nvdla_conv_op_desc, pra_truncate),
	FIELD_NAMED(nvdla_conv_op_desc, in_precision, precisionName),
	FIELD_NAMED(nvdla_conv_op_desc, out_precision, precisionName),
	FIELD(nvdla_conv_op_desc, pad_val),
	FIELD_STRUCT(nvdla_conv_op_desc, in_cvt, converterLayout),
	FIELD_STRUCT(nvdla_conv_op_desc, out_cvt, converterLayout),
	EXTENDED_FIELDS,
};
constexpr Layout convOperationLayout{ "conv", sizeof(nvdla_conv_op_desc), convOperationFields };

constexpr Field sdpUnitFields[] = {
	FIELD(nvdla_sdp_op, enable),
	FIELD_NAMED(nvdla_sdp_op, alu_type, aluTypeName),
	FIELD_NAMED(nvdla_sdp_op, type, sdpOpTypeName),
	FIELD_NAMED(nvdla_sdp_op, mode, sdpOpModeName),
	FIELD_NAMED(nvdla_sdp_op, act, activationName),
	FIELD(nvdla_sdp_op, shift_value),
	FIELD(nvdla_sdp_op, truncate),
	FIELD_NAMED(nvdla_sdp_op, precision, precisionName),
	FIELD(nvdla_sdp_op, alu_operand),
	FIELD(nvdla_sdp_op, mul_operand),
	FIELD_STRUCT(nvdla_sdp_op, alu_cvt, converterLayout),
	FIELD_STRUCT(nvdla_sdp_op, mul_cvt, converterLayout),
};
constexpr Layout sdpUnitLayout{ "SDP unit", sizeof(nvdla_sdp_op), sdpUnitFields };

constexpr Field sdpOperationFields[] = {
	FIELD_NAMED(nvdla_sdp_op_desc, src_precision, precisionName),
	FIELD_NAMED(nvdla_sdp_op_desc, dst_precision, precisionName),
	FIELD(nvdla_sdp_op_desc, lut_index),
	FIELD_STRUCT(nvdla_sdp_op_desc, out_cvt, converterLayout),
	FIELD_NAMED(nvdla_sdp_op_desc, conv_mode, convModeName),
	FIELD(nvdla_sdp_op_desc, batch_num),
	FIELD_OPTIONAL(nvdla_sdp_op_desc, reserved0, 0),
	FIELD(nvdla_sdp_op_desc, batch_stride),
	FIELD_STRUCT(nvdla_sdp_op_desc, x1_op, sdpUnitLayout),
	FIELD_STRUCT(nvdla_sdp_op_desc, x2_op, sdpUnitLayout),
	FIELD_STRUCT(nvdla_sdp_op_desc, y_op, sdpUnitLayout),
	EXTENDED_FIELDS,
};
constexpr Layout sdpOperationLayout{ "sdp", sizeof(nvdla_sdp_op_desc), sdpOperationFields };

constexpr Field pdpOperationFields[] = {
	FIELD(nvdla_pdp_op_desc, partial_in_width_first),
	FIELD(nvdla_pdp_op_desc, partial_in_width_mid),
	FIELD(nvdla_pdp_op_desc, partial_in_width_last),
	FIELD(nvdla_pdp_op_desc, partial_width_first),
	FIELD(nvdla_pdp_op_desc, partial_width_mid),
	FIELD(nvdla_pdp_op_desc, partial_width_last),
	FIELD(nvdla_pdp_op_desc, split_num),
	FIELD_NAMED(nvdla_pdp_op_desc, pool_mode, poolModeName),
	FIELD(nvdla_pdp_op_desc, pool_width),
	FIELD(nvdla_pdp_op_desc, pool_height),
	FIELD(nvdla_pdp_op_desc, stride_x),
	FIELD(nvdla_pdp_op_desc, stride_y),
	FIELD(nvdla_pdp_op_desc, pad_left),
	FIELD(nvdla_pdp_op_desc, pad_right),
	FIELD(nvdla_pdp_op_desc, pad_top),
	FIELD(nvdla_pdp_op_desc, pad_bottom),
	FIELD_NAMED(nvdla_pdp_op_desc, precision, precisionName),
	FIELD_OPTIONAL(nvdla_pdp_op_desc, reserved0, 0),
	FIELD_NUMBERS(nvdla_pdp_op_desc, padding_value),
	EXTENDED_FIELDS,
};
constexpr Layout pdpOperationLayout{ "pdp", sizeof(nvdla_pdp_op_desc), pdpOperationFields };

constexpr Field cdpOperationFields[] = {
	FIELD_NAMED(nvdla_cdp_op_desc, in_precision, precisionName),
	FIELD_NAMED(nvdla_cdp_op_desc, out_precision, precisionName),
	FIELD(nvdla_cdp_op_desc, lut_index),
	FIELD_STRUCT(nvdla_cdp_op_desc, in_cvt, converterLayout),
	FIELD_STRUCT(nvdla_cdp_op_desc, out_cvt, converterLayout),
	FIELD(nvdla_cdp_op_desc, local_size),
	FIELD(nvdla_cdp_op_desc, bypass_sqsum),
	FIELD(nvdla_cdp_op_desc, bypass_out_mul),
	FIELD_OPTIONAL(nvdla_cdp_op_desc, reserved0, 0),
	EXTENDED_FIELDS,
};
constexpr Layout cdpOperationLayout{ "cdp", sizeof(nvdla_cdp_op_desc), cdpOperationFields };

constexpr Field rubikOperationFields[] = {
	FIELD_NAMED(nvdla_rubik_op_desc, mode, rubikModeName),
	FIELD_NAMED(nvdla_rubik_op_desc, precision, precisionName),
	FIELD(nvdla_rubik_op_desc, stride_x),
	FIELD(nvdla_rubik_op_desc, stride_y),
	EXTENDED_FIELDS,
};
constexpr Layout rubikOperationLayout{ "rubik", sizeof(nvdla_rubik_op_desc), rubikOperationFields };

constexpr Field lutOffsetFields[] = {
	FIELD_AS("value", nvdla_lut_offset, field.value),
	FIELD_OPTIONAL_AS("reserved", nvdla_lut_offset, field.reserved),
};
constexpr Layout lutOffsetLayout{ "LUT offset", sizeof(nvdla_lut_offset), lutOffsetFields };

constexpr Field lutSlopeFields[] = {
	FIELD_AS("scale", nvdla_lut_slope, field.scale),
	FIELD_AS("shifter", nvdla_lut_slope, field.shifter),
	FIELD_OPTIONAL_AS("reserved", nvdla_lut_slope, field.reserved),
};
constexpr Layout lutSlopeLayout{ "LUT slope", sizeof(nvdla_lut_slope), lutSlopeFields };

constexpr Field lutFields[] = {
	FIELD_NUMBERS(nvdla_lut_desc, le_table),
	FIELD_NUMBERS(nvdla_lut_desc, lo_table),
	FIELD_STRUCT(nvdla_lut_desc, le_offset, lutOffsetLayout),
	FIELD_STRUCT(nvdla_lut_desc, lo_offset, lutOffsetLayout),
	FIELD(nvdla_lut_desc, le_start),
	FIELD(nvdla_lut_desc, le_end),
	FIELD(nvdla_lut_desc, lo_start),
	FIELD(nvdla_lut_desc, lo_end),
	FIELD_STRUCT(nvdla_lut_desc, le_underflow, lutSlopeLayout),
	FIELD_STRUCT(nvdla_lut_desc, le_overflow, lutSlopeLayout),
	FIELD_STRUCT(nvdla_lut_desc, lo_underflow, lutSlopeLayout),
	FIELD_STRUCT(nvdla_lut_desc, lo_overflow, lutSlopeLayout),
	FIELD_NAMED(nvdla_lut_desc, hybrid_priority, lutPriorityName),
	FIELD_NAMED(nvdla_lut_desc, underflow_priority, lutPriorityName),
	FIELD_NAMED(nvdla_lut_desc, overflow_priority, lutPriorityName),
	FIELD_NAMED(nvdla_lut_desc, method, lutMethodName),
};
constexpr Layout lutLayout{ "LUT", sizeof(nvdla_lut_desc), lutFields };

constexpr const Layout *networkEntries[] = { &networkLayout };
constexpr const Layout *graphEntries[] = { &nodeLayout };
constexpr const Layout *operationEntries[] = { &bdmaOperationLayout, &convOperationLayout,
					       &sdpOperationLayout,  &pdpOperationLayout,
					       &cdpOperationLayout,  &rubikOperationLayout };
constexpr const Layout *lutEntries[] = { &lutLayout };

} /* namespace */

const ListKind dlaNetworkList{ "dla_network", sizeof(nvdla_network_desc), networkEntries };
const ListKind dlaGraphList{ "dla_graph", sizeof(nvdla_graph_node), graphEntries };
const ListKind dlaOperationList{ "dla_operations", NVDLA_OP_DESC_BYTES, operationEntries };
const ListKind dlaExtendedOperationList{ "dla_extended_operations", sizeof(nvdla_operation_desc),
					 operationEntries };
const ListKind dlaLutList{ "dla_luts", sizeof(nvdla_lut_desc), lutEntries };

} /* namespace nvdla::text */
