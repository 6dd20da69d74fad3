/* SPDX-License-Identifier: MIT */
/* Reuse of data and weights in the convolution buffer by the next convolution. */
#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include "conv_layer.h"

namespace nvdla::assembly
{

namespace
{

bool isConvolution(const Node &node)
{
	return node.type == NVDLA_OP_CONV;
}

std::string nameOf(const Node &node, const std::string &cube)
{
	const auto found = std::find_if(node.cubes.begin(), node.cubes.end(),
					[&](const auto &entry) { return entry.first == cube; });
	return found == node.cubes.end() ? "" : found->second;
}

bool sameRegion(const Plan &plan, int16_t address, int16_t other)
{
	const Region &one = plan.regions[regionOf(address)];
	const Region &two = plan.regions[regionOf(other)];

	return address == other ||
	       (one.whole != none && one.whole == two.whole && one.window == two.window);
}

/*
 * Returns how many lines at the end of one convolution's input are the first lines of the next
 * one's input. CDMA then fetches only the other lines of the next input. Returns 0 if no lines are
 * shared, or if CDMA would fetch one line of one column: the core demands packed strides of that.
 */
uint32_t sharedLines(const Plan &plan, const nvdla_data_cube &one, const nvdla_data_cube &next)
{
	const Region &from = plan.regions[regionOf(one.address)];
	const Region &to = plan.regions[regionOf(next.address)];
	const uint32_t end = from.window.line + from.window.shape.h;
	const uint32_t nextEnd = to.window.line + to.window.shape.h;
	Window moved = from.window;

	moved.line = to.window.line;
	moved.shape.h = to.window.shape.h;
	if (from.whole == none || from.whole != to.whole || moved != to.window ||
	    to.window.lineStep != 1 || to.window.turned)
		return 0;
	if (to.window.line <= from.window.line || to.window.line >= end || nextEnd <= end ||
	    uint64_t{ nextEnd - end } * next.width < 2)
		return 0;
	return end - to.window.line;
}

bool sameConversion(const nvdla_conv_op_desc &one, const nvdla_conv_op_desc &other)
{
	return one.data_format == other.data_format && one.in_precision == other.in_precision &&
	       one.out_precision == other.out_precision &&
	       one.pixel_override == other.pixel_override && one.mean_format == other.mean_format &&
	       one.mean_ry == other.mean_ry && one.mean_gu == other.mean_gu &&
	       one.mean_bv == other.mean_bv && one.mean_ax == other.mean_ax &&
	       std::memcmp(&one.in_cvt, &other.in_cvt, sizeof(one.in_cvt)) == 0;
}

/*
 * Compares the padding and strides, as far as the input's form in the buffer depends on them: the
 * buffer holds pictures with their padding at the sides, and Winograd's input as tiles.
 */
bool sameShape(const nvdla_conv_op_desc &one, const nvdla_conv_op_desc &other)
{
	const bool image = one.data_format != NVDLA_FORMAT_FEATURE;
	const bool winograd = one.conv_mode == NVDLA_CONV_MODE_WINOGRAD;
	const bool sides = one.pad_x_left == other.pad_x_left &&
			   one.pad_x_right == other.pad_x_right && one.pad_val == other.pad_val;
	const bool tiles = sides && one.pad_y_top == other.pad_y_top &&
			   one.pad_y_bottom == other.pad_y_bottom &&
			   one.conv_stride_x == other.conv_stride_x &&
			   one.conv_stride_y == other.conv_stride_y;

	return winograd ? tiles : !image || sides;
}

/*
 * Lets a convolution reuse the part of its input that the convolution before left in the buffer:
 * all lines, or the first ones. The convolution before releases only the lines that are no longer
 * needed, and CDMA fetches only the missing lines (programming guide, RLS_SLICES).
 */
void reuseData(Node &before, Node &node)
{
	nvdla_conv_op_desc &other = before.operation.conv;
	nvdla_data_cube &src = node.surface.conv.src_data;

	node.operation.conv.data_reuse = 1;
	if (!node.keptLines) {
		other.skip_data_rls = 1;
		return;
	}
	other.release = static_cast<__u16>(other.input_height_csc - node.keptLines);
	src.height = static_cast<__u16>(src.height - node.keptLines);
	src.offset += node.keptLines * src.line_stride;
}

/*
 * While a convolution computes, CDMA can fetch for the next one only if both divide the buffer
 * alike. Consecutive convolutions get the same division as long as it has room for each of them.
 * Spare banks are for data, so that lines can be fetched ahead.
 */
void divideAlike(Plan &plan, const TaskRange &range)
{
	std::vector<nvdla_conv_op_desc *> alike;
	uint32_t data = 0, weights = 0, banks = 0;
	const auto divide = [&] {
		for (nvdla_conv_op_desc *conv : alike) {
			if (alike.size() == 1)
				break;
			conv->data_bank = static_cast<__u8>(banks - weights);
			conv->weight_bank = static_cast<__u8>(weights);
		}
		alike.clear();
		data = weights = 0;
	};

	for (size_t i = range.first; i < range.last; i++) {
		Node &node = plan.nodes[i];
		nvdla_conv_op_desc &conv = node.operation.conv;
		if (!isConvolution(node))
			continue;
		if (std::max<uint32_t>(data, conv.data_bank) +
			    std::max<uint32_t>(weights, conv.weight_bank) >
		    std::min(banks, node.banks))
			divide();
		data = std::max<uint32_t>(data, conv.data_bank);
		weights = std::max<uint32_t>(weights, conv.weight_bank);
		banks = alike.empty() ? node.banks : std::min(banks, node.banks);
		alike.push_back(&conv);
	}
	divide();
}

} /* namespace */

/*
 * Equal addresses mean equal weights in an equal layout, because each layout is packed only once.
 */
void Lowering::checkWeightReuse(const Node &before, const BufferNeeds &needs)
{
	const nvdla_conv_surface_desc &cubes = node.surface.conv;

	need(cubes.weight_data.address == before.surface.conv.weight_data.address, "reuseWeights",
	     fmt::format("{} before it leaves '{}' in the convolution buffer, in its layout",
			 where(before), nameOf(before, "weight_data")));
	need(needs.masksStay, "reuseWeights",
	     fmt::format("the masks of '{}' do not all fit into their bank",
			 nameOf(node, "weight_data")));
}

void Lowering::checkDataReuse(const Node &before)
{
	const nvdla_conv_op_desc &conv = node.operation.conv;
	const nvdla_conv_op_desc &other = before.operation.conv;

	const nvdla_data_cube &src = node.surface.conv.src_data;
	const nvdla_data_cube &otherSrc = before.surface.conv.src_data;

	if (conv.conv_mode == NVDLA_CONV_MODE_DIRECT && conv.data_format == NVDLA_FORMAT_FEATURE)
		node.keptLines = sharedLines(plan_, otherSrc, src);
	need(node.keptLines || sameRegion(plan_, src.address, otherSrc.address), "reuseData",
	     fmt::format("{} before it leaves '{}' in the convolution buffer", where(before),
			 nameOf(before, "src_data")));
	need(conv.conv_mode == other.conv_mode, "reuseData",
	     fmt::format("{} before it is of another mode; one of them is Winograd",
			 where(before)));
	need(sameConversion(conv, other), "reuseData",
	     fmt::format("{} before it converts its pixels in another way", where(before)));
	need(sameShape(conv, other), "reuseData",
	     fmt::format("{} before it has another {}", where(before),
			 conv.conv_mode == NVDLA_CONV_MODE_WINOGRAD ? "padding or stride"
								    : "padding at the sides"));
}

/*
 * Convolutions that reuse each other's data or weights divide the buffer in the same way
 * (programming guide, Limitation, Convolution). Reused weights are in the buffer all at once.
 */
void Lowering::shareBuffer(size_t before, const BufferNeeds &needs)
{
	nvdla_conv_op_desc &conv = node.operation.conv;
	const nvdla_conv_op_desc &other = plan_.nodes[before].operation.conv;
	const Node &neighbour = plan_.nodes[before];
	const uint32_t data = std::max(conv.data_bank, other.data_bank);

	node.banks = std::min(node.banks, neighbour.banks);
	node.weightBanks = std::max({ node.weightBanks, neighbour.weightBanks,
				      node.reusesWeights ? needs.allWeights : 0 });
	if (!need(data + node.weightBanks <= node.banks,
		  node.reusesWeights ? "reuseWeights" : "reuseData",
		  fmt::format("the convolution buffer, divided as for {} before it, needs {} banks "
			      "for data and {} for weights; there are {}",
			      where(neighbour), data, node.weightBanks, node.banks)))
		return;
	const uint32_t weights = std::clamp<uint32_t>(std::max(conv.weight_bank, other.weight_bank),
						      node.weightBanks, node.banks - data);
	conv.data_bank = static_cast<__u8>(data);
	conv.weight_bank = static_cast<__u8>(weights);
	for (size_t i = before + 1; i-- > 0;) {
		Node &earlier = plan_.nodes[i];
		if (!isConvolution(earlier))
			continue;
		earlier.operation.conv.data_bank = conv.data_bank;
		earlier.operation.conv.weight_bank = conv.weight_bank;
		earlier.weightBanks = node.weightBanks;
		earlier.banks = node.banks;
		if (!earlier.reusesData && !earlier.reusesWeights)
			break;
	}
}

void Lowering::reuse(const ConvLayer &layer)
{
	const BufferNeeds needs(*this, layer);
	const char *field = layer.op.reuseData ? "reuseData" : "reuseWeights";
	size_t before = plan_.nodes.size();

	node.banks = needs.banks;
	node.weightBanks = needs.group;
	node.reusesData = layer.op.reuseData;
	node.reusesWeights = layer.op.reuseWeights;
	if (failed() || (!node.reusesData && !node.reusesWeights))
		return;
	while (before > 0 && !isConvolution(plan_.nodes[before - 1]))
		before--;
	if (!need(before-- > 0, field, "no convolution comes before it"))
		return;
	if (node.reusesWeights)
		checkWeightReuse(plan_.nodes[before], needs);
	if (node.reusesData)
		checkDataReuse(plan_.nodes[before]);
	if (!failed())
		shareBuffer(before, needs);
}

/* The buffer's contents do not outlast a task, so only convolutions of one task are linked. */
void linkConvolutions(Plan &plan)
{
	for (const TaskRange &range : plan.tasks) {
		Node *before = nullptr;
		divideAlike(plan, range);
		for (size_t i = range.first; i < range.last; i++) {
			Node &node = plan.nodes[i];
			if (!isConvolution(node))
				continue;
			if (before) {
				node.operation.conv.weight_reuse = node.reusesWeights;
				before->operation.conv.skip_weight_rls = node.reusesWeights;
				if (node.reusesData)
					reuseData(*before, node);
			}
			before = &node;
		}
	}
}

} /* namespace nvdla::assembly */
