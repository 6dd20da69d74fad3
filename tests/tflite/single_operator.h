/* SPDX-License-Identifier: MIT */
/*
 * Files of one operator of 8 bits each, over the whole range of its integers.
 */
#pragma once

#include <ostream>
#include <span>

#include "random_file.h"

namespace nvdla::test
{

/** \brief Scale and zero point of a tensor */
struct Steps {
	float scale;
	int64_t zero;

	double real(double integer) const { return scale * (integer - static_cast<double>(zero)); }
	double low() const { return real(-128); }
	double high() const { return real(127); }
};

/** \brief A file with one operator, and its inputs */
class SingleOperator : public RandomFile
{
public:
	struct Kind {
		const char *name;
		void (SingleOperator::*make)();

		friend std::ostream &operator<<(std::ostream &stream, const Kind &kind)
		{
			return stream << kind.name;
		}
	};

	static std::span<const Kind> elementKinds();
	static std::span<const Kind> windowKinds();

	SingleOperator(const Kind &kind, uint64_t seed);

private:
	using Function = double (*)(double);
	enum class Sizes : uint8_t { Larger, Thirds, Smaller, BothWays };

	/* [1, height, width, channels], or fewer axes: some hundred elements */
	Shape picture();
	Shape anyShape();
	Steps steps();
	/* Steps of which the type's range has about what lies between \a low and \a high. */
	Steps stepsFor(double low, double high);
	fb::Activation activation();
	int32_t input(const Shape &shape, const Steps &steps);
	int32_t output(const Shape &shape, const Steps &steps);
	std::vector<int8_t> integers(size_t count, int32_t lowest);
	int32_t constant(const Shape &shape, const Steps &steps);
	/* Symmetric kernels; one scale or one for each index of an axis, which \a scales has then.
	 */
	int32_t kernels(const Shape &shape, int32_t axis, std::vector<float> &scales);
	int32_t bias(int32_t count, float inputScale, const std::vector<float> &scales,
		     double most);
	Steps stepsOfSums(const Steps &in, const std::vector<float> &scales, double summands,
			  double &most);
	template<int32_t code>
	void arithmetic(bool withConstant);
	template<int32_t code, Function function>
	void unary();
	template<int32_t code>
	void limits();
	template<int32_t code>
	void reduction();
	template<int32_t code>
	void pool();
	template<int32_t code>
	void pad();
	void fixedRange(int32_t code, fb::BuiltinOptions kind, flatbuffers::Offset<void> options,
			const Steps &out);
	/* How many windows an axis has; kernels are made smaller if need be. */
	int32_t windows(int32_t extent, int32_t &kernel, int32_t stride, int32_t &dilation,
			fb::Padding padding);

	template<int32_t code>
	void tensors();
	template<int32_t code>
	void withConstant();
	void prelu();
	void leakyRelu();
	void reciprocalRoot();
	void logistic();
	void tanh();
	void softmax();
	void logSoftmax();
	void l2Normalization();
	void quantize();
	void concatenation();
	void mirrorPad();
	void transpose();
	void fullyConnected();
	void largeFullyConnected();
	void product(const Shape &shape, int32_t columns, const Shape &made);
	void batchMatMul();
	void computedBatchMatMul();
	void convolution();
	void depthwise();
	void transposedConvolution();
	void paddedAverage();
	template<Sizes sizes>
	void resizeBilinear();
	void resizeNearest();
};

} /* namespace nvdla::test */
