/* SPDX-License-Identifier: MIT */
/* Graph assembly: a program builds a loadable operation by operation. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/assembly.h>
#include <nvdla/core_geometry.h>
#include <nvdla/error.h>
#include <nvdla/loadable.h>
#include <nvdla/lut.h>
#include <nvdla/operations.h>
#include <nvdla/strategy.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

namespace assembly
{
class Assembler;
struct GraphParts;
} // namespace assembly

/** \brief Memory of a surface */
enum class Place : uint8_t {
	Memory, /**< system memory */
	Sram,	/**< on-chip memory; neither the application nor the CPU reaches it */
	/**
	 * \brief Nowhere: one engine passes the tensor to the next on the fly
	 *
	 * Only the input of a pooling can be passed this way. If the pooling, or the operation that
	 * computes its input, is divided into several operations of the core, the tensor is in
	 * system memory instead.
	 */
	Stream,
	/** \brief On-chip memory up to AssembleOptions::sramBytes, otherwise system memory */
	Auto,
};

/**
 * \brief A surface of a graph
 *
 * Only inputs have to be described. Another surface gets its shape and type from the operation that
 * writes it; describe it to choose its place, layout or strides. If you give a shape, it must be
 * that of the operation's output. The type and the channels of a picture are those of its format. A
 * picture may have fewer channels than its format. Arrays of the application and kernels then have
 * only these channels, and the other channels of each pixel are zero.
 */
struct Surface {
	std::string name;
	DataType type = DataType::Unknown;
	uint32_t c = 0;
	uint32_t h = 0;
	uint32_t w = 0;
	uint32_t n = 1; /**< number of cubes (images of a batch) */
	PixelFormat format = PixelFormat::Feature;
	/**
	 * \brief True if the application accepts any layout of this input: it asks the network for
	 * the layout
	 *
	 * A strategy may then give the input a pixel format (Strategy::pixels).
	 */
	bool mayBePixels = false;
	bool planar = false; /**< one plane for each channel, as RUBIK writes and reads it */
	Place place = Place::Memory;
	uint32_t lineStride = 0;    /**< bytes; 0: the smallest aligned stride */
	uint32_t surfaceStride = 0; /**< bytes between surfaces or planes; 0: no gaps */
	/**
	 * \brief Name of the surface of which this one is a part; the part begins at atChannel,
	 * atLine and atColumn
	 *
	 * Parts that operations write make a concatenation. A part that operations read is a slice;
	 * a size of 0 extends to the end of the whole. A whole that is written in parts must be
	 * described with shape and type. Parts have the whole's strides; a part of a batch lies in
	 * one cube, atBatch. Convolutions can read a region of a picture that begins at any pixel
	 * (programming guide, PIXEL_X_OFFSET); parts that are written have whole lines.
	 *
	 * If atChannel is no multiple of an atom (32 channels of INT8, 16 of INT16 and FP16),
	 * assembly adds a convolution that moves the channels: one for each slice, and one for a
	 * whole with such parts, after all parts are written. Such parts must not overlap in
	 * channels if they begin at different channels in different lines, columns or cubes.
	 */
	std::string within;
	uint32_t atChannel = 0;
	uint32_t atLine = 0;
	uint32_t atColumn = 0;
	uint32_t atBatch = 0;
	uint32_t lineStep = 1; /**< lines of the whole from one line of the part to the next */
	/**
	 * \brief Transposed part: operations see its atoms of channels as lines, and its lines as
	 * atoms of channels
	 *
	 * The description has the sizes inside the whole: a part of 64 channels of INT8, 3 lines
	 * and 5 columns is a surface of 96 channels, 2 lines and 5 columns to its readers and
	 * writers. Unused channels of the last atom count, too. A part that is written must state
	 * all of its sizes.
	 */
	bool turned = false;
	/**
	 * \brief Quantization of the elements of an input or output
	 *
	 * It is stored in the loadable for the application; operations do not use it.
	 */
	TensorQuantization quantization;
	/**
	 * \brief Number of fraction bits, if the elements are fixed-point numbers, value /
	 * 2^fractionBits, in place of a quantization
	 *
	 * Assembly follows the formats of inputs and constants through the operations: it refuses
	 * sums of different formats, shifts that do not bring an operand to the sum's format, and
	 * sums that the accumulators do not hold. Surfaces that operations write get their format,
	 * or are compared with the format given here.
	 */
	std::optional<uint32_t> fractionBits;
};

