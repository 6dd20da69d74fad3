/* SPDX-License-Identifier: MIT */
/*
 * Reads weights, uncompressed or sparse.
 *
 * Formats document, "Weight Format" and "Sparse Compression option". The mask (WMB) has one bit per
 * element, least significant first, and runs on from group to group; so do the packed elements.
 * CDMA adds up the group sizes (WGS) and announces a group to CSC when it has fetched as many
 * bytes, the last group when it has fetched all of WEIGHT_BYTES. Only the mask decides how many
 * bytes CSC loads.
 *
 * RTL of nvdlav1, NV_NVDLA_CDMA_wt and NV_NVDLA_CSC_wl: CDMA counts WEIGHT_BYTES, CSC the entries
 * that it loads, which for sparse weights depend on the mask. If the two differ, the remaining
 * bytes stay in the buffer for the next operation.
 */
#include "conv/cdma.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "conv/tile_operands.h"

namespace nvdla::sim
{

EntryStream::EntryStream(Cbuf &cbuf, EntryRing &ring, MemoryPort &memory, RamType ram,
			 uint64_t address, uint64_t bytes, SpecialCount *special, bool flushNan)
	: cbuf_(cbuf), ring_(ring), source_(memory, ram, address, bytes), bytes_(bytes),
	  special_(special), flushNan_(flushNan), first_(ring.write()), entry_(ring.read()),
	  entryBytes_(cbuf.geometry().entryBytes), used_(entryBytes_)
{
	const bool empty = ring.available() == 0 && entry_ == first_ && first_ < ring.size();

	settled_ = source_.all().empty() || !empty;
}

void EntryStream::fill()
{
	while (!done() && ring_.available() < ring_.size()) {
		const std::span<std::byte> room = cbuf_.from(ring_, ring_.write());
		const uint64_t free = uint64_t{ ring_.size() - ring_.available() } * entryBytes_;
		const auto piece =
			room.first(std::min<uint64_t>({ bytes_ - fetched_, free, room.size() }));

		fetch(piece);
		ring_.fetched(static_cast<uint32_t>(piece.size() / entryBytes_));
		fetched_ += piece.size();
	}
}

/* Fetches the next bytes into \a piece, a part of the buffer. */
void EntryStream::fetch(std::span<std::byte> piece)
{
	/* Counting and flushing special values needs a copy. */
	if (!settled_ && special_ &&
	    SpecialCount::any(source_.all().subspan(fetched_, piece.size())))
		settle();
	if (!settled_) {
		source_.count(piece.size());
		return;
	}
	source_.read(fetched_, piece);
	if (special_)
		special_->pass(piece, flushNan_);
}

void EntryStream::settle()
{
	if (settled_)
		return;
	settled_ = true;
	/* Entries are overwritten when the ring wraps around: only the last bytes remain. */
	const uint64_t held = std::min(fetched_, uint64_t{ ring_.size() } * entryBytes_);
	const uint64_t before = (fetched_ - held) / entryBytes_;

	cbuf_.put(source_.all().subspan(fetched_ - held, held), ring_,
		  static_cast<uint32_t>((first_ + before) % ring_.size()));
}

std::span<const std::byte> EntryStream::load(size_t count)
{
	const std::span<const std::byte> bytes = cbuf_.from(ring_, entry_);
	const size_t entries = std::min(count, bytes.size()) / entryBytes_;

	loaded(static_cast<uint32_t>(entries));
	return bytes.first(entries * entryBytes_);
}

void EntryStream::loaded(uint32_t count)
{
	entry_ = ring_.advance(entry_, count);
	loaded_ += count;
}

void EntryStream::read(std::span<std::byte> out)
{
	settle();
	while (!out.empty()) {
		std::span<const std::byte> bytes;

		if (used_ == entryBytes_ && out.size() >= entryBytes_) {
			bytes = load(out.size());
		} else {
			/* CSC has a copy of a partly used entry, even if CDMA overwrites the
			 * entry. */
			if (used_ == entryBytes_) {
				std::ranges::copy(load(entryBytes_), current_.begin());
				used_ = 0;
			}
			bytes = std::span<const std::byte>(current_).subspan(
				used_, std::min(out.size(), entryBytes_ - used_));
			used_ += bytes.size();
		}
		std::memcpy(out.data(), bytes.data(), bytes.size());
		out = out.subspan(bytes.size());
	}
}

std::span<const std::byte> EntryStream::takeUnsettled(size_t bytes)
{
	const auto entriesTo = [this](uint64_t end) {
		return (end + entryBytes_ - 1) / entryBytes_;
	};
	const uint64_t before = entriesTo(taken_);
	const std::span<const std::byte> here = source_.all().subspan(taken_, bytes);

	taken_ += bytes;
	loaded(static_cast<uint32_t>(entriesTo(taken_) - before));
	used_ = taken_ % entryBytes_ ? taken_ % entryBytes_ : entryBytes_;
	if (used_ < entryBytes_)
		std::ranges::copy(source_.all().subspan(taken_ - used_, entryBytes_),
				  current_.begin());
	return here;
}

std::span<const std::byte> EntryStream::take(size_t bytes, std::vector<std::byte> &copy)
{
	if (!settled_ && bytes <= fetched_ - taken_)
		return takeUnsettled(bytes);
	settle();

	const std::span<const std::byte> here = cbuf_.from(ring_, entry_);
	const size_t rest = bytes % entryBytes_;

	if (used_ == entryBytes_ && bytes <= here.size()) {
		load(bytes - rest);
		if (rest) {
			std::ranges::copy(load(entryBytes_), current_.begin());
			used_ = rest;
		}
		return here.first(bytes);
	}
	copy.resize(bytes);
	read(copy);
	return copy;
}

void EntryStream::release()
{
	ring_.released(loaded_);
	loaded_ = 0;
}

WeightReader::WeightReader(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, bool kept)
	: op_(op), memory_(memory), cbuf_(cbuf), kept_(kept),
	  packed_(cbuf, cbuf.weights(), memory, op.weights.ram, op.weights.address,
		  kept ? 0 : op.weights.bytes,
		  op.precision == Precision::Fp16 ? &special_ : nullptr, op.fetch.flushNan),
	  mask_(cbuf, cbuf.masks(), memory, op.weights.ram, op.weights.maskAddress,
		kept || !op.weights.compressed ? 0 : op.weights.maskBytes),
	  kernelsLeft_(op.windows.kernels)
{
	if (kept || !op.weights.compressed)
		return;

	groupSizes_.resize(op.surfaces());
	memory.read(op.weights.ram, op.weights.groupSizeAddress,
		    std::as_writable_bytes(std::span(groupSizes_)));
}

std::string WeightReader::check() const
{
	const uint64_t kernel = op_.windows.kernel.elements();
	const uint64_t group = kernel * std::min(op_.windows.kernels, op_.groupKernels());
	const uint64_t held = op_.keepWeights ? kernel * op_.windows.kernels : group;

	/* This check also limits the memory that the model allocates. */
	if (op_.weights.compressed && held > uint64_t{ op_.geometry->bankBytes() } * 8)
		return "CDMA: the mask of a kernel group does not fit its bank";
	if (!op_.weights.compressed &&
	    held * elementBytes(op_.precision) >
		    uint64_t{ op_.weightBanks } * op_.geometry->bankBytes())
		return "CDMA: a kernel group does not fit the weight banks";
	if (!kept_)
		return checkFetch();
	if (cbuf_.kernels() < op_.windows.kernels)
		return "CSC: fewer kernels were kept than D_WEIGHT_SIZE_EXT_1 says";
	return {};
}

std::string WeightReader::checkFetch() const
{
	const uint64_t entryBytes = op_.geometry->entryBytes;
	const uint64_t bytes = elementBytes(op_.precision);
	const uint64_t kernel = op_.windows.kernel.elements() * bytes;
	const uint64_t all = kernel * op_.windows.kernels;
	const uint64_t leftover = cbuf_.weights().available() * entryBytes;
	const uint64_t bankBytes = uint64_t{ op_.weightBanks } * op_.geometry->bankBytes();

	if (op_.weights.compressed)
		return all / bytes > uint64_t{ op_.weights.maskBytes } * 8
			       ? "CDMA D_WMB_BYTES is less than the kernels take"
			       : checkGroups();
	if (all > op_.weights.bytes)
		return "CDMA D_WEIGHT_BYTES is less than the kernels take";

	/* The last group arrives with the last byte; CSC has released all earlier groups. */
	const uint64_t before =
		op_.keepWeights ? 0 : uint64_t{ op_.surfaces() - 1 } * op_.groupKernels() * kernel;
	const uint64_t last = op_.weights.bytes - before / entryBytes * entryBytes;
	if (last > bankBytes)
		return "CDMA D_WEIGHT_BYTES is more than the kernels take";
	if (last + leftover > bankBytes && cbuf_.kernels() < op_.windows.kernels)
		return "CDMA: no room for weights behind those that were never used";
	return {};
}

/* \return true if all bytes fit the rings, and the group sizes add up to no more than these */
bool WeightReader::allArrives() const
{
	const auto fits = [&](const EntryRing &ring, uint64_t bytes) {
		const uint64_t entry = op_.geometry->entryBytes;
		return bytes + ring.available() * entry <= ring.size() * entry;
	};

	return fits(cbuf_.weights(), op_.weights.bytes) &&
	       fits(cbuf_.masks(), op_.weights.maskBytes) &&
	       std::accumulate(groupSizes_.begin(), groupSizes_.end(), uint64_t{ 0 }) <=
		       op_.weights.bytes;
}

std::string WeightReader::checkGroups() const
{
	if (allArrives())
		return {};
	Cbuf cbuf = cbuf_;
	MemoryPort memory = memory_.fork();
	WeightReader ahead(op_, memory, cbuf);

	try {
		for (uint32_t i = 0; i < op_.surfaces(); i++)
			ahead.next();
	} catch (const NeverArrive &weights) {
		return weights.what();
	}
	return {};
}

ControlView WeightReader::readMask(size_t elements)
{
	if (maskBitsHeld_ == 0 && elements % 8 == 0) {
		masks_.copy(mask_.take(elements / 8, maskBytes_));
		return masks_.view();
	}

	const size_t missing = elements - std::min(elements, maskBitsHeld_);
	const size_t bytes = (missing + 7) / 8;
	const size_t unused = (8 - elements % 8) % 8; /* bits of the last byte behind the mask */
	uint32_t held = maskHeld_;

	const std::span<std::byte> masks = masks_.clear((elements + 7) / 8);
	mask_.read(masks.first(bytes));
	if (maskBitsHeld_ > 0) {
		for (std::byte &mask : masks) {
			held |= std::to_integer<uint32_t>(mask) << maskBitsHeld_;
			mask = static_cast<std::byte>(held);
			held >>= 8;
		}
	}
	maskBitsHeld_ += 8 * bytes - elements;
	maskHeld_ = held;
	if (unused > 0) {
		const auto last = std::to_integer<uint32_t>(masks.back());
		maskHeld_ = held << unused | last >> (8 - unused);
		masks.back() = static_cast<std::byte>(last & (0xffU >> unused));
	}
	return masks_.view();
}

void WeightReader::readSparse(size_t bytes, WeightGroup &group)
{
	const size_t element = elementBytes(op_.precision);
	const ControlView masks = readMask(bytes / element);
	const size_t present = countOnes(masks) * element;

	present_.resize(present + kSparseSlack);
	packed_.read(std::span(present_).first(present));
	expanded_.resize(masks.size() * 8 * element);
	expandSparse(masks, present_.data(), element, expanded_.data());
	group.bytes = std::span(expanded_).first(bytes);
}

void WeightReader::awaitGroup()
{
	constexpr uint64_t kBurstBytes = 256;
	const uint64_t end = op_.weights.address + packed_.fetched();

	requiredBytes_ += groupSizes_[groups_++];
	if (groups_ == op_.surfaces()) {
		if (!done())
			throw NeverArrive("CDMA: no room for all of the weights or their mask");
		return;
	}

	/* Bursts end at multiples of their size; CDMA requests only bursts that fit the ring. */
	const uint64_t waits = packed_.done() ? 0 : end % kBurstBytes;
	if (requiredBytes_ + waits > packed_.fetched())
		throw NeverArrive("CDMA: group sizes (WGS) add up to more than is fetched");
}

WeightGroup WeightReader::next()
{
	WeightGroup group;

	fill();
	if (op_.weights.compressed && !kept_)
		awaitGroup();
	group.kernels = std::min(kernelsLeft_, op_.groupKernels());
	kernelsLeft_ -= group.kernels;
	if (!kept_)
		cbuf_.addKernels(group.kernels);

	const size_t bytes =
		op_.windows.kernel.elements() * group.kernels * elementBytes(op_.precision);
	if (op_.weights.compressed) {
		readSparse(bytes, group);
	} else {
		group.bytes = packed_.take(bytes, bytes_);
		group.soon = packed_.ahead();
		group.stays = !packed_.settled();
	}

	if (op_.keepWeights)
		return group;
	packed_.release();
	mask_.release();
	cbuf_.releaseKernels(group.kernels);
	return group;
}

bool WeightReader::released() const
{
	return done() && cbuf_.weights().available() == 0 && cbuf_.masks().available() == 0;
}

void WeightReader::settle()
{
	packed_.settle();
	mask_.settle();
}

void WeightReader::fill()
{
	packed_.fill();
	mask_.fill();
}

} /* namespace nvdla::sim */
