/* SPDX-License-Identifier: MIT */
/*
 * From operators of a model to operations of a graph.
 */
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <nvdla/compiler.h>
#include <nvdla/graph.h>

#include "base/number/requantization.h"
#include "compiler/ir/model.h"
#include "compiler/rules.h"

namespace nvdla::compiler
{

/** \brief The action that failed, for the errors of these functions */
inline constexpr const char *compiling = "compile model";

/** \brief Channels, lines and columns of a surface */
struct Cube {
	uint32_t c = 1;
	uint32_t h = 1;
	uint32_t w = 1;

	uint64_t elements() const { return uint64_t{ c } * h * w; }
	bool operator==(const Cube &) const = default;
};

/** \return the cube of a tensor: its last three axes are lines, columns and channels */
Cube naturalCube(const Extents &shape);

/** \return true if \a part is a single position of a larger surface: the core cannot address it */
bool isAlone(const Cube &part, const Cube &whole);

/** \return naturalCube() with all axes but the last two as lines, for operators that ignore axes */
Cube countingCube(const Extents &shape);

/** \brief Start of a part of a surface, such as the part that a slice reads */
struct PartOf {
	std::string surface;
	uint32_t channel = 0;
	uint32_t line = 0;
	uint32_t column = 0;
	uint32_t sample = 0; /**< index of the sample in a batch */
	bool turned = false; /**< operations see channel atoms as lines, and lines as channels */
};

/** \brief y = clamp((x + bias) * scale); a bias and scale for each channel, or for each element */
struct Affine {
	std::vector<double> scale;
	std::vector<double> bias; /**< in steps of x */
	Cube shape;		  /**< shape of scale and bias; per channel: h and w are 1 */
	Clamp activation;
	/** \brief Number of fraction bits that the first of two roundings keeps, for 8-bit results:
	 * parameter of scaleChannels() */
	std::optional<int> firstBits = {};
	double largest = 0x1p31; /**< upper limit of the magnitudes of x + bias */
};

/** \brief An addition that is the only reader of a convolution's result; SDP can fuse it */
struct Residual {
	const Operator *sum;
	ValueId stream;	  /**< the convolution's result */
	ValueId operand;  /**< the tensor that is added to the stream */
	ValueId output;	  /**< the sum */
	Clamp activation; /**< activation of the sum */
};

/**
 * \brief Builds a graph, operator by operator
 *
 * The first rule that an operator breaks is thrown as a BrokenRule: it ends the operator's
 * lowering.
 */
class Lowerer : public Rules
{
public:
	/** \brief Surfaces and types of an affine function */
	struct Stage {
		std::string name;
		std::string input;
		std::string output;
		DataType from = DataType::Int8;	 /**< type in which SDP computes */
		DataType to = DataType::Int8;	 /**< type of the output in memory */
		Quantization result;		 /**< quantization of an output of integers */
		DataType range = DataType::Int8; /**< type whose limits apply; to may be wider */
		Cube cube;			 /**< shape of the output */
		bool stream = false;	/**< a convolution hands the input over on the fly */
		bool keepsZero = false; /**< the function's result includes the zero point */
		/** \brief Conversion by unit Y to another quantization of the output */
		std::optional<Requantization> behind;
		/** \brief Name of the table of a further function, for unit Y; empty: none */
		std::string table;
		std::optional<op::SdpUnit> slopes; /**< FP16: unit X2 of a further PReLU */
	};
	explicit Lowerer(const Model &model, const CompileOptions &options = {});

	/** \brief Lower all operators and name outputs \return an error naming refused operators */
	Result<void> run();
	/**
	 * \brief Lower all operators; inputs that no operator writes are allowed
	 *
	 * An operator that cannot be lowered does not affect the others.
	 */
	void lowerOperators(Refusals &refusals);

	Graph graph;
	std::vector<LayerReport> layers; /**< reports of the operators, in their order */

	/* Functions for the lowering of operators. */

	/** \brief Refuse an operator that needs too many constant elements besides the file's */
	void needRoom(uint64_t elements) const;

