/* SPDX-License-Identifier: MIT */
/*
 * One operator of a TensorFlow Lite file, with checks of what it names.
 */
#pragma once

#include <map>
#include <span>
#include <string>

#include "compiler/import/import.h"
#include "compiler/import/tflite/file.h"
#include "compiler/legalize/legalize.h"

namespace nvdla::compiler::tflite
{

using legalize::Tensor;

/** \brief Reads an operator and appends what it becomes to a model */
class OperatorReader : public legalize::Builder
{
public:
	OperatorReader(legalize::Building &building, const fb::Operator &source, const char *type);

	size_t inputs() const { return source_.inputs() ? source_.inputs()->size() : 0; }
	size_t outputs() const { return source_.outputs() ? source_.outputs()->size() : 0; }
	bool hasInput(size_t index) const
	{
		return index < inputs() &&
		       source_.inputs()->Get(static_cast<flatbuffers::uoffset_t>(index)) >= 0;
	}
	/** \brief A tensor that can be computed with, or a constant; an empty one after an error */
	Tensor input(size_t index);
	std::vector<Tensor> allInputs();
	/** \brief The value that the file has for an output; an empty one after an error */
	const Value &output(size_t index = 0);
	/** \brief An input that has to be a constant */
	const Value &constant(size_t index);
	/** \brief The whole numbers of a constant input, as axes and sizes are given */
	std::vector<int64_t> numbers(size_t index);
	/** \brief An axis of input 0 that is the one number of a constant input */
	uint32_t axisOf(size_t index, const Tensor &tensor);

	/** \brief The options; nullptr if there are none of this kind */
	template<typename Options>
	const Options *optionsIfAny(const Options *(fb::Operator::*asKind)() const) const
	{
		return (source_.*asKind)();
	}
	/** \brief The same; an error if there are none */
	template<typename Options>
	const Options *options(const Options *(fb::Operator::*asKind)() const)
	{
		const Options *found = optionsIfAny(asKind);
		need(found, "options", "are missing, or those of another operator");
		return found;
	}

	/** \return the options of a custom operator, which say nothing of themselves */
	std::span<const uint8_t> customOptions() const
	{
		const auto *bytes = source_.custom_options();
		return bytes ? std::span(bytes->data(), bytes->size()) : std::span<const uint8_t>();
	}

	/** \brief Range of a fused activation's results */
	Clamp clamp(fb::Activation activation);
	/** \return a tensor in another shape, if it has another one */
	Tensor inShape(const Tensor &tensor, const Extents &shape)
	{
		return failed() || tensor.shape == shape ? tensor : reshaped(tensor, shape);
	}
	/** \return a tensor in the shape that the file has for an output */
	Tensor inOutputShape(const Tensor &tensor, size_t index = 0)
	{
		return inShape(tensor, output(index).shape);
	}
	/** \brief Say what an output is; it has the file's shape and elements */
	void write(const Tensor &tensor, size_t index = 0);
	/** \brief Add the operator as one that is not known, with what it names */
	void addUnknown(const Error &why);

private:
	ValueId id(const flatbuffers::Vector<int32_t> *ids, size_t index, const char *field);

	const fb::Operator &source_;
	Value none_;
};

/** \brief Reads an operator: returns its first output, and writes the others */
using ReadOperator = Tensor(OperatorReader &reader);

/** \brief Readers of the operators of a family */
using OperatorTable = std::map<fb::BuiltinOperator, ReadOperator *>;

extern const OperatorTable elementOperators;
extern const OperatorTable moveOperators;
extern const OperatorTable windowOperators;

/** \return how an operator is read; null if it is not known */
ReadOperator *readerOf(const fb::OperatorCode &code);

/** \brief A custom operator, which has no number of its own */
Tensor readConvolution2DTransposeBias(OperatorReader &reader);

} /* namespace nvdla::compiler::tflite */
