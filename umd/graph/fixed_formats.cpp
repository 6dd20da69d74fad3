/* SPDX-License-Identifier: MIT */
#include "fixed_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include <fmt/core.h>
#include <nvdla/fixed_point.h>

#include "graph_parts.h"
#include "operation_names.h"
#include "plan.h"

namespace nvdla::assembly
{

namespace
{

using Bits = std::optional<uint32_t>;

/* Properties of the numbers of a stream, surface or operands. */
struct Numbers {
	Bits bits = {};	      /* fraction bits; nothing: no fixed-point numbers, or not known */
	int64_t largest = 0;  /* largest possible magnitude; 0: not known */
	bool inMemory = true; /* false: an operand in a register */
};

bool isInteger(DataType type)
{
	return type == DataType::Int8 || type == DataType::Int16;
}

/* Adds up the magnitudes of every \a count elements, such as a kernel; returns the largest sum. */
int64_t largestSum(const Elements &elements, size_t count)
{
	const std::vector<float> values = elementsToFloat(elements.type, elements.bytes);
	int64_t largest = 0, sum = 0;

	for (size_t i = 0; i < values.size(); i++) {
		sum = (i % count ? sum : 0) + static_cast<int64_t>(std::fabs(values[i]));
		largest = std::max(largest, sum);
	}
	return largest;
}

/* The largest magnitude that the sum of a kernel's products can have, over all possible inputs. */
int64_t largestSum(const GraphWeights &weights)
{
	const FixedFormat operand{ weights.elements.type, 0 };
	const size_t size = size_t{ weights.c } * weights.r * weights.s;

	return largestSum(weights.elements, std::max<size_t>(size, 1)) << operand.bits();
}

/* Returns a converter's right shift in bits if its factor is a power of two, else nothing. */
std::optional<int> bitsOf(const Converter &converter)
{
	if (converter.offset || converter.scale <= 0 ||
	    !std::has_single_bit(static_cast<uint32_t>(converter.scale)))
		return {};
	return converter.shift - std::countr_zero(static_cast<uint32_t>(converter.scale));
}

class Follower
{
public:
	explicit Follower(const Graph &graph) : graph_(graph)
	{
		for (const Surface &surface : GraphParts::surfaces(graph))
			declared_[surface.name] = &surface;
	}

	Result<std::map<std::string, uint32_t>> run();

private:
	/* Returns the surface that contains the elements of \a name: the whole, for a part. */
	std::string wholeOf(std::string name) const
	{
		for (size_t depth = 0; depth < declared_.size(); depth++) {
			const auto found = declared_.find(name);
			if (found == declared_.end() || found->second->within.empty())
				break;
			name = found->second->within;
		}
		return name;
	}
	Numbers numbersOf(const std::string &name) const
	{
		const auto found = known_.find(wholeOf(name));
		return found == known_.end() ? Numbers{} : found->second;
	}
	void need(bool fulfilled, const std::string &field, const std::string &why)
	{
		if (!fulfilled && !error_)
			error_ = Error{ ErrorCode::InvalidArgument, what, where_ + ", " + field,
					why };
	}
	void declare(const Surface &surface);
	void written(const std::string &name, const Numbers &numbers);
	void shiftDown(Numbers &numbers, int bits, const std::string &field);
	/* Follows the formats of input and weights to the convolution's sums, which SDP takes. */
	void convolve(const std::string &input, const std::string &weights,
		      const std::string &output, uint32_t shift);
	Numbers aluOf(const op::SdpUnit &unit) const;
	Numbers mulOf(const op::SdpUnit &unit) const;
	void add(Numbers &sum, const op::SdpUnit &unit, const std::string &field);
	void multiply(Numbers &product, const op::SdpUnit &unit, const std::string &field);
	void follow(const op::Sdp &sdp);
	void follow(const op::Convolution &conv)
	{
		convolve(conv.input, conv.weights, conv.output,
			 conv.accumulatorShift + conv.winogradShift);
	}
	void follow(const op::Deconvolution &deconv)
	{
		convolve(deconv.input, deconv.weights, deconv.output, deconv.accumulatorShift);
	}
	/*
	 * The CPU computes with real numbers, so the step's scales have to equal those of the
	 * formats.
	 */
	template<typename Step>
	requires requires(const Step &step) { step.inScale + step.outScale; }
	void follow(const Step &step)
	{
		auto fits = [&](const std::string &name, float scale, const char *field) {
			const Bits bits = numbersOf(name).bits;
			need(!bits || scale == std::ldexp(1.0f, -static_cast<int>(*bits)), field,
			     fmt::format("is {}, '{}' is Q.{}", scale, name, bits.value_or(0)));
		};
		fits(step.input, step.inScale, "inScale");
		fits(step.output, step.outScale, "outScale");
	}
	/* The result of a table has a format that only the table's author knows. */
	void follow(const op::Normalization &) {}
	void follow(const op::Compare &) {}
	void follow(const op::Copy &copy)
	{
		for (const op::Copy::Transfer &one : copy.transfers)
			written(one.output, numbersOf(one.input));
	}
	/* Pooling and operations that move elements keep the format of their input. */
	template<typename Other>
	void follow(const Other &other)
	{
		written(other.output, numbersOf(other.input));
	}

