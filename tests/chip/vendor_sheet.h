/* SPDX-License-Identifier: MIT */
/*
 * The vendor's performance sheet: its layers.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nvdla::test
{

/** \brief What the sheet has a layer move from or to a memory */
struct SheetTraffic {
	bool input = false;
	bool weights = false;
	bool output = false;
	bool operand = false; /**< of an element-wise sum */
};

/** \brief A layer of the sheet; KiB and cycles are of one image */
struct SheetLayer {
	std::string name;
	bool fullyConnected = false;
	bool sum = false; /**< an element-wise sum behind it */
	uint32_t c = 0, h = 0, w = 0;
	uint32_t k = 0, r = 0, s = 0;
	uint32_t strideY = 1, strideX = 1;
	uint32_t outH = 0, outW = 0;
	bool pool = false;
	uint32_t poolH = 0, poolW = 0, poolStrideY = 1, poolStrideX = 1;
	uint32_t pooledH = 0, pooledW = 0;
	double inputKib = 0;
	double outputKib = 0;
	double weightKib = 0;
	double dramCycles = 0;	 /**< of the bytes it counts, with DRAM only */
	double cycles = 0;	 /**< its result, with DRAM only */
	double onChipCycles = 0; /**< its result with 4 MiB on the chip */
	SheetTraffic dram;	 /**< with 4 MiB on the chip */
	SheetTraffic sram;
	double imagesOfWeights = 1; /**< that weights are fetched from DRAM for, with 4 MiB */

	/** \return the sheet takes it for a Winograd one */
	bool sheetWinograd() const { return r == 3 && s == 3 && strideX == 1 && c >= 16; }
	/** \return it can be one: pooling on the fly needs whole tiles */
	bool winograd() const { return sheetWinograd() && (!pool || outW % 4 == 0); }
	bool image() const { return c == 3; }
	/** \return the image has a channel of padding */
	bool fourChannels() const { return image() && inputKib * 1024 > 3.5 * h * w; }
	/** \return 1x1 kernels with a stride */
	bool stridedPoint() const { return r <= 2 && strideY > 1; }
	/** \return images in a batch; DRAM takes 100 cycles for what the sheet calls a KiB */
	uint32_t images(bool onChip) const
	{
		constexpr uint32_t fullyConnectedBatch = 16;

		return fullyConnected && (onChip || dramCycles < 100 * weightKib)
			       ? fullyConnectedBatch
			       : 1;
	}
};

/** \brief A network of the sheet */
struct Sheet {
	std::string name; /**< "AlexNet" */
	std::vector<SheetLayer> layers;
};

/** \return a network, nothing if \a folder has no file of it \param name "alexnet", ... */
std::optional<Sheet> readSheet(const std::filesystem::path &folder, const std::string &name);

} /* namespace nvdla::test */
