/* SPDX-License-Identifier: MIT */
/*
 * Sums with AMX, which has eight registers ("tiles") of up to 16 rows of 64 bytes. A row of data is
 * a position's operands for 16 units; a row of weights is 16 columns of a unit. conv_tile's layout
 * already has these rows. Four registers hold the sums of 2 x 16 positions by 2 x 16 columns, two
 * hold data, and two hold weights.
 */
#include "conv/conv_tile.h"

#if defined(__x86_64__) && defined(__linux__)

#include <algorithm>
#include <array>
#include <cpuid.h>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

#include "core/bring_ahead.h"

namespace nvdla::sim
{

namespace
{

constexpr size_t kRows = 16;
constexpr size_t kRowBytes = 64;
constexpr size_t kRegisters = 8;
constexpr size_t kColumns = kRowBytes / sizeof(int32_t);
static_assert(kColumns == kFewColumns && kTileColumns == 2 * kColumns);
static_assert(kMatrixUnits * kUnitBytes == kRowBytes);

/** The operand of LDTILECFG */
struct alignas(64) Shapes {
	uint8_t palette = 1;
	uint8_t startRow = 0;
	uint8_t reserved[14] = {};
	uint16_t rowBytes[16] = {};
	uint8_t rows[16] = {};
};

/** Numbers of the registers by their use */
enum Register : uint8_t {
	Sums = 0, /* first of four, two for each matrix of positions */
	Data = 4,
	Weights = 6,
};

/* In assembly, because intrinsics of some compilers do not declare that they read memory. Tile
 * registers cannot be operands, so the statements are volatile to keep their order. */

template<int kRegister>
inline void load(const void *first, size_t step)
{
	asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
		     :
		     : "r"(first), "r"(step), "i"(kRegister)
		     : "memory");
}

template<int kRegister>
inline void store(void *first, size_t step)
{
	asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
		     :
		     : "r"(first), "r"(step), "i"(kRegister)
		     : "memory");
}

template<int kRegister>
inline void clear()
{
	asm volatile("tilezero %%tmm%c0" : : "i"(kRegister));
}

template<int kSums, int kData, int kWeights>
inline void multiply()
{
	asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0"
		     :
		     : "i"(kSums), "i"(kData), "i"(kWeights));
}

/** Tile registers of this thread while the object exists */
class Registers
{
public:
	Registers() = default;
	Registers(const Registers &) = delete;
	Registers &operator=(const Registers &) = delete;
	~Registers()
	{
		if (rows_)
			asm volatile("tilerelease");
	}

	/** \brief Set the number of positions in each register; a change clears the registers */
	void shape(size_t rows)
	{
		Shapes shapes;

		if (rows == rows_)
			return;
		rows_ = rows;
		for (size_t i = 0; i < kRegisters; i++) {
			shapes.rowBytes[i] = kRowBytes;
			shapes.rows[i] = static_cast<uint8_t>(i < Weights ? rows : kRows);
		}
		asm volatile("ldtilecfg %0" : : "m"(shapes));
	}

private:
	size_t rows_ = 0;
};

/** Data of a register: one row for each of several equidistant positions */
struct DataRows {
	size_t first;
	const std::byte *at; /* operands of the first position */
	size_t step;	     /* bytes between positions */
};

/** Sums of kMatrices matrices of positions by kHalves times 16 columns */
template<size_t kMatrices, size_t kHalves>
class MatrixTile
{
public:
	MatrixTile(const std::array<DataRows, 2> &matrices, const Panel &panel)
		: matrices_(matrices), panel_(panel)
	{
	}

	void make(const TileSums &sums, Ahead &ahead) const
	{
		const std::byte *weights = reinterpret_cast<const std::byte *>(panel_.weights);

		begin();
		for (const TileRun &run : panel_.runs) {
			const size_t end = run.offset + run.units * kUnitBytes;
			for (size_t offset = run.offset; offset < end; offset += kRowBytes) {
				ahead.bring();
				add(offset, weights);
				weights += kMatrixUnits * kWeightsStep;
			}
		}
		finish(sums);
	}

private:
	static constexpr size_t kWeightsStep = kTileColumns * sizeof(int32_t);

	/* Clears unused columns too, as finish() stores them. */
	void begin() const
	{
		clear<Sums>();
		clear<Sums + 1>();
		if constexpr (kMatrices > 1) {
			clear<Sums + 2>();
			clear<Sums + 3>();
		}
	}

