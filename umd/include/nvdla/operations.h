/* SPDX-License-Identifier: MIT */
/*
 * Operations of the core and of the CPU, in the terms of NVDLA's programming guide, which calls one
 * operation of an engine a hardware layer. The comments cite this guide ("guide"), the in-memory
 * format document ("formats") and the precision document ("precision").
 *
 * All operations are plain values. Surfaces, constants and look-up tables are referred to by their
 * names in a Graph (nvdla/graph.h). Sizes, strides, banks of the convolution buffer and partial
 * widths are not members, because assembly of the graph derives them.
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nvdla/converter.h>
#include <nvdla/element_function.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla::op
{

/** \brief A number for each axis of a plane (x: columns, y: lines): a stride, dilation or kernel
 * size */
struct Axes {
	uint32_t x = 1;
	uint32_t y = 1;
};

/** \brief Elements of padding on each side of a plane */
struct Padding {
	uint32_t left = 0;
	uint32_t right = 0;
	uint32_t top = 0;
	uint32_t bottom = 0;
};

/** \brief Conversion of pixels in a convolution, before the multiplication */
struct PixelConversion {
	/** \brief Components of pixels are signed numbers, whatever their width */
	bool signedPixels = true;
	/** \brief Converter of each (integer) component; nothing: the bits are used unchanged */
	std::optional<Converter> converter;
	/** \brief Values that the converter subtracts instead of its offset: R or Y, G or U, B or
	 * V, A or X */
	std::optional<std::array<int16_t, 4>> mean;
};

/**
 * \brief Convolution; its output is a stream that an Sdp takes
 *
 * The pipeline works in the type of the weights. A feature input has that type; an image may have
 * another one (formats, "Precision Conversion"). The output is
 * (in + padding - ((kernel - 1) * dilation + 1)) / stride + 1 wide and high, rounded down.
 */
struct Convolution {
	std::string name;
	std::string input;   /**< feature or pixel surface; n > 1 is multi-batch mode */
	std::string weights; /**< name of weights that Graph::weights() added */
	std::string output;
	Axes stride;
	Axes dilation;
	Padding padding;
	int16_t padValue = 0; /**< a number in the pipeline's type; FP16: its bits */
	/**
	 * \brief Number of groups of channels that have kernels of their own. With as many groups
	 * as channels, the convolution is depthwise
	 *
	 * Both the input's channels and the kernels are a multiple of groups. GraphWeights::c are
	 * the channels of one group; of k kernels, the first k / groups belong to the first group.
	 *
	 * A hardware layer computes as many groups as it takes for their channels and kernels to
	 * fill whole atoms; weights between a kernel of one group and a channel of another are
	 * zero. If several hardware layers are needed, each has an SDP layer behind it, whose
	 * output is a surface in memory; then the cubes of a batch are computed one after the
	 * other, and neither weights nor data are reused.
	 */
	uint32_t groups = 1;
	/**
	 * \brief Winograd mode; the kernel is 3x3, and the output's width and height are multiples
	 * of 4 and at least 8
	 */
	bool winograd = false;
	uint8_t winogradShift = 0;    /**< PRA_TRUNCATE: right shift of transformed integers */
	uint8_t accumulatorShift = 0; /**< CLIP_TRUNCATE: SDP gets sum >> accumulatorShift */
	/** \brief Lines of the kernel that the MACs take at a time: 1, 2 or 4; images only */
	uint32_t postExtension = 1;
	PixelConversion pixels; /**< only for images */
	/**
	 * \brief Number of horizontal bands of the output; 0: as few as the convolution buffer
	 * allows
	 *
	 * Each band is a hardware layer with an SDP layer behind it (guide, "Split H"). With more
	 * than one band, the output of that SDP operation is a surface in memory.
	 */
	uint32_t bands = 0;
	/**
	 * \brief The convolution before this one in the graph has the same weights, which stay in
	 * the convolution buffer
	 *
	 * The convolution buffer has to hold all weights beside the data of both convolutions
	 * (guide, WEIGHT_REUSE).
	 */
	bool reuseWeights = false;
	/**
	 * \brief The convolution before this one reads the same input, which stays in the
	 * convolution buffer
	 *
	 * Both must have the same mode and conversion of pixels; pictures must have the same
	 * padding at the sides, Winograd's inputs the same padding and stride (guide, DATA_REUSE).
	 * In direct mode the inputs may also be overlapping slices of one surface: this
	 * convolution's slice begins after the first line of the previous convolution's slice and
	 * ends after the last line of that slice (guide, RLS_SLICES).
	 */
	bool reuseData = false;
	/** \brief FP16: NaN in input and weights is read as zero (precision, NaN) */
	bool nanToZero = false;
};

