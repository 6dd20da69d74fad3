/* SPDX-License-Identifier: MIT */
/*
 * One operator of a TensorFlow Lite file, with checks of its options and tensors.
 */
#pragma once

#include <map>
#include <span>
#include <string>

#include "compiler/import/operand_reader.h"
#include "compiler/import/tflite/file.h"

namespace nvdla::compiler::tflite
{

using legalize::Tensor;

/** \brief Reads an operator and appends what it becomes to a model */
class OperatorReader : public OperandReader
{
public:
	OperatorReader(legalize::Building &building, const fb::Operator &source, const char *type);

	size_t inputs() const override { return source_.inputs() ? source_.inputs()->size() : 0; }
	size_t outputs() const override
	{
		return source_.outputs() ? source_.outputs()->size() : 0;
	}
	bool hasInput(size_t index) const override
	{
		return index < inputs() &&
		       source_.inputs()->Get(static_cast<flatbuffers::uoffset_t>(index)) >= 0;
	}
	Tensor input(size_t index) override;
	/** \brief The value that the file has for an output; an empty one after an error */
	const Value &output(size_t index = 0);
	/** \brief An axis of a tensor that is the one number of a constant input */
	uint32_t axisOf(size_t index, const Tensor &tensor)
	{
		const auto given = static_cast<int64_t>(scalar(index, 0));
		return failed() ? 0 : axis(given, tensor.shape.size(), "axis");
	}

	/** \brief The options; all have their defaults after an error, and where files may lack
	 * them
	 */
	template<typename Options>
	const Options &options(bool mayLack = false)
	{
		const Options *found = source_.builtin_options_as<Options>();
		need(found || mayLack, "options", "are missing, or those of another operator");
		return found ? *found : withoutFields<Options>();
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
	/** \brief Add the operator as an Unknown one, with its inputs and outputs */
	void addUnknown(const Error &why);

private:
	/* A table of FlatBuffers whose fields all have their defaults: offset and size of nothing.
	 */
	template<typename Table>
	static const Table &withoutFields()
	{
		static constexpr struct {
			uint16_t sizes[2] = { 4, 4 };
			int32_t toSizes = 4;
		} empty;
		return reinterpret_cast<const Table &>(empty.toSizes);
	}
	Tensor tensor(size_t index) override;
	ValueId id(const flatbuffers::Vector<int32_t> *ids, size_t index, const char *field);

	const fb::Operator &source_;
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
