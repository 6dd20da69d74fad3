/* SPDX-License-Identifier: MIT */
/*
 * One operator of a TensorFlow Lite file, with checks of its options and tensors.
 */
#pragma once

#include <map>
#include <string>

#include "compiler/import/operand_reader.h"
#include "compiler/import/tflite/file.h"

namespace nvdla::compiler::tflite
{

/** \brief Reads an operator and appends the model's operators for it */
class OperatorReader : public OperandReader
{
public:
	OperatorReader(legalize::Building &building, const fb::Operator &source,
		       const std::string &type);

	size_t inputs() const override { return inputs_.size(); }
	size_t outputs() const override { return outputs_.size(); }
	bool hasInput(size_t index) const override
	{
		return index < inputs() && inputs_[index] >= 0;
	}
	/** \brief Take the operator's name, and the type of its results, from its first output */
	void begin();
	/** \brief The value that the file describes for an output */
	const Value &output(size_t index = 0);
	/** \brief The axis of \a tensor that a constant input of one element names */
	uint32_t axisOf(size_t index, const Tensor &tensor)
	{
		const auto given = static_cast<int64_t>(scalar(index, 0));
		return axis(given, tensor.shape.size(), "axis");
	}

	/**
	 * \brief A variable tensor: a run reads what the run before gave to keep(); at first zeros
	 * \param[in] shape shape that the network uses for the tensor, with as many elements
	 */
	Tensor state(size_t index, const Extents &shape);

	/** \return the options; null if the file leaves them out */
	template<typename Options>
	const Options *givenOptions() const
	{
		return source_.builtin_options_as<Options>();
	}
	template<typename Options>
	const Options &options()
	{
		const Options *found = givenOptions<Options>();
		need(found, "options", "are missing, or those of another operator");
		return *found;
	}

	/** \return the options of a custom operator, as bytes without a schema */
	std::vector<uint8_t> customOptions() const { return numbersOf(source_.custom_options()); }

	/** \brief Range of a fused activation's results */
	Clamp clamp(fb::Activation activation);
	/** \brief Range of an element-wise operator's results, from its fused activation */
	Clamp activation() override;
	/** \return a tensor, reshaped if its shape differs */
	Tensor inShape(const Tensor &tensor, const Extents &shape)
	{
		return tensor.shape == shape ? tensor : reshaped(tensor, shape);
	}
	/**
	 * \brief Set the tensor of an output, in the file's order of elements
	 *
	 * The file's shape may have more or fewer axes of one element.
	 */
	void write(const Tensor &tensor, size_t index) override;
	/** \brief Add the operator as an Unknown one, with its inputs and outputs */
	void addUnknown(const Error &why);

private:
	Tensor tensor(size_t index) override;
	ValueId id(const std::vector<int32_t> &ids, size_t index, const char *field);

	const fb::Operator &source_;
	const std::vector<int32_t> inputs_ = numbersOf(source_.inputs());
	const std::vector<int32_t> outputs_ = numbersOf(source_.outputs());
};

/** \brief Reads an operator: returns its first output, and writes the others */
using ReadOperator = Tensor(OperatorReader &reader);

/** \brief Readers of the operators of a family */
using OperatorTable = std::map<fb::BuiltinOperator, ReadOperator *>;

extern const OperatorTable elementOperators;
extern const OperatorTable windowOperators;
/** \brief Operators with variable tensors: states.cpp */
extern const OperatorTable stateOperators;

/** \return the bias, if there is one; for integer inputs its scale is left out, because TensorFlow
 * Lite's biases are in steps of the sums, whatever scale the file states */
std::vector<Value> biasOf(OperatorReader &reader, const Tensor &x, size_t at = 2);
/** \return an operator's first output; nothing if the operator is unknown */
std::optional<Tensor> readOperator(OperatorReader &reader, const fb::OperatorCode &code);

/** \brief A custom operator, which OperatorTable cannot hold as it has no number */
Tensor readConvolution2DTransposeBias(OperatorReader &reader);

} /* namespace nvdla::compiler::tflite */
