/* SPDX-License-Identifier: MIT */
/*
 * What makes random operators; families of them have files of their own.
 */
#pragma once

#include <functional>
#include <string>

#include "random_operator.h"

namespace nvdla::test
{

/** \brief Append an element of a constant */
template<typename T>
void store(std::vector<std::byte> &data, double number)
{
	const T element = static_cast<T>(number);
	const auto *bytes = reinterpret_cast<const std::byte *>(&element);

	data.insert(data.end(), bytes, bytes + sizeof(element));
}

/** \brief Makes operators, one after the other */
class Generator
{
public:
	Generator(std::mt19937_64 &random, compiler::ElementType type, bool joins)
		: random_(random), type_(type), joins_(joins)
	{
	}

	RandomModel makeOne();
	RandomModel makeSeveral();

private:
	uint32_t from(uint32_t low, uint32_t high)
	{
		return std::uniform_int_distribution<uint32_t>(low, high)(random_);
	}
	double real(double low, double high)
	{
		return std::uniform_real_distribution<double>(low, high)(random_);
	}
	bool chance(double share) { return real(0, 1) < share; }
	bool isInteger() const { return !compiler::isFloat(type_); }
	IntegerLimits limits() const
	{
		return integerLimits(type_ == compiler::ElementType::Int8 ? 8U : 16U);
	}
	Quantization quantization();
	compiler::Clamp clamp();
	/* Shapes with four axes, no longer than these. */
	compiler::Extents picture(uint32_t longest = 12, uint32_t channels = 70);
	/* What there is already, in a network. */
	std::vector<compiler::ValueId>
	written(const std::function<bool(const compiler::Extents &)> &fits) const;
	std::string named(const std::string &name) const;
	compiler::ValueId tensor(const std::string &name, const compiler::Extents &shape,
				 const Quantization &all);
	/* What was written before, or an input of the model. */
	compiler::ValueId input(const compiler::Extents &shape);
	compiler::ValueId freshInput(const compiler::Extents &shape);
	compiler::ValueId output(const compiler::Extents &shape, const Quantization &quantization);
	compiler::ValueId kernels(const compiler::Extents &shape);
	compiler::ValueId bias(uint32_t count, compiler::ValueId input, compiler::ValueId weights);
	void makeOperator();
	void finish(compiler::Kind kind, std::vector<compiler::ValueId> inputs,
		    compiler::ValueId output);
	/* An output scale at which few sums are cut off. */
	Quantization forSums(compiler::ValueId input, compiler::ValueId weights);

	void convolution();
	void fullyConnected();
	void product();
	void elementwise();
	void limit();
	void pool();
	void globalAverage();
	void pad();
	void concatenation();
	void slice();
	void unary();
	void transposedConvolution();
	void prelu();
	void enlarge();
	void transpose();
	void argMax();
	void normalize();
	void localResponse();
	void reshape();
	void quotient();
	void channelReduction();
	void standardize();
	void logSoftmax();

	std::mt19937_64 &random_;
	compiler::ElementType type_;
	bool joins_; /* operators read what others wrote */
	RandomModel made_;
};

} /* namespace nvdla::test */
