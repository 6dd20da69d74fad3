/* SPDX-License-Identifier: MIT */
/*
 * Convolution as it is defined, to compare results with.
 */
#pragma once

#include <cstdint>
#include <vector>

#include <nvdla/weights.h>

#include "random.h"

namespace nvdla::test
{

/** \brief Numbers in C, H, W order with zeroes around */
struct PlainData {
	uint32_t c, h, w;
	std::vector<float> v;

	double at(uint32_t channel, int64_t y, int64_t x) const;
};

/** \return whole numbers of magnitude \a limit at most */
PlainData randomData(Random &random, uint32_t c, uint32_t h, uint32_t w, int32_t limit);

/** \return an element of weights in O, I, H, W order */
double weightAt(const WeightDesc &desc, const std::vector<float> &weights, uint32_t k, uint32_t c,
		uint32_t r, uint32_t s);

struct PlainWindow {
	uint32_t strideX = 1, strideY = 1, padLeft = 0, padTop = 0;
};

/**
 * \brief Expect accumulators in K, H, W order to be \a scale times the convolution
 * \param type FP16's accumulators are the bits of FP32 numbers
 */
void expectConvolution(const std::vector<int32_t> &output, DataType type, const WeightDesc &desc,
		       const std::vector<float> &weights, const PlainData &data,
		       const PlainWindow &window, uint32_t outHeight, uint32_t outWidth,
		       double scale = 1);

} /* namespace nvdla::test */
