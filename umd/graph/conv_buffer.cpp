/* SPDX-License-Identifier: MIT */
/* Convolutions: weights, and the buffer that they share with the input. */
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/core.h>

#include "conv_layer.h"

namespace nvdla::assembly
{

namespace
{

/* Returns the user's weights with zeros for channels that only the pixel format has. */
std::vector<std::byte> plainElements(const ConvLayer &layer)
{
	const GraphWeights &given = layer.weights;
	const size_t kernel = given.elements.bytes.size() / given.k;
	const size_t room = layer.plain.kernelElements() * elementBytes(layer.plain.type);
	std::vector<std::byte> elements(room * given.k);

	for (size_t k = 0; k < given.k; k++)
		std::memcpy(&elements[k * room], &given.elements.bytes[k * kernel], kernel);
	return elements;
}

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
		packed = packImageWeights(geometry, layer.plain, plainElements(layer),
					  layer.op.postExtension);
	else
		packed = packDirectWeights(geometry, layer.plain, elements.bytes);
	if (!lowering.need(bool(packed), "weights", packed ? "" : packed.error().why))
		return {};
	return *packed;
}

/* Returns a key for the layout of weights: one constant may have several layouts. */
std::string layoutKey(const ConvLayer &layer)
{
	if (layer.op.winograd)
		return fmt::format("winograd {} {}", layer.op.stride.x, layer.op.stride.y);
	return layer.image ? fmt::format("image {}", layer.op.postExtension) : "direct";
}

/*
 * Sparse weights become three constants: the non-zero elements, a mask, and the sizes of the
 * groups.
 */
void placeCompressed(Lowering &lowering, const ConvLayer &layer)
{
	auto compressed =
		compressWeights(lowering.geometry(), layer.core, packWeights(lowering, layer));
	if (!lowering.need(bool(compressed), "weights", compressed ? "" : compressed.error().why))
		return;
	const std::string key = layoutKey(layer);
	nvdla_conv_surface_desc &cubes = lowering.node.surface.conv;
	auto place = [&](const char *cube, const std::vector<std::byte> &bytes) {
		return lowering.constantCube(
			cube,
			lowering.constant(layer.weights, key + " " + cube, [&] { return bytes; }));
	};

	lowering.node.operation.conv.weight_format = NVDLA_WEIGHT_COMPRESSED;
	cubes.weight_data = place("weight_data", compressed->weights);
	cubes.wmb_data = place("wmb_data", compressed->mask);
	cubes.wgs_data = place("wgs_data", compressed->groupSizes);
}

/* Reads weights that an earlier CPU step packs. The surface may have unused room at its end. */
void placePacked(Lowering &lowering, const ConvLayer &layer)
{
	SurfaceState &packed = lowering.input("weights", layer.weights.packed);
	const uint64_t bytes = packedWeightBytes(lowering.geometry(), layer.core);

	lowering.need(
		!layer.image && !layer.op.winograd, "weights",
		fmt::format("'{}' are in the order for direct convolution", layer.weights.packed));
	lowering.need(packed.desc.type == layer.core.type && packed.desc.size >= bytes &&
			      packed.desc.c == lowering.geometry().atomChannels(packed.desc.type),
		      "weights",
		      fmt::format("'{}' are not {} bytes of {} in the core's order",
				  layer.weights.packed, bytes, dataTypeName(layer.core.type)));
	if (lowering.failed())
		return;
	const nvdla_data_cube surface = lowering.read("weight_data", packed);
	nvdla_data_cube &cube = lowering.node.surface.conv.weight_data;
	cube.type = surface.type;
	cube.address = surface.address;
	cube.size = static_cast<__u32>(bytes);
}

/* Entries of the convolution buffer that a line takes (programming guide, ENTRY_PER_SLICE). */
uint32_t entriesPerSlice(const CoreGeometry &core, const ConvLayer &layer)
{
	const uint32_t entry = core.entryBytes;
	const uint32_t atom = core.atomBytes;
	const auto bytes = static_cast<uint32_t>(elementBytes(layer.core.type));
	const TensorDesc &in = layer.in.desc;
	const Shape seen = layer.seenByCsc();

	if (layer.image)
		return divideUp((layer.padding.left + in.w + layer.padding.right) * seen.c * bytes,
				entry);
	if (layer.op.winograd)
		return divideUp(seen.w, 4) * divideUp(seen.c * bytes, atom);

	/*
	 * In each column, the last atoms may not fill an entry. They share an entry with atoms
	 * of other columns.
	 */
	const uint32_t most = entry / atom, atoms = divideUp(in.c * bytes % entry, atom);
	const uint32_t columns = atoms ? most / std::bit_ceil(atoms) : 1;
	return in.c * bytes / entry * in.w + (atoms ? divideUp(in.w, columns) : 0);
}

} /* namespace */

