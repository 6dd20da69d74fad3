/* SPDX-License-Identifier: MIT */
/* Makes descriptors from operations of a graph. */
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <nvdla/core_geometry.h>

#include "plan.h"

namespace nvdla::assembly
{

/** \brief The graph's objects by name; surfaces are added as operations are lowered */
struct Symbols {
	CoreGeometry core = nvFull; /**< core that the graph is assembled for */
	std::map<std::string, Surface> declared;
	std::map<std::string, SurfaceState> surfaces; /**< inputs, and surfaces written so far */
	std::map<std::string, const GraphWeights *> weights;
	std::map<std::string, const GraphOperands *> operands;
	std::map<std::string, int> luts; /**< indices in Plan::luts */
	std::map<std::string, int> packed; /**< region indices of constants, by name and layout */
	std::vector<std::string> outputs;
	std::set<std::string> ragged;  /**< surfaces whose parts have unused room behind them */
	std::set<std::string> divided; /**< streams that several hardware layers make */
	bool shapesOnly = false;       /**< true: constants stay empty, as only shapes are needed */
	/** \brief Constants derived from the graph's, for parts of its operations */
	std::deque<GraphWeights> derivedWeights;
	std::deque<GraphOperands> derivedOperands;
};

struct BufferNeeds;
struct ConvLayer;

/**
 * \brief Lays out a surface: sets strides that the description leaves open, and the size in bytes
 * \return InvalidArgument if the description contradicts itself or the core's limits
 */
Result<TensorDesc> layOut(const Surface &surface, const CoreGeometry &core);

/**
 * \return the shape that operations see of a transposed part (see Surface::turned)
 * \param[in] part none of its sizes is 0
 */
Shape turned(const Surface &part, DataType type, const CoreGeometry &core);

/**
 * \brief Lowers one operation
 *
 * The object keeps the error of the first broken rule. After an error, values are meaningless but
 * safe to use, except as divisors: check failed() before dividing by a value of the user.
 */
class Lowering
{
public:
	/** \param[in] piece name of one of several nodes of an operation, for messages */
	Lowering(Plan &plan, Symbols &symbols, const char *kind, const std::string &name,
		 nvdla_op_type type, const std::string &piece);

	/** \brief Refuse the graph unless \a fulfilled; \a field and \a why are for the message */
	bool need(bool fulfilled, const std::string &field, const std::string &why);
	bool failed() const { return error_.has_value(); }

	/** \brief Find a surface that was written before, or an input */
	SurfaceState &input(const std::string &field, const std::string &name);
	/**
	 * \brief The surface that the operation writes
	 * \param[in] columns number of columns that the engine writes in a line, if more than the
	 * shape has
	 */
	SurfaceState &output(const std::string &name, DataType type, const Shape &shape,
			     uint32_t columns = 0);
	/** \brief Declaration of the surface \a name, completed by the operation's result */
	Surface describe(const std::string &name, DataType type, const Shape &shape);
	/** \brief Check that the place of a surface suits the operation and the graph's outputs */
	void checkPlace(const Surface &surface);
	/**
	 * \brief Called once all parts of \a surface are written; if it is itself a part, it
	 * becomes readable by its name
	 */
	void finish(const Surface &surface);
	/** \brief Columns of a line that can be written without harm to other surfaces or parts */
	uint32_t columnsInLine(const SurfaceState &surface) const;
	/**
	 * \brief Type of an output
	 *
	 * \return \a wanted if known, else the type in the description of \a name, else \a fallback
	 */
	DataType outputType(const std::string &name, DataType wanted, DataType fallback) const;

