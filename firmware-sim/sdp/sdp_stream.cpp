/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_stream.h"

#include <algorithm>
#include <numeric>

#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "core/elements.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_float.h"

namespace nvdla::sim
{

namespace
{

/* Fills \a bytes with elements that count up from \a first. */
template<typename Element>
void countUp(size_t first, std::span<std::byte> bytes)
{
	auto *elements = reinterpret_cast<Element *>(bytes.data());

	std::iota(elements, elements + bytes.size() / sizeof(Element), static_cast<Element>(first));
}

} /* namespace */

SdpStream::SdpStream(const SdpOp &op, const LutTables &tables, MemoryPort &memory, AtomSink *toPdp)
	: op_(op), tables_(tables), memory_(memory), toPdp_(toPdp), lanes_(op.lanes()),
	  vectorAtoms_(op.atomsOfVector()), vectorLanes_(lanes_ * vectorAtoms_),
	  lut_(sdpLut, op.lut, tables), x1_(op_, op_.x1, false, memory),
	  x2_(op_, op_.x2, false, memory), y_(op_, op_.y, true, memory), guestError_(op.guestError)
{
	/* The fast tables need whole atoms of 16 or 32 numbers. */
	if (lutBypassed() || !areWhole(vectorLanes_))
		return;
	if (isTableOfBytes())
		makeTableOfBytes();
	if (op.proc != Precision::Fp16 && FastLut::accepts(op.lut))
		fastLut_.emplace(sdpLut, op.lut, tables, op.countsLut);
	else if (op.proc == Precision::Fp16 && FloatLut::accepts(op.lut, tables))
		floatLut_.emplace(sdpLut, op.lut, tables, op.countsLut);
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
	if (run.batch >= op_.batches || run.surface >= op_.surfaces() || run.y >= op_.height ||
	    run.x >= op_.width || run.width > op_.width - run.x) {
		error("SDP: the convolution's output is larger than the cube");
		return;
	}

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

/* Processes the atoms of one or more lines of a run; for PDP, whole lines together if possible. */
void SdpStream::process(const StreamRun &run, uint32_t atoms)
{
	const uint32_t most = op_.toPdp && op_.width < kMostAtoms
				      ? kMostAtoms - kMostAtoms % op_.width
				      : kMostAtoms;

	for (uint32_t x = 0, some; x < atoms && !memory_.cancelled(); x += some) {
		some = std::min(most, atoms - x);
		if (some > vectorAtoms_)
			some -= some % vectorAtoms_;
		processSome(run, x, some);
	}
}

/* Processes \a count atoms of a run, from its atom \a first on. */
void SdpStream::processSome(const StreamRun &run, uint32_t first, uint32_t count)
{
	const auto input = run.data.subspan(size_t{ first } * lanes_, size_t{ count } * lanes_);
	const uint32_t x = run.x + first;

	atoms_ += count;
	loadOperands(run.surface, run.y, x, count);
	processLoaded(run, x, input);
}

void SdpStream::pushBytes(const StreamRun &run, std::span<const std::byte> atoms)
{
	const uint32_t odd = run.width % vectorAtoms_;

	if (odd && odd != run.width) {
		StreamRun part = run;
		part.width -= odd;
		const auto whole = atoms.first(size_t{ part.width } * op_.atom());
		pushBytes(part, whole);
		part.x += part.width;
		part.width = odd;
		pushBytes(part, atoms.subspan(whole.size()));
		return;
	}
	atoms_ += run.width;
	if (isTable()) {
		storeByTable(run, atoms);
		return;
	}
	loadOperands(run.surface, run.y, run.x, run.width);
	widen(atoms);
	processLoaded(run, run.x, input_);
}

/* Widens the atoms to input_. */
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

/* Processes the run from the atom at column \a x on, with operands already loaded. */
void SdpStream::processLoaded(const StreamRun &run, uint32_t x, std::span<const int32_t> input)
{
	const size_t size = input.size() * elementBytes(op_.out);

	if (op_.compares()) {
		makeNumbers(input);
		checkZero(values_);
	} else if (op_.outParts() == 1) {
		place(run, x, size);
		makeResults(run, input, bytes_);
		write(run, run.surface, x);
	} else {
		results_.resize(size);
		makeResults(run, input, results_);
		writeParts(run, x);
	}
}

void SdpStream::loadOperands(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	stages_.clear();
	stages_.reserve(3); /* X1, X2, Y */
	auto add = [&](const SdpStage &stage, SdpOperands &operands) {
		if (stage.bypass)
			return;
		operands.load(surface, y, x, count);
		stages_.push_back({ &stage, &stage == &op_.y, operands.alu(), operands.mul() });
	};
	add(op_.x1, x1_);
	add(op_.x2, x2_);
	add(op_.y, y_);
}

/* \return true if each input surface becomes one output surface, in memory or for PDP. */
bool SdpStream::staysAtoms() const
{
	return !op_.compares() && op_.outLanes() == lanes_;
}

/* Makes the output's elements, in memory format. */
void SdpStream::makeResults(const StreamRun &run, std::span<const int32_t> input,
			    std::span<std::byte> bytes)
{
	const SdpOp &op = toBytes_ ? *toBytes_ : op_;
	const bool nonZero = counters_.nonZero;

	if ((toBytes_ || lutBypassed()) &&
	    (storeLine(op, run, input, bytes) || store(op, stages_, input, bytes))) {
		if (toBytes_)
			counters_.nonZero = lookUpSdpTable(*table_, bytes, bytes) || nonZero;
		return;
	}
	makeNumbers(input);
	if (store(op_, {}, values_, bytes))
		return;
	convertSdpOutput(op_, values_, counters_);
	checkZero(values_);
	narrowElements(values_, op_.out, bytes);
}

/* \return true if SIMD kernels can process \a numbers: whole blocks of atoms. */
bool SdpStream::areWhole(size_t numbers) const
{
	return vectorLanes_ == atomChannels(op_.proc) && numbers % vectorLanes_ == 0;
}

/* Computes integers by a line (sdp_line.h), which is not tried again after too many failures. */
bool SdpStream::storeLine(const SdpOp &op, const StreamRun &run, std::span<const int32_t> input,
			  std::span<std::byte> bytes)
{
	constexpr uint32_t kMostFailures = 4; /* runs for which a line failed */
	constexpr uint64_t kFewAtoms = 4;     /* to find a line takes too long for fewer atoms */

	if (line_.failures == kMostFailures || !areWhole(input.size()) ||
	    uint64_t{ op.width } * op.height * op.batches < kFewAtoms * vectorAtoms_)
		return false;
	if (line_.surface != run.surface) {
		line_.surface = run.surface;
		line_.found = findSdpLine(op, stages_, vectorLanes_, line_.line);
	}
	if (line_.found && storeSdpLine(op, line_.line, stages_, vectorLanes_, input, run.largest,
					bytes, counters_))
		return true;
	line_.failures++;
	return false;
}

/* Applies all stages and the converter in vectors. */
bool SdpStream::store(const SdpOp &op, std::span<const SdpStageRun> stages,
		      std::span<const int32_t> input, std::span<std::byte> bytes)
{
	return areWhole(input.size()) &&
	       (storeSdpFloat(op, stages, input, bytes, counters_) ||
		storeSdpFast(op, stages, vectorLanes_, input, bytes, counters_));
}

/* Passes the input through all stages and the table to values_. */
void SdpStream::makeNumbers(std::span<const int32_t> input)
{
	const bool isFloat = op_.proc == Precision::Fp16;
	const bool whole = areWhole(input.size());

	values_.resize(input.size());
	if (!whole || !(isFloat ? applySdpFloat(op_, stages_, input, values_)
				: applySdpFast(stages_, vectorLanes_, input, values_))) {
		std::ranges::copy(input, values_.begin());
		clearSdpNans(op_, values_);
		for (const SdpStageRun &run : stages_)
			applySdpStage(run, op_.proc, values_, vectorLanes_);
	}
	if (lutBypassed())
		return;
	if (fastLut_ && whole)
		fastLut_->lookup(values_, counters_.lut);
	else if (floatLut_ && whole)
		applySdpLutFloat(*floatLut_, lut_, values_, counters_.lut);
	else
		applySdpLut(lut_, op_.proc, values_, counters_.lut);
}

bool SdpStream::lutBypassed() const
{
	return op_.y.bypass || op_.y.lutBypass;
}

/* Writes two surfaces for one (INT8 to 16 bits): lower and upper halves of the atoms. */
void SdpStream::writeParts(const StreamRun &run, uint32_t x)
{
	const size_t atom = op_.atom();
	const uint32_t parts = op_.outParts();

	buffer_.resize(results_.size() / parts);
	bytes_ = buffer_;
	for (uint32_t part = 0; part < parts; part++) {
		for (size_t i = 0; i < bytes_.size(); i += atom)
			std::copy_n(&results_[i * parts + part * atom], atom, &bytes_[i]);
		write(run, run.surface * parts + part, x);
	}
}

uint64_t SdpStream::addressOf(const StreamRun &run, uint32_t surface, uint32_t x) const
{
	return op_.destination.addressOf(surface, run.y, uint64_t{ x } * op_.atom()) +
	       uint64_t{ run.batch } * op_.destination.batchStride;
}

/*
 * Sets bytes_ to the place of the output from the atom at column \a x on. The place is in memory
 * itself, unless it overlaps \a atoms, the input that is still to be read.
 */
void SdpStream::place(const StreamRun &run, uint32_t x, size_t size,
		      std::span<const std::byte> atoms)
{
	bytes_ = {};
	if (!op_.toPdp)
		bytes_ = memory_.place(op_.destination.ram, addressOf(run, run.surface, x), size);
	if (!bytes_.empty() && areApart(atoms, bytes_))
		return;
	buffer_.resize(size);
	bytes_ = buffer_;
}

/* Passes bytes_ to PDP line by line: atoms beyond the end of a line belong to the next line. */
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

/* Writes bytes_ to the line's atoms from \a x on. */
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

void SdpStream::reportCounters(OperationResult &result) const
{
	const LutCounters lut = op_.countsLut && !lutBypassed() ? counters_.lut : LutCounters{};
	/* The hardware sets the flag in the write path: output to PDP does not set it. */
	const bool writes = !op_.toPdp || op_.compares();
	const bool countsNan = op_.countsInputNan && op_.in == Precision::Fp16;

	result.updates = {
		{ NVDLA_SDP_D_STATUS, writes && counters_.nonZero },
		{ NVDLA_SDP_D_STATUS_NAN_INPUT_NUM, 0 },
		{ NVDLA_SDP_D_STATUS_INF_INPUT_NUM, 0 },
		{ NVDLA_SDP_D_STATUS_NAN_OUTPUT_NUM,
		  op_.countsOutputNan ? counters_.nanOutput : 0 },
		{ NVDLA_SDP_D_PERF_LUT_UFLOW, lut.underflow },
		{ NVDLA_SDP_D_PERF_LUT_OFLOW, lut.overflow },
		{ NVDLA_SDP_D_PERF_LUT_HYBRID, lut.hybrid },
		{ NVDLA_SDP_D_PERF_LUT_LE_HIT, lut.leHit },
		{ NVDLA_SDP_D_PERF_LUT_LO_HIT, lut.loHit },
		{ NVDLA_SDP_D_PERF_OUT_SATURATION,
		  op_.countsSaturation ? counters_.saturation : 0 },
	};
	if (!op_.usesRdma())
		return;
	result.updates.push_back(
		{ NVDLA_SDP_RDMA_D_STATUS_NAN_INPUT_NUM, countsNan ? counters_.nanInput : 0 });
	result.updates.push_back(
		{ NVDLA_SDP_RDMA_D_STATUS_INF_INPUT_NUM, countsNan ? counters_.infInput : 0 });
}

OperationResult SdpStream::finish()
{
	OperationResult result;
	const uint64_t expected = uint64_t{ op_.batches } * op_.surfaces() * op_.height * op_.width;

	if (op_.toPdp && !toPdp_ && !op_.compares())
		error("SDP: the output goes to PDP, which does not take it");
	if (atoms_ != expected) {
		error("SDP: the input is not the whole cube");
		result.hangs = true;
	}
	result.hangs |= op_.hangs;
	result.guestError = guestError_;
	for (SdpOperands *operands : { &x1_, &x2_, &y_ })
		operands->countPerKernel();
	reportCounters(result);
	result.work.sdp = sdpWork(op_);
	return result;
}

/* \return true if the operation can be one look-up per element: nothing is counted, and the cube
 * has at least twice as many elements as the table has entries. */
bool SdpStream::isTable() const
{
	const bool isFloat = op_.proc == Precision::Fp16;
	const bool counts = op_.countsLut || op_.countsSaturation ||
			    (isFloat && (op_.countsInputNan || op_.countsOutputNan));
	const uint64_t atoms = uint64_t{ op_.width } * op_.height * op_.surfaces();

	return op_.hasWideAtoms() && op_.out == op_.proc && staysAtoms() && !lutBypassed() &&
	       !counts && !op_.readsOperands() &&
	       atoms * lanes_ >= 2 * SdpTable::numbers(elementBytes(op_.proc));
}

/* Fills the table: passes every possible element through the stages. */
void SdpStream::makeTable(const StreamRun &run)
{
	const size_t size = elementBytes(op_.proc);
	const size_t step = std::min<size_t>(SdpTable::numbers(size), kMostAtoms * lanes_);
	const SdpCounters counters = counters_;
	const auto fill = size == 1 ? countUp<uint8_t> : countUp<uint16_t>;
	std::vector<std::byte> numbers(step * size);

	table_ = { size, std::vector<std::byte>(SdpTable::numbers(size) * size) };
	loadOperands(run.surface, run.y, run.x, static_cast<uint32_t>(step / lanes_));
	for (size_t first = 0; first < SdpTable::numbers(size); first += step) {
		fill(first, numbers);
		widen(numbers);
		makeResults(run, input_,
			    std::span(table_->results).subspan(first * size, step * size));
	}
	counters_ = counters;
}

void SdpStream::storeByTable(const StreamRun &run, std::span<const std::byte> atoms)
{
	if (!table_)
		makeTable(run);
	place(run, run.x, atoms.size(), atoms);
	counters_.nonZero |= lookUpSdpTable(*table_, atoms, bytes_);
	write(run, run.surface, run.x);
}

/*
 * \return true if the look-up table is a function of 8-bit integers: it has an entry for each of
 * 256 integers; smaller integers have the first entry's result, larger ones the last entry's
 */
bool SdpStream::isTableOfBytes() const
{
	constexpr int64_t kSteps = LutTables::loEntries - 1;
	const LutTableConfig &le = op_.lut.le, &lo = op_.lut.lo;
	const int64_t step = int64_t{ 1 } << std::clamp<int>(le.indexSelect, 0, 8);
	const int64_t first = le.start - lo.start; /* LE's first entry, in steps of LO */
	const bool isFlat = !le.underflow.scale && !le.overflow.scale && !lo.underflow.scale &&
			    !lo.overflow.scale;

	if (op_.proc != Precision::Int8 || op_.out != Precision::Int8 || !op_.flying ||
	    op_.countsLut || op_.countsSaturation || !op_.lut.hybridSelectsLo || !isFlat ||
	    le.exponential || le.indexSelect < 0 || le.indexSelect > 8 || lo.indexSelect != 0 ||
	    std::abs(lo.start) > INT32_MAX / 2 || first > 0 || first % step != 0 ||
	    first + (LutTables::leEntries - 1) * step < kSteps || tables_.lo[0] != tables_.lo[1])
		return false;
	for (uint32_t i = 0; i < LutTables::leEntries; i++) {
		const int64_t at = first + i * step;
		if ((at <= 0 && tables_.le[i] != tables_.lo.front()) ||
		    (at >= kSteps && tables_.le[i] != tables_.lo.back()))
			return false;
	}
	return true;
}

/* Divides the operation: toBytes_ makes bytes of the numbers, table_ has the bytes' results. */
void SdpStream::makeTableOfBytes()
{
	std::vector<int32_t> results(SdpTable::numbers(1));
	SdpCounters ignored;

	for (int byte = INT8_MIN; byte <= INT8_MAX; byte++)
		results[static_cast<uint8_t>(byte)] = tables_.lo[static_cast<size_t>(byte + 129)];
	convertSdpOutput(op_, results, ignored);
	table_ = { 1, std::vector<std::byte>(results.size()) };
	narrowElements(results, op_.out, table_->results);
	toBytes_ = op_;
	toBytes_->converter = { static_cast<int32_t>(op_.lut.lo.start + 129), 1, 0 };
}

} /* namespace nvdla::sim */
