/* SPDX-License-Identifier: MIT */
/* Convolutions whose input does not fit the convolution buffer: bands of lines. */
#include <algorithm>

#include <fmt/core.h>

#include "conv_layer.h"
#include "expansion.h"

namespace nvdla::assembly
{

namespace
{

/* Height of the units (tiles) in which bands are counted: one line, or four for Winograd. */
struct Tiling {
	uint32_t lines;
	uint32_t fewest; /**< least number of tiles in a band */
};

Tiling tilingOf(const ConvLayer &layer)
{
	return layer.op.winograd ? Tiling{ 4, 2 } : Tiling{ 1, 1 };
}

/*
 * Returns the lines of the input that \a lines lines of the output need, as CSC (the unit that
 * feeds the multipliers) sees them.
 */
uint32_t linesSeen(const ConvLayer &layer, uint32_t lines)
{
	if (layer.op.winograd)
		return lines + winogradMargin;
	return std::min((lines - 1) * layer.op.stride.y + layer.windowLines(), layer.in.desc.h);
}

/* Largest number of tiles that fit into \a banks banks; 0 if Tiling::fewest tiles do not fit. */
uint32_t tilesIn(const ConvLayer &layer, const BufferNeeds &needs, uint32_t banks)
{
	const Tiling tiling = tilingOf(layer);
	uint32_t tiles = layer.outH / tiling.lines;

	while (tiles >= tiling.fewest &&
	       needs.forLines(linesSeen(layer, tiles * tiling.lines)) > banks)
		tiles--;
	return tiles < tiling.fewest ? 0 : tiles;
}

/*
 * Returns the height of the largest possible band, in tiles. Tries four amounts of weights beside
 * the band, the best first: all weights, which are then fetched only once; two kernel groups, so
 * that one is fetched while the other is in use; one group (programming guide, Strategy selection);
 * fewer kernels than a group, which then take several operations.
 */
uint32_t mostTiles(const ConvLayer &layer, const BufferNeeds &needs)
{
	std::vector<uint32_t> rooms{ needs.allWeights, needs.twoGroups, needs.group };

	for (const auto &[kernels, banks] : needs.belowGroup)
		rooms.push_back(banks);
	for (const uint32_t weights : rooms) {
		if (weights >= needs.banks)
			continue;
		if (const uint32_t tiles = tilesIn(layer, needs, needs.banks - weights))
			return tiles;
	}
	return 0;
}

/* Returns the number of bands; 0 if the layer fits as a whole and no bands are requested. */
uint32_t countOf(Lowering &lowering, const ConvLayer &layer)
{
	const BufferNeeds needs(lowering, layer);
	const Tiling tiling = tilingOf(layer);
	const uint32_t tiles = layer.outH / tiling.lines;
	const uint32_t n = layer.in.desc.n;
	const uint32_t whole = needs.forLines(layer.seenByCsc().h * n) + needs.group;

	if (layer.op.bands > 1) {
		lowering.need(n == 1, "bands", fmt::format("'{}' is a batch", layer.in.desc.name));
		lowering.need(tiles / layer.op.bands >= tiling.fewest, "bands",
			      fmt::format("{} lines of output are not {} bands of {} or more",
					  layer.outH, layer.op.bands,
					  tiling.fewest * tiling.lines));
		return layer.op.bands;
	}
	/* If a layer that must not have bands does not fit, divideBuffer() refuses it. */
	if (whole <= needs.banks || layer.op.bands == 1 || n > 1)
		return 0;
	const uint32_t most = mostTiles(layer, needs);
	if (!lowering.need(
		    most > 0, "input",
		    fmt::format("{} lines of '{}', which make {} of output, need {} banks of the "
				"convolution buffer and {}, there are {}: {}",
				linesSeen(layer, tiling.fewest * tiling.lines), layer.in.desc.name,
				tiling.fewest * tiling.lines,
				needs.forLines(linesSeen(layer, tiling.fewest * tiling.lines)),
				needs.fewestKernels(), needs.banks, bufferRemedy)))
		return 0;
	const uint32_t count = divideUp(tiles, most);
	lowering.need(tiles / count >= tiling.fewest, "input",
		      fmt::format("'{}' does not fit into the convolution buffer, and {} lines of "
				  "output are not {} bands of {} or more",
				  layer.in.desc.name, layer.outH, count,
				  tiling.fewest * tiling.lines));
	return count;
}

/*
 * Only the outer bands have padding above or below. Neighbouring bands read some of the same lines.
 */
Band bandOf(const ConvLayer &layer, uint32_t first, uint32_t lines)
{
	const uint32_t stride = layer.op.stride.y;
	const uint32_t top = layer.op.padding.top;
	const uint32_t height = layer.in.desc.h;
	const uint32_t begin = first * stride; /* first line in the padded input */
	const uint32_t end = begin + (lines - 1) * stride + layer.windowLines();
	Band band{ .firstLine = first, .lines = lines };

	band.top = top > begin ? top - begin : 0;
	band.firstInput = begin > top ? begin - top : 0;
	band.bottom = end > top + height ? end - top - height : 0;
	band.inputLines = std::min(end - top, height) - band.firstInput;
	return band;
}

/* Banks for the data of the largest band. */
uint32_t dataBanks(const BufferNeeds &needs, const ConvLayer &layer, const std::vector<Band> &bands)
{
	uint32_t lines = 0;

	for (const Band &band : bands)
		lines = std::max(lines,
				 layer.op.winograd ? band.lines + winogradMargin : band.inputLines);
	return needs.forLines(lines);
}

/* Returns whether lines that two bands share stay in the buffer (see
 * Lowering::checkDataReuse()). */
bool linesStay(const ConvLayer &layer, const Band &before, const Band &band)
{
	const uint32_t beforeEnd = before.firstInput + before.inputLines;
	const uint32_t end = band.firstInput + band.inputLines;

	return !layer.image && !layer.op.winograd && band.firstInput > before.firstInput &&
	       band.firstInput < beforeEnd && end > beforeEnd &&
	       (end - beforeEnd) * layer.in.desc.w > 1;
}

} /* namespace */

std::vector<Band> bandsOf(Lowering &lowering, const ConvLayer &layer)
{
	const uint32_t unit = tilingOf(layer).lines;
	const uint32_t count = countOf(lowering, layer);
	std::vector<Band> bands;

	if (count < 2 || lowering.failed())
		return { Band{ .lines = layer.outH, .inputLines = layer.in.desc.h } };
	const uint32_t tiles = layer.outH / unit;
	uint32_t first = 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t lines = (tiles / count + (i < tiles % count ? 1 : 0)) * unit;
		bands.push_back(bandOf(layer, first, lines));
		first += lines;
	}
	return bands;
}

