/* SPDX-License-Identifier: MIT */
/*
 * A convolution while it is lowered.
 */
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nvdla/weights.h>

#include "lowering.h"

namespace nvdla::assembly
{

/** \brief A convolution with values derived from its surfaces and weights */
struct ConvLayer {
	const op::Convolution &op;
	const GraphWeights &weights;
	SurfaceState &in;
	bool image;
	/**
	 * \brief Shape of the user's weights, with all channels of the pixel format: it may have
	 * more than the user's input, and weights of the additional channels are zero
	 */
	WeightDesc plain;
	WeightDesc core; /**< shape of the weights as the core sees them */
	op::Padding padding;
	uint32_t outW = 0;
	uint32_t outH = 0;

	/**
	 * \brief The input as CSC, the unit that feeds the multipliers, sees it (programming guide,
	 * DATAIN_SIZE_EXT)
	 */
	Shape seenByCsc() const;
	/** \brief Lines of the input that a line of the output needs */
	uint32_t windowLines() const;
};

/** \brief Banks of the convolution buffer that the parts of a layer need */
struct BufferNeeds {
	uint32_t banks = 0;	     /**< banks shared by data and weights */
	uint32_t entriesPerLine = 0; /**< buffer entries that a line of the input takes */
	uint32_t group = 0;	     /**< banks for a kernel group */
	uint32_t twoGroups = 0;	     /**< banks for a group in use and one being fetched */
	uint32_t allWeights = 0;     /**< banks for all kernels */
	bool masksStay = true;	     /**< masks of all compressed weights fit their bank */
	/**
	 * \brief Numbers of kernels below a group that an operation may compute, descending, each
	 * with its banks; none if the layer's kernels cannot be divided
	 */
	std::vector<std::pair<uint32_t, uint32_t>> belowGroup;

	BufferNeeds(const Lowering &lowering, const ConvLayer &layer);
	/** \return banks for that many lines of the input, as CSC counts them */
	uint32_t forLines(uint32_t lines) const;
	/** \return text for messages: banks for the fewest kernels that an operation may have */
	std::string fewestKernels() const;

private:
	uint32_t entriesPerBank_;
};

/** \return a part's name such as "channels 16 to 31"; several operations may divide a surface, so
 * a part's number would be ambiguous */
std::string channelsFrom(uint32_t first, uint32_t count);
/** \brief Weights like \a whole, but of \a k kernels of \a c channels and still without elements */
GraphWeights weightsLike(const GraphWeights &whole, const std::string &name, uint32_t k,
			 uint32_t c);

/** \brief Advice of messages about a layer that is too large */
inline constexpr const char *bufferRemedy = "make it several layers of fewer channels or columns";

/**
 * \brief Number of kernels of one operation that fit the buffer beside the whole input
 * \return all if a kernel group fits, else the largest number below a group that does; 0 if none
 */
uint32_t kernelsAtOnce(const Lowering &lowering, const ConvLayer &layer);

/** \brief A deconvolution with values derived from its surfaces and weights */
struct DeconvLayer {
	const GraphWeights &weights;
	const TensorDesc &in;
	Shape out;
};

/** \brief Check a deconvolution and derive its output's shape; nothing if a rule is broken */
std::optional<DeconvLayer> deconvLayer(Lowering &lowering, const op::Deconvolution &op);

/** \brief Lines and columns that Winograd needs beyond its output (programming guide, DATAOUT_SIZE)
 */
constexpr uint32_t winogradMargin = 4;

/** \return true if weights are stored without zeros: if requested, and not all are zero */
bool isSparse(const GraphWeights &weights);

/** \brief Check that weights have as many elements as their shape; none if a CPU step packs them */
void checkElements(Lowering &lowering, const GraphWeights &weights);

/** \brief Check an operation and derive its sizes; nothing if a rule is broken */
std::optional<ConvLayer> convLayer(Lowering &lowering, const op::Convolution &op);

/** \brief Pack the weights for the layer's mode, and name them in the descriptor */
void placeWeights(Lowering &lowering, const ConvLayer &layer);

/**
 * \brief Divide the convolution buffer between data and weights
 *
 * All of the input has to fit; of the weights at least one kernel group, better
 * all (programming guide, working modes).
 */
void divideBuffer(Lowering &lowering, const ConvLayer &layer);

} /* namespace nvdla::assembly */