	const Model &model() const { return model_; }
	/** \brief The core that the network is for */
	const CoreGeometry &core() const { return core_; }
	const Value &value(ValueId id) const { return model_.values[id]; }
	/** \brief Type of the elements in the core's memory */
	DataType storage(ValueId id) const { return storage_[id]; }
	/** \brief The type whose limits integers keep; 8-bit numbers may be stored in 16 bits */
	DataType range(ValueId id) const;
	/** \brief Whether a value's elements are 8-bit integers, stored in 8 bits */
	bool is8Bits(ValueId id) const { return storage(id) == DataType::Int8; }
	/** \brief Whether a value's 8-bit integers are rounded twice, as TFLite rounds them */
	bool roundsTwice(ValueId id) const
	{
		return model_.roundingOf8Bits == ScaleRounding::Twice && is8Bits(id);
	}
	/**
	 * \brief Whether an average is computed on the integers as they are, zero point included
	 *
	 * TFLite divides the sum of the integers, so ties are rounded away from the integer 0. ONNX
	 * averages the real numbers.
	 */
	bool averagesIntegers(ValueId input, ValueId output) const
	{
		return model_.roundingOf8Bits == ScaleRounding::Twice &&
		       storage(input) != DataType::Half &&
		       quantization(input) == quantization(output);
	}
	/** \brief A stage that writes \a result to \a surface; its name and input are empty */
	Stage writing(const std::string &surface, ValueId result) const;
	/** \brief A stage that makes the value \a result of \a input; step(\a what) is its name */
	Stage stage(const std::string &what, ValueId input, const std::string &surface,
		    ValueId result);
	/** \brief The quantization of an activation; scale 1 for floating point */
	Quantization quantization(ValueId id) const;
	/** \brief Shape of the surface that holds a value */
	Cube cube(ValueId id) const { return cubes_[id]; }
	/**
	 * \brief Move a value to a surface of its naturalCube(), for operators that depend on axes
	 *
	 * Reshapes move nothing, so a reshaped value may still be in a surface of another cube.
	 */
	void makeNatural(ValueId id);
	/** \brief The surface that a value was written to */
	const std::string &surface(ValueId id) const { return surfaces_[id]; }
	/** \brief Let a value share the surface of another one */
	void alias(ValueId id, ValueId same);
	/** \brief Let a value be a part of a surface that is written already */
	void view(ValueId id, const PartOf &place, const Cube &cube);
	/** \brief Whether a value is written directly into its part of a concatenation */
	bool isPlaced(ValueId id) const { return places_.contains(id); }
	/** \brief The surface that holds a value, and the value's position in it */
	PartOf placeOf(ValueId id) const;
	/** \brief Whether a part of a value's surface begins with the first channel of an atom */
	bool isAligned(const PartOf &part, ValueId id) const
	{
		return part.channel % core_.atomChannels(storage(id)) == 0;
	}
	/** \brief Describe the surface of a value that is about to be written \return its name */
	std::string write(ValueId id, const Cube &cube);
	/** \brief Describe a surface with batch and quantization of \a like \return its name */
	std::string intermediate(const std::string &name, DataType type, const Cube &cube,
				 const Value &like = {});
	/** \brief Describe a part of a surface, for writing or reading \return the part's name */
	std::string part(const PartOf &part, const Cube &cube);
	/** \brief A name that no other surface, constant or operation has */
	std::string unique(const std::string &name);
	/** \brief A name for an operation: the name of the operator being lowered, and \a what */
	std::string step(const std::string &what);
	/** \brief Add an operation, and note it in the report */
	void add(op::Any operation);
	/** \brief Add kernels, unless the graph has the same ones already \return their name */
	std::string addWeights(GraphWeights weights);
	/** \brief Parameters of a look-up table of SDP: function, type, ranges and quantizations of
	 * input and output, and the number that is subtracted from inputs */
	using Table = std::tuple<Unary, DataType, DataType, DataType, Quantization, Quantization,
				 int64_t>;
	/** \return the name of a table in the graph; empty at first, for the caller to set */
	std::string &tableName(const Table &table);
	/** \brief Note in the report that the operator runs on the CPU */
	void onCpu(const std::string &why) { layers.back().cpu = why; }
	/**
	 * \brief Constants in FP16, saturated
	 *
	 * The report names the largest constant if it is outside of FP16's range. Smaller constants
	 * that become 0 hardly matter beside the largest.
	 */
	Elements halves(const std::vector<double> &numbers);
	/** \brief The FP16 bits of one constant, which is reported like those of halves() */
	uint16_t half(double number);

