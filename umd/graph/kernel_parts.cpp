/* SPDX-License-Identifier: MIT */
/*
 * Divides a convolution whose kernel group does not fit the convolution buffer into operations of
 * fewer kernels.
 */
#include <algorithm>

#include <fmt/core.h>

#include "conv_layer.h"
#include "expansion.h"

namespace nvdla::assembly
{

namespace
{

/* Makes weights of some kernels, and removes them once their operation is lowered. */
class SomeKernels
{
public:
	SomeKernels(Symbols &symbols, const GraphWeights &whole, uint32_t first, uint32_t count)
		: symbols_(symbols),
		  name_(fmt::format("{} [kernels {} to {}]", whole.name, first, first + count - 1))
	{
		const size_t kernel = whole.elements.bytes.size() / whole.k;
		const auto begin =
			whole.elements.bytes.begin() + static_cast<ptrdiff_t>(first * kernel);
		GraphWeights some = weightsLike(whole, name_, count, whole.c);

		some.elements.bytes.assign(begin, begin + static_cast<ptrdiff_t>(count * kernel));
		symbols_.derivedWeights.push_back(std::move(some));
		symbols_.weights[name_] = &symbols_.derivedWeights.back();
	}
	~SomeKernels()
	{
		symbols_.weights.erase(name_);
		symbols_.derivedWeights.pop_back();
	}
	SomeKernels(const SomeKernels &) = delete;
	SomeKernels &operator=(const SomeKernels &) = delete;

	const std::string &name() const { return name_; }

private:
	Symbols &symbols_;
	std::string name_;
};

/*
 * Neighbouring atoms of the output that several operations compute. The core writes whole atoms, so
 * each operation writes its few channels to a slot of a scratch surface: one or two whole atoms.
 * The slots of one output atom are side by side in the channels of the scratch surface; the slots
 * of the next output atom are in the lines behind. Then convolutions pack the channels.
 */
struct Block {
	uint32_t first = 0; /* first channel in the output */
	uint32_t channels = 0;
	uint32_t atoms = 0; /* atoms of the output at each position */
	uint32_t slots = 0; /* slots for each of these atoms */
	Surface scratch;
};

class KernelDivider
{
public:
	KernelDivider(Expansion &expansion, Lowering &lowering, Symbols &symbols,
		      const ConvLayer &layer, const op::Sdp &sdp, const Surface &whole)
		: expansion_(expansion), lowering_(lowering), symbols_(symbols), layer_(layer),
		  sdp_(sdp), whole_(whole), atom_(lowering.geometry().atomChannels(whole.type)),
		  slot_(channelUnit(whole.type, lowering.geometry())),
		  kernels_(std::min(kernelsAtOnce(lowering, layer), atom_))
	{
	}

	/* Compute channels of the output: whole atoms, or a last atom that is not full. */
	Result<void> add(uint32_t first, uint32_t channels);

private:
	Block blockOf(uint32_t first, uint32_t channels);
	Result<op::Sdp> sdpOf(const Block &block, uint32_t at);
	Result<void> addParts(const Block &block);
	Result<void> pack(const Block &block);
	Result<void> packLine(const Block &block, const std::string &weights, uint32_t line);
	uint32_t atomsAtOnce(const Block &block) const;
	Result<void> select(const std::string &weights, const std::string &input,
			    const std::string &output, const std::string &piece);
	std::string piece(const std::string &name) const
	{
		const std::string &outer = lowering_.node.piece;

		return outer.empty() ? name : outer + ", " + name;
	}