/** \brief Elements of one type, as they lie in an array */
struct Elements {
	DataType type = DataType::Unknown;
	std::vector<std::byte> bytes;

	/** \return number of elements; 0 if there are no bytes, or if the type is Unknown */
	size_t count() const
	{
		const size_t each = elementBytes(type);
		return each ? bytes.size() / each : 0;
	}

	static Elements of(std::span<const int8_t> values);
	static Elements of(std::span<const int16_t> values);
	/** \brief Make FP16 elements of \a values, which are rounded */
	static Elements half(std::span<const float> values);
};

/**
 * \brief Weights of a convolution: elements in K, C, R, S order (kernel, channel, line, column), or
 * a surface that op::PackWeights writes
 */
struct GraphWeights {
	std::string name;
	uint32_t k = 0;
	uint32_t c = 0; /**< channels of a kernel, within one group */
	uint32_t r = 0;
	uint32_t s = 0;
	Elements elements;
	/** \brief Winograd: factor by which transformed weights are multiplied before they are
	 * rounded */
	float winogradScale = 1.0f;
	bool compressed = false; /**< true: stored without elements that are 0 */
	/**
	 * \brief True if BDMA copies the weights to on-chip memory, from which the convolution
	 * reads them
	 */
	bool onChip = false;
	/** \brief Fraction bits of fixed-point elements; see Surface::fractionBits */
	std::optional<uint32_t> fractionBits;
	/**
	 * \brief Name of a surface with the weights in the core's order for direct convolution;
	 * \a elements then has only their type
	 *
	 * The convolution has one group, and its input is a feature surface.
	 */
	std::string packed;
};

/**
 * \brief Operands of an SDP unit: one for each channel, or one for each element of a c * h * w cube
 *
 * Elements are in C, H, W order. A unit that adds and multiplies needs \a alu and \a mul, of one
 * type; leave out the operands that a unit does not use. INT8 pipelines take INT8 or INT16
 * (NVDLA's in-memory format document, "Bias Data Format" and following).
 */
struct GraphOperands {
	std::string name;
	uint32_t c = 0;
	uint32_t h = 1;
	uint32_t w = 1;
	Elements alu;
	Elements mul;
	/** \brief True if BDMA copies the operands to on-chip memory, from which SDP reads them */
	bool onChip = false;
	/** \brief Fraction bits of fixed-point elements; see Surface::fractionBits */
	std::optional<uint32_t> aluFractionBits;
	std::optional<uint32_t> mulFractionBits;
};

/** \brief Event of another operation that an operation waits for */
enum class OperationEvent : uint8_t {
	Completed,
	Programmed,	/**< registers of the operation are written */
	Enabled,	/**< the operation may have begun */
	WeightsFetched, /**< a convolution has its weights in the convolution buffer */
	DataFetched,	/**< a convolution has its input in the convolution buffer */
};

/** \brief Order of two operations: \a after begins only when \a event of \a before has come */
struct GraphEdge {
	std::string before; /**< name of an operation */
	std::string after;
	OperationEvent event = OperationEvent::Completed;
};

/** \brief Options of assembly */
struct AssembleOptions {
	/** \brief Largest number of operations in one task; longer graphs get several tasks */
	uint32_t maxTaskOperations = 4096;
	/** \brief Surfaces that are not in use at the same time may share memory */
	bool reuseMemory = true;
	/** \brief Rules by which chooseStrategy() chooses how operations are carried out; nothing:
	 * they stay as the graph describes them */
	std::optional<Strategy> strategy;
	/**
	 * \brief On-chip memory that surfaces with Place::Auto may take, in bytes
	 *
	 * Surfaces with the most reads and writes in relation to the time that they are needed come
	 * first. DeviceInfo has the device's size; a network that needs more cannot be loaded.
	 */
	uint64_t sramBytes = 0;
	/** \brief Core to assemble for; see findCoreVariant() */
	CoreGeometry core = nvFull;
};

