/* SPDX-License-Identifier: MIT */
/*
 * A convolution as textbooks have it (NCHW, no hardware order, no padding to atoms)
 * and what lays its operands out for the pipeline. Shares no code with the model.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "conv/conv_engine.h"
#include "conv/conv_tile.h"
#include "core/ram_memory.h"
#include "each_target.h"

namespace nvdla::sim::test
{

/**
 * \brief Run \a check once for each instruction set of this host, and first of all with the
 *	  matrices that it multiplies beside the largest, if it does
 */
inline void forEachTileKind(const std::function<void()> &check)
{
	nvdla::test::forEachTargetOf(HWY_TARGETS | (hasMatrices() ? HWY_AVX3_DL : 0), check);
}

/** \brief Elements [c][y][x] of a cube; FP16 elements are their bits */
struct Cube {
	Cube() = default;
	Cube(uint32_t c, uint32_t h, uint32_t w) : channels(c), height(h), width(w), v(c * h * w) {}

	int16_t &at(uint32_t c, uint32_t y, uint32_t x) { return v[(c * height + y) * width + x]; }
	int16_t at(uint32_t c, uint32_t y, uint32_t x) const
	{
		return v[(c * height + y) * width + x];
	}

	uint32_t channels = 0, height = 0, width = 0;
	std::vector<int16_t> v;
};

/** \brief A layer; batches and kernels are vectors of cubes */
struct Layer {
	Precision precision = Precision::Int8;
	std::vector<Cube> inputs;
	std::vector<Cube> kernels;
	uint32_t strideX = 1, strideY = 1;
	uint32_t dilationX = 1, dilationY = 1;
	uint32_t padLeft = 0, padRight = 0, padTop = 0, padBottom = 0;
	int16_t padValue = 0;

	uint32_t outWidth() const
	{
		const uint32_t span = (kernels[0].width - 1) * dilationX + 1;
		return (padLeft + inputs[0].width + padRight - span) / strideX + 1;
	}
	uint32_t outHeight() const
	{
		const uint32_t span = (kernels[0].height - 1) * dilationY + 1;
		return (padTop + inputs[0].height + padBottom - span) / strideY + 1;
	}
};

/** \brief Value of an FP16 number, exactly */
double halfValue(uint16_t bits);
/** \brief The FP16 number of a value that has one */
uint16_t halfBits(double value);
double floatValue(int32_t bits);

/** \brief Element (x, y, c) of an input with padding around it, as a number */
double elementAt(const Layer &layer, uint32_t batch, int x, int y, uint32_t c);

/** \brief One output, summed without any rounding that could matter */
double naiveOutput(const Layer &layer, uint32_t batch, uint32_t k, uint32_t y, uint32_t x);

/** \brief Random numbers with the seed in the test's output */
class Random
{
public:
	explicit Random(uint32_t seed);
	/** \return a number from \a low to \a high */
	int operator()(int low, int high)
	{
		return std::uniform_int_distribution<int>(low, high)(engine_);
	}
	/** \brief Fill with numbers of \a precision, all magnitudes */
	void fill(Cube &cube, Precision precision);

private:
	std::mt19937 engine_;
};

/** \brief What came out: [batch][surface][y][x][channel of the atom] */
class Collector : public StreamSink
{
public:
	explicit Collector(const ConvOp &op);
	void push(const StreamRun &run) override;
	bool leavesAlone(std::span<const std::byte>) const override { return true; }

	/** \return output of kernel \a k */
	int32_t at(uint32_t batch, uint32_t k, uint32_t y, uint32_t x) const
	{
		return values_[index(batch, k, y, x)];
	}
	const std::vector<int32_t> &values() const { return values_; }
	/** \return columns received; a complete stream has all of them once */
	uint64_t columns() const { return columns_; }

private:
	size_t index(uint32_t batch, uint32_t k, uint32_t y, uint32_t x) const;

	uint32_t atom_, surfaces_, height_, width_;
	std::vector<int32_t> values_;
	uint64_t columns_ = 0;
};

/** \brief Memories, an engine, and the operation that a layer becomes */
class Bench
{
public:
	static constexpr uint64_t kData = 0x10000;
	static constexpr uint64_t kWeights = 0x200000;
	static constexpr uint64_t kMask = 0x300000;
	static constexpr uint64_t kGroupSizes = 0x380000;
	static constexpr size_t kMemory = 4 << 20;

	/** \param core must outlive this object */
	explicit Bench(const Geometry &core = nvFull)
		: geometry(core), dram(0, kMemory), cvsram(0x50000000, 1 << 16),
		  engine(workers, {}, core)
	{
	}

	/** \brief Put a direct convolution's operands into memory */
	ConvOp direct(const Layer &layer);
	/** \brief The same weights as \a op has, sparse */
	ConvOp compressed(const ConvOp &op);
	/** \brief Replace the group sizes that compressed() has stored */
	void storeGroupSizes(const std::vector<uint32_t> &sizes);

	void store(uint64_t address, const std::vector<uint8_t> &bytes);

	/** \brief Run it; the stream is in collector */
	OperationResult run(const ConvOp &op, ConvEngine &engine);
	OperationResult run(const ConvOp &op) { return run(op, engine); }

	const Geometry &geometry;
	RamMemory dram;
	RamMemory cvsram;
	Workers workers;
	ConvEngine engine;
	std::vector<uint8_t> packedWeights; /* of the last layer put into memory */
	std::unique_ptr<Collector> out;
};

/** \brief Append an element as memory has it */
void appendElement(std::vector<uint8_t> &bytes, Precision precision, int16_t element);

} /* namespace nvdla::sim::test */
