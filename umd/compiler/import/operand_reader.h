/* SPDX-License-Identifier: MIT */
/*
 * Access to the operands of a file's operator, in any format.
 */
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/legalize/legalize.h"

namespace nvdla::compiler
{

using legalize::Tensor;

/**
 * \brief Reads an operator's inputs and appends the model's operators for it
 *
 * Subclasses locate inputs in their format; this class checks them.
 */
class OperandReader : public legalize::Builder
{
public:
	/** \return number of inputs, including optional ones that the file leaves out */
	virtual size_t inputs() const = 0;
	virtual size_t outputs() const = 0;
	/** \return true if the file has this input */
	virtual bool hasInput(size_t index) const = 0;
	/** \brief An input as an operand; subclasses may align its axes with those of input 0 */
	virtual Tensor input(size_t index) { return tensor(index); }

	std::vector<Tensor> allInputs(size_t least = 1)
	{
		std::vector<Tensor> all;
		for (size_t i = 0; i < std::max(inputs(), least); i++)
			all.push_back(input(i));
		return all;
	}
	using Builder::isConstant;
	using Builder::value;
	const Value &value(size_t index) { return value(tensor(index)); }
	bool isConstant(size_t index) { return value(index).isConstant; }
	/** \brief An input that has to be a constant, its axes as in the file */
	const Value &constant(size_t index)
	{
		const Value &value = this->value(index);
		support(value.isConstant, fmt::format("input {}", index),
			fmt::format("'{}' is computed by the model; it has to be a constant",
				    value.name));
		return value;
	}
	/** \brief Real numbers of a constant input */
	std::vector<double> realNumbers(size_t index)
	{
		return compiler::realNumbers(constant(index));
	}
	/** \brief Whole numbers of a constant input, such as axes; none without that input */
	std::vector<int64_t> wholeNumbers(size_t index)
	{
		if (!hasInput(index))
			return {};
		const Value &value = constant(index);
		need(!isFloat(value.type), fmt::format("input {}", index),
		     fmt::format("is {}, integers are needed", elementTypeName(value.type)));
		return compiler::wholeNumbers(value);
	}
	/** \brief Value of an attribute; \a usual if the operator has none of that name */
	virtual int64_t integer(const std::string &, int64_t usual) const { return usual; }
	virtual double number(const std::string &, double usual) const { return usual; }
	/** \brief Whole numbers of an attribute if the file has it, else of an input */
	virtual std::vector<int64_t> list(size_t index, const std::string &)
	{
		return wholeNumbers(index);
	}
	/** \brief Limits of an activation that the operator includes */
	virtual Clamp activation() { return {}; }
	/** \brief An axis of input 0, which an attribute names */
	uint32_t axisOf(const std::string &name, int64_t usual)
	{
		return axis(integer(name, usual), input(0).shape.size(), name);
	}
	/** \brief The only number of a constant input; \a usual if the input is not given */
	double scalar(size_t index, double usual)
	{
		if (!hasInput(index))
			return usual;
		const std::vector<double> numbers = realNumbers(index);
		support(numbers.size() == 1, fmt::format("input {}", index),
			fmt::format("has {} numbers, one is needed", numbers.size()));
		return numbers.front();
	}

	/** \brief Set the tensor of an output */
	virtual void write(const Tensor &tensor, size_t output) = 0;
	/** \brief Set the outputs behind the first one \return the tensor of the first output */
	Tensor writeAll(const std::vector<Tensor> &tensors)
	{
		for (size_t i = 1; i < tensors.size(); i++)
			write(tensors[i], i);
		return tensors.empty() ? Tensor{} : tensors.front();
	}
	/** \brief Set the first output; nothing: the operator is unknown */
	void finish(const std::optional<Tensor> &made)
	{
		support(made.has_value(), "operator",
			"is not known to this compiler; replace it in the model, or cut the model "
			"before it");
		write(*made, 0);
	}

protected:
	using Builder::Builder;
	/** \brief The tensor of an input, as the file has it */
	virtual Tensor tensor(size_t index) = 0;
};

/**
 * \brief Read an operator that all formats define alike
 * \return its first output; nothing if \a type is another operator
 */
std::optional<Tensor> readCommon(OperandReader &reader, const std::string &type);

} /* namespace nvdla::compiler */