	const Graph &graph_;
	std::map<std::string, const Surface *> declared_;
	std::map<std::string, Numbers> known_; /* by the surface's name; parts: the whole's name */
	std::string where_;
	std::optional<Error> error_;
};

void Follower::declare(const Surface &surface)
{
	if (!surface.fractionBits)
		return;
	where_ = fmt::format("surface '{}'", surface.name);
	need((isInteger(surface.type) || surface.type == DataType::Unknown) &&
		     isFeature(surface.format),
	     "fractionBits", "fixed-point numbers are feature surfaces of int8 or int16");
	need(surface.quantization.none(), "fractionBits", "it has a quantization as well");
	written(surface.name, { .bits = surface.fractionBits });
}

void Follower::written(const std::string &name, const Numbers &numbers)
{
	if (!numbers.bits)
		return;
	Numbers &there = known_[wholeOf(name)];
	need(!there.bits || there.bits == numbers.bits, "output",
	     fmt::format("'{}' is Q.{}, what is written is Q.{}", name, there.bits.value_or(0),
			 *numbers.bits));
	there = numbers;
}

void Follower::shiftDown(Numbers &numbers, int bits, const std::string &field)
{
	if (!numbers.bits)
		return;
	need(static_cast<int>(*numbers.bits) >= bits, field,
	     fmt::format("shifts Q.{} by {}: no fraction bits are left for it", *numbers.bits,
			 bits));
	if (!error_)
		numbers.bits = static_cast<uint32_t>(static_cast<int>(*numbers.bits) - bits);
}

void Follower::convolve(const std::string &input, const std::string &weights,
			const std::string &output, uint32_t shift)
{
	const auto &all = GraphParts::weights(graph_);
	const auto found = std::ranges::find(all, weights, &GraphWeights::name);
	const Bits bits = numbersOf(input).bits;

	if (found == all.end())
		return;
	need(bits.has_value() == found->fractionBits.has_value(), "weights",
	     fmt::format("'{}' and '{}' do not both have fractionBits", input, weights));
	need(!bits || isInteger(found->elements.type), "weights",
	     "fixed-point numbers are int8 or int16");
	if (!bits || error_)
		return;
	Numbers sums{ .bits = *bits + *found->fractionBits, .largest = largestSum(*found) };
	const uint32_t width = accumulatorWidth(found->elements.type, shift);
	const auto needed =
		static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(sums.largest)) + 1);
	const uint32_t widest = accumulatorWidth(found->elements.type, 32);
	need(needed <= width, "accumulatorShift",
	     needed <= widest
		     ? fmt::format("sums need {} bits, {} are there; a shift of {} makes room",
				   needed, width, shift + needed - width)
		     : fmt::format("sums need {} bits, the accumulators have {}; use smaller "
				   "weights",
				   needed, widest));
	shiftDown(sums, static_cast<int>(shift), "accumulatorShift");
	sums.largest >>= shift;
	written(output, sums);
}

Numbers Follower::aluOf(const op::SdpUnit &unit) const
{
	const auto &all = GraphParts::operands(graph_);
	const auto found = std::ranges::find(all, unit.operands, &GraphOperands::name);

	if (unit.operands.empty())
		return { .inMemory = false };
	if (found == all.end())
		return numbersOf(unit.operands);
	return { .bits = found->aluFractionBits,
		 .largest = isInteger(found->alu.type) ? largestSum(found->alu, 1) : 0 };
}

Numbers Follower::mulOf(const op::SdpUnit &unit) const
{
	const auto &all = GraphParts::operands(graph_);
	const std::string &name = unit.mulOperands.empty() ? unit.operands : unit.mulOperands;
	const auto found = std::ranges::find(all, name, &GraphOperands::name);

	if (name.empty())
		return { .inMemory = false };
	if (found == all.end())
		return numbersOf(name);
	return { .bits = found->mulFractionBits };
}

