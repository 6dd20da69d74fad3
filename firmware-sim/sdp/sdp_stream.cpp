/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_stream.h"

#include <algorithm>

#include "arith/float.h"
#include "core/elements.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_float.h"
#include "sdp/sdp_halves.h"

namespace nvdla::sim
{

SdpStream::SdpStream(const SdpOp &op, const LutTables &tables, MemoryPort &memory, AtomSink *toPdp)
	: given_(op), op_(withOneLine(op)), tables_(tables), memory_(memory), toPdp_(toPdp),
	  lanes_(op.lanes()), lut_(sdpLut, op.lut, tables), x1_(op_, op_.x1, false, memory),
	  x2_(op_, op_.x2, false, memory), y_(op_, op_.y, true, memory), guestError_(op.guestError)
{
	/* The table's kernels take whole atoms of 16 or 32 numbers. */
	if (lutBypassed() || !op.hasWideAtoms())
		return;
	if (op.proc != Precision::Fp16 && FastLut::accepts(op.lut))
		fastLut_.emplace(sdpLut, op.lut, tables, op.countsLut);
	else if (op.proc == Precision::Fp16 && FloatLut::accepts(op.lut, tables))
		floatLut_.emplace(sdpLut, op.lut, tables, op.countsLut);
}

void SdpStream::error(const char *text)
{
	if (guestError_.empty())
		guestError_ = text;
}

void SdpStream::countInput(uint32_t nan, uint32_t inf)
{
	counters_.nanInput += nan;
	counters_.infInput += inf;
}

void SdpStream::push(const StreamRun &run)
{
	if (op_.hangs)
		return;
	if (run.data.size() != size_t{ run.width } * lanes_) {
		error("SDP: the precision of the convolution differs from PROC_PRECISION");
		return;
	}
	if (run.batch >= given_.batches || run.surface >= given_.surfaces() ||
	    run.y >= given_.height || run.x >= given_.width || run.width > given_.width - run.x) {
		error("SDP: the convolution's output is larger than the cube");
		return;
	}

	if (isOnePosition(given_))
		collect(run);
	else
		process(run, run.width);
}

void SdpStream::pushLines(const StreamRun &first, uint32_t count)
{
	const uint64_t atoms = uint64_t{ first.width } * count;
	const bool isWhole = first.x == 0 && first.width == op_.width && first.batch == 0 &&
			     first.surface < op_.surfaces() && first.y < op_.height &&
			     count <= op_.height - first.y;

	if (op_.hangs || op_.batches != 1 || !isWhole || first.data.size() != atoms * lanes_ ||
	    !op_.linesFollow()) {
		StreamSink::pushLines(first, count);
		return;
	}
	process(first, static_cast<uint32_t>(atoms));
}

/* All atoms of a run, which may be lines that follow each other: PDP pools whole ones at once. */
void SdpStream::process(const StreamRun &run, uint32_t atoms)
{
	const uint32_t most = op_.toPdp && op_.width < kMostAtoms
				      ? kMostAtoms - kMostAtoms % op_.width
				      : kMostAtoms;

	for (uint32_t x = 0; x < atoms && !memory_.cancelled(); x += most)
		processSome(run, x, std::min(most, atoms - x));
}

/* Chunk of a run: \a count atoms from the run's atom \a first on. */
void SdpStream::processSome(const StreamRun &run, uint32_t first, uint32_t count)
{
	const auto input = run.data.subspan(size_t{ first } * lanes_, size_t{ count } * lanes_);
	const uint32_t x = run.x + first;

	atoms_ += count;
	if (op_.proc == Precision::Fp16 && takesBytes()) {
		loadBytes(run.surface, run.y, x, count);
		if (storeHalves(run, x, input))
			return;
		makeNumbers();
	} else {
		loadOperands(run.surface, run.y, x, count);
	}
	processLoaded(run, x, input);
}

void SdpStream::pushBytes(const StreamRun &run, std::span<const std::byte> atoms)
{
	atoms_ += run.width;
	if (isTable())
		storeByTable(run, atoms);
	else
		processBytes(run, atoms);
}

void SdpStream::processBytes(const StreamRun &run, std::span<const std::byte> atoms)
{
	if (takesBytes()) {
		loadBytes(run.surface, run.y, run.x, run.width);
		if (storeBytes(run, atoms))
			return;
		makeNumbers();
		widen(atoms);
		processLoaded(run, run.x, input_);
		return;
	}
	for (uint32_t done = 0; done < run.width; done += kMostAtoms) {
		const uint32_t count = std::min(kMostAtoms, run.width - done);
		loadOperands(run.surface, run.y, run.x + done, count);
		widen(atoms.subspan(size_t{ done } * op_.atom(), size_t{ count } * op_.atom()));
		processLoaded(run, run.x + done, input_);
	}
}

/* To input_. */
void SdpStream::widen(std::span<const std::byte> atoms)
{
	input_.resize(atoms.size() / elementBytes(op_.proc));
	if (op_.proc == Precision::Fp16) {
		const SpecialHalves special = widenSdpHalves(atoms, input_);
		countInput(special.nan, special.inf);
	} else {
		widenSdpElements(atoms, op_.proc, input_);
	}
}

/* From the atom at column \a x on, whose operands are there. */
void SdpStream::processLoaded(const StreamRun &run, uint32_t x, std::span<const int32_t> input)
{
	if (lutBypassed() && storeStages(run, x, input))
		return;
	applyStages(input);
	if (!lutBypassed())
		applyLut();
	if (op_.compares()) {
		checkZero(values_);
		return;
	}
	if (storeValues(run, x))
		return;
	convert();
	emit(run, x, static_cast<uint32_t>(input.size() / lanes_));
}

/* \param load makes operands ready, and returns those that are bytes */
template<typename Load>
void SdpStream::forEachStage(Load load)
{
	stages_.clear();
	auto add = [&](const SdpStage &stage, SdpOperands &operands) {
		if (stage.bypass)
			return;
		const std::byte *bytes = load(operands);
		stages_.push_back(
			{ &stage, &stage == &op_.y, operands.alu(), operands.mul(), bytes });
	};
	add(op_.x1, x1_);
	add(op_.x2, x2_);
	add(op_.y, y_);
}

void SdpStream::loadOperands(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	forEachStage([&](SdpOperands &operands) {
		operands.load(surface, y, x, count);
		return nullptr;
	});
}

/* The same, those of each element as they are in memory. */
void SdpStream::loadBytes(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	forEachStage(
		[&](SdpOperands &operands) { return operands.loadBytes(surface, y, x, count); });
}

/* What loadOperands() makes of what loadBytes() has read. */
void SdpStream::makeNumbers()
{
	forEachStage([](SdpOperands &operands) {
		operands.makeNumbers();
		return nullptr;
	});
}

/* Elements stay what they are; of integers there may be a line. */
bool SdpStream::takesBytes() const
{
	return op_.hasWideAtoms() && op_.out == op_.proc && staysAtoms() && lutBypassed() &&
	       bytesLine_.failures < Line::kMostFailures && x1_.areBytes() && x2_.areBytes() &&
	       y_.areBytes();
}

/* Atoms of the output are those of the input, and somebody takes them. */
bool SdpStream::staysAtoms() const
{
	return (!op_.toPdp || toPdp_) && !op_.compares() && op_.outLanes() == lanes_;
}

/* The line of the stages that are ready. */
bool SdpStream::findLine(Line &line, uint32_t surface)
{
	if (line.surface != surface) {
		line.surface = surface;
		line.found = findSdpLine(op_, stages_, lanes_, line.line);
	}
	return line.found;
}

/* From memory straight to memory: FP16, or integers on a line. */
bool SdpStream::storeBytes(const StreamRun &run, std::span<const std::byte> atoms)
{
	place(run, run.x, atoms.size(), atoms);
	const bool stored = op_.proc == Precision::Fp16
				    ? storeSdpHalves(op_, stages_, atoms, bytes_, counters_)
				    : findLine(bytesLine_, run.surface) &&
					      storeSdpLineOfBytes(op_, bytesLine_.line, stages_,
								  atoms, bytes_, counters_);

	if (stored)
		write(run, run.surface, run.x);
	else
		bytesLine_.failures++;
	return stored;
}

/* FP16 from the accumulators straight to memory. */
bool SdpStream::storeHalves(const StreamRun &run, uint32_t x, std::span<const int32_t> input)
{
	place(run, x, input.size() / lanes_ * op_.atom());
	const bool stored = storeSdpHalves(op_, stages_, input, bytes_, counters_);

	if (stored)
		write(run, run.surface, x);
	else
		bytesLine_.failures++;
	return stored;
}

/* Integers from the input straight to memory, on a line. */
bool SdpStream::storeLine(const StreamRun &run, std::span<const int32_t> input)
{
	constexpr uint64_t kFewAtoms = 4; /* of a surface: finding the line takes longer */

	if (line_.failures == Line::kMostFailures || !op_.hasWideAtoms() ||
	    uint64_t{ op_.width } * op_.height * op_.batches < kFewAtoms)
		return false;
	if (findLine(line_, run.surface) &&
	    storeSdpLine(op_, line_.line, stages_, lanes_, input, run.largest, bytes_, counters_))
		return true;
	line_.failures++;
	return false;
}

/* Integers from the input straight to memory. */
bool SdpStream::storeStages(const StreamRun &run, uint32_t x, std::span<const int32_t> input)
{
	if (!staysAtoms())
		return false;
	place(run, x, input.size() / lanes_ * op_.atom());
	if (!storeLine(run, input) && !storeSdpFast(op_, stages_, lanes_, input, bytes_, counters_))
		return false;
	write(run, run.surface, x);
	return true;
}

/* Numbers behind the stages, or behind the table, straight to memory. */
bool SdpStream::storeValues(const StreamRun &run, uint32_t x)
{
	if (!staysAtoms())
		return false;
	place(run, x, values_.size() / lanes_ * op_.atom());
	if (!narrowValues(bytes_))
		return false;
	write(run, run.surface, x);
	return true;
}

/* The same numbers, through the converter, to \a bytes. */
bool SdpStream::narrowValues(std::span<std::byte> bytes)
{
	return storeSdpOutputFloat(op_, values_, bytes, counters_) ||
	       storeSdpFast(op_, {}, lanes_, values_, bytes, counters_);
}

/* The input through all stages, to values_. */
void SdpStream::applyStages(std::span<const int32_t> input)
{
	values_.resize(input.size());
	if (op_.proc != Precision::Fp16 && applySdpFast(stages_, lanes_, input, values_))
		return;
	std::ranges::copy(input, values_.begin());
	if (op_.nanToZero && op_.proc == Precision::Fp16)
		for (int32_t &value : values_)
			if (arith::Fp32::isNan(static_cast<uint32_t>(value)))
				value = 0;
	for (const SdpStageRun &stage : stages_)
		applyStage(stage);
}

void SdpStream::applyStage(const SdpStageRun &run)
{
	const bool isFloat = op_.proc == Precision::Fp16;
	const auto fast = run.isY ? applySdpYFloat : applySdpXFloat;
	const auto reference = run.isY ? applySdpY : applySdpX;

	if (isFloat ? fast(*run.stage, values_, lanes_, run.alu, run.mul)
		    : applySdpFast({ &run, 1 }, lanes_, values_, values_))
		return;
	reference(*run.stage, op_.proc, values_, lanes_, run.alu, run.mul);
}

bool SdpStream::lutBypassed() const
{
	return op_.y.bypass || op_.y.lutBypass;
}

void SdpStream::applyLut()
{
	if (fastLut_)
		fastLut_->lookup(values_, counters_.lut);
	else if (floatLut_)
		applySdpLutFloat(*floatLut_, lut_, values_, counters_.lut);
	else
		applySdpLut(lut_, op_.proc, values_, counters_.lut);
}

void SdpStream::convert()
{
	if (!convertSdpOutputFast(op_, values_, counters_) &&
	    !convertSdpOutputFloat(op_, values_, counters_))
		convertSdpOutput(op_, values_, counters_);
}

/* INT8 to 16 bits makes two surfaces of one: the lower and the upper half of each atom. */
void SdpStream::emit(const StreamRun &run, uint32_t x, uint32_t count)
{
	const uint32_t outLanes = op_.outLanes();

	if (outLanes >= lanes_) {
		emitSurface(run, run.surface, x, count, values_);
		return;
	}
	half_.resize(size_t{ count } * outLanes);
	for (uint32_t part = 0; part < lanes_ / outLanes; part++) {
		for (uint32_t atom = 0; atom < count; atom++)
			std::copy_n(&values_[atom * lanes_ + part * outLanes], outLanes,
				    &half_[atom * outLanes]);
		emitSurface(run, run.surface * (lanes_ / outLanes) + part, x, count, half_);
	}
}

void SdpStream::emitSurface(const StreamRun &run, uint32_t surface, uint32_t x, uint32_t count,
			    std::span<const int32_t> values)
{
	checkZero(values);
	buffer_.resize(size_t{ count } * op_.atom());
	bytes_ = buffer_;
	narrowElements(values, op_.out, bytes_);
	write(run, surface, x);
}

uint64_t SdpStream::addressOf(const StreamRun &run, uint32_t surface, uint32_t x) const
{
	const FeatureCube &cube = op_.destination;

	return cube.address + uint64_t{ surface } * cube.surfaceStride +
	       uint64_t{ run.y } * cube.lineStride + uint64_t{ run.batch } * cube.batchStride +
	       uint64_t{ x } * op_.atom();
}

/*
 * Makes bytes_ of what is to be written from the atom at column \a x on: where it belongs, unless
 * \a atoms or operands of each element, which may be read again, are there as well.
 */
void SdpStream::place(const StreamRun &run, uint32_t x, size_t size,
		      std::span<const std::byte> atoms)
{
	if (op_.toPdp) {
		buffer_.resize(size);
		bytes_ = buffer_;
		return;
	}
	bytes_ = memory_.place(op_.destination.ram, addressOf(run, run.surface, x), size, buffer_);
	const bool operandsAreApart = std::ranges::all_of(stages_, [&](const SdpStageRun &stage) {
		return !stage.aluBytes || areApart({ stage.aluBytes, size }, bytes_);
	});

	if (operandsAreApart && areApart(atoms, bytes_))
		return;
	buffer_.resize(size);
	bytes_ = buffer_;
}

/* bytes_, to PDP line by line: atoms beyond the line are of the next ones. */
void SdpStream::handOver(const StreamRun &run, uint32_t surface, uint32_t x)
{
	std::span<const std::byte> left = bytes_;

	for (AtomRun some{ .batch = run.batch,
			   .surface = surface,
			   .y = run.y + x / op_.width,
			   .x = x % op_.width,
			   .precision = op_.out,
			   .atoms = {} };
	     toPdp_ && !left.empty(); some.y++, some.x = 0) {
		const size_t line = size_t{ op_.width - some.x } * op_.atom();
		some.atoms = left.first(std::min(line, left.size()));
		left = left.subspan(some.atoms.size());
		toPdp_->push(some);
	}
}

/* bytes_, to the line's atoms from \a x on. */
void SdpStream::write(const StreamRun &run, uint32_t surface, uint32_t x)
{
	if (op_.toPdp)
		handOver(run, surface, x);
	else
		memory_.write(op_.destination.ram, addressOf(run, surface, x), bytes_);
}

void SdpStream::checkZero(std::span<const int32_t> values)
{
	counters_.nonZero |=
		std::any_of(values.begin(), values.end(), [](int32_t value) { return value != 0; });
}

} /* namespace nvdla::sim */
