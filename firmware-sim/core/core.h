/* SPDX-License-Identifier: MIT */
/* The core, as seen by its users: vfio-user, a trace player, a test. */
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "core/conv_options.h"
#include "core/engines.h"
#include "core/geometry.h"
#include "core/glb.h"
#include "core/guest_error.h"
#include "core/ram_memory.h"
#include "core/scheduler.h"
#include "core/timing.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief An operation that was carried out */
struct OperationRecord {
	Engine engine;
	uint32_t units; /**< bit n: unit n took part; 0 for BDMA */
	OperationWork work;
	OperationTiming timing;
	MemoryTraffic moved;
	bool fetching; /**< CDMA still fetches data that \a moved does not include */
};

/** \brief A write to a register, see Core::csbWrite() */
struct CsbWrite {
	uint32_t byteOffset;
	uint32_t value;
};

/** \brief Configuration of a core */
struct CoreConfig {
	Geometry geometry = nvFull;
	uint64_t cvsramBase = 0; /**< first address of the CVSRAM, as engines see it */
	size_t cvsramSize = nvFull.cvsramSize; /**< bytes */
	Diagnostics diagnostics;	       /**< receiver of guest errors; may be empty */
	TimingParameters timing = {};
	ConvOptions conv = {};
	/** threads that share an operation's work; 0: one for each core of the host */
	unsigned int threads = 0;
	static constexpr unsigned int kMostThreads = 256;
	/** for tests of drivers: called at the end of each operation; if true, the operation never
	 * ends */
	std::function<bool()> neverEnds = {};
	/** as neverEnds, for CDMA's part of each convolution */
	std::function<bool()> cdmaNeverEnds = {};
	/** true: operations take at least as long as on the chip */
	bool realtime = false;
	/** receiver of a record of each operation that is done; may be empty */
	std::function<void(const OperationRecord &)> operationDone = {};
};

/**
 * \brief One NVDLA core
 *
 * csbRead() and csbWrite() can be called from any thread and return at once:
 * operations are carried out on the core's own threads, or on those that are lent to it, from a
 * copy of the registers. A guest may write anything at any time.
 *
 * Callbacks (interrupt, diagnostics, records) are called without any lock of the core
 * held, from the thread that wrote a register, one of the core's or one that is lent to it. They
 * may call csbRead(), csbWrite() and reset(), but neither destroy the core nor wait for an
 * operation: its thread may be the one that the callback is called from.
 */
class Core
{
public:
	/**
	 * \brief Interrupt message
	 *
	 * Called whenever an engine (or S_INTR_SET) sets a status bit that is not
	 * masked, and after a write to S_INTR_STATUS or S_INTR_MASK that leaves such a
	 * bit set, so that a receiver of messages loses no completion between reading
	 * and clearing the status. One message may be spurious after a reset.
	 */
	using Interrupt = std::function<void()>;

	/** \param dram system memory, which must outlive the core */
	Core(const CoreConfig &config, Memory &dram, Interrupt interrupt);

	/** \brief Abandons running operations; no callback runs any more when it returns */
	~Core();

	Core(const Core &) = delete;
	Core &operator=(const Core &) = delete;

	/**
	 * \param byteOffset in the CSB space of 256 KiB, a multiple of 4
	 * \return the register; 0 where there is none, which is a guest error
	 */
	uint32_t csbRead(uint32_t byteOffset);
	void csbWrite(uint32_t byteOffset, uint32_t value);
	/** \brief Writes registers in order, in less time than single calls */
	void csbWrite(std::span<const CsbWrite> writes);

	/**
	 * \brief Hardware reset
	 *
	 * Operations are abandoned: when reset() returns, none of them touches
	 * memory any more. Registers are back to their reset values; the CVSRAM
	 * keeps its contents. Accesses from other threads during the reset are
	 * ignored.
	 */
	void reset();

	/**
	 * \return true if no operation is running
	 *
	 * Operations that wait for a partner or that hang do not count. If idle, nothing
	 * changes until a register is written, and all callbacks of earlier events
	 * have returned.
	 */
	bool idle();

	/** \brief Wait until idle(); not to be called from a callback */
	void waitIdle();

	/**
	 * \brief Lends the calling thread, which would only wait for operations, to the core
	 *
	 * While this object exists, its thread takes operations that begin, so that no thread of
	 * the core has to be woken; its destructor calls these threads for remaining operations.
	 * Make it before registers are written, not in a callback, and only if canWork(). The core
	 * must outlive it.
	 */
	class LentThread
	{
	public:
		/** \return true if the stack of the calling thread has room for any operation */
		static bool canWork();

		explicit LentThread(Core &core);
		~LentThread();

		LentThread(const LentThread &) = delete;
		LentThread &operator=(const LentThread &) = delete;