/* An operand in a register needs no check: the user gives it in the sum's format. */
void Follower::add(Numbers &sum, const op::SdpUnit &unit, const std::string &field)
{
	Numbers operand = aluOf(unit);

	if (!unit.alu || !operand.inMemory)
		return;
	if (unit.aluConverter && operand.bits) {
		const std::optional<int> bits = bitsOf(*unit.aluConverter);
		need(bits.has_value(), field + ".aluConverter",
		     "multiplies by no power of two, or subtracts an offset");
		shiftDown(operand, bits.value_or(0), field + ".aluConverter");
	}
	need(sum.bits.has_value() == operand.bits.has_value(), field + ".operands",
	     fmt::format("'{}' and what it is added to do not both have fractionBits",
			 unit.operands));
	if (!sum.bits || error_)
		return;
	need(*operand.bits <= *sum.bits, field + ".operands",
	     fmt::format("'{}' is Q.{}, which is finer than the sum's Q.{}", unit.operands,
			 *operand.bits, *sum.bits));
	/* The ALU of Y, SDP's last stage, has a converter instead of the shift of X1 and X2. */
	need(*operand.bits + unit.aluShift == *sum.bits,
	     field + (field == "y" ? ".aluConverter" : ".aluShift"),
	     fmt::format("'{}' is Q.{}, the sum Q.{}: {} bits to the left bring it there",
			 unit.operands, *operand.bits, *sum.bits, *sum.bits - *operand.bits));
	const int64_t most = sum.largest + (operand.largest << unit.aluShift);
	need(most <= INT32_MAX, field + ".operands",
	     fmt::format("the sum with '{}' needs {} bits, SDP has 32; a larger accumulatorShift "
			 "makes room",
			 unit.operands, std::bit_width(static_cast<uint64_t>(most)) + 1));
}

void Follower::multiply(Numbers &product, const op::SdpUnit &unit, const std::string &field)
{
	const bool isPRelu = unit.activation == op::Activation::PRelu;
	Numbers factor = mulOf(unit);

	if (!unit.multiply && !isPRelu)
		return;
	product.largest = 0;
	if (!factor.inMemory)
		product.bits.reset(); /* a factor in a register has no known format */
	if (!product.bits)
		return;
	if (unit.mulConverter && factor.bits) {
		const std::optional<int> bits = bitsOf(*unit.mulConverter);
		need(bits.has_value(), field + ".mulConverter",
		     "multiplies by no power of two, or subtracts an offset");
		shiftDown(factor, bits.value_or(0), field + ".mulConverter");
	}
	need(factor.bits.has_value(), field + ".operands",
	     "the factors have no fractionBits, what they multiply has");
	if (error_)
		return;
	/*
	 * PReLU multiplies and shifts only negative numbers. So that positive and negative numbers
	 * have the same format, the shift has to remove the fraction bits that the factor adds.
	 */
	need(!isPRelu || factor.bits == unit.shift, field + ".shift",
	     fmt::format("is {}; of a PReLU it is that of its factors, Q.{}", unit.shift,
			 *factor.bits));
	*product.bits += *factor.bits;
}

void Follower::follow(const op::Sdp &sdp)
{
	Numbers numbers = numbersOf(sdp.input);
	const struct {
		const char *name;
		const std::optional<op::SdpUnit> &unit;
		bool addsFirst;
	} units[] = { { "x1", sdp.x1, true }, { "x2", sdp.x2, true }, { "y", sdp.y, false } };

	for (const auto &[name, unit, addsFirst] : units) {
		if (!unit || error_)
			continue;
		if (addsFirst)
			add(numbers, *unit, name);
		multiply(numbers, *unit, name);
		shiftDown(numbers, unit->shift, fmt::format("{}.shift", name));
		if (!addsFirst)
			add(numbers, *unit, name);
		if (unit->activation == op::Activation::LookUp)
			numbers = {};
	}
	const std::optional<int> bits = bitsOf(sdp.converter);
	const Numbers output = numbersOf(sdp.output);
	need(bits || !numbers.bits || !output.bits, "converter",
	     fmt::format("multiplies by no power of two, or subtracts an offset; '{}' is Q.{}",
			 sdp.output, output.bits.value_or(0)));
	if (!bits || error_)
		return;
	shiftDown(numbers, *bits, "converter");
	written(sdp.output, { .bits = numbers.bits });
}

Result<std::map<std::string, uint32_t>> Follower::run()
{
	std::map<std::string, uint32_t> formats;

	for (const Surface &surface : GraphParts::surfaces(graph_))
		declare(surface);
	for (const op::Any &operation : GraphParts::operations(graph_)) {
		if (error_)
			break;
		where_ = fmt::format("operation '{}'", operationName(operation));
		std::visit([&](const auto &one) { follow(one); }, operation);
	}
	if (error_)
		return tl::unexpected(*error_);
	for (const auto *names : { &GraphParts::inputs(graph_), &GraphParts::outputs(graph_) }) {
		for (const std::string &name : *names) {
			if (const Bits bits = numbersOf(name).bits)
				formats[name] = *bits;
		}
	}
	return formats;
}

} /* namespace */

Result<std::map<std::string, uint32_t>> fixedFormats(const Graph &graph)
{
	return Follower(graph).run();
}

} /* namespace nvdla::assembly */
