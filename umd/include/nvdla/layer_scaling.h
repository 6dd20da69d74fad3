/* SPDX-License-Identifier: MIT */
/*
 * Parameters of a whole layer: operands, shifts and converters with which its engine computes on
 * integers that represent the real numbers of its tensors.
 *
 * The comments cite two documents, as nvdla/converter.h does: "precision", NVDLA's precision
 * document, and "VTA", on quantized operations of the VTA accelerator. Formulas have their names: s
 * and z are scale and zero point of VTA, SF and O are factor and offset of the precision document.
 */
#pragma once

#include <nvdla/converter.h>
#include <nvdla/weights.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief The tensors around a convolution */
struct ConvolutionQuantization {
	Quantization input;
	std::vector<double> weightScales; /**< one scale, or one per kernel; zero points are 0 */
	Quantization output;
	uint32_t accumulatorTruncate = 0; /**< cc_out_trunc: right shift in CACC (CLIP_TRUNCATE) */
	uint32_t preTruncate = 0;	  /**< pra_trunc: right shift in Winograd (PRA_TRUNCATE) */
	double winogradScale = 1.0;	  /**< WinogradParams::scale; 1 for direct convolution */
};

/**
 * \brief Parameters of an X unit and the output converter
 *
 * The unit adds and multiplies, with two operands for each channel (OperandDesc::components is 2).
 * Its output, before the converter, has a zero point of 0, as ReLU needs it.
 */
struct AffineScaling {
	std::vector<int16_t> bias;  /**< adder operands, one per channel */
	uint8_t biasShift = 0;	    /**< left shift of the adder's operands */
	SdpMultipliers multipliers; /**< one per channel */
	Converter output;	    /**< adds the output's zero point */
	double biasError = 0;	    /**< largest error of a bias, in steps of the output */
};

/** \brief Parameters of an integer convolution */
struct ConvolutionScaling : AffineScaling {
	int32_t paddingValue = 0;
};

/**
 * \brief Compute the biases, multipliers and output converter of an integer convolution
 *
 * - VTA, "CONV2D operator": Y = (s_w * s_i / s_y) * (W x (I - z_i) + B) + z_y.
 * - Precision, bias: SF_bs * 2^bs_trunc = SF_in * SF_wt / 2^(pra_trunc + cc_out_trunc), where
 *   SF_bs is the scaling factor of AffineScaling::bias, and bs_trunc is AffineScaling::biasShift.
 * - Precision, offset: the accumulator of channel k is off by z_i times the sum of its quantized
 *   weights; the adder's operand cancels this offset.
 * - Precision, "Padding": PADDING_VALUE = -offset * SF, the input's zero point.
 *
 * \param[in] weights desc.elements() quantized elements in O, I, H, W order, Int8 or Int16
 * \param[in] bias real numbers, one per kernel, or none
 * \return InvalidArgument for sizes that do not match; Unsupported for FP16, which needs none of
 * this, and for scales out of range
 */
Result<ConvolutionScaling> scaleConvolution(const ConvolutionQuantization &quantization,
					    const WeightDesc &desc,
					    std::span<const std::byte> weights,
					    std::span<const double> bias);

/**
 * \brief Batch normalization in an X unit: (x - mean) * factor
 *
 * Precision, batch normalization: SF_in = SF_bn_m_cvt * 2^bn_m_shifter. The adder subtracts the
 * mean and the input's zero point; the multiplier's scale is s_in * factor / s_out.
 *
 * \param[in] mean,factor real numbers, one per channel; the factor is 1 / deviation, of any sign
 */
Result<AffineScaling> scaleBatchNorm(const Quantization &input, const Quantization &output,
				     std::span<const double> mean, std::span<const double> factor);

/** \brief Quantized weights and their scales */
struct QuantizedWeights {
	std::vector<std::byte> elements; /**< elements of desc.type, in O, I, H, W order */
	std::vector<double> scales;	 /**< one scale, or one per kernel */
};

/** \brief Scales of weights: one for all kernels, or one for each */
enum class WeightScales : uint8_t {
	PerTensor,
	PerKernel,
};

/**
 * \brief Quantize weights without an offset (precision, wt_cvt: "Offset is not allowed")
 *
 * The largest magnitude becomes the largest integer. Kernels that are all zero have scale 1.
 *
 * \param[in] weights desc.elements() real numbers in O, I, H, W order
 */
Result<QuantizedWeights> quantizeWeights(const WeightDesc &desc, std::span<const float> weights,
					 WeightScales scales);

/** \brief Operation of SDP on two tensors */
enum class Elementwise : uint8_t {
	Max,
	Min,
	Sum,
	Product,
};

/** \brief Parameters of an element-wise operation: the operand's converter, and the quantization of
 * the result before the output converter */
struct ElementwiseScaling {
	Converter operand; /**< Y's alu_cvt or mul_cvt ("ew_inv_cvt") */
	Quantization result;
};

/**
 * \brief Precision, element-wise: convert the operand so that the operation on integers is right
 *
 * - Max, Min: both streams need the same offset and scale.
 * - Sum: both streams need the same scale. The operand's offset is removed, so that the result has
 *   the main stream's offset.
 * - Product: both offsets must be 0, or they would be multiplied as well.
 *
 * \param[in] main quantization of the stream through SDP
 * \param[in] operand quantization of the surface that is read from memory
 * \return InvalidArgument for a product whose main stream has a zero point
 */
Result<ElementwiseScaling> scaleElementwise(Elementwise operation, const Quantization &main,
					    const Quantization &operand);

/** \brief Parameters of CDP: its two converters, with their names in the precision document */
struct CdpScaling {
	Converter input;  /**< cdp_in_cvt: (x - O_in) * SF_in becomes x * 2^M */
	Converter output; /**< cdp_out_cvt: makes the output's integers */
	/** \brief Real sum of squares that one step of the table's input represents */
	double lutInputScale;
};

/**
 * \brief Compute the converters of CDP (precision, CDP)
 *
 * O_cdp_in_cvt = -O_in * SF_in, SF_cdp_in_cvt = 2^M / SF_in; SF_out = SF_lut * SF_cdp_out_cvt *
 * 2^M, O_out = O_cdp_out_cvt / (SF_lut * 2^M).
 *
 * \param[in] fractionBits M; the caller chooses it so that x * 2^M fits the type
 * \param[in] lutOutputScale real number that one step of the table's entries represents, 1 / SF_lut
 */
Result<CdpScaling> scaleCdp(const Quantization &input, const Quantization &output,
			    int32_t fractionBits, double lutOutputScale);

} /* namespace nvdla */

#pragma GCC visibility pop
