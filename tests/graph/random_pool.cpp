/* SPDX-License-Identifier: MIT */
#include "generator.h"

namespace nvdla::test
{

void Generator::addPooling(const Known &in, bool stream)
{
	constexpr op::Pool pools[] = { op::Pool::Average, op::Pool::Max, op::Pool::Min };
	op::Pooling pooling{ .name = name("pool"),
			     .input = in.name,
			     .output = name("p"),
			     .method = pools[dice_.pick(0, 2)] };
	/* Any kernel and stride; the padding at the far side makes the windows fit. */
	auto fit = [&](uint32_t side, uint32_t &kernel, uint32_t &stride, uint32_t &before,
		       uint32_t &after) {
		for (;;) {
			kernel = dice_.size(1, std::min<uint32_t>(side, 8));
			stride = dice_.size(1, 4);
			before = dice_.size(0, kernel - 1);
			for (after = 0; after < kernel; after++) {
				if ((before + side + after - kernel) % stride == 0)
					return;
			}
		}
	};
	fit(in.w, pooling.kernel.x, pooling.stride.x, pooling.padding.left, pooling.padding.right);
	fit(in.h, pooling.kernel.y, pooling.stride.y, pooling.padding.top, pooling.padding.bottom);
	if (in.type != DataType::Half && dice_.chance(50))
		pooling.padValue = dice_.pick(-100, 100);
	Known out{ pooling.output, in.type, in.c,
		   (pooling.padding.top + in.h + pooling.padding.bottom - pooling.kernel.y) /
				   pooling.stride.y +
			   1,
		   (pooling.padding.left + in.w + pooling.padding.right - pooling.kernel.x) /
				   pooling.stride.x +
			   1 };
	out.approximate = in.approximate || in.type == DataType::Half;
	/* Parts that are wider than the kernel are always possible. */
	if (!stream && out.w >= 4 && dice_.chance(40)) {
		const uint32_t part = (out.w + 1) / 2;
		const uint32_t last = out.w - part;
		if (last * pooling.stride.x >= pooling.kernel.x + pooling.padding.right + 1)
			pooling.parts = 2;
	}
	consumed_.insert(in.name);
	const std::string line = fmt::format(
		"pool {} {} kernel {}x{} stride {}x{} padding {} value {} parts {} -> {}",
		static_cast<int>(pooling.method), in.name, pooling.kernel.x, pooling.kernel.y,
		pooling.stride.x, pooling.stride.y, text(pooling.padding), pooling.padValue,
		pooling.parts, shape(out));
	addSurface(out);
	add(std::move(pooling), line);
}

void Generator::addNormalization()
{
	const Known in = choose();
	if (in.n > 1)
		return;
	const bool isFloat = in.type == DataType::Half;
	op::Normalization lrn{ .name = name("lrn"), .input = in.name, .output = name("n") };
	lrn.localSize = dice_.size(1, 4) * 2 + 1;
	lrn.bypassSquareSum = dice_.chance(20);
	lrn.bypassMultiply = dice_.chance(20);
	int bits = in.type == DataType::Int8 ? 7 : 15;
	if (!isFloat) {
		lrn.in = dice_.converter(20, 2, 1);
		lrn.out = dice_.converter(100, 3, lrn.bypassMultiply ? 8 : 15);
		bits = lrn.bypassSquareSum ? bits : 2 * bits;
	}
	lrn.lut = newLut(isFloat, isFloat ? 4 : std::min(bits, 18));
	Known out = in;
	out.name = lrn.output;
	out.approximate = isFloat;
	consumed_.insert(in.name);
	addSurface(out);
	const std::string line =
		fmt::format("CDP {} over {}{}{} -> {}", in.name, lrn.localSize,
			    lrn.bypassSquareSum ? " without squares" : "",
			    lrn.bypassMultiply ? " without product" : "", shape(out));
	add(std::move(lrn), line);
}

/* Channels of a new input, from any one on. */
Known Generator::newSlice(DataType type, uint32_t c, uint32_t h, uint32_t w)
{
	const uint32_t first = dice_.size(1, 40);
	const Known whole = newInput(type, 1, first + c + dice_.size(0, 20), h, w);
	const Cube &cube = case_.inputs.at(whole.name);
	const size_t plane = size_t{ h } * w;
	Known slice = whole;

	slice.name = name("slice");
	slice.c = c;
	case_.graph.surface(
		{ .name = slice.name, .c = c, .within = whole.name, .atChannel = first });
	Cube some = Cube::of(type, 1, c, h, w);
	some.values.assign(cube.values.begin() + static_cast<ptrdiff_t>(first * plane),
			   cube.values.begin() + static_cast<ptrdiff_t>((first + c) * plane));
	/* The reference knows no parts: to it this is another input. */
	case_.inputs[slice.name] = std::move(some);
	case_.description +=
		fmt::format("  {} is {} from channel {} on\n", shape(slice), whole.name, first);
	return slice;
}

/* A surface that SDP makes part by part, as a deconvolution's phases are. */
Known Generator::addParts(DataType type, uint32_t channels, uint32_t parts)
{
	const Known whole{ name("whole"), type, channels * parts, dice_.size(2, 4),
			   dice_.size(1, 5) };
	Surface &surface = surfaces_[whole.name] = {
		.name = whole.name, .type = type, .c = whole.c, .h = whole.h, .w = whole.w
	};

	/* Parts within atoms take a convolution. */
	last_.reset();
	strides(surface, whole);
	case_.joined[whole.name] = {};
	const Known in = dice_.chance(20) ? newSlice(type, channels, whole.h, whole.w)
					  : newInput(type, 1, channels, whole.h, whole.w);
	for (uint32_t i = 0; i < parts; i++) {
		op::Sdp sdp;
		do {
			sdp = sdpFor(in, false, false, type == DataType::Int8 ? 7 : 13);
		} while (sdp.type != type);
		surfaces_[sdp.output] = { .name = sdp.output,
					  .within = whole.name,
					  .atChannel = i * channels };
		case_.joined[whole.name].push_back(sdp.output);
		const std::string line = fmt::format("SDP {} -> part of {}", in.name, shape(whole));
		add(std::move(sdp), line);
	}
	consumed_.insert(in.name);
	known_.push_back(whole);
	anyHalf_ |= type == DataType::Half;
	return whole;
}

void Generator::addContract()
{
	const DataType type = anyType();
	op::Contract contract{ .name = name("contract"),
			       .output = name("r"),
			       .stride = { dice_.size(1, 3), dice_.size(1, 3) } };
	const uint32_t atom = type == DataType::Int8 ? 32 : 16;
	const uint32_t channels = atom * dice_.size(1, 2);
	const uint32_t phases = contract.stride.x * contract.stride.y;
	const Known in =
		phases < room() && dice_.chance(60)
			? addParts(type, channels, phases)
			: newInput(type, 1, channels * phases, dice_.size(1, 4), dice_.size(1, 5));
	contract.input = in.name;
	const Known out{ contract.output, type, channels, in.h * contract.stride.y,
			 in.w * contract.stride.x };
	consumed_.insert(in.name);
	addSurface(out);
	const std::string line = fmt::format("contract {} {}x{} -> {}", shape(in),
					     contract.stride.x, contract.stride.y, shape(out));
	add(std::move(contract), line);
}

void Generator::addPlanes()
{
	const Known in = choose();
	if (in.n > 1 || room() < 2)
		return;
	Known out = in;
	const std::string planes = name("planes");
	out.name = name("m");
	surfaces_[planes] = { .name = planes,
			      .planar = true,
			      .place = dice_.chance(30) ? Place::Sram : Place::Memory };
	add(op::SplitPlanes{ name("split"), in.name, planes },
	    fmt::format("split {} -> {}", in.name, planes));
	addSurface(out);
	add(op::MergePlanes{ name("merge"), planes, out.name },
	    fmt::format("merge {} -> {}", planes, shape(out)));
	consumed_.insert(in.name);
}

void Generator::addCopy()
{
	op::Copy copy{ .name = name("copy") };
	std::string line = "copy";

	for (int i = dice_.pick(1, 2); i > 0; i--) {
		const Known in = choose();
		if (in.n > 1)
			continue;
		Known out = in;
		out.name = name("c");
		consumed_.insert(in.name);
		copy.transfers.push_back({ in.name, out.name });
		line += fmt::format(" {} -> {}", in.name, shape(out));
	}
	if (copy.transfers.empty())
		return;
	/* Several lead from one kind of memory to another. */
	for (const op::Copy::Transfer &transfer : copy.transfers) {
		if (copy.transfers.size() > 1)
			offChip_.insert({ transfer.input, transfer.output });
	}
	for (const op::Copy::Transfer &transfer : copy.transfers) {
		Known out = *std::find_if(known_.begin(), known_.end(), [&](const Known &known) {
			return known.name == transfer.input;
		});
		out.name = transfer.output;
		out.approximate = false;
		addSurface(out);
	}
	add(std::move(copy), line);
}

/* Of numbers around -0.25. */
op::Unary Generator::unaryOf(const std::string &input, const std::string &output, float step)
{
	constexpr ElementFunction functions[] = { ElementFunction::Power, ElementFunction::Sin,
						  ElementFunction::Asinh, ElementFunction::Atan };

	return { .name = name("function"),
		 .input = input,
		 .output = output,
		 .function = functions[dice_.size(0, 3)],
		 .parameter = 2.0f,
		 .scale = 1.0f / 512,
		 .shift = -0.25f,
		 .inScale = step,
		 .outScale = 1.0f / 64 };
}

void Generator::addCpu()
{
	const Known in = choose();
	if (in.n > 1)
		return;
	Known out = in;
	out.name = name("e");
	out.approximate = true;
	consumed_.insert(in.name);
	offChip_.insert({ in.name, out.name });
	addSurface(out);
	const float step = in.type == DataType::Int8 ? 1.0f / 64 : 1.0f / 4096;
	if (dice_.chance(50))
		add(op::Softmax{ .name = name("softmax"),
				 .input = in.name,
				 .output = out.name,
				 .inScale = step,
				 .outScale = 1.0f / 256 },
		    fmt::format("softmax {} -> {}", in.name, shape(out)));
	else
		add(unaryOf(in.name, out.name, step),
		    fmt::format("function {} -> {}", in.name, shape(out)));
}

} /* namespace nvdla::test */
