/* SPDX-License-Identifier: MIT */
/*
 * Deconvolutions: a convolution for each phase of the output, and RUBIK to interleave the phases
 * (programming guide, "Deconvolution").
 */
#include <algorithm>

#include <fmt/core.h>

#include "conv_layer.h"
#include "deconv_phase.h"
#include "expansion.h"

namespace nvdla::assembly
{

namespace
{

/* Values that all phases of a deconvolution share. */
struct Phases {
	const op::Deconvolution &op;
	const DeconvLayer &layer;
	DeconvolutionSets sets;
	DeconvAxis x;
	DeconvAxis y;
};

/* Makes the weights of the set of kernels for phase (\a y, \a x); returns their name. */
std::string weightsOf(Symbols &symbols, const Phases &phases, uint32_t y, uint32_t x)
{
	const GraphWeights &whole = phases.layer.weights;
	const WeightDesc &desc = phases.sets.desc;
	const std::vector<std::byte> &set = phases.sets.sets[y * phases.op.stride.x + x];

	const std::string name = fmt::format("{} [set {}, {} of {} x {}]", whole.name, y, x,
					     phases.op.stride.y, phases.op.stride.x);

	/* The cubes of a batch share the weights. */
	if (symbols.weights.contains(name))
		return name;
	symbols.derivedWeights.push_back({ .name = name,
					   .k = desc.kernels,
					   .c = desc.channels,
					   .r = desc.height,
					   .s = desc.width,
					   .elements = { desc.type, set },
					   .compressed = whole.compressed,
					   .onChip = whole.onChip });
	symbols.weights[name] = &symbols.derivedWeights.back();
	return name;
}

op::Convolution convolutionOf(Symbols &symbols, const Phases &phases, const DeconvPhase &y,
			      const DeconvPhase &x, const std::string &name)
{
	const op::Deconvolution &op = phases.op;
	op::Convolution conv{ .name = op.name,
			      .input = op.input,
			      .weights = weightsOf(symbols, phases, y.set, x.set),
			      .output = fmt::format("{} [{}]", op.output, name),
			      .padding = { x.before, x.after, y.before, y.after },
			      .accumulatorShift = op.accumulatorShift,
			      .nanToZero = op.nanToZero };

	if (y.inputs < phases.y.in || x.inputs < phases.x.in)
		conv.input = describePart(symbols, { .name = op.input },
					  fmt::format("lines {} to {}, columns {} to {}",
						      y.firstInput, y.firstInput + y.inputs - 1,
						      x.firstInput, x.firstInput + x.inputs - 1),
					  { .h = y.inputs,
					    .w = x.inputs,
					    .atLine = y.firstInput,
					    .atColumn = x.firstInput });
	return conv;
}

/*
 * Surface for the phases of output lines number, number + stride.y, ..., one phase after another in
 * channels.
 */
Surface rowOf(const Lowering &lowering, const Phases &phases, const Surface &whole, uint32_t number)
{
	const uint32_t atom = lowering.geometry().atomChannels(whole.type);
	/* SDP writes two atoms at a time when it widens INT8 to INT16. */
	const uint32_t unit = whole.type == DataType::Int16 &&
					      phases.layer.weights.elements.type == DataType::Int8
				      ? 2 * atom
				      : atom;
	const auto channels = static_cast<uint32_t>(alignUp(whole.c, unit));

	return { .name = fmt::format("{} [phases of line {}]", whole.name, number),
		 .type = whole.type,
		 .c = channels * phases.op.stride.x,
		 .h = deconvPhase(phases.y, number).outputs,
		 .w = deconvPhase(phases.x, 0).outputs,
		 .place = phases.op.phasesOnChip ? Place::Sram : Place::Memory };
}

/* Lowers the phases of a deconvolution with the SDP operation behind it. */
class Deconvolver
{
public:
	Deconvolver(Expansion &expansion, Lowering &lowering, Symbols &symbols,
		    const Phases &phases, const op::Sdp &sdp, const Surface &whole)
		: expansion_(expansion), lowering_(lowering), symbols_(symbols), phases_(phases),
		  sdp_(sdp), whole_(whole)
	{
	}

	/* Lower all phases of the output lines line, line + stride.y, ... */
	Result<void> addPhases(uint32_t line);
	Result<void> putTogether(uint32_t line);

private:
	bool inPlace() const { return phases_.op.stride.x == 1; }
	Result<void> addPhase(uint32_t line, uint32_t column, const std::string &output);
	std::string linesOf(uint32_t line);

