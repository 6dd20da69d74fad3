/* SPDX-License-Identifier: MIT */
/*
 * One operator of the reference; families of operators have files of their own.
 */
#pragma once

#include <cmath>

#include "reference.h"

namespace nvdla::test
{

inline int64_t whole(double number)
{
	return static_cast<int64_t>(number);
}

inline IntegerLimits limitsOf(compiler::ElementType type)
{
	if (type == compiler::ElementType::UInt8)
		return { 0, 255 };
	return integerLimits(type == compiler::ElementType::Int8 ? 8U : 16U);
}

/** \brief Four axes; of a value without axes, one element */
inline compiler::Extents four(const compiler::Extents &shape)
{
	compiler::Extents result(shape);

	while (result.size() < 4)
		result.insert(result.begin(), 1);
	return result;
}

/** \brief Computes the output of an operator from the values of its inputs */
class OperatorReference
{
public:
	OperatorReference(const compiler::Model &model, const compiler::Operator &operation,
			  std::vector<Numbers> &values, Hybrid hybrid)
		: model_(model), operation_(operation), values_(values), hybrid_(hybrid),
		  out_(model.values[operation.outputs.front()]),
		  result_(values[operation.outputs.front()])
	{
		result_.assign(compiler::elementCount(out_.shape), 0);
	}

	void operator()(const compiler::Convolution &conv);
	void operator()(const compiler::TransposedConvolution &conv);
	void operator()(const compiler::FullyConnected &full);
	void operator()(const compiler::Product &product);
	void operator()(const compiler::Elementwise &elementwise);
	void operator()(const compiler::Pool &pool);
	void operator()(const compiler::Reshape &) { result_ = in(0); }
	void operator()(const compiler::Pad &pad);
	void operator()(const compiler::Concatenation &concatenation);
	void operator()(const compiler::Slice &slice);
	void operator()(const compiler::Unary &unary);
	void operator()(const compiler::PRelu &);
	void operator()(const compiler::Enlarge &enlarge);
	void operator()(const compiler::Softmax &softmax);
	void operator()(const compiler::Transpose &transpose);
	void operator()(const compiler::OverChannels &over);
	void operator()(const compiler::ChannelReduction &reduction);
	void operator()(const compiler::Unknown &) {} /* what is not read may be */

private:
	/* Of lines and columns; integers are rounded as TFLite's MEAN does. */
	void meanOfReals();
	void argMax();
	void normalize();
	void localResponse(const compiler::OverChannels &response);
	void standardize(double epsilon);
	const compiler::Value &value(size_t input) const
	{
		return model_.values[operation_.inputs[input]];
	}
	const Numbers &in(size_t input) const { return values_[operation_.inputs[input]]; }
	bool isReal() const { return compiler::isFloat(value(0).type); }
	/* ONNX's operators are defined on real numbers; the nearest integer, halves to even. */
	bool roundsOnce() const { return model_.roundingOf8Bits == ScaleRounding::Once; }
	double nearest(double steps, const compiler::Clamp &activation) const
	{
		return saturate(whole(std::nearbyint(steps)) + zero(out_), activation);
	}
	double scale(const compiler::Value &value, uint32_t c = 0) const
	{
		return static_cast<float>(value.quantization.channel(c).scale);
	}
	int32_t zero(const compiler::Value &value, uint32_t c = 0) const
	{
		return value.quantization.channel(c).zeroPoint;
	}
	/* The input of a convolution or matrix product. */
	Numbers activations() const;
	/* Kernel k's sum, with bias, to an element of the output. */
	double finish(double sum, uint32_t k, const compiler::Clamp &activation) const;
	double saturate(int64_t number, const compiler::Clamp &activation) const;
	/* A real number as an element of the output. */
	double written(double number) const
	{
		return compiler::isFloat(out_.type)
			       ? number
			       : static_cast<double>(out_.quantization.channel(0).quantize(
					 number, limitsOf(out_.type)));
	}
	double bias(uint32_t k) const { return operation_.inputs.size() > 2 ? in(2)[k] : 0; }
	double real(size_t input, double number) const
	{
		return value(input).quantization.none()
			       ? number
			       : value(input).quantization.channel(0).real(number);
	}

	const compiler::Model &model_;
	const compiler::Operator &operation_;
	std::vector<Numbers> &values_;
	const Hybrid hybrid_;
	const compiler::Value &out_;
	Numbers &result_;
};

} /* namespace nvdla::test */