/**
 * \brief Deconvolution (transposed convolution); its output is a stream that an Sdp takes
 *
 * Each element of the input adds the kernel, times that element, to the output at (x * stride.x, y
 * * stride.y): out(k, y * stride.y + r, x * stride.x + s) += in(c, y, x) * W(k, c, r, s). The
 * result has (in - 1) * stride + kernel lines and columns; padding cuts some of them off.
 *
 * The core computes stride.x * stride.y convolutions, one for each phase of the output, with the
 * SDP operation behind each; RUBIK puts the phases together (guide, "Deconvolution"). Operands of
 * that SDP operation are constants, or surfaces if stride.x is 1. Its output is a surface in
 * memory, with room for a multiple of stride.x columns in a line. The cubes of a batch are made one
 * after the other.
 */
struct Deconvolution {
	std::string name;
	std::string input;   /**< a feature surface of the weights' type */
	std::string weights; /**< name of weights; K is the number of the output's channels */
	std::string output;
	Axes stride; /**< each 1 to 32 */
	/** \brief Columns and lines of the output that are cut off on each side */
	Padding padding;
	uint8_t accumulatorShift = 0; /**< see Convolution::accumulatorShift */
	/** \brief The phases are stored in on-chip memory until RUBIK interleaves them */
	bool phasesOnChip = false;
	/** \brief FP16: NaN in input and weights is read as zero (precision, NaN) */
	bool nanToZero = false;
};

enum class Alu : uint8_t { Max, Min, Sum };

enum class Activation : uint8_t {
	None,
	Relu,	/**< only in X1 and X2 */
	PRelu,	/**< multiplies negative values only; the ALU is bypassed */
	LookUp, /**< only in Y: the tables of Sdp::lut */
};

/**
 * \brief One of the units X1, X2, Y of SDP
 *
 * X1 and X2: ALU, multiplier, shift, activation. Y: multiplier, shift, ALU,
 * activation (programming guide, "SDP programming").
 */
struct SdpUnit {
	std::optional<Alu> alu; /**< nothing: the ALU is bypassed */
	bool multiply = false;
	Activation activation = Activation::None;
	/**
	 * \brief Name of the operands: of Graph::operands() or of a surface
	 *
	 * If empty, the operands are in registers: aluOperand and mulOperand. A surface has the
	 * output's shape, or one element for each channel (1 x 1). It feeds the ALU or the
	 * multiplier, not both.
	 */
	std::string operands;
	/**
	 * \brief X1: a surface for the multiplier, while operands names one for the ALU
	 *
	 * A unit reads only one surface. So unit X1 adds, and unit X2, which must not be in use,
	 * multiplies with X1's shift and activation. The sum between them is saturated to 32 bits.
	 */
	std::string mulOperands;
	/**
	 * \brief X1, X2: an integer of 16 bits, or the bits of an FP16 number; Y: 32 bits, or the
	 * bits of an FP32 number
	 */
	int32_t aluOperand = 0;
	int32_t mulOperand = 0;
	uint8_t aluShift = 0; /**< X1, X2: left shift of the ALU's operand */
	uint8_t shift = 0;    /**< right shift of the result, even without multiplier */
	std::optional<Converter> aluConverter; /**< Y: converter of operands in memory */
	std::optional<Converter> mulConverter;
};

