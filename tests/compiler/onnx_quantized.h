/* SPDX-License-Identifier: MIT */
/*
 * Random ONNX models of one operator, as a float model and with QuantizeLinear and DequantizeLinear
 * around everything.
 */
#pragma once

#include <optional>
#include <random>

#include "onnx_on_core.h"

namespace nvdla::test
{

/** \brief What an int8 stands for */
struct QdqQuantization {
	float scale = 1;
	int32_t zero = 0;
};

/**
 * \brief A model whose operator reads an input and constants, and writes an output
 *
 * The same seed gives the same operator with the same numbers, whether quantized or not.
 */
class QdqModel
{
public:
	/** \param[in] result what the output's integers stand for; none: a float model */
	QdqModel(uint32_t seed, std::optional<QdqQuantization> result);

	int64_t from(int64_t low, int64_t high)
	{
		return std::uniform_int_distribution<int64_t>(low, high)(random_);
	}
	bool chance(double share) { return real(0, 1) < share; }

	/* In this order. */

	/** \brief Numbers of the next input are at least this many steps */
	void atLeast(int32_t steps) { least_ = steps; }
	void input(const std::vector<int64_t> &shape);
	/** \brief Kernels with a scale for each index along \a axis, or one if that is -1 */
	void weights(const std::vector<int64_t> &shape, int64_t axis);
	/** \brief A number for each output channel */
	void bias(int64_t count);
	/** \brief Whole numbers that say what the operator does */
	void list(const std::string &name, const std::vector<int64_t> &numbers);
	/** \brief A constant that is in the model already */
	void extra(const std::string &name) { operands_.push_back(name); }
	onnx::Node *node(const std::string &type);
	/** \brief Say that the output has the input's integers */
	void movesElements(bool does) { movesElements_ = does; }

	/** \brief Say that there is no such operator of real numbers */
	void needsIntegers(bool does) { needsIntegers_ = does; }

	bool needsIntegers() const { return needsIntegers_; }
	bool movesElements() const { return movesElements_; }
	const QdqQuantization &inputSteps() const { return steps_; }
	/** \brief Numbers of each input */
	const std::vector<Numbers> &numbers() const { return numbers_; }
	const std::string &description() const { return description_; }

	OnnxBuilder builder;

private:
	double real(double low, double high)
	{
		return std::uniform_real_distribution<double>(low, high)(random_);
	}
	float scale(double low, double high)
	{
		return static_cast<float>(std::exp2(real(low, high)));
	}
	/* A constant: as integers behind a DequantizeLinear, or as what these stand for. */
	void constant(const std::string &name, const std::vector<int64_t> &shape,
		      const std::vector<int32_t> &integers, int32_t type,
		      const std::vector<float> &scales, int64_t axis);
	void describe(const std::string &name, const std::vector<int64_t> &shape);

	std::mt19937_64 random_;
	std::optional<QdqQuantization> result_;
	QdqQuantization steps_;
	std::vector<float> weightScales_;
	std::vector<std::string> operands_;
	std::vector<Numbers> numbers_;
	std::string description_;
	std::optional<int32_t> least_;
	bool movesElements_ = false;
	bool needsIntegers_ = false;
};

} /* namespace nvdla::test */
