/* SPDX-License-Identifier: MIT */
/*
 * Scratch memory of operations.
 */
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/aligned.h"

namespace nvdla::sim
{

/**
 * \brief Blocks of memory that are reused by successive operations
 *
 * Blocks are not cleared between uses. Reusing them saves the system from mapping and clearing
 * pages for each operation. Thread-safe.
 */
class Scratch
{
public:
	Scratch() { blocks_.reserve(kMostBlocks + 1); }

	/** \brief Memory and its size in bytes */
	struct Block {
		LineArray bytes;
		size_t size = 0;
	};

	/** \return a block of at least \a bytes, with undefined contents */
	Block take(size_t bytes);
	/** \brief Give a block back for reuse; allocates nothing, so it cannot fail */
	void giveBack(Block block) noexcept;

private:
	static constexpr size_t kMostBlocks = 32; /* most blocks kept for reuse, the largest ones */

	std::mutex mutex_;
	std::vector<Block> blocks_; /* from the smallest to the largest */
};

inline Scratch::Block Scratch::take(size_t bytes)
{
	constexpr size_t kSmallest = 4096;

	{
		const std::lock_guard lock(mutex_);
		const auto found = std::ranges::lower_bound(blocks_, bytes, {}, &Block::size);
		if (found != blocks_.end()) {
			Block block = std::move(*found);
			blocks_.erase(found);
			return block;
		}
	}
	/* Round up to a power of two, so that operations of other sizes can reuse the block. */
	const size_t size = std::bit_ceil(std::max(bytes, kSmallest));
	return { newLineArray(size), size };
}

inline void Scratch::giveBack(Block block) noexcept
{
	if (!block.bytes)
		return;
	const std::lock_guard lock(mutex_);
	const auto place = std::ranges::lower_bound(blocks_, block.size, {}, &Block::size);
	blocks_.insert(place, std::move(block));
	if (blocks_.size() > kMostBlocks)
		blocks_.erase(blocks_.begin());
}

/** \brief Array in scratch memory; its elements are undefined at first */
template<typename T>
class ScratchArray
{
	static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kLineBytes);

public:
	/** \param scratch must outlive the array */
	ScratchArray(Scratch &scratch, size_t size) : scratch_(scratch) { resize(size); }
	~ScratchArray() { scratch_.giveBack(std::move(block_)); }
	ScratchArray(const ScratchArray &) = delete;
	ScratchArray &operator=(const ScratchArray &) = delete;

	/** \brief Change the size; all elements are undefined afterwards */
	void resize(size_t size)
	{
		size_ = size;
		if (size * sizeof(T) <= block_.size)
			return;
		scratch_.giveBack(std::move(block_));
		block_ = scratch_.take(size * sizeof(T));
	}

	T *data() { return reinterpret_cast<T *>(block_.bytes.get()); }
	const T *data() const { return reinterpret_cast<const T *>(block_.bytes.get()); }
	size_t size() const { return size_; }
	T *begin() { return data(); }
	T *end() { return data() + size_; }
	const T *begin() const { return data(); }
	const T *end() const { return data() + size_; }
	T &operator[](size_t i) { return data()[i]; }
	const T &operator[](size_t i) const { return data()[i]; }

private:
	Scratch &scratch_;
	Scratch::Block block_;
	size_t size_ = 0;
};

} /* namespace nvdla::sim */
