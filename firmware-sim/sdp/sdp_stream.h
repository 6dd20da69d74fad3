/* SPDX-License-Identifier: MIT */
/*
 * Runs operations of the single point processor: on the fly after the convolution, or on a cube in
 * memory.
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
#include "core/raw_vector.h"
#include "core/stream.h"
#include "core/workers.h"
#include "lut/lut.h"
#include "lut/lut_fast.h"
#include "sdp/sdp_datapath.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_op.h"
#include "sdp/sdp_operands.h"

namespace nvdla::sim
{

/**
 * \brief One operation of SDP, fed with runs of atoms
 *
 * Takes CACC's output (32-bit integers or FP32 bits), in any order of runs, and writes the
 * destination cube or passes the results to PDP.
 */
class SdpStream : public StreamSink
{
public:
	/**
	 * All references must outlive this object.
	 *
	 * \param toPdp receiver of the output of operations whose destination is PDP;
	 *        if null, such output is dropped and a guest error is reported
	 */
	SdpStream(const SdpOp &op, const LutTables &tables, MemoryPort &memory,
		  AtomSink *toPdp = nullptr);

	void push(const StreamRun &run) override;
	void pushLines(const StreamRun &first, uint32_t count) override;
	bool leavesAlone(std::span<const std::byte> bytes) const override;
	bool spares(const Placement &read) const override;

	/** \return null unless isShareable() */
	std::unique_ptr<StreamSink> fork() override;
	/** \brief For output to PDP: the fork and its PDP share a memory port of their own */
	std::unique_ptr<StreamSink> forkOfSurfaces(const StreamCube &cube) override;
	void join(StreamSink &sink) override;
	/** \return false if the order of runs matters: output to PDP, or output that may overwrite
	 * inputs of other elements */
	bool isShareable() const;
	/** \brief Add the counters of \a other, except memory traffic */
	void count(SdpStream &other);

	/**
	 * \brief Process atoms in memory format, in the processing precision
	 * \param run place in the cube; its data are ignored
	 * \param atoms at most kMostAtoms
	 */
	void pushBytes(const StreamRun &run, std::span<const std::byte> atoms);

	/** Atoms processed at a time: bounds the memory of an operation, and stays in cache
	 */
	static constexpr uint32_t kMostAtoms = 256;

	/**
	 * \brief End the operation after its input
	 *
	 * If the input was not the whole cube, the operation hangs, because the hardware would wait
	 * for the rest.
	 */
	OperationResult finish();

	/** \brief Add to the counts of NaNs and infinities in FP16 input from memory */
	void countInput(uint32_t nan, uint32_t inf);

private:
	/** \brief The stages of a surface as a straight line (sdp_line.h) */
	struct Line {
		bool found = false;
		uint32_t surface = UINT32_MAX;
		uint32_t failures = 0; /**< number of runs without a usable line */
		SdpLine line;
	};

	void process(const StreamRun &run, uint32_t atoms);
	void processSome(const StreamRun &run, uint32_t first, uint32_t count);
	void processLoaded(const StreamRun &run, uint32_t x, std::span<const int32_t> input);
	void loadOperands(uint32_t surface, uint32_t y, uint32_t x, uint32_t count);
	bool isTable() const;
	bool isTableOfBytes() const;
	void makeTableOfBytes();
	void makeTable(const StreamRun &run);
	void storeByTable(const StreamRun &run, std::span<const std::byte> atoms);
	void widen(std::span<const std::byte> atoms);
	bool areWhole(size_t numbers) const;
	bool staysAtoms() const;
	void makeResults(const StreamRun &run, std::span<const int32_t> input,
			 std::span<std::byte> bytes);
	bool storeLine(const SdpOp &op, const StreamRun &run, std::span<const int32_t> input,
		       std::span<std::byte> bytes);
	bool store(const SdpOp &op, std::span<const SdpStageRun> stages,
		   std::span<const int32_t> input, std::span<std::byte> bytes);
	void makeNumbers(std::span<const int32_t> input);
	bool lutBypassed() const;
	uint64_t addressOf(const StreamRun &run, uint32_t surface, uint32_t x) const;
	void place(const StreamRun &run, uint32_t x, size_t size,
		   std::span<const std::byte> atoms = {});
	void write(const StreamRun &run, uint32_t surface, uint32_t x);
	void handOver(const StreamRun &run, uint32_t surface, uint32_t x);
	void writeParts(const StreamRun &run, uint32_t x);
	void checkZero(std::span<const int32_t> values);
	void error(std::string_view text) { noteError(guestError_, text); }
	void reportCounters(OperationResult &result) const;

	const SdpOp &op_;
	const LutTables tables_;
	MemoryPort &memory_;
	AtomSink *toPdp_;
	const uint32_t lanes_;
	const uint32_t vectorAtoms_; /**< SdpOp::atomsOfVector() */
	const uint32_t vectorLanes_;
	Lut lut_;
	/* The fast table, for integers or for FP16, if it can replace lut_. */
	std::optional<FastLut> fastLut_;
	std::optional<FloatLut> floatLut_;
	std::optional<SdpTable> table_; /**< set if isTable() or isTableOfBytes() */
	std::optional<SdpOp> toBytes_;	/**< set if isTableOfBytes(): the stages before the table */
	SdpOperands x1_;
	SdpOperands x2_;
	SdpOperands y_;

	Line line_;
	std::vector<SdpStageRun> stages_; /**< stages that are not bypassed, with operands */
	RawVector<int32_t> input_;	  /**< widened numbers of pushBytes() */
	RawVector<int32_t> values_;
	std::vector<std::byte> results_; /**< output to be split into two surfaces */
	std::span<std::byte> bytes_;	 /**< output to write: in memory or in buffer_ */
	std::vector<std::byte> buffer_;
	SdpCounters counters_;
	uint64_t atoms_ = 0;
	std::string guestError_;
};

/**
 * \brief Run an operation whose input is a cube in memory
 *
 * The operation's input must not be on the fly.
 *
 * \param workers threads that share the operation
 */
OperationResult runSdp(const SdpOp &op, const LutTables &tables, MemoryPort &memory,
		       AtomSink *toPdp = nullptr, Workers *workers = nullptr);

} /* namespace nvdla::sim */
