/* SPDX-License-Identifier: MIT */
/*
 * Random operations of every engine, as the registers that a driver writes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "core/core.h"
#include "core/geometry.h"

namespace nvdla::fuzz
{

/** \brief Memory that the operations lie in; both are full of numbers before each of them */
inline constexpr size_t kDramBytes = 2 << 20;
inline constexpr uint64_t kCvsramBase = 0x50000000;
inline constexpr size_t kCvsramBytes = 256 << 10;

/** \brief An operation, with the engines that it flies through */
struct Program {
	std::string what;
	/** To registers by name: addresses in nv_full. The last ones begin the operation. */
	std::vector<sim::CsbWrite> writes;
	/** Memory that is as this operation wants it: a mask, say */
	struct Patch {
		sim::RamType ram;
		uint64_t address;
		std::vector<std::byte> bytes;
	};
	std::vector<Patch> patches = {};
};

/** \brief Kinds of operations */
enum class Kind : uint8_t {
	Bdma,
	Rubik,
	Cdp,
	Pdp,
	Sdp,
	SdpPdp,
	Direct,
	Batch,
	OnePosition,
	Depthwise,
	Sparse,
	SparseDepthwise,
	Image,
	Winograd,
};
inline constexpr unsigned int kKinds = 14;

/** \return a convolution that makes \a batches cubes of \a side by \a side of one element each */
Program growing(sim::Precision precision, uint32_t side, uint32_t batches);

/**
 * \brief Rolls operations that the hardware defines, most of them
 *
 * Kinds that the core has no units for give operations that its registers refuse.
 *
 * Cubes have gaps between lines and surfaces or none, lines are shorter and longer than what the
 * model works on at once, with a rest and without, and there are few surfaces or many. Some are
 * written onto what they read, or beyond the end of memory.
 */
class OperationDice
{
public:
	/** \param core which the operations are for; it must outlive this object */
	explicit OperationDice(uint32_t seed, const sim::Geometry &core = sim::nvFull)
		: random_(seed), core_(core)
	{
	}

	/** \param kind of the operation */
	Program roll(Kind kind);

private:
	friend Program growing(sim::Precision precision, uint32_t side, uint32_t batches);

	/** \brief Columns, lines, and channels, which are some surfaces */
	struct Shape {
		uint32_t width;
		uint32_t height;
		uint32_t channels;
	};
	/** \brief A cube or planes in memory, strides in bytes */
	struct Place {
		sim::RamType ram = sim::RamType::Mc;
		uint64_t address = 0;
		uint32_t lineStride = 0;
		uint32_t surfaceStride = 0;
	};
	/** \brief Registers of a place */
	struct PlaceRegisters {
		uint32_t ram; /* the type is its bit 0; 0: there is none */
		uint32_t high;
		uint32_t low;
		uint32_t lineStride;
		uint32_t surfaceStride;
	};
	struct Convolution;

	uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
	/** \return a number from \a low to \a high */
	uint32_t from(uint32_t low, uint32_t high) { return low + below(high - low + 1); }
	bool oneIn(uint32_t count) { return below(count) == 0; }
	uint32_t oneOf(std::initializer_list<uint32_t> values)
	{
		return values.begin()[below(static_cast<uint32_t>(values.size()))];
	}
	/** \return a precision that the core has */
	sim::Precision rollPrecision();
	uint32_t rollWidth();
	Shape rollShape(sim::Precision precision, uint32_t mostAtoms);
	Place place(uint32_t lineBytes, uint32_t lines, uint32_t surfaces);
	uint64_t findRoom(sim::RamType ram, uint64_t bytes);

	void set(uint32_t address, uint32_t value)
	{
		program_->writes.push_back({ address, value });
	}
	/** \brief The same of a register of 64 bits */
	void set(uint32_t high, uint32_t low, uint64_t value);
	void set(const PlaceRegisters &registers, const Place &place);
	void setTables(uint32_t config, uint32_t data);
	void setRandomSlopes(std::initializer_list<uint32_t> registers);

	void addBdma();
	void addBdmaTransfer();
	void addRubik();
	void addCdp();
	void setCdpTables(sim::Precision precision);
	void addPdp();
	void setPdp(const Shape &in, sim::Precision precision, bool flying);
	/** \brief Of an input and an output, and parts that they are split into */
	struct Columns {
		uint32_t in;
		uint32_t out;
		uint32_t parts;
	};
	/** \param most columns of an output that the line buffer takes */
	Columns setPdpParts(uint32_t kernel, uint32_t stride, uint32_t padLeft, uint32_t most);
	void addSdp(bool toPdp);
	/** \param batches of a convolution in front \return it reads operands */
	bool setSdp(const Shape &shape, sim::Precision precision, bool flying, bool toPdp,
		    uint32_t batches);
	bool setSdpStage(unsigned int stage, const Shape &shape, sim::Precision precision);
	void setSdpTables(sim::Precision precision);
	void addConvolution(Kind kind);
	void rollDirect(Convolution &conv);
	void rollDepthwise(Convolution &conv);
	void rollImage(Convolution &conv);
	void rollWinograd(Convolution &conv);
	bool layBanks(Convolution &conv);
	void setConvolution(const Convolution &conv);
	void setWeights(const Convolution &conv);
	void setGroupSizes(sim::RamType ram, uint32_t most, uint32_t weightBytes);
	void enableConvolution();

	std::mt19937 random_;
	const sim::Geometry &core_;
	Program *program_ = nullptr;
	std::vector<Place> places_; /* of the operation so far */
};

} /* namespace nvdla::fuzz */
