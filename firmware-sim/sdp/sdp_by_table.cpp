/* SPDX-License-Identifier: MIT */
/* Operations of SDP by a table of the result of each number. */
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "core/elements.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

/* Elements that are \a first, the next number, and so on. */
template<typename Element>
void countUp(size_t first, std::span<std::byte> bytes)
{
	auto *elements = reinterpret_cast<Element *>(bytes.data());

	std::iota(elements, elements + bytes.size() / sizeof(Element), static_cast<Element>(first));
}

} /* namespace */

/*
 * Whether a table of results is used: elements to elements through the look-up table, without
 * counters, and with at least twice as many elements as different numbers.
 */
bool SdpStream::isTable() const
{
	const bool isFloat = op_.proc == Precision::Fp16;
	const bool counts = op_.countsLut || op_.countsSaturation ||
			    (isFloat && (op_.countsInputNan || op_.countsOutputNan));
	const uint64_t atoms = uint64_t{ op_.width } * op_.height * op_.surfaces();
	const auto reads = [](const SdpStage &stage) {
		return stage.readsAlu() || stage.readsMul();
	};

	return op_.hasWideAtoms() && op_.out == op_.proc && staysAtoms() && !lutBypassed() &&
	       !counts && !reads(op_.x1) && !reads(op_.x2) && !reads(op_.y) &&
	       atoms * lanes_ >= 2 * SdpTable::numbers(elementBytes(op_.proc));
}

/* All numbers go through the stages once. */
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

} /* namespace nvdla::sim */
