/* SPDX-License-Identifier: MIT */
/*
 * The single point processor at work: on the fly behind the convolution, or on
 * a cube in memory.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/operation.h"
#include "core/stream.h"
#include "core/workers.h"
#include "lut/float_lut.h"
#include "lut/lut.h"
#include "lut/lut_fast.h"
#include "sdp/sdp_datapath.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_op.h"
#include "sdp/sdp_operands.h"
#include "sdp/sdp_table.h"

namespace nvdla::sim
{

/**
 * \brief One operation of SDP, fed with runs of atoms
 *
 * Takes what CACC gives (32-bit integers or FP32 bits), in any order of runs,
 * and writes the destination cube or hands the results to PDP.
 */
class SdpStream : public StreamSink
{
public:
	/**
	 * All references must outlive this object.
	 *
	 * \param toPdp receiver of the output where the operation's destination is
	 *        PDP; without one such output is dropped and a guest error is reported
	 */
	SdpStream(const SdpOp &op, const LutTables &tables, MemoryPort &memory,
		  AtomSink *toPdp = nullptr);

	void push(const StreamRun &run) override;
	void pushLines(const StreamRun &first, uint32_t count) override;
	bool leavesAlone(std::span<const std::byte> bytes) const override;
	bool spares(const Placement &read) const override;

	/** \return null if it is not shareable */
	std::unique_ptr<StreamSink> fork() override;
	/** \brief On the way to PDP, whose memory is reached as this object's is */
	std::unique_ptr<StreamSink> forkOfSurfaces(const StreamCube &cube) override;
	void join(StreamSink &sink) override;
	/**
	 * \return false on the way to PDP, or where what is written may change what is read for
	 *	   other elements: there is an order
	 */
	bool isShareable() const;
	/** \brief Others have runs of the same operation \param reads must outlive this object */
	void share(SharedReads &reads);
	/** \brief Count what another one was given, but for its memory */
	void count(SdpStream &other);

	/**
	 * \brief A run of atoms of the cube as they are in memory, of the precision of the
	 * processing \param run within the cube; its data are not looked at \param atoms at most
	 * mostAtomsOfBytes()
	 */
	void pushBytes(const StreamRun &run, std::span<const std::byte> atoms);

	/** Atoms worked on at a time: bounds the memory that an operation takes, and stays in cache
	 */
	static constexpr uint32_t kMostAtoms = 256;

	/**
	 * \return the same of bytes in memory: integers that no table stands in for are passed over
	 * once, and stored nowhere
	 */
	uint32_t mostAtomsOfBytes() const
	{
		return op_.proc == Precision::Fp16 || !lutBypassed() ? kMostAtoms : 4 * kMostAtoms;
	}

	/**
	 * \brief The end of the input
	 *
	 * Where the input was not the whole cube, the operation hangs as it does on
	 * hardware, waiting for the rest.
	 */
	OperationResult finish();

	/** \brief Count NaNs and infinities of FP16 input read from memory, with push() */
	void countInput(uint32_t nan, uint32_t inf);

private:
	/** \brief The stages of a surface as a line, which is given up if it often fails */
	struct Line {
		static constexpr uint32_t kMostFailures = 4;

		bool found = false;
		uint32_t surface = UINT32_MAX;
		uint32_t failures = 0; /**< runs that it was not for */
		SdpLine line;
	};

	static bool isOnePosition(const SdpOp &op);
	static SdpOp withOneLine(const SdpOp &op);
	void collect(const StreamRun &run);
	void processCollected();
	void process(const StreamRun &run, uint32_t atoms);
	void processSome(const StreamRun &run, uint32_t first, uint32_t count);
	void processBytes(const StreamRun &run, std::span<const std::byte> atoms);
	void processLoaded(const StreamRun &run, uint32_t x, std::span<const int32_t> input);
	template<typename Load>
	void forEachStage(Load load);
	void loadOperands(uint32_t surface, uint32_t y, uint32_t x, uint32_t count);
	void loadBytes(uint32_t surface, uint32_t y, uint32_t x, uint32_t count);
	void makeNumbers();
	bool isTable() const;
	void makeTable(const StreamRun &run);
	void storeByTable(const StreamRun &run, std::span<const std::byte> atoms);
	bool takesBytes() const;
	bool storeBytes(const StreamRun &run, std::span<const std::byte> atoms);
	void widen(std::span<const std::byte> atoms);
	bool staysAtoms() const;
	bool findLine(Line &line, uint32_t surface);
	bool storeHalves(const StreamRun &run, uint32_t x, std::span<const int32_t> input);
	bool storeLine(const StreamRun &run, std::span<const int32_t> input);
	bool storeStages(const StreamRun &run, uint32_t x, std::span<const int32_t> input);
	bool storeValues(const StreamRun &run, uint32_t x);
	bool narrowValues(std::span<std::byte> bytes);
	void applyStages(std::span<const int32_t> input);
	void applyStage(const SdpStageRun &run);
	bool lutBypassed() const;
	void applyLut();
	void convert();
	uint64_t addressOf(const StreamRun &run, uint32_t surface, uint32_t x) const;
	void place(const StreamRun &run, uint32_t x, size_t size,
		   std::span<const std::byte> atoms = {});
	void write(const StreamRun &run, uint32_t surface, uint32_t x);
	void handOver(const StreamRun &run, uint32_t surface, uint32_t x);
	void emit(const StreamRun &run, uint32_t x, uint32_t count);
	void emitSurface(const StreamRun &run, uint32_t surface, uint32_t x, uint32_t count,
			 std::span<const int32_t> values);
	void checkZero(std::span<const int32_t> values);
	void error(const char *text);
	void reportCounters(OperationResult &result) const;

	const SdpOp &given_;
	const SdpOp op_; /**< as it is worked on: a line of all surfaces if there is one position */
	const LutTables tables_;
	MemoryPort &memory_;
	AtomSink *toPdp_;
	const uint32_t lanes_;
	Lut lut_;
	/* One is there if it can take lut_'s place: of integers, or of FP16. */
	std::optional<FastLut> fastLut_;
	std::optional<FloatLut> floatLut_;
	std::optional<SdpTable> table_; /**< there if the operation is that */
	SdpOperands x1_;
	SdpOperands x2_;
	SdpOperands y_;

	StreamRun collected_ = {}; /**< surfaces of the only position, as atoms of a line */
	std::vector<int32_t> collectedSums_;
	Line line_;
	Line bytesLine_; /**< of what is in memory, operands of each element included */
	std::vector<SdpStageRun> stages_; /**< those that are not bypassed, with operands */
	std::vector<int32_t> input_;	  /**< numbers of pushBytes() */
	std::vector<int32_t> values_;
	std::vector<int32_t> half_;
	std::span<std::byte> bytes_; /**< to be put out: of the memory, or of the buffer */
	std::vector<std::byte> buffer_;
	SdpCounters counters_;
	uint64_t atoms_ = 0;
	std::optional<SharedReads> reads_; /**< there if it was forked */
	std::string guestError_;
};

/**
 * \brief Run an operation whose input is a cube in memory
 *
 * The operation must not be a flying one.
 *
 * \param workers to share it with
 */
OperationResult runSdp(const SdpOp &op, const LutTables &tables, MemoryPort &memory,
		       AtomSink *toPdp = nullptr, Workers *workers = nullptr);

} /* namespace nvdla::sim */
