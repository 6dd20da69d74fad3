/* SPDX-License-Identifier: MIT */
/* Choices between several ways to carry out the operations of a graph. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nvdla/error.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Rule by which one of the choices of a Strategy is made */
enum class Choice : uint8_t {
	Auto,	/**< the way that is predicted to be faster on the chip */
	Always, /**< wherever possible, even if slower; an error if never possible */
	Never,	/**< only where the graph itself requests it */
};

/**
 * \brief Choices for the operations of a graph
 *
 * Settings of the graph itself are kept: an operation with Convolution::winograd, bands, reuseData
 * and so on is not changed. Integer results do not depend on the choices; FP16 results stay within
 * the thresholds that NVDLA's precision document has for the mode, as the order of their sums may
 * differ.
 */
struct Strategy {
	/**
	 * \brief Winograd's mode; FP16 only, because transformed integers need more bits than the
	 * core has
	 *
	 * Only chosen on request, because the device model takes several times as long with it.
	 */
	Choice winograd = Choice::Never;
	/** \brief Weights stored without zero elements */
	Choice compression = Choice::Auto;
	/** \brief Inputs of few channels stored as pixels (Surface::mayBePixels), so that the MACs
	 * take a line of a kernel at a time; this changes the order of FP16 additions */
	Choice pixels = Choice::Auto;
	/** \brief MACs take several lines of a kernel at a time (Convolution::postExtension) */
	Choice postExtension = Choice::Auto;
	/** \brief More or fewer bands than usual, for inputs larger than the convolution buffer
	 */
	Choice bands = Choice::Auto;
	/** \brief SDP hands its result to the pooling on the fly */
	Choice fusedPooling = Choice::Auto;
	/** \brief Inputs or weights that the previous convolution has read stay in the convolution
	 * buffer */
	Choice reuse = Choice::Auto;
	/**
	 * \brief Surfaces of branches that could run at the same time share no bytes, even if that
	 * takes more memory. Otherwise they have separate bytes only if that takes no more memory
	 */
	Choice branches = Choice::Auto;
	/** \brief Chip for the prediction of times, as options of nvdla-prof without dashes: {
	 * "dram", "2.5GB/s" }; of several with one name the last counts */
	std::vector<std::pair<std::string, std::string>> chip;

	/** \return a strategy with \a choice for every member except the chip */
	static Strategy all(Choice choice)
	{
		return { choice, choice, choice, choice, choice, choice, choice, choice, {} };
	}
};

/**
 * \brief Read a strategy as it is written on command lines
 *
 * \param[in] text parts separated by commas; later parts override earlier ones: "auto" or "never"
 * for everything; SUBJECT=CHOICE with the choice auto, always or never and the subject winograd,
 * compression, pixels, post-extension, bands, fused-pooling, reuse or branches; or an option of the
 * chip, as "dram=2.5GB/s"
 * \return InvalidArgument naming an unknown part
 */
Result<Strategy> parseStrategy(std::string_view text);

/** \return text from which parseStrategy() makes the same strategy */
std::string toString(const Strategy &strategy);

/** \brief Choice made for an operation, and its candidates */
struct LayerChoice {
	struct Candidate {
		/** \brief The way to carry out the operation: "as it is", "Winograd, compressed
		 * weights", ... */
		std::string what;
		double cycles = 0; /**< predicted cycles of the core, including fused operations */
	};

	std::string name;
	std::vector<Candidate> candidates; /**< the first one is the unchanged graph */
	size_t chosen = 0;
};

} /* namespace nvdla */

#pragma GCC visibility pop
