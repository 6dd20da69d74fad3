/* SPDX-License-Identifier: MIT */
/*
 * One operator of a TensorFlow Lite file, with checks of what it names.
 */
#pragma once

#include <string>

#include "compiler/import/import.h"
#include "compiler/import/rules.h"
#include "compiler/import/tflite/file.h"

namespace nvdla::compiler::tflite
{

/** \brief Reads an operator and appends what it becomes to a model */
class OperatorReader : public Rules
{
public:
	OperatorReader(Model &model, const fb::Operator &source, const char *type);

	size_t inputs() const { return source_.inputs() ? source_.inputs()->size() : 0; }
	size_t outputs() const { return source_.outputs() ? source_.outputs()->size() : 0; }
	bool hasInput(size_t index) const;
	/** \brief Id of an input or output; 0 after an error */
	ValueId input(size_t index);
	ValueId output(size_t index);
	/** \brief A value; an empty one after an error */
	const Value &value(ValueId id) const;
	/** \brief An input that has to be a constant */
	const Value &constant(size_t index);
	/** \brief State that a tensor is one that can be computed with; shapes are of int32 */
	void supportElements(ValueId id);
	/** \brief State that a tensor is of real numbers: integers have nothing to hold what is on
	 * the way */
	void supportFloat(ValueId id);
	/** \brief The whole numbers of a constant input, as axes and sizes are given */
	std::vector<int64_t> numbers(size_t index);

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

	/** \brief What a fused activation leaves */
	Clamp clamp(fb::Activation activation);
	/** \brief Add a constant to the model */
	ValueId addConstant(Value value);
	/** \brief Add a value between two operators, with elements as \a like has them; 0 after an
	 * error */
	ValueId addBetween(ValueId like, const Extents &shape);
	/** \brief Add the operator: the first inputs that there are, all outputs */
	void add(Kind kind, std::vector<ValueId> inputs, std::vector<ValueId> outputs);
	/** \brief The same, of input 0 alone, that makes output 0 alone */
	void add(Kind kind) { add(std::move(kind), { input(0) }, { output(0) }); }
	/** \brief Say that a result is indices: int16, whatever integers the file has */
	void makeIndices(ValueId id);
	/** \brief Add the operator as one that is not known, with what it names */
	void addUnknown(const Error &why);
	/** \brief Say that an output is the same constant as an input */
	void alias(ValueId output, const Value &constant);

	const std::string &name() const { return name_; }

private:
	ValueId id(const flatbuffers::Vector<int32_t> *ids, size_t index, const char *field);

	Model &model_;
	const fb::Operator &source_;
	std::string type_;
	std::string name_;
	Value none_;
};

/** \brief Reads an operator of one kind */
using ReadOperator = void(OperatorReader &reader);

/** \return what reads operators with a code, or nullptr */
ReadOperator *readerOf(const fb::OperatorCode &code);

} /* namespace nvdla::compiler::tflite */
