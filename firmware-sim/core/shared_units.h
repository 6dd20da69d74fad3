/* SPDX-License-Identifier: MIT */
/*
 * Divides an operation on cubes in memory into units of work that several threads share.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "core/bands.h"
#include "core/memory.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief Bytes that a thread can copy in the time that an awake thread needs to begin work */
inline constexpr uint64_t kBytesForAThread = 1 << 14;

/**
 * \return number of threads that are useful for \a work, at least 1
 * \param ofAThread amount of work, in the unit of \a work, that takes as long as starting a thread
 */
inline unsigned int threadsFor(uint64_t work, uint64_t ofAThread)
{
	constexpr uint64_t most = 1024;

	return static_cast<unsigned int>(std::clamp<uint64_t>(work / ofAThread, 1, most));
}

/**
 * \brief Process the units 0 to \a count - 1, each once
 *
 * Units run in parallel, so no unit may write memory that another unit reads or writes. The
 * traffic of all units is added to \a memory.
 *
 * \param workers null: the caller's thread does all units
 * \param threads largest number of threads
 * \param newPart makes an object for one thread, given that thread's MemoryPort. work() of the
 * object is called with ascending units only, so a thread may need several objects
 * \param join is called with each object after its last unit; calls do not overlap
 */
template<typename NewPart, typename Join>
void shareUnits(Workers *workers, unsigned int threads, MemoryPort &memory, uint64_t count,
		const NewPart &newPart, const Join &join)
{
	Bands bands(count, workers ? std::min(threads, workers->threads()) : 1);
	std::mutex mutex; /* guards join() */

	const auto work = [&](unsigned int thread) {
		auto unit = bands.take(thread);
		while (unit && !memory.cancelled()) {
			MemoryPort port = memory.fork();
			const auto part = newPart(port);
			const uint64_t first = *unit;
			/* Units of another thread's band can have smaller numbers than the last
			 * one: they need a new part. */
			for (; unit && *unit >= first && !port.cancelled();
			     unit = bands.take(thread))
				part->work(*unit);
			const std::lock_guard lock(mutex);
			memory.join(port);
			join(*part);
		}
	};
	if (workers)
		workers->run(threads, work);
	else
		work(0);
}

} /* namespace nvdla::sim */