	/**
	 * \brief The descriptor of a surface that the operation reads or writes
	 * \param[in] surfaceMultiple the engine touches a multiple of this many groups of channels
	 */
	nvdla_data_cube read(const char *cube, SurfaceState &surface, uint32_t surfaceMultiple = 1);
	nvdla_data_cube write(const char *cube, SurfaceState &surface,
			      uint32_t surfaceMultiple = 1);
	/**
	 * \brief Index of a constant's region, made on first use; \a key names the layout
	 * \param[in] from GraphWeights or GraphOperands
	 */
	template<typename Constant, typename Pack>
	int constant(const Constant &from, const std::string &key, Pack pack)
	{
		const auto [entry, isNew] =
			symbols_.packed.try_emplace(from.name + '\n' + key, none);
		if (isNew)
			entry->second = addConstant(from.name, from.onChip,
						    symbols_.shapesOnly ? std::vector<std::byte>()
									: pack());
		node.reads.push_back(entry->second);
		return entry->second;
	}
	/** \brief The descriptor of a constant */
	nvdla_data_cube constantCube(const char *cube, int region);
	/** \return true if the operation takes the stream of a Winograd convolution */
	bool producerIsWinograd() const;
	/**
	 * \brief Reuse data or weights of the convolution before this one, as the operation
	 * requests
	 */
	void reuse(const ConvLayer &layer);
	/**
	 * \brief Let the operation use a look-up table
	 * \return the index of the table in Plan::luts
	 */
	int16_t lut(const std::string &name);

	const Symbols &symbols() const { return symbols_; }
	const CoreGeometry &geometry() const { return symbols_.core; }
	/**
	 * \return precisionOf() the type; the graph is refused if the core cannot compute with it
	 */
	uint8_t precision(DataType type, const std::string &field);
	/** \brief Refuse the graph if the core lacks the operation's engine */
	void needEngine();

	/** \return success, or the error of the first broken rule */
	Result<void> result() const;
	/** \brief Append the node to the plan, or give the error */
	Result<void> finish();

	Node node;

private:
	int addRegion(Region region);
	int addConstant(const std::string &name, bool staged, std::vector<std::byte> data);
	nvdla_data_cube cubeOf(const char *cube, SurfaceState &surface, uint32_t surfaceMultiple);
	int self() const { return static_cast<int>(plan_.nodes.size()); }
	SurfaceState &addSurface(const Surface &surface, const TensorDesc &desc, RegionKind kind);
	bool isOutput(const std::string &name) const;
	void reach(const char *cube, Region &region, const TensorDesc &desc, uint32_t more);
	/* Defined in parts.cpp: */
	bool isInCircle(const Surface &part) const;
	SurfaceState &readPart(const std::string &field, const Surface &part);
	SurfaceState &writePart(const Surface &part);
	SurfaceState *wholeOf(const Surface &part);
	SurfaceState &addPart(const Surface &part, const SurfaceState &whole);
	bool isTurned(const SurfaceState &surface) const;
	bool checkPart(const std::string &field, const Surface &part, const SurfaceState &whole);
	/* Defined in conv_reuse.cpp: */
	void checkWeightReuse(const Node &before, const BufferNeeds &needs);
	void checkDataReuse(const Node &before);
	void shareBuffer(size_t before, const BufferNeeds &needs);
	void takeStream(const std::string &field, SurfaceState &surface);

	Plan &plan_;
	Symbols &symbols_;
	std::optional<Error> error_;
	SurfaceState dummy_;
};

/** \return enum nvdla_precision of elements that engines read */
uint8_t precisionOf(DataType type);

/** \brief Whether PDP can take \a stream on the fly: it is no batch, and needs no strips */
bool poolsOnTheFly(const Lowering &lowering, const op::Pooling &op, const TensorDesc &stream);

/* One function for each kind of operation but deconvolution, for which see expansion.h. */
void lower(Lowering &lowering, const op::Convolution &op);
void lower(Lowering &lowering, const op::Sdp &op);
void lower(Lowering &lowering, const op::Compare &op);
void lower(Lowering &lowering, const op::Pooling &op);
void lower(Lowering &lowering, const op::Normalization &op);
void lower(Lowering &lowering, const op::Contract &op);
void lower(Lowering &lowering, const op::SplitPlanes &op);
void lower(Lowering &lowering, const op::MergePlanes &op);
void lower(Lowering &lowering, const op::Copy &op);
void lower(Lowering &lowering, const op::Softmax &op);
void lower(Lowering &lowering, const op::Unary &op);
void lower(Lowering &lowering, const op::Reshape &op);
void lower(Lowering &lowering, const op::OverChannels &op);
void lower(Lowering &lowering, const op::PackWeights &op);

} /* namespace nvdla::assembly */
