/* SPDX-License-Identifier: MIT */
/*
 * Random functions of elements, of two tensors and of channels.
 */
#include <algorithm>
#include <cmath>

#include "random_generator.h"

namespace nvdla::test
{

using namespace compiler;

void Generator::elementwise()
{
	const Extents shape = picture();
	const Extents perChannel = { shape.back() };
	const ValueId a = input(chance(0.2) ? perChannel : shape);
	const ValueId b =
		input(made_.model.values[a].shape == shape && chance(0.2) ? perChannel : shape);
	const Quantization qa = made_.model.values[a].quantization.channel(0);
	const Quantization qb = made_.model.values[b].quantization.channel(0);
	Elementwise elementwise;
	Quantization out = quantization();

	/* Products of floats that were multiplied before become too large. */
	elementwise.function =
		static_cast<Elementwise::Function>(from(0, joins_ && !isInteger() ? 1 : 2));
	elementwise.activation = clamp();
	const bool product = elementwise.function == Elementwise::Function::Multiply;
	out.scale = static_cast<double>(
		static_cast<float>(product ? qa.scale * qb.scale * real(40, 200) *
						     (type_ == ElementType::Int16 ? 256 : 1)
					   : std::max(qa.scale, qb.scale) * real(0.7, 3)));
	finish(elementwise, { a, b }, output(shape, out));
}

/* A maximum or minimum with numbers of any shape that can be repeated. */
void Generator::limit()
{
	const Extents x = picture();
	const Extents shapes[] = { { 1 },	   { x[3] },	      { x[1], x[2], x[3] },
				   { x[1], 1, 1 }, { x[1], 1, x[3] }, { x[2], 1 } };
	const ValueId in = input(x);
	const Quantization all = made_.model.values[in].quantization.channel(0);
	const ValueId constant = tensor(named("limits"), shapes[from(0, 5)], all);
	Value &limits = made_.model.values[constant];
	std::vector<std::byte> elements;

	limits.isConstant = true;
	for (uint64_t i = 0; i < elementCount(limits.shape); i++) {
		if (type_ == ElementType::Int8)
			store<int8_t>(elements, std::round(real(-128, 127)));
		else if (isInteger())
			store<int16_t>(elements, std::round(real(-32768, 32767)));
		else
			store<float>(elements, real(-4, 4));
	}
	limits.data = std::move(elements);
	Elementwise elementwise;
	elementwise.function =
		chance(0.5) ? Elementwise::Function::Maximum : Elementwise::Function::Minimum;
	finish(elementwise, { in, constant }, output(x, all));
}

void Generator::unary()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Unary unary;
	Quantization out = quantization();

	/* 16 bits and FP16: those that have tables have their error. */
	const Unary::Function exact[] = { Unary::Function::LeakyRelu, Unary::Function::Identity,
					  Unary::Function::Sin,	      Unary::Function::Atan,
					  Unary::Function::Asinh,     Unary::Function::Square };
	unary.function = type_ == ElementType::Int8
				 ? static_cast<Unary::Function>(
					   from(0, static_cast<uint32_t>(Unary::Function::Silu)))
				 : exact[from(0, isInteger() ? 4 : 5)];
	unary.parameter = unary.function == Unary::Function::LeakyRelu ? real(0.05, 0.5) : 1;
	if (isInteger()) {
		const Quantization q = made_.model.values[in].quantization.channel(0);
		out.scale = static_cast<double>(static_cast<float>(q.scale * real(0.5, 2)));
	}
	finish(unary, { in }, output(x, out));
}

void Generator::prelu()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Quantization out = quantization();
	Value slopes;

	slopes.name = named("slopes");
	const Extents shapes[] = { { x[3] },
				   { x[3] },
				   { 1 },
				   { 1, 1, x[3] },
				   { x[1], x[2], x[3] },
				   { x[1], 1, 1 },
				   { x[2], 1 },
				   { x[1], 1, x[3] } };
	slopes.shape = shapes[from(0, 7)];
	slopes.isConstant = true;
	std::vector<std::byte> elements;
	for (uint64_t i = 0; i < elementCount(slopes.shape); i++)
		store<float>(elements, real(-0.5, 0.9));
	slopes.data = std::move(elements);
	made_.model.values.push_back(std::move(slopes));
	const ValueId constant = made_.model.values.size() - 1;
	out.scale = static_cast<double>(static_cast<float>(
		made_.model.values[in].quantization.channel(0).scale * real(0.5, 2)));
	finish(PRelu{}, { in, constant }, output(x, out));
}