	void add(size_t offset, const std::byte *weights) const
	{
		load<Weights>(weights, kWeightsStep);
		load<Data>(matrices_[0].at + offset, matrices_[0].step);
		multiply<Sums, Data, Weights>();
		if constexpr (kHalves > 1) {
			load<Weights + 1>(weights + kRowBytes, kWeightsStep);
			multiply<Sums + 1, Data, Weights + 1>();
		}
		if constexpr (kMatrices > 1) {
			load<Data + 1>(matrices_[1].at + offset, matrices_[1].step);
			multiply<Sums + 2, Data + 1, Weights>();
			if constexpr (kHalves > 1)
				multiply<Sums + 3, Data + 1, Weights + 1>();
		}
	}

	void finish(const TileSums &sums) const
	{
		const size_t step = sums.columns * sizeof(int32_t);

		store<Sums>(sums.at(matrices_[0].first, 0), step);
		store<Sums + 1>(sums.at(matrices_[0].first, kColumns), step);
		if constexpr (kMatrices > 1) {
			store<Sums + 2>(sums.at(matrices_[1].first, 0), step);
			store<Sums + 3>(sums.at(matrices_[1].first, kColumns), step);
		}
	}

	const std::array<DataRows, 2> &matrices_;
	const Panel &panel_;
};

/** A run of equidistant positions */
struct Regular {
	size_t count;
	ptrdiff_t step; /* bytes between positions */
};

/** \return the longest run from the first position on, in whole lines of \a width positions */
Regular regularFrom(std::span<const TilePosition> positions, size_t width)
{
	const auto stepTo = [&](size_t index) {
		return positions[index].at - positions[index - 1].at;
	};
	size_t count = std::min(width, positions.size());

	if (positions.size() == 1)
		return { 1, 0 };
	const ptrdiff_t step = stepTo(1);
	while (count < positions.size() && stepTo(count) == step &&
	       (width == 1 || stepTo(count + 1) == step))
		count += width;
	return { count, step };
}

/** Computes matrices in pairs if they have the same number of rows */
template<size_t kHalves>
class MatrixSums
{
public:
	MatrixSums(const Panel &panel, const TileSums &sums, Ahead ahead)
		: panel_(panel), sums_(sums), ahead_(ahead)
	{
	}

	void add(const DataRows &matrix, size_t rows)
	{
		if (waiting_ && rows == rows_) {
			matrices_[1] = matrix;
			MatrixTile<2, kHalves>(matrices_, panel_).make(sums_, ahead_);
			waiting_ = false;
			return;
		}
		finish();
		rows_ = rows;
		registers_.shape(rows);
		matrices_[0] = matrix;
		waiting_ = true;
	}

	void finish()
	{
		if (waiting_)
			MatrixTile<1, kHalves>(matrices_, panel_).make(sums_, ahead_);
		waiting_ = false;
	}

private:
	const Panel &panel_;
	const TileSums &sums_;
	Ahead ahead_;
	Registers registers_;
	std::array<DataRows, 2> matrices_ = {};
	size_t rows_ = 0;
	bool waiting_ = false; /* true if the first matrix waits for a second one */
};

template<size_t kHalves>
void sumsOf(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums)
{
	MatrixSums<kHalves> work(panel, sums,
				 { panel.next, (positions.size() / (2 * kRows) + 1) *
						       panel.units() / kMatrixUnits });

	for (size_t first = 0; first < positions.size();) {
		const auto [count, step] = regularFrom(positions.subspan(first), panel.width);
		/* Divides into matrices of about the same size; the last one overlaps the one
		 * before. */
		const size_t matrices = (count + kRows - 1) / kRows;
		const size_t rows = (count + matrices - 1) / matrices;
		for (size_t i = 0; i < matrices; i++) {
			const size_t at = first + std::min(i * rows, count - rows);
			work.add({ at, positions[at].at, static_cast<size_t>(step) }, rows);
		}
		first += count;
	}
	work.finish();
}

bool askForMatrices()
{
	constexpr unsigned int kLeaf = 7;
	constexpr unsigned int kTiles = 1U << 24;
	constexpr unsigned int kBytes = 1U << 25;
	constexpr long kRequestPermission = 0x1023; /* ARCH_REQ_XCOMP_PERM */
	constexpr long kTileData = 18;		    /* XFEATURE_XTILEDATA */
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(kLeaf, 0, &eax, &ebx, &ecx, &edx) && (edx & kTiles) &&
	       (edx & kBytes) && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

} /* namespace */

bool hasMatrices()
{
	static const bool has = askForMatrices();

	return has;
}

void matrixSums(std::span<const TilePosition> positions, const Panel &panel, const TileSums &sums)
{
	if (panel.used > kColumns)
		sumsOf<2>(positions, panel, sums);
	else
		sumsOf<1>(positions, panel, sums);
}

} /* namespace nvdla::sim */

#else

namespace nvdla::sim
{

bool hasMatrices()
{
	return false;
}

void matrixSums(std::span<const TilePosition>, const Panel &, const TileSums &)
{
}

} /* namespace nvdla::sim */

#endif