BufferNeeds::BufferNeeds(const Lowering &lowering, const ConvLayer &layer)
	: entriesPerBank_(lowering.geometry().bankEntries)
{
	const CoreGeometry &core = lowering.geometry();
	const uint64_t bankBytes = core.bankBytes();
	const uint32_t groupKernels = core.groupKernels(layer.core.type);
	auto banksFor = [&](uint32_t kernels) {
		const uint64_t bytes = layer.core.kernelElements() * elementBytes(layer.core.type) *
				       std::min(kernels, layer.core.kernels);
		return static_cast<uint32_t>((bytes + core.weightSlack + bankBytes - 1) /
					     bankBytes);
	};

	/* The last bank holds the masks of compressed weights. */
	banks = core.bufferBanks - (isSparse(layer.weights) ? 1 : 0);
	entriesPerLine = entriesPerSlice(core, layer);
	group = banksFor(groupKernels);
	/* Kernel groups of Winograd, and of weights that a CPU step packs, cannot be divided. */
	if (!layer.op.winograd && layer.weights.packed.empty()) {
		for (uint32_t kernels = groupKernels / 2; kernels > 0; kernels /= 2) {
			if (kernels < layer.core.kernels)
				belowGroup.emplace_back(kernels, banksFor(kernels));
		}
	}
	twoGroups = banksFor(2 * groupKernels);
	allWeights = banksFor(layer.core.kernels);
	masksStay = !isSparse(layer.weights) ||
		    divideUp(static_cast<uint32_t>(layer.core.elements()), 8) + core.weightSlack <=
			    bankBytes;
}

uint32_t BufferNeeds::forLines(uint32_t lines) const
{
	return static_cast<uint32_t>((uint64_t{ entriesPerLine } * lines + entriesPerBank_ - 1) /
				     entriesPerBank_);
}

std::string BufferNeeds::fewestKernels() const
{
	return belowGroup.empty() ? fmt::format("a kernel group {}", group)
				  : fmt::format("a single kernel {}", belowGroup.back().second);
}

uint32_t kernelsAtOnce(const Lowering &lowering, const ConvLayer &layer)
{
	const BufferNeeds needs(lowering, layer);
	const uint32_t data = needs.forLines(layer.seenByCsc().h * layer.in.desc.n);
	const auto fits = [&](const auto &part) { return data + part.second <= needs.banks; };

	if (data + needs.group <= needs.banks)
		return layer.core.kernels;
	const auto part = std::ranges::find_if(needs.belowGroup, fits);
	return part == needs.belowGroup.end() ? 0 : part->first;
}

void placeWeights(Lowering &lowering, const ConvLayer &layer)
{
	const nvdla_conv_op_desc &conv = lowering.node.operation.conv;
	nvdla_data_cube &cube = lowering.node.surface.conv.weight_data;

	if (isSparse(layer.weights)) {
		placeCompressed(lowering, layer);
	} else if (!layer.weights.packed.empty()) {
		placePacked(lowering, layer);
	} else {
		const int region = lowering.constant(layer.weights, layoutKey(layer),
						     [&] { return packWeights(lowering, layer); });
		cube = lowering.constantCube("weight_data", region);
	}
	cube.width = conv.kernel_width_csc;
	cube.height = conv.kernel_height_csc;
	cube.channel = conv.kernel_channel_csc;
}

void divideBuffer(Lowering &lowering, const ConvLayer &layer)
{
	nvdla_conv_op_desc &conv = lowering.node.operation.conv;
	const BufferNeeds needs(lowering, layer);
	const uint32_t data = needs.forLines(layer.seenByCsc().h * layer.in.desc.n);

	conv.entry_per_slice = static_cast<__u16>(needs.entriesPerLine);
	if (!lowering.need(
		    data + needs.group <= needs.banks, "input",
		    fmt::format("'{}' needs {} banks of the convolution buffer and {}, there "
				"are {}: {}",
				layer.in.desc.name, data, needs.fewestKernels(), needs.banks,
				bufferRemedy)))
		return;
	conv.data_bank = static_cast<__u8>(data);
	conv.weight_bank = static_cast<__u8>(std::min(needs.allWeights, needs.banks - data));
}

} /* namespace nvdla::assembly */