void Generator::argMax()
{
	/* Of numbers that are nearly alike FP16 may choose another. */
	if (!isInteger()) {
		normalize();
		return;
	}
	const Extents x = picture();
	const ValueId in = input(x);
	const ValueId out = output({ 1, x[1], x[2] }, { 1, 0 });

	made_.model.values[out].type = ElementType::Int16;
	made_.model.values[out].quantization = Quantization{ 1, 0 };
	finish(OverChannels{}, { in }, out);
}

void Generator::normalize()
{
	const Extents x = picture();
	const ValueId in = input(x);
	const double scale = type_ == ElementType::Int16 ? 1.0 / 32768 : 1.0 / 128;

	finish(OverChannels{ OverChannels::Function::Normalize }, { in }, output(x, { scale, 0 }));
}

void Generator::localResponse()
{
	const Extents x = picture();
	const ValueId in = input(x);
	OverChannels response{ OverChannels::Function::LocalResponse, 2 * from(0, 4) + 1 };

	response.shift = real(0.5, 2);
	response.scale = real(0.01, 1);
	response.power = real(0.5, 1);
	finish(response, { in }, output(x, made_.model.values[in].quantization.channel(0)));
}

/* By numbers that are far from 0, or the quotient is. */
void Generator::quotient()
{
	const Extents shape = picture();
	const ValueId a = input(shape),
		      b = freshInput(chance(0.2) ? Extents{ shape.back() } : shape);
	const double step = isInteger() ? made_.model.values[b].quantization.channel(0).scale : 1;
	const int32_t zero =
		isInteger() ? made_.model.values[b].quantization.channel(0).zeroPoint : 0;
	const double least = isInteger() ? static_cast<double>(limits().highest) / 8 : 0.5;
	Quantization out = quantization();

	for (double &number : made_.inputs.back()) {
		const double distance = number - zero;
		const bool up = distance >= 0
					? zero + least <= static_cast<double>(limits().highest)
					: zero - least < static_cast<double>(limits().lowest);
		if (std::fabs(distance) < least)
			number = isInteger() ? std::round(up ? zero + least : zero - least)
					     : std::copysign(least, distance);
	}
	if (isInteger())
		out.scale = static_cast<double>(static_cast<float>(
			made_.model.values[a].quantization.channel(0).scale / step *
			real(0.03, 0.1) / (type_ == ElementType::Int16 ? 256 : 1)));
	finish(Elementwise{ Elementwise::Function::Divide, clamp() }, { a, b }, output(shape, out));
}

void Generator::channelReduction()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Quantization out = made_.model.values[in].quantization.channel(0);
	ChannelReduction reduction;

	/* In a network, sums of sums become too large. */
	reduction.method = static_cast<Pool::Method>(from(0, joins_ ? 2 : 3));
	if (reduction.method == Pool::Method::Sum)
		out.scale = static_cast<double>(static_cast<float>(out.scale * real(1, 8)));
	finish(reduction, { in }, output({ 1, x[1], x[2], 1 }, out));
}

void Generator::standardize()
{
	const Extents x = picture();
	const ValueId in = input(x);
	const double step = isInteger() ? made_.model.values[in].quantization.channel(0).scale : 1;
	const double scale = type_ == ElementType::Int16 ? 1.0 / 8192 : 1.0 / 32;

	/* Channels that are nearly alike differ by what was rounded before. */
	finish(OverChannels{ .function = OverChannels::Function::Standardize,
			     .shift = std::pow(step * real(2, 20), 2) },
	       { in }, output(x, { scale, isInteger() && type_ == ElementType::Int8 ? 3 : 0 }));
}

void Generator::logSoftmax()
{
	const Extents x = picture();
	const ValueId in = input(x);
	const double range =
		isInteger() ? made_.model.values[in].quantization.channel(0).scale *
				      static_cast<double>(limits().highest - limits().lowest)
			    : 8;
	const double scale = (range + 5) / (type_ == ElementType::Int16 ? 32768 : 256);

	finish(Softmax{ 1, true }, { in },
	       output(x, { static_cast<double>(static_cast<float>(scale)),
			   type_ == ElementType::Int8 ? 127 : 0 }));
}

} /* namespace nvdla::test */