/**
 * \brief A network under construction
 *
 * Operations run in the order in which they are added, as far as they depend on
 * each other: an operation that reads another one's output waits for it. No
 * member function fails; assemble() reports all errors, in the names that were
 * given here.
 *
 * \code
 * Graph graph;
 * graph.input({ .name = "x", .type = DataType::Int8, .c = 32, .h = 8, .w = 8 });
 * graph.weights({ "kernels", 16, 32, 3, 3, Elements::of(kernels) });
 * graph.add(op::Convolution{ .name = "conv", .input = "x", .weights = "kernels",
 *			      .output = "sums" });
 * graph.add(op::Sdp{ .name = "relu", .input = "sums", .output = "y",
 *		      .x1 = op::SdpUnit{ .activation = op::Activation::Relu } });
 * graph.output("y");
 * Result<Loadable> loadable = graph.assemble();
 * \endcode
 */
class Graph
{
public:
	/** \brief Add a surface that the application writes; shape and type are needed */
	void input(Surface surface);
	/** \brief Describe the layout of a surface that an operation writes */
	void surface(Surface surface);
	/** \brief Make the surface \a name an output, which the application reads */
	void output(std::string name);

	void weights(GraphWeights weights);
	void operands(GraphOperands operands);
	/** \brief Add look-up tables, as makeLut() makes them */
	void lut(std::string name, const Lut &tables);

	void add(op::Any operation);
	/**
	 * \brief Add an order of two operations that does not follow from the surfaces that they
	 * read and write
	 */
	void order(GraphEdge edge);

	/**
	 * \brief Check everything, place the surfaces and write the descriptors
	 *
	 * Inputs and outputs are bound in the order in which they were named. Graphs are checked by
	 * the rules of the driver (kmd/engine), so the driver accepts every assembled graph.
	 *
	 * \return InvalidArgument naming every operation that is not possible, and its surface
	 */
	Result<Loadable> assemble(const AssembleOptions &options = {}) const;
	/** \brief Do assemble(), and also return the places of operations and surfaces in the
	 * loadable */
	Result<Assembly> assembleWithMap(const AssembleOptions &options = {}) const;

	/**
	 * \brief Check that the core, or the CPU, can carry out an operation
	 *
	 * Checks only this operation, by the rules of assemble(). The surfaces that it reads must
	 * be described with type and shape, and its constants must exist. Neither the operation nor
	 * the operations that write its inputs need to be in the graph.
	 *
	 * \return InvalidArgument with the impossible value and the possible ones
	 */
	Result<void> supports(const op::Any &operation, const CoreGeometry &core = nvFull) const;

	const std::vector<op::Any> &operations() const { return operations_; }

private:
	friend class assembly::Assembler;
	friend struct assembly::GraphParts;

	std::vector<std::string> inputs_;
	std::vector<std::string> outputs_;
	std::vector<Surface> surfaces_;
	std::vector<GraphWeights> weights_;
	std::vector<GraphOperands> operands_;
	std::vector<std::pair<std::string, Lut>> luts_;
	std::vector<op::Any> operations_;
	std::vector<GraphEdge> edges_;
};

/** \brief Result of chooseStrategy() */
struct ChosenGraph {
	Graph graph;
	/** \brief Choices made for operations, in their order */
	std::vector<LayerChoice> layers;
};

/**
 * \brief Choose how the operations of a graph are carried out
 *
 * Candidates are timed by the model that nvdla-prof --chip predicts with, each layer by itself.
 *
 * \return the same graph with modes, bands and places filled in; errors of shapes, as
 * Graph::assemble(); InvalidArgument naming a subject that is Always to be chosen but is never
 * possible, or an error in the description of the chip
 */
Result<ChosenGraph> chooseStrategy(const Graph &graph, const Strategy &strategy = {},
				   const CoreGeometry &core = nvFull);

/** \return the name of an operation */
const std::string &operationName(const op::Any &operation);

} /* namespace nvdla */

#pragma GCC visibility pop