Result<void> Expansion::addBands(const op::Convolution &conv, const op::Sdp &sdp,
				 const std::vector<Band> &bands, const std::string &piece)
{
	Lowering lowering = begin(sdp, piece);
	const auto layer = convLayer(lowering, conv);
	if (!layer)
		return lowering.result();
	const Shape shape{ layer->plain.kernels, layer->outH, layer->outW };
	const DataType type = lowering.outputType(sdp.output, sdp.type, layer->plain.type);
	const Surface whole = lowering.describe(sdp.output, type, shape);
	lowering.need(
		whole.place != Place::Stream, "output",
		fmt::format("'{}' is a stream, but '{}' is made in {} bands, which PDP cannot "
			    "take on the fly",
			    whole.name, conv.output, bands.size()));
	lowering.need(!conv.reuseData, "reuseData",
		      fmt::format("'{}' is read in {} bands, of which the buffer holds one",
				  conv.input, bands.size()));
	if (lowering.failed())
		return lowering.result();
	if (whole.within.empty())
		symbols_.declared[whole.name] = whole;
	const BufferNeeds needs(lowering, *layer);
	const uint32_t data = dataBanks(needs, *layer, bands);
	/* All weights fit beside the largest band, so that every band reuses them. */
	const bool weightsStay = needs.masksStay && data + needs.allWeights <= needs.banks;
	/* If a band takes several operations of a few kernels each, convolutions that pack the
	 * resulting channels follow. They overwrite the input in the buffer. */
	const bool divided = data + needs.group > needs.banks;

	for (size_t i = 0; i < bands.size(); i++) {
		const Band &band = bands[i];
		const std::string inputLines = fmt::format("lines {} to {}", band.firstInput,
							   band.firstInput + band.inputLines - 1);
		const std::string lines = fmt::format("lines {} to {}", band.firstLine,
						      band.firstLine + band.lines - 1);
		const std::string name = piece.empty() ? lines : piece + ", " + lines;
		const OperandRange range{
			{ band.firstLine, 1, band.lines }, { 0, 1, shape.w }, shape, lines
		};
		op::Convolution layerConv = conv;
		layerConv.bands = 1;
		if (i > 0) {
			layerConv.reuseWeights = weightsStay;
			layerConv.reuseData = !divided && linesStay(*layer, bands[i - 1], band);
		}
		layerConv.input = describePart(symbols_, { .name = conv.input }, inputLines,
					       { .h = band.inputLines, .atLine = band.firstInput });
		layerConv.output = fmt::format("{} [{}]", conv.output, lines);
		layerConv.padding.top = band.top;
		layerConv.padding.bottom = band.bottom;
		op::Sdp layerSdp = withOperands(lowering, symbols_, sdp, range);
		layerSdp.input = layerConv.output;
		layerSdp.type = type;
		layerSdp.output =
			describePart(symbols_, whole, lines, { .atLine = band.firstLine });
		auto added = lowering.result().and_then(
			[&] { return addPair(layerConv, layerSdp, name); });
		if (!added)
			return added;
	}
	lowering.finish(whole);
	return {};
}

} /* namespace nvdla::assembly */
