/* SPDX-License-Identifier: MIT */
/*
 * Threads that share the work of an operation.
 */
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

#include "core/scratch.h"

namespace nvdla::sim
{

/**
 * \brief Threads ("helpers") that help to compute an operation, and scratch memory for it
 *
 * Only one operation at a time has the helpers. Results must not depend on the number of threads.
 * A thread without work polls for kPatience (a tenth of a millisecond) before it sleeps, because
 * waking a thread takes longer than the usual time between two operations.
 */
class Workers
{
public:
	/** \param threads number of threads, with the caller's; 0: one for each core of the host */
	explicit Workers(unsigned int threads = 1);
	~Workers();
	Workers(const Workers &) = delete;
	Workers &operator=(const Workers &) = delete;

	/** \return number of threads that run() uses, with the caller's */
	unsigned int threads() const { return static_cast<unsigned int>(threads_.size()) + 1; }

	/**
	 * \brief Call \a work on several threads, one of which is the caller's
	 *
	 * The argument of \a work is a thread number below threads(): 0 for the caller. A helper
	 * has the same number in each run().
	 *
	 * \a work is called at least once and at most \a most times. Each call takes open units of
	 * work until none is left, so after the caller's call only units that other threads still
	 * compute are unfinished. run() returns after the last call. If another operation has the
	 * helpers, only the caller works.
	 *
	 * \throw the first exception of \a work in any thread, after all calls have returned
	 */
	void run(unsigned int most, const std::function<void(unsigned int thread)> &work);

	/**
	 * \brief Let a helper run a short function, if one is polling for work
	 *
	 * Any thread may call this. \a errand may call post(), but not run().
	 *
	 * \return false if no helper took \a errand: the caller has to run it
	 */
	bool post(std::function<void()> errand);

	/** \return true if a helper sleeps: run() would have to wake that thread, which takes as
	 * long as several operations */
	bool anyAsleep() const { return asleep_ > 0; }

	/** \brief Wake sleeping helpers before work comes; may be called from any thread */
	void rouse();

	/** \return memory for the operation whose work run() shares, kept for later operations */
	Scratch &scratch() { return scratch_; }

private:
	/** \brief Call work_ and keep an exception that it throws */
	void call(unsigned int thread);
	/** \brief Keep helpers off \a core of the host, if it has other cores */
	void makeWay(int core);
	void wake(unsigned int sleepers);
	void waitForOthers();
	void help(unsigned int thread);
	/** \brief Stop and join the threads */
	void endThreads();
	bool takesPart();
	bool answer();
	void doErrand();

	/* Fields of calls_: low 16 bits: calls that may still begin; above: running calls. */
	static constexpr unsigned int kWanted = 0xffff;
	static constexpr unsigned int kWorking = kWanted + 1;

	Scratch scratch_;
	std::mutex inUse_;  /* held by run(); guards the following members */
	cpu_set_t cores_;   /* cores of the host that helpers may use */
	int freeCore_ = -1; /* core that helpers may not use */
	/* Function that the threads call; set before calls_. */
	const std::function<void(unsigned int)> *work_ = nullptr;
	std::atomic<unsigned int> calls_ = 0;
	std::mutex failureMutex_;
	std::exception_ptr failure_;	       /* first exception of work_ */
	std::atomic<int> callersCore_ = -1;    /* core of the host on which run() was called last */
	std::mutex mutex_;		       /* held to fall asleep or to wake a thread */
	std::condition_variable wake_;	       /* wakes helpers */
	std::condition_variable done_;	       /* notifies the caller */
	std::atomic<unsigned int> asleep_ = 0; /* number of sleeping helpers */
	std::atomic<bool> callerSleeps_ = false;
	std::atomic<unsigned int> looking_ = 0; /* number of helpers that poll for work */
	/* State of errand_; Held: a thread is setting or taking it. */
	enum class Errand : uint8_t { None, Held, Offered };
	std::atomic<Errand> errandState_ = Errand::None;
	std::function<void()> errand_;
	std::atomic<bool> stopping_ = false;
	std::vector<std::thread> threads_;
};

} /* namespace nvdla::sim */