	/** \brief Write a value's numbers to \a surface, in the quantization of the value \a to */
	void turn(const std::string &what, ValueId from, const std::string &surface, ValueId to,
		  const Clamp &activation = {});
	/** \brief Add an SDP operation for an affine function, or more if it clamps or narrows */
	void affine(const Stage &stage, const Affine &function);
	/**
	 * \brief The addition that can be fused into the convolution that is being lowered
	 * \param[in] cube of the convolution's result
	 * \param[in] function from the convolution's sums to its result
	 */
	std::optional<Residual> residualOf(const Cube &cube, const Affine &function) const;
	/** \brief Whether to fuse float operators: the result between them is then not rounded */
	bool foldsFloats() const { return foldSums_ != FoldSums::Never; }
	/** \brief The only reader of the lowered operator's result, or nullptr */
	const Operator *onlyReader() const;
	/** \brief Note that the operation \a name computes \a operation, too */
	void fuse(const Operator &operation, const std::string &name) { fused_[&operation] = name; }
	/** \brief Add an SDP operation that applies \a function and adds the residual's operand */
	void sum(const Stage &stage, Affine function, const Residual &residual);

private:
	/** \brief Check that a computed value can be a surface of shape \a cube */
	void needSize(ValueId id, const Cube &cube) const;
	/** \brief Check that a computed value's elements and type fit a surface of shape \a cube */
	void needSurface(ValueId id, const std::string &where, const Cube &cube) const;
	void chooseStorage();
	void placeInput(size_t index);
	void pretend(ValueId id);
	void placeConcatenations();
	void placeConcatenation(const Operator &operation, const Concatenation &concatenation);
	/** \brief How a convolution's SDP operation can convert the result to the quantization of a
	 * concatenation; nothing if the conversion needs an operation of its own */
	std::optional<Requantization> requantizedBehind(const Operator &writer,
							ValueId concatenated) const;
	void nameOutputs();
	void lowerOne(const Operator &operation);
	void needTypes(const Operator &operation);

	const Model &model_;
	const FoldSums foldSums_;
	const CoreGeometry core_;
	std::vector<DataType> storage_;
	std::vector<Cube> cubes_;
	std::vector<std::string> surfaces_;
	std::map<ValueId, PartOf> places_; /**< parts of concatenations where values are written */
	std::map<ValueId, Requantization> requantized_; /**< conversions of values in places_ */
	std::set<ValueId> views_;
	/** \brief Values whose surfaces keep their axes: states, and outputs in C, H, W order */
	std::set<ValueId> pictures_;
	/** \brief Operators that another operator's operation computes; this operation's name */
	std::map<const Operator *, std::string> fused_;
	std::set<std::string> names_;
	/** \brief Results of refused operators that no surface can hold. Their readers are neither
	 * lowered nor refused, because nothing may be wrong with them */
	std::set<ValueId> missing_;
	std::deque<std::pair<Table, std::string>> tables_;
	const Operator *current_ = nullptr;
};

/** \brief Whether kernels minus their zero point need 16 bits */
bool needsWideWeights(const Value &weights);

/** \brief Start of each input of a concatenation in the output's surface */
std::vector<PartOf> partsOf(const Lowerer &lowerer, const Operator &operation,
			    const Concatenation &concatenation);

/* One function for each kind of operator. */
void lower(Lowerer &lowerer, const Operator &operation, const Convolution &conv);
void lower(Lowerer &lowerer, const Operator &operation, const TransposedConvolution &conv);
void lower(Lowerer &lowerer, const Operator &operation, const FullyConnected &full);
void lower(Lowerer &lowerer, const Operator &operation, const Product &product);
void lower(Lowerer &lowerer, const Operator &operation, const Elementwise &elementwise);
void lower(Lowerer &lowerer, const Operator &operation, const Pool &pool);
void lower(Lowerer &lowerer, const Operator &operation, const Reshape &reshape);
void lower(Lowerer &lowerer, const Operator &operation, const Pad &pad);
void lower(Lowerer &lowerer, const Operator &operation, const Concatenation &concatenation);
void lower(Lowerer &lowerer, const Operator &operation, const Slice &slice);
void lower(Lowerer &lowerer, const Operator &operation, const Unary &unary);
void lower(Lowerer &lowerer, const Operator &operation, const PRelu &prelu);
void lower(Lowerer &lowerer, const Operator &operation, const Enlarge &enlarge);
void lower(Lowerer &lowerer, const Operator &operation, const Softmax &softmax);
void lower(Lowerer &lowerer, const Operator &operation, const Transpose &transpose);
void lower(Lowerer &lowerer, const Operator &operation, const OverChannels &over);
void lower(Lowerer &lowerer, const Operator &operation, const ChannelReduction &reduction);
void lower(Lowerer &lowerer, const Operator &operation, const Unknown &unknown);

} /* namespace nvdla::compiler */