	Expansion &expansion_;
	Lowering &lowering_;
	Symbols &symbols_;
	const ConvLayer &layer_;
	const op::Sdp &sdp_;
	const Surface &whole_;
	const uint32_t atom_;	 /* channels of an atom of the output */
	const uint32_t slot_;	 /* channels of a slot */
	const uint32_t kernels_; /* kernels of one operation, a divisor of atom_ */
};

Block KernelDivider::blockOf(uint32_t first, uint32_t channels)
{
	Block block{ .first = first,
		     .channels = channels,
		     .atoms = divideUp(channels, atom_),
		     .slots = divideUp(std::min(channels, atom_), kernels_),
		     .scratch = { .type = whole_.type, .w = whole_.w, .place = whole_.place } };

	block.scratch.name =
		fmt::format("{} [{}, apart]", whole_.name, channelsFrom(first, channels));
	block.scratch.c = block.slots * slot_;
	block.scratch.h = block.atoms * whole_.h;
	symbols_.declared.insert_or_assign(block.scratch.name, block.scratch);
	symbols_.ragged.insert(block.scratch.name);
	return block;
}

/* Makes the SDP operation for the kernels from number \a at of the block on. First extracts slices
 * of surfaces that the operation reads. */
Result<op::Sdp> KernelDivider::sdpOf(const Block &block, uint32_t at)
{
	const uint32_t first = block.first + at;
	const uint32_t count = std::min(kernels_, block.channels - at);
	const std::string name = channelsFrom(first, count);
	const OperandRange range{ { 0, 1, whole_.h },
				  { 0, 1, whole_.w },
				  { whole_.c, whole_.h, whole_.w },
				  name,
				  OperandRange::Axis{ first, 1, count } };
	op::Sdp some = withOperands(lowering_, symbols_, sdp_, range);

	some.input = fmt::format("{} [{}]", layer_.op.output, name);
	some.output = describePart(
		symbols_, block.scratch, name,
		{ .atChannel = at % atom_ / kernels_ * slot_, .atLine = at / atom_ * whole_.h });
	some.type = whole_.type;
	for (const auto *unit : { &some.x1, &some.x2, &some.y }) {
		if (!*unit || (*unit)->operands.empty())
			continue;
		if (auto added = expansion_.addSlice((*unit)->operands); !added)
			return forward(added);
	}
	return lowering_.result().transform([&] { return std::move(some); });
}

Result<void> KernelDivider::addParts(const Block &block)
{
	std::vector<op::Sdp> behind;

	for (uint32_t at = 0; at < block.channels; at += kernels_) {
		auto sdp = sdpOf(block, at);
		if (!sdp)
			return forward(sdp);
		behind.push_back(std::move(*sdp));
	}
	for (uint32_t at = 0; at < block.channels; at += kernels_) {
		const op::Sdp &sdp = behind[at / kernels_];
		const uint32_t first = block.first + at;
		const uint32_t count = std::min(kernels_, block.channels - at);
		const std::string name = piece(channelsFrom(first, count));
		const SomeKernels some(symbols_, layer_.weights, first, count);
		op::Convolution conv = layer_.op;
		conv.weights = some.name();
		conv.output = sdp.input;
		conv.reuseData = first == 0 ? layer_.op.reuseData : at > 0;
		auto added = expansion_.lowerOne(conv, name).and_then([&] {
			return expansion_.lowerOne(sdp, name);
		});
		if (!added)
			return added;
	}
	return {};
}

Result<void> KernelDivider::select(const std::string &weights, const std::string &input,
				   const std::string &output, const std::string &piece)
{
	const op::Convolution conv{ .name = layer_.op.name,
				    .input = input,
				    .weights = weights,
				    .output = output + " [sums]" };
	const op::Sdp sdp{
		.name = sdp_.name, .input = conv.output, .output = output, .type = whole_.type
	};

	return expansion_.addPair(conv, sdp, piece);
}

/* Number of output atoms that one convolution packs: as many as fit beside its weights. */
uint32_t KernelDivider::atomsAtOnce(const Block &block) const
{
	constexpr uint32_t weightBanks = 2;
	const CoreGeometry &core = lowering_.geometry();
	const uint64_t atoms = divideUp(block.scratch.c, atom_);
	const uint64_t bytes = alignUp(atoms * core.atomBytes, core.entryBytes) * whole_.w;
	const uint64_t most = (core.bufferBanks - weightBanks) * core.bankBytes() / bytes;

	return divideUp(block.atoms,
			divideUp(block.atoms, std::clamp<uint64_t>(most, 1, block.atoms)));
}

/* Adds convolutions that pack the channels of one output line. Their output is transposed (see
 * Surface::turned): atoms of the same position are its lines. */
Result<void> KernelDivider::packLine(const Block &block, const std::string &weights, uint32_t line)
{
	const uint32_t most = atomsAtOnce(block);

	for (uint32_t atom = 0; atom < block.atoms; atom += most) {
		const uint32_t atoms = std::min(most, block.atoms - atom);
		const std::string name =
			fmt::format("line {} of {}", line,
				    channelsFrom(block.first + atom * atom_, atoms * atom_));
		const std::string from = describePart(
			symbols_, block.scratch, name,
			{ .h = atoms, .atLine = atom * whole_.h + line, .lineStep = whole_.h });
		const std::string to = describePart(symbols_, whole_, name,
						    { .c = atoms * atom_,
						      .h = 1,
						      .w = whole_.w,
						      .atChannel = block.first + atom * atom_,
						      .atLine = line,
						      .turned = true });
		if (auto added = select(weights, from, to, piece(name)); !added)
			return added;
	}
	return {};
}

Result<void> KernelDivider::pack(const Block &block)
{
	const std::string name = block.scratch.name + " kernels";
	const uint32_t all = std::min(block.channels, atom_);
	std::vector<ChannelRun> runs;

	for (uint32_t at = 0; at < all; at += kernels_)
		runs.push_back({ at / kernels_ * slot_, at, std::min(kernels_, all - at) });
	symbols_.derivedWeights.push_back(selection(name, whole_.type, block.scratch.c, runs));
	symbols_.weights[name] = &symbols_.derivedWeights.back();
	if (block.atoms == 1) {
		const std::string channels = channelsFrom(block.first, block.channels);
		return select(
			name, block.scratch.name,
			describePart(symbols_, whole_, channels, { .atChannel = block.first }),
			piece("packing of " + channels));
	}
	for (uint32_t line = 0; line < whole_.h; line++) {
		if (auto added = packLine(block, name, line); !added)
			return added;
	}
	return {};
}

Result<void> KernelDivider::add(uint32_t first, uint32_t channels)
{
	if (channels == 0)
		return {};
	const Block block = blockOf(first, channels);

	return addParts(block).and_then([&] { return pack(block); });
}

} /* namespace */

Result<void> Expansion::addKernels(const op::Convolution &conv, const op::Sdp &sdp,
				   const std::string &piece)
{
	Lowering lowering = begin(sdp, piece);
	const auto layer = convLayer(lowering, conv);
	if (!layer)
		return lowering.result();
	const Shape shape{ layer->plain.kernels, layer->outH, layer->outW, layer->in.desc.n };
	const DataType type = lowering.outputType(sdp.output, sdp.type, layer->plain.type);
	const Surface whole = lowering.describe(sdp.output, type, shape);
	lowering.need(whole.place != Place::Stream && !whole.turned, "output",
		      fmt::format("'{}' is a stream or turned, but '{}' is made in several "
				  "hardware layers, which can only write a surface in memory",
				  whole.name, conv.output));
	lowering.need(!conv.reuseWeights, "reuseWeights",
		      fmt::format("'{}' do not all fit into the convolution buffer", conv.weights));
	if (lowering.failed())
		return lowering.result();
	if (whole.within.empty())
		symbols_.declared[whole.name] = whole;
	if (whole.n > 1)
		return addCubes(conv, sdp, whole);
	KernelDivider divider(*this, lowering, symbols_, *layer, sdp, whole);
	const uint32_t atom = lowering.geometry().atomChannels(type);
	const uint32_t inAtoms = whole.c / atom * atom;
	auto added = divider.add(0, inAtoms).and_then([&] {
		return divider.add(inAtoms, whole.c - inAtoms);
	});
	if (added)
		lowering.finish(whole);
	return added;
}

} /* namespace nvdla::assembly */
