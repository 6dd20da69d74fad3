/* SPDX-License-Identifier: MIT */
/*
 * What makes random ONNX files.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "random_onnx.h"

namespace nvdla::test
{

using Dims = std::vector<int64_t>;

inline int64_t elementsIn(const Dims &shape)
{
	int64_t elements = 1;

	for (const int64_t extent : shape)
		elements *= extent;
	return elements;
}

/** \brief A tensor of the file */
struct Named {
	std::string name;
	Dims shape;
};

/** \brief Makes one file */
class OnnxGenerator
{
public:
	explicit OnnxGenerator(std::mt19937_64 &random) : random_(random) {}

	RandomOnnx makeFloat();
	RandomOnnx makeQuantized();

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
	/* Extents are often alike, so that an axis can be taken for another one. */
	Dims anyShape();
	std::string fresh(const std::string &what) { return what + std::to_string(next_++); }
	std::string input(const Dims &shape);
	std::string constant(const Dims &shape, double low, double high);
	/* A shape that can be repeated to this one: axes become 1, the first ones fall away. */
	Dims repeatable(Dims shape);
	onnx::Node *add(const std::string &type, std::vector<std::string> inputs,
			const Dims &shape);
	/* The last result as it is now. */
	const Named &x() const { return tensors_.back(); }
	size_t rank() const { return x().shape.size(); }
	int64_t pickAxis() { return from(0, static_cast<uint32_t>(rank()) - 1); }

	void move();
	void read();
	void transpose();
	void reshape();
	void flatten();
	void squeeze();
	void withConstant();
	void withLargerConstant();
	void withTensor();
	void several();
	void where();
	void prelu();
	void batchNormalization();
	void gemm();
	void matMul();
	void computedMatMul();
	void convolution();
	void recurrent();
	void reduce();
	void slice();
	void concatenation();
	void softmax();
	void normalization();
	void unary();
	void scale(const std::string &name, const std::vector<double> &scales);
	std::string quantizedConstant(const Dims &shape, int32_t type, double scale, bool each);

	std::mt19937_64 &random_;
	OnnxBuilder builder_{ 17 };
	std::vector<Named> tensors_; /* computed, and inputs */
	std::vector<std::string> made_;
	std::vector<std::string> read_;
	RandomOnnx result_;
	int next_ = 0;
};

} /* namespace nvdla::test */
