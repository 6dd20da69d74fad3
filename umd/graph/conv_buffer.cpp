/* SPDX-License-Identifier: MIT */
/*
 * Convolutions: weights, and the buffer that they share with the input.
 */
#include <algorithm>

#include <fmt/format.h>

#include "conv_layer.h"

namespace nvdla::assembly
{

namespace
{

/* Room that a kernel group needs behind it (guide, Limitation, Convolution). */
constexpr uint32_t kernelGroupSlack = 128;

std::vector<std::byte> packWeights(Lowering &lowering, const ConvLayer &layer)
{
	const CoreGeometry &geometry = lowering.geometry();
	const Elements &elements = layer.weights.elements;
	Result<std::vector<std::byte>> packed;

	if (layer.op.winograd)
		packed = packWinogradWeights(
			geometry, layer.plain,
			{ layer.op.stride.x, layer.op.stride.y, layer.weights.winogradScale },
			elementsToFloat(elements.type, elements.bytes));
	else if (layer.image)
		packed = packImageWeights(geometry, layer.plain, elements.bytes,
					  layer.op.postExtension);
	else
		packed = packDirectWeights(geometry, layer.plain, elements.bytes);
	if (!lowering.need(bool(packed), "weights", packed ? "" : packed.error().why))
		return {};
	return *packed;
}

/* Constants of one name differ by the layout that an operation wants. */
std::string layoutKey(const ConvLayer &layer)
{
	if (layer.op.winograd)
		return fmt::format("winograd {} {}", layer.op.stride.x, layer.op.stride.y);
	return layer.image ? fmt::format("image {}", layer.op.postExtension) : "direct";
}

/* Sparse weights: what is not zero, a mask, and the bytes of each group. */
void placeCompressed(Lowering &lowering, const ConvLayer &layer)
{
	auto compressed =
		compressWeights(lowering.geometry(), layer.core, packWeights(lowering, layer));
	if (!lowering.need(bool(compressed), "weights", compressed ? "" : compressed.error().why))
		return;
	const std::string key = layoutKey(layer);
	nvdla_conv_surface_desc &cubes = lowering.node.surface.conv;
	auto place = [&](const char *cube, const std::vector<std::byte> &bytes) {
		return lowering.constantCube(cube,
					     lowering.constant(layer.op.weights, key + " " + cube,
							       [&] { return bytes; }));
	};

	lowering.node.operation.conv.weight_format = NVDLA_WEIGHT_COMPRESSED;
	cubes.weight_data = place("weight_data", compressed->weights);
	cubes.wmb_data = place("wmb_data", compressed->mask);
	cubes.wgs_data = place("wgs_data", compressed->groupSizes);
}

/* Entries of the convolution buffer that a line takes (guide, ENTRY_PER_SLICE). */
uint32_t entriesPerSlice(const Lowering &lowering, const ConvLayer &layer)
{
	const nvdla_conv_op_desc &conv = lowering.node.operation.conv;
	const uint32_t entry = lowering.variant().cbuf_entry_bytes;
	const uint32_t atom = lowering.variant().atom_bytes;
	const auto bytes = static_cast<uint32_t>(elementBytes(layer.core.type));
	const TensorDesc &in = layer.in.desc;

	if (layer.image)
		return divideUp((layer.padding.left + in.w + layer.padding.right) * in.c * bytes,
				entry);
	if (layer.op.winograd)
		return divideUp(conv.input_width_csc, 4) *
		       divideUp(conv.input_channel_csc * bytes, atom);

	/* The last atoms of a channel vector share entries: 4, 2 or 1 columns each. */
	const uint32_t atoms = divideUp(in.c * bytes % entry, atom);
	const uint32_t columns = atoms == 1 ? 4 : atoms == 2 ? 2 : 1;
	return in.c * bytes / entry * in.w + (atoms ? divideUp(in.w, columns) : 0);
}

} /* namespace */

void placeWeights(Lowering &lowering, const ConvLayer &layer)
{
	const nvdla_conv_op_desc &conv = lowering.node.operation.conv;
	nvdla_data_cube &cube = lowering.node.surface.conv.weight_data;

	if (layer.weights.compressed) {
		placeCompressed(lowering, layer);
	} else {
		const int region = lowering.constant(layer.op.weights, layoutKey(layer),
						     [&] { return packWeights(lowering, layer); });
		cube = lowering.constantCube("weight_data", region);
	}
	cube.width = conv.kernel_width_csc;
	cube.height = conv.kernel_height_csc;
	cube.channel = conv.kernel_channel_csc;
}

void divideBuffer(Lowering &lowering, const ConvLayer &layer)
{
	const nvdla_variant &variant = lowering.variant();
	nvdla_conv_op_desc &conv = lowering.node.operation.conv;
	const uint64_t bankBytes = uint64_t{ variant.cbuf_bank_entries } * variant.cbuf_entry_bytes;
	/* The last bank holds the masks of compressed weights. */
	const uint32_t banks = variant.cbuf_banks - (layer.weights.compressed ? 1 : 0);
	auto banksFor = [&](uint32_t kernels) {
		const uint64_t bytes = uint64_t{ conv.bytes_per_kernel } * kernels;
		return (bytes + kernelGroupSlack + bankBytes - 1) / bankBytes;
	};

	const uint32_t entries = entriesPerSlice(lowering, layer);
	conv.entry_per_slice = static_cast<__u16>(entries);
	const uint64_t data = (uint64_t{ entries } * conv.input_height_csc * layer.in.desc.n +
			       variant.cbuf_bank_entries - 1) /
			      variant.cbuf_bank_entries;
	const uint64_t group = banksFor(
		std::min(layer.core.kernels, lowering.geometry().groupKernels(layer.core.type)));
	if (!lowering.need(data + group <= banks, "input",
			   fmt::format("'{}' needs {} banks of the convolution buffer and a kernel "
				       "group {}, there are {}; split the input into bands",
				       layer.in.desc.name, data, group, banks)))
		return;
	conv.data_bank = static_cast<__u8>(data);
	conv.weight_bank =
		static_cast<__u8>(std::min<uint64_t>(banksFor(layer.core.kernels), banks - data));
}

} /* namespace nvdla::assembly */