	std::string lastBuffer_; /**< input of the previous phase, which the buffer still holds */
	Expansion &expansion_;
	Lowering &lowering_;
	Symbols &symbols_;
	const Phases &phases_;
	const op::Sdp &sdp_;
	const Surface &whole_;
};

std::string Deconvolver::linesOf(uint32_t line)
{
	return describePart(symbols_, whole_,
			    fmt::format("lines {}, {}, ...", line, line + phases_.op.stride.y),
			    { .c = whole_.c,
			      .h = deconvPhase(phases_.y, line).outputs,
			      .w = whole_.w,
			      .atLine = line,
			      .lineStep = phases_.op.stride.y });
}

Result<void> Deconvolver::addPhase(uint32_t line, uint32_t column, const std::string &output)
{
	const std::string name = fmt::format("phase {}, {}", line, column);
	const DeconvPhase y = deconvPhase(phases_.y, line);
	const DeconvPhase x = deconvPhase(phases_.x, column);
	const op::Axes &stride = phases_.op.stride;
	const OperandRange range{ { line, stride.y, y.outputs },
				  { column, stride.x, x.outputs },
				  { whole_.c, whole_.h, whole_.w },
				  name };
	op::Convolution conv = convolutionOf(symbols_, phases_, y, x, name);
	op::Sdp sdp = withOperands(lowering_, symbols_, sdp_, range);

	/*
	 * Phases with the same input divide the buffer in the same way, so a phase reuses the input
	 * of the previous one.
	 */
	const bool sparse = isSparse(*symbols_.weights.at(conv.weights));
	const std::string buffer = fmt::format("{} {}", sparse, conv.input);
	conv.reuseData = buffer == lastBuffer_ && expansion_.isDivided(conv) == false;
	lastBuffer_ = buffer;
	sdp.input = conv.output;
	sdp.output = output;
	sdp.type = whole_.type;
	return lowering_.result().and_then([&] { return expansion_.addPair(conv, sdp, name); });
}

Result<void> Deconvolver::addPhases(uint32_t line)
{
	if (inPlace())
		return addPhase(line, 0, linesOf(line));
	const Surface row = rowOf(lowering_, phases_, whole_, line);
	const uint32_t channels = row.c / phases_.op.stride.x;
	symbols_.declared.insert_or_assign(row.name, row);
	symbols_.ragged.insert(row.name);

	for (uint32_t column = 0; column < std::min(phases_.op.stride.x, whole_.w); column++) {
		const uint32_t columns = deconvPhase(phases_.x, column).outputs;
		lowering_.need(
			row.h * columns > 1 || row.w == 1, "output",
			fmt::format("'{}' is {} high and {} wide: one of its phases would "
				    "be a single element, which SDP writes nowhere else than "
				    "into a surface of one",
				    whole_.name, whole_.h, whole_.w));
		const std::string part =
			describePart(symbols_, row, fmt::format("phase {}", column),
				     { .c = whole_.c,
				       .h = row.h,
				       .w = columns,
				       .place = row.place,
				       .atChannel = column * channels });
		if (auto added = addPhase(line, column, part); !added)
			return added;
	}
	return {};
}

Result<void> Deconvolver::putTogether(uint32_t line)
{
	if (inPlace())
		return {};
	return expansion_.lowerOne(
		op::Contract{ .name = phases_.op.name,
			      .input = rowOf(lowering_, phases_, whole_, line).name,
			      .output = linesOf(line),
			      .stride = { phases_.op.stride.x, 1 } },
		fmt::format("line {}", line));
}

} /* namespace */

Result<void> Expansion::addDeconvolution(const op::Deconvolution &deconv, const op::Sdp &sdp)
{
	Lowering lowering = begin(sdp);
	const auto layer = deconvLayer(lowering, deconv);
	if (!layer)
		return lowering.result();
	const GraphWeights &weights = layer->weights;
	const WeightDesc plain{ weights.elements.type, weights.k, weights.c, weights.r, weights.s };
	auto sets =
		splitDeconvolution(plain, deconv.stride.x, deconv.stride.y, weights.elements.bytes);
	if (!sets)
		return forward(sets);
	const uint32_t kernelW = sets->desc.width;
	const uint32_t kernelH = sets->desc.height;
	const Phases phases{ deconv,
			     *layer,
			     std::move(*sets),
			     { layer->in.w, kernelW, deconv.stride.x, deconv.padding.left,
			       layer->out.w, divideUp(layer->out.w, deconv.stride.x) },
			     { layer->in.h, kernelH, deconv.stride.y, deconv.padding.top,
			       layer->out.h, 0 } };
	const DataType type = lowering.outputType(sdp.output, sdp.type, weights.elements.type);
	Surface whole = lowering.describe(sdp.output, type, layer->out);
	lowering.need(
		whole.place != Place::Stream, "output",
		fmt::format("'{}' is a stream, but a deconvolution ends in memory", whole.name));
	if (lowering.failed())
		return lowering.result();
	/* RUBIK writes whole blocks, which may end behind the last column. */
	const auto written = static_cast<uint32_t>(alignUp(layer->out.w, deconv.stride.x));
	const uint32_t unit = lowering.geometry().atomBytes * (whole.n > 1 ? 2 : 1);
	if (whole.within.empty() && !whole.lineStride && written > whole.w)
		whole.lineStride = static_cast<uint32_t>(
			alignUp(written * lowering.geometry().atomBytes, unit));
	if (whole.within.empty())
		symbols_.declared[whole.name] = whole;
	/* RUBIK does not support batches. */
	if (whole.n > 1)
		return addCubes(deconv, sdp, whole);

	/* RUBIK interleaves lines while the next lines' phases are computed (programming guide,
	 * method b). */
	Deconvolver deconvolver(*this, lowering, symbols_, phases, sdp, whole);
	const uint32_t lines = std::min(deconv.stride.y, whole.h);
	for (uint32_t line = 0; line <= lines; line++) {
		auto added = line < lines ? deconvolver.addPhases(line) : Result<void>();
		if (added && line > 0)
			added = deconvolver.putTogether(line - 1);
		if (!added)
			return added;
	}
	lowering.finish(whole);
	return {};
}

} /* namespace nvdla::assembly */
