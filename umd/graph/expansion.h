/* SPDX-License-Identifier: MIT */
/*
 * Operations of a graph that take several hardware layers: operations too large for the
 * convolution buffer, grouped convolutions and deconvolutions.
 */
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "any_channel.h"
#include "lowering.h"

namespace nvdla::assembly
{

struct ConvLayer;

/** \return name of the stream that a convolution or deconvolution makes; else null */
const std::string *streamOf(const op::Any &operation);

/** \brief Lines of a convolution's output that one hardware layer makes (programming guide, "Split
 * H") */
struct Band {
	uint32_t firstLine = 0; /**< first line in the output */
	uint32_t lines = 0;
	uint32_t firstInput = 0;
	uint32_t inputLines = 0;
	uint32_t top = 0; /**< lines of padding above; 0 for bands inside of the input */
	uint32_t bottom = 0;
};

/**
 * \brief Divide a convolution into bands
 *
 * The user may set the number of bands. Otherwise there is one band if all of the input fits into
 * the convolution buffer, else the fewest bands that fit, beside all weights if possible. Heights
 * differ by at most one line, or one tile of Winograd.
 */
std::vector<Band> bandsOf(Lowering &lowering, const ConvLayer &layer);

/**
 * \brief Lowers the operations of a graph, one by one, in their order
 *
 * A convolution that takes several hardware layers is kept until the SDP operation that takes its
 * stream comes: each layer needs a convolution and an SDP operation. They are copies of the user's
 * operations, for parts of the user's surfaces and constants.
 */
class Expansion
{
public:
	Expansion(const std::vector<op::Any> &operations, Plan &plan, Symbols &symbols)
		: operations_(operations), plan_(plan), symbols_(symbols)
	{
	}

	/**
	 * \return the errors of all operations, except those that need an output of a refused one
	 */
	Result<void> run();

	/** \brief Lower an operation as it is, without dividing it */
	Result<void> lowerOne(const op::Any &operation, const std::string &piece = {});
	/** \brief Lower a convolution and its SDP operation, as several layers if necessary */
	Result<void> addPair(const op::Convolution &conv, const op::Sdp &sdp,
			     const std::string &piece = {});
	/** \return true if addPair() divides the convolution; the error of a broken rule */
	Result<bool> isDivided(const op::Convolution &conv);
	/**
	 * \brief Extract the slice \a name of a surface, unless its first channel begins an atom
	 *
	 * A convolution, which this function adds, copies the slice.
	 */
	Result<void> addSlice(const std::string &name);

private:
	Result<void> add(const op::Any &operation);
	/** \brief Record an error, and that the operation's output is missing */
	void refuse(const op::Any &operation, const Error &error);
	void forget(const op::Any &operation);
	/** \return true if the operation needs an output of a refused operation */
	bool lacks(const op::Any &operation) const;
	bool isMissing(std::string name) const;
	Lowering begin(const op::Any &operation, const std::string &piece = {});

	/**
	 * \brief Shape of a convolution's or deconvolution's output; nothing if a rule is broken
	 */
	std::optional<Shape> shapeOf(Lowering &lowering, const op::Any &operation);
	/** \brief Keep a convolution or deconvolution of several layers until its SDP operation
	 * comes */
	Result<void> wait(const op::Any &operation);
	Result<void> addBands(const op::Convolution &conv, const op::Sdp &sdp,
			      const std::vector<Band> &bands, const std::string &piece);
	/** \brief Lower a convolution as several: of fewer kernels, or of one cube of a batch */
	Result<void> addKernels(const op::Convolution &conv, const op::Sdp &sdp,
				const std::string &piece);
	/** \brief Make SDP's unit X2 read the second of two surfaces that the user gives to X1 */
	Result<op::Sdp> separate(const op::Sdp &sdp);
	/** \brief Put the stream from SDP to a pooling into memory if it cannot be on the fly */
	void placeStream(const op::Sdp &sdp, bool isDivided);
	/** \brief Lower a convolution or deconvolution that was kept, with the SDP operation
	 * behind it */
	Result<void> addDivided(const op::Any &producer, const op::Sdp &sdp);
	/** \brief Call addDivided() for each cube of a batch */
	Result<void> addCubes(const op::Any &producer, const op::Sdp &sdp, const Surface &whole);
	Result<void> addGrouped(const op::Convolution &conv);
	Result<void> addGroups(const op::Convolution &conv, const op::Sdp &sdp);
	Result<void> addDeconvolution(const op::Deconvolution &deconv, const op::Sdp &sdp);

	/* Defined in any_channel.cpp: */
	/** \brief Extract inputs of the operation that do not begin at whole atoms */
	Result<void> addSlices(const op::Any &operation);
	/** \brief Assemble each surface of joins_ whose parts are all written */
	Result<void> addJoins();
	Result<void> checkJoin(const std::string &name, const Join &join);
	/** \brief Add a convolution that copies channels of \a input to the surface \a name */
	Result<void> addSelection(const std::string &name, const std::string &input,
				  const Channels &channels, const std::vector<ChannelRun> &runs);
	/** \return type, number and place of the channels of a written surface or a part of one,
	 * else nothing; \a depth counts nested parts, to end if parts contain each other */
	std::optional<Channels> channelsOf(const std::string &name, size_t depth = 0) const;

	std::map<std::string, Join> joins_;
	const std::vector<op::Any> &operations_;
	std::deque<op::Any> derived_; /**< operations derived from the user's */
	Plan &plan_;
	Symbols &symbols_;
	std::map<std::string, const op::Any *> waiting_; /**< waiting operations by the name of
							  * their stream */
	std::set<std::string> missing_; /**< surfaces that refused operations would have made */
	std::optional<Error> error_;
};

/**
 * \brief Range of operands for one of an operation's layers: on each axis, every step-th operand,
 * beginning with number first
 */
struct OperandRange {
	struct Axis {
		uint32_t first = 0;
		uint32_t step = 1;
		uint32_t count = 0;
	};
	Axis lines;
	Axis columns;
	Shape whole;		      /**< shape of all operands */
	std::string name;	      /**< name of the range, for messages */
	std::optional<Axis> channels; /**< nothing: all channels */
};

/** \brief Make a copy of an SDP operation that has only the operands in \a range */
op::Sdp withOperands(Lowering &lowering, Symbols &symbols, const op::Sdp &sdp,
		     const OperandRange &range);

/**
 * \brief Describe a part of a surface
 * \return the part's name: that of the whole, and \a range in brackets
 */
std::string describePart(Symbols &symbols, const Surface &whole, const std::string &range,
			 Surface part);

} /* namespace nvdla::assembly */