/** \brief An SDP operation: bias, batch normalisation, element-wise, activation */
struct Sdp {
	std::string name;
	std::string input; /**< a surface, or the stream of a convolution */
	std::string output;
	std::optional<SdpUnit> x1;
	std::optional<SdpUnit> x2;
	std::optional<SdpUnit> y;
	std::string lut;     /**< name of tables of Graph::lut(), for Activation::LookUp */
	Converter converter; /**< converter of the output; integers only */
	/** \brief Type of the output; Unknown: the type of its declared surface or, if none is
	 * declared, the input's type */
	DataType type = DataType::Unknown;
	/** \brief FP16: NaN in input and operands is read as zero (precision, NaN) */
	bool nanToZero = false;
};

/**
 * \brief Compare a surface with another one, or with constants (SDP, compare mode)
 *
 * Nothing is written. In the report of a run with RunOptions::statistics,
 * OperationReport::unequal of the operation says whether an element differs.
 * Whole atoms are compared. Unused channels of a last atom agree if both surfaces were computed
 * with the same settings; the mode is meant for redundant computing.
 */
struct Compare {
	std::string name;
	std::string input; /**< a surface in memory */
	/**
	 * \brief A surface of the input's shape and type, or Graph::operands()
	 *
	 * Batches are compared with batches; both are packed, cube behind cube.
	 */
	std::string with;
};

enum class Pool : uint8_t { Average, Max, Min };

/**
 * \brief Pooling (PDP)
 *
 * The windows have to use each column and line: (in + padding - kernel) is a
 * multiple of the stride. Wide outputs are split.
 */
struct Pooling {
	std::string name;
	std::string input; /**< a surface, or the stream of an Sdp */
	std::string output;
	Pool method = Pool::Max;
	Axes kernel; /**< each 1 to 8 */
	Axes stride; /**< each 1 to 16 */
	Padding padding;
	int32_t padValue = 0; /**< number that an element of the padding adds to an average;
				 integers only */
	uint32_t parts = 0;   /**< number of vertical bands of the output; 0: as few as fit PDP's
				 line buffer */
	/** \brief FP16: NaN in an input from memory is read as zero (precision, NaN) */
	bool nanToZero = false;
};

/** \brief Local response normalisation over channels (CDP) */
struct Normalization {
	std::string name;
	std::string input;
	std::string output;
	std::string lut;
	uint32_t localSize = 5; /**< channels that are summed: 3, 5, 7 or 9 */
	Converter in;		/**< input converter; integers only */
	Converter out;
	bool bypassSquareSum = false; /**< the table's input is x, not the sum of squares */
	bool bypassMultiply = false;  /**< the output is the table's result, without the factor x */
	/** \brief FP16: NaN in the input is read as zero (precision, NaN) */
	bool nanToZero = false;
};

/**
 * \brief Finish a deconvolution (RUBIK, contract)
 *
 * Channel group (y * stride.x + x) at a position of the input becomes the position (x, y) in a
 * block of stride.x by stride.y positions of the output. The groups are whole atoms. The
 * description of the output may leave out the last channels and columns; RUBIK writes them
 * nevertheless, so there has to be room between the lines.
 */
struct Contract {
	std::string name;
	std::string input; /**< a surface with stride.x * stride.y times the output's channels */
	std::string output;
	Axes stride;
};

/** \brief Convert a surface from feature to planar layout (RUBIK, split) */
struct SplitPlanes {
	std::string name;
	std::string input;
	std::string output; /**< a planar surface */
};

/** \brief Convert a surface from planar to feature layout (RUBIK, merge) */
struct MergePlanes {
	std::string name;
	std::string input; /**< a planar surface */
	std::string output;
};

/** \brief Copies of whole surfaces (BDMA); shapes agree, strides may differ */
struct Copy {
	struct Transfer {
		std::string input;
		std::string output;
	};

