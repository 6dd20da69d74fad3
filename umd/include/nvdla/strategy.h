/* SPDX-License-Identifier: MIT */
/*
 * Choices between several ways to carry out the operations of a graph.
 */
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

/** \brief Rule of a choice */
enum class Choice : uint8_t {
	Auto,	/**< by predicted time: the way that is faster on the chip */
	Always, /**< wherever the core can, even if it is slower; it is an error if it never can */
	Never,	/**< only where the graph itself asks for it */
};

/**
 * \brief Choices for the operations of a graph
 *
 * Settings of the graph itself are kept: an operation with Convolution::winograd, bands, reuseData
 * and so on is not changed. Integer results do not depend on the choices, except for ties if
 * convolutions are joined; FP16 results stay within the thresholds of the mode (precision
 * document).
 */
struct Strategy {
	/**
	 * \brief Winograd's mode; FP16 only, because transformed integers need more bits than the
	 * core has
	 *
	 * Only chosen on request, because the device model takes several times as long with it.
	 */
	Choice winograd = Choice::Never;
	/** \brief Weights without the elements that are zero */
	Choice compression = Choice::Auto;
	/**
	 * \brief Inputs of few channels as pixels (Surface::mayBePixels), so that a line of a
	 * kernel goes into the MACs at once; FP16 is added up in another order then
	 */
	Choice pixels = Choice::Auto;
	/** \brief Several lines of a kernel in the MACs at once (Convolution::postExtension) */
	Choice postExtension = Choice::Auto;
	/** \brief More or fewer bands than usual, for inputs larger than the convolution buffer
	 */
	Choice bands = Choice::Auto;
	/** \brief SDP hands its result to the pooling on the fly */
	Choice fusedPooling = Choice::Auto;
	/** \brief An input, or weights, that the convolution before has read stay in the buffer */
	Choice reuse = Choice::Auto;
	/**
	 * \brief Models: one convolution for several of one input whose results are concatenated,
	 * convolutions that make the integers of a concatenation that counts in other steps, and
	 * poolings of its parts instead of one behind it
	 */
	Choice join = Choice::Auto;
	/**
	 * \brief Surfaces of branches that could run at the same time share no bytes, which takes
	 * more memory. Without this choice they share no bytes only if that takes no more memory
	 */
	Choice branches = Choice::Auto;
	/**
	 * \brief The chip that time is predicted for, as options of nvdla-prof without dashes:
	 * { "dram", "2.5GB/s" }; a later one of a name counts
	 */
	std::vector<std::pair<std::string, std::string>> chip;

	/** \brief \return one choice for all subjects */
	static Strategy all(Choice choice)
	{
		return {
			choice, choice, choice, choice, choice, choice, choice, choice, choice, {}
		};
	}
};

/**
 * \brief Read a strategy as it is written on command lines
 *
 * \param[in] text parts separated by commas; later parts override earlier ones: a choice ("auto",
 * "always" or "never") for everything; SUBJECT=CHOICE, where the subject is winograd, compression,
 * pixels, post-extension, bands, fused-pooling, reuse, join or branches; or an option of the chip,
 * as "dram=2.5GB/s"
 * \return InvalidArgument naming an unknown part
 */
Result<Strategy> parseStrategy(std::string_view text);

/** \return text that parseStrategy() turns back into the strategy */
std::string toString(const Strategy &strategy);

/** \brief Choice made for an operation, and its candidates */
struct LayerChoice {
	struct Candidate {
		/** \brief "as it is", "Winograd", "Winograd, compressed weights", ... */
		std::string what;
		double cycles = 0; /**< predicted, of the operation and those that it flows into */
	};

	std::string name;
	std::vector<Candidate> candidates; /**< the first is the graph as it is */
	size_t chosen = 0;
};

} /* namespace nvdla */

#pragma GCC visibility pop