		/**
		 * \brief Carry out operations until none can begin; a thread for which canWork() is
		 *	  false returns at once. Any thread may call this
		 * \param enough returns true to return before the next operation; called without
		 * any lock
		 */
		void work(const std::function<bool()> &enough);

	private:
		bool workOnce();

		Core &core_;
	};

	/** \return the on-chip memory, for players and tests */
	RamMemory &cvsram() { return cvsram_; }

private:
	using Clock = std::chrono::steady_clock;

	/* Reports to the callbacks once the lock is released. */
	struct Messages {
		std::vector<GuestError> errors;
		std::optional<OperationRecord> record;
		bool interrupt = false;
		uint32_t calls = 0; /* threads to wake, as in toWake_ */
	};

	/* State of one engine. */
	struct Slot {
		std::condition_variable cancelled;
		std::unique_ptr<Job> job; /* handed over, not yet begun by a thread */
		bool busy = false;	  /* true from handing over to the end */
		std::atomic<bool> cancel = false;
		/* An operation is done and its callbacks, in the engine's order, still run. */
		std::atomic<bool> tells = false;
		std::atomic<bool> helperTells = false;
		Messages end; /* reports about the operation */
	};

	uint32_t readLocked(uint32_t address);
	bool writeLocked(uint32_t address, uint32_t value);
	bool writeSpecial(uint32_t address, uint32_t value);
	void writeLut(Unit unit, uint32_t address, uint32_t value);
	void writeBdma(uint32_t address, uint32_t value);
	bool present(uint32_t address, const char *what);
	void guestError(uint32_t address, const char *reason);

	void dispatch(std::optional<Unit> changed = {});
	void begin(Engine engine);
	void callThreads();
	void wakeThreads(uint32_t calls);
	Slot *waiting();
	bool sleep(std::unique_lock<std::mutex> &lock, unsigned int thread);
	void work(unsigned int thread);
	/** \brief Stop and join the core's threads */
	void endThreads();
	Slot *next(std::unique_lock<std::mutex> &lock);
	void carryOut(std::unique_lock<std::mutex> &lock, Slot &slot);
	OperationResult runJob(Job &job, MemoryPort &port);
	void waitForChip(std::unique_lock<std::mutex> &lock, Slot &slot, Clock::time_point begin,
			 const OperationResult &result);
	void waitUntilTold(std::unique_lock<std::mutex> &lock, Slot &slot);
	void tell(std::unique_lock<std::mutex> &lock, Slot &slot);
	Messages conclude(const Job &job, OperationResult &result, const MemoryPort &port);
	void delivered();
	void concludeSums(Job &job, OperationResult sums, const MemoryPort &port);
	bool hangs(Job &job) const;
	void complete(const Job &job, OperationResult &result, const MemoryPort &port,
		      Messages &messages);
	bool stopped() const;
	void stopEngines(std::unique_lock<std::mutex> &lock);
	void addErrors(const char *unit, const OperationResult &result, const MemoryPort &port);
	void deliver(Messages messages);

	const CoreConfig config_;
	Memory &dram_;
	const Interrupt interrupt_;
	RamMemory cvsram_;

	std::mutex mutex_;		  /* guards all members below */
	std::condition_variable changed_; /* notified when an engine is idle or a reset ended */
	Glb glb_;
	Scheduler scheduler_;
	LutAccessPort sdpPort_{ LutAccessPort::Kind::Sdp };
	LutAccessPort cdpPort_{ LutAccessPort::Kind::Cdp };
	GuestErrors errors_;
	bool resetting_ = false;
	bool stopping_ = false;
	unsigned int delivering_ = 0; /* threads that are in a callback */
	/* Counts operations that could begin, and callbacks that have returned. */
	std::atomic<unsigned int> news_ = 0;
	Workers workers_;
	/* Used by the thread of the convolution, reset while there is none. */
	ConvPipeline conv_;
	std::array<Slot, engineCount> slots_;
	/*
	 * As many threads as there are engines. A thread that has completed an operation takes the
	 * next one, of any engine: the data are in the thread's caches, and no thread has to be
	 * woken. For the same reason the thread that slept last is woken first.
	 */
	struct Thread {
		std::thread thread;
		std::condition_variable woken;
		bool isCalled = false;
	};
	std::vector<unsigned int> asleep_;
	/* Bit n: thread n is called and has to be woken. */
	uint32_t toWake_ = 0;
	/*
	 * Flag in toWake_: also wake the helpers that share the operation's work, while it
	 * begins.
	 */
	static constexpr uint32_t kHelpers = 1U << 31;
	static_assert(engineCount < 31);
	unsigned int coming_ = 0; /* threads about to look for work, or called */
	std::array<Thread, engineCount> threads_;
};

} /* namespace nvdla::sim */
