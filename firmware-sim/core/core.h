/* SPDX-License-Identifier: MIT */
/* The core, as seen by its users: the vfio-user server, a trace player, a test. */
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
	bool fetching; /**< CDMA still fetches data, whose bytes are not in \a moved */
};

/** \brief A write to a register, see Core::csbWrite() */
struct CsbWrite {
	uint32_t byteOffset;
	uint32_t value;
};

/** \brief Configuration of a core: hardware, predicted times, and use of the host */
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
	/** for tests of drivers: called at the end of each operation; true: that operation hangs,
	 * without an interrupt */
	std::function<bool()> neverEnds = {};
	/** like neverEnds, but lets only CDMA hang, at the end of each convolution */
	std::function<bool()> cdmaNeverEnds = {};
	/** true: delay the end of operations to the time predicted for the chip */
	bool realtime = false;
	/** receiver of a record of each completed operation; may be empty */
	std::function<void(const OperationRecord &)> operationDone = {};
};

/**
 * \brief One NVDLA core
 *
 * csbRead() and csbWrite() can be called from any thread and return at once:
 * operations run on the core's own threads, or on threads lent to the core (LentThread), and use
 * a copy of the registers. A guest may write anything at any time.
 *
 * Callbacks (interrupt, diagnostics, records) are called without any lock of the core held, by the
 * thread that wrote a register or by a thread that runs operations. They may call csbRead(),
 * csbWrite() and reset(). They must not destroy the core or wait for an operation, because their
 * own thread may have to run that operation.
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

	/** \brief Abandons running operations; afterwards, no callback runs any more */
	~Core();

	Core(const Core &) = delete;
	Core &operator=(const Core &) = delete;

	/**
	 * \param byteOffset in the CSB space of 256 KiB, a multiple of 4
	 * \return the register's value; 0 at an address without register, which is a guest error
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
	 * Operations that wait for a partner unit or that hang do not count as running. Once true,
	 * nothing changes until a register is written, and all callbacks of earlier events
	 * have returned.
	 */
	bool idle();

	/** \brief Wait until idle(); not to be called from a callback */
	void waitIdle();

	/**
	 * \brief Lends the calling thread, which would only wait otherwise, to the core
	 *
	 * While this object exists, its thread runs operations that begin, so that the core need
	 * not wake a thread of its own; the destructor wakes the core's threads for other work.
	 * Construct it before writing registers, not in a callback, and only if canWork(). The
	 * core must outlive it.
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
		 * \brief Run operations until none can begin; returns at once in a thread for
		 *	  which canWork() is false. Any thread may call this
		 * \param enough called after each operation, without any lock held; work()
		 *	returns if it returns true
		 */
		void work(const std::function<bool()> &enough);

	private:
		bool workOnce();

		Core &core_;
	};

	/** \return the on-chip memory, for trace players and tests */
	RamMemory &cvsram() { return cvsram_; }

private:
	using Clock = std::chrono::steady_clock;

	/* Reports for the callbacks, which are called once the lock is released. */
	struct Messages {
		std::vector<GuestError> errors;
		std::optional<OperationRecord> record;
		bool interrupt = false;
		uint32_t calls = 0; /* threads to wake; same bits as toWake_ */
	};

	/* State of one engine. */
	struct Slot {
		std::condition_variable cancelled;
		std::unique_ptr<Job> job; /* assigned operation, until a thread begins it */
		bool busy = false;	  /* true from assignment to the end of the operation */
		std::atomic<bool> cancel = false;
		/* Callbacks for a completed operation still run; later callbacks must wait. */
		std::atomic<bool> tells = false;
		std::atomic<bool> helperTells = false; /* a workers_ thread runs the callbacks */
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

	std::mutex mutex_;		  /* guards the members below */
	std::condition_variable changed_; /* notified when an engine is idle or a reset ended */
	Glb glb_;
	Scheduler scheduler_;
	LutAccessPort sdpPort_{ LutAccessPort::Kind::Sdp };
	LutAccessPort cdpPort_{ LutAccessPort::Kind::Cdp };
	GuestErrors errors_;
	bool resetting_ = false;
	bool stopping_ = false;
	unsigned int delivering_ = 0; /* threads that are in a callback */
	/* Incremented when an operation can begin or callbacks have returned; next() polls it. */
	std::atomic<unsigned int> news_ = 0;
	Workers workers_;
	/* Used by the thread that runs the convolution; reset only while no convolution runs. */
	ConvPipeline conv_;
	std::array<Slot, engineCount> slots_;
	/*
	 * There are as many threads as engines. A thread that has completed an operation takes the
	 * next one of any engine: the data are in that thread's caches, and no thread has to be
	 * woken. For the same reason the thread that fell asleep last is woken first.
	 */
	struct Thread {
		std::thread thread;
		std::condition_variable woken;
		bool isCalled = false;
	};
	std::vector<unsigned int> asleep_;
	/* Bit n: thread n has been called, and still has to be woken. */
	uint32_t toWake_ = 0;
	/*
	 * Flag in toWake_: also wake the helpers of workers_, because the operation that begins
	 * will use them.
	 */
	static constexpr uint32_t kHelpers = 1U << 31;
	static_assert(engineCount < 31);
	unsigned int coming_ = 0; /* threads that look for work, or have been called to do so */
	std::array<Thread, engineCount> threads_;
};

} /* namespace nvdla::sim */
