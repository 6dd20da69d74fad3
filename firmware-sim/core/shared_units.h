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

/** \brief Bytes that are copied in the time of starting work on an awake thread */
inline constexpr uint64_t kBytesForAThread = 1 << 14;

/**
 * \return useful number of threads for \a work
 * \param ofAThread work in the time of starting a thread
 */
inline unsigned int threadsFor(uint64_t work, uint64_t ofAThread)
{
	constexpr uint64_t most = 1024;

	return static_cast<unsigned int>(std::clamp<uint64_t>(work / ofAThread, 1, most));
}

/**
 * \brief Do units 0 to \a count - 1, each once
 *
 * No unit may write memory that another unit reads or writes. Afterwards \a memory has the traffic
 * of all units.
 *
 * \param workers null: the caller's thread does all units
 * \param threads largest number of threads
 * \param newPart makes the state of a thread from the thread's MemoryPort; its work() is called
 * with units in ascending order. A thread may have several such parts
 * \param join is called with each part when it is done, one at a time
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
			/* Units taken from another band may come before the ones done here: then
			 * begin a new part. */
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