	std::string name;
	std::vector<Transfer> transfers; /**< 1 to 20 copies */
};

/** \brief Softmax over the channels of a pixel, on the CPU */
struct Softmax {
	std::string name;
	std::string input;
	std::string output;
	float inScale = 1.0f;  /**< real value of one step of an integer input */
	float outScale = 1.0f; /**< real value of one step of an integer output */
	int32_t outZero = 0;   /**< the integer that represents 0 in the output, -128 to 127 */
	DataType type = DataType::Unknown;
};

/**
 * \brief A function of shift + scale * inner(x) for each element x, on the CPU
 *
 * If the function is infinite or not defined, a result in FP16 is infinite or NaN, and an integer
 * is the function's value at the nearest x at which it is defined.
 */
struct Unary {
	std::string name;
	std::string input;
	std::string output;
	ElementFunction function = ElementFunction::Identity;
	float parameter = 0.0f; /**< parameter of functions that have one */
	float scale = 1.0f;
	float shift = 0.0f;
	float inScale = 1.0f;
	float outScale = 1.0f;
	int32_t outZero = 0; /**< integer that represents 0 in the output, -128 to 127 */
	DataType type = DataType::Unknown;
	ElementFunction inner = ElementFunction::Identity; /**< applied to x first; a function
							      without parameter */
};

/**
 * \brief Copy elements to a cube of another shape, on the CPU
 *
 * Elements are counted in the order H, W, C. Graph::surface() must describe the output, with the
 * input's type and as many elements. With \a axes, the elements are seen as an array of up to five
 * axes, which is transposed.
 */
struct Reshape {
	std::string name;
	std::string input;
	std::string output;
	AxisOrder axes;
};

/** \brief A function of all channels of a pixel, on the CPU */
struct OverChannels {
	enum class Function : uint8_t {
		ArgMax,	   /**< index of the largest channel (of equal ones the first), as an INT16
			      channel */
		Normalize, /**< x / sqrt(sum of squares) */
		NormalizeTwice, /**< Normalize for integers, which TFLite's kernels round twice */
		LocalResponse,	/**< x / (shift + scale * sum of squares of the window) ^ power */
		LogSoftmax,	/**< x - log(sum of exp(x)) */
		Standardize,	/**< (x - mean) / sqrt(variance + shift) */
		Largest,	/**< maximum over all channels; the output has one channel */
		Smallest,	/**< minimum over all channels; the output has one channel */
	};

	std::string name;
	std::string input;
	std::string output;
	Function function = Function::ArgMax;
	uint32_t window = 0; /**< LocalResponse: channels, an odd number up to 255 */
	float power = 1.0f;
	float scale = 1.0f;
	float shift = 0.0f;
	float inScale = 1.0f;
	int32_t inZero = 0; /**< integer that represents 0 in the input, -128 to 127 */
	float outScale = 1.0f;
	int32_t outZero = 0;
	DataType type = DataType::Unknown;
};

/**
 * \brief Bring a computed tensor into the order of a convolution's weights, on the CPU
 *
 * The output is a surface without axes, which GraphWeights::packed names. Its description may give
 * a place, but no shape.
 */
struct PackWeights {
	std::string name;
	std::string input; /**< surface with a batch of 1 */
	std::string output;
	/** \brief Each channel is a kernel, whose channels are the pixels; otherwise each pixel is
	 * a kernel, with the pixel's channels */
	bool ofChannels = false;
	uint32_t lines = 1;   /**< lines of the kernels, 1 to 32; all taps get the same element */
	uint32_t columns = 1; /**< columns of the kernels, 1 to 32 */
	int32_t zero = 0;     /**< zero point, subtracted from integers; -128 to 127 */
};

using Any = std::variant<Convolution, Deconvolution, Sdp, Compare, Pooling, Normalization, Contract,
			 SplitPlanes, MergePlanes, Copy, Softmax, Unary, Reshape, OverChannels,
			 PackWeights>;

} /* namespace nvdla::op */

#pragma GCC visibility pop
