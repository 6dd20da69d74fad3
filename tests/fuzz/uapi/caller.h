/* SPDX-License-Identifier: MIT */
/*
 * Makes the calls of a program.
 */
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "fail_nth.h"
#include "program.h"

namespace nvdla::fuzz
{

/**
 * \brief What the calls of a program have made so far
 *
 * Threads may make calls on the same objects at the same time. Whatever is left is given back with
 * the object, jobs on their way or not.
 */
class Caller
{
public:
	Caller() = default;
	~Caller();
	Caller(const Caller &) = delete;
	Caller &operator=(const Caller &) = delete;

	/**
	 * \brief Make a call; whatever comes of it is right
	 * \param[in] failNth of this thread: now and then something fails inside of the call
	 */
	void make(const Call &call, const test::FailNth &failNth);

private:
	struct Handle {
		int file;
		uint32_t value;
	};
	struct Mapping {
		uint8_t *address;
		size_t size;
	};
	using Function = void (Caller::*)(const Call &call);
	template<typename T>
	using Pool = std::vector<T>;

	/** \return an open file, or -1 */
	int file(const Call &call);
	/** \return a handle of the file, one of another file at times, or none at all */
	uint32_t choose(const Pool<Handle> &pool, int file, uint32_t number);
	template<typename T>
	void add(Pool<T> &pool, const T &entry);
	template<typename T>
	bool take(Pool<T> &pool, uint32_t number, T &entry);
	void destroy(const Call &call, Pool<Handle> &pool, unsigned long request);
	void submit(const Call &call, bool prepared);

	void open(const Call &call);
	void close(const Call &call);
	void query(const Call &call);
	void bufferCreate(const Call &call);
	void bufferClose(const Call &call);
	void bufferMap(const Call &call);
	void bufferTouch(const Call &call);
	void bufferUnmap(const Call &call);
	void bufferPrep(const Call &call);
	void bufferFini(const Call &call);
	void contextCreate(const Call &call);
	void contextDestroy(const Call &call);
	void taskCreate(const Call &call);
	void taskDestroy(const Call &call);
	void submitTask(const Call &call) { submit(call, false); }
	void submitPrepared(const Call &call) { submit(call, true); }
	void syncobjCreate(const Call &call);
	void syncobjDestroy(const Call &call);
	void syncobjSignal(const Call &call);
	void syncobjWait(const Call &call);
	void fenceExport(const Call &call);
	void bufferExport(const Call &call);
	void bufferImport(const Call &call);
	void anything(const Call &call);
	void deviceFiles(const Call &call);

	std::mutex mutex_; /* of the pools */
	Pool<int> files_;
	Pool<Handle> buffers_;
	Pool<Handle> contexts_;
	Pool<Handle> tasks_;
	Pool<Handle> syncobjs_;
	Pool<Mapping> mappings_;
	Pool<int> dmaBufs_;
};

} /* namespace nvdla::fuzz */
