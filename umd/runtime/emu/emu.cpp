/* SPDX-License-Identifier: MIT */
#include "emu.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include <fmt/core.h>
#include <nvdla/weights.h>

#include "arith/float_environment.h"
#include "base/number/channel_functions.h"
#include "base/number/element_functions.h"
#include "base/number/requantization.h"

namespace nvdla
{

namespace
{

constexpr const char *runningCpuOperation = "run CPU operation";

/*
 * Describes the cube as a tensor that extends to the end of its memory. FP16 has no quantization.
 */
TensorDesc describe(const EmuBuffer &buffer, const char *name, size_t bytes,
		    const Quantization &quantization)
{
	TensorDesc desc;

	desc.name = name;
	desc.type = buffer.type;
	desc.format = buffer.format;
	desc.c = buffer.c;
	desc.h = buffer.h;
	desc.w = buffer.w;
	desc.lineStride = buffer.lineStride;
	desc.surfaceStride = buffer.surfaceStride;
	desc.size = bytes;
	if (buffer.type != DataType::Half)
		desc.quantization = quantization;
	return desc;
}

/* Returns the function of an operation. Other compilers express a conversion of types by POWER with
 * the exponent 1, which is the identity. */
ElementFunction functionOf(const EmuOperation &operation)
{
	if (operation.type != EmuOpType::Power)
		return operation.function;
	return operation.power == 1.0f ? ElementFunction::Identity : ElementFunction::Power;
}

/*
 * Applies a function to each value. FP16 results may be infinite or NaN. Integers have no such
 * values, so for them x is limited to the range in which the function is defined.
 */
void elementwise(const EmuOperation &operation, std::vector<float> &values)
{
	const ElementFunctionInfo &function = elementFunction(functionOf(operation));
	const ElementFunctionInfo &inner = elementFunction(operation.inner);
	const bool isReal = operation.dst.type == DataType::Half;

	for (float &value : values) {
		const double scaled = operation.scale * inner(value, 0);
		/* Adding 0 would lose the sign of -0. */
		const double x = operation.shift == 0 ? scaled : operation.shift + scaled;
		value = static_cast<float>(isReal ? function(x, operation.power)
						  : function.bounded(x, operation.power));
	}
}

/* Computes the softmax of each pixel's channels. Values are in C, H, W order, so the channels of a
 * pixel are a plane apart. */
void softmax(std::vector<float> &values, size_t channels)
{
	const size_t plane = values.size() / channels;

	for (size_t pixel = 0; pixel < plane; pixel++) {
		float highest = values[pixel];
		for (size_t c = 1; c < channels; c++) {
			const float value = values[pixel + c * plane];
			highest = highest < value ? value : highest;
		}
		/* exp() and the sum have separate loops, so that the sum stays in a register
		 * between its terms. */
		for (size_t c = 0; c < channels; c++)
			values[pixel + c * plane] = std::exp(values[pixel + c * plane] - highest);
		float sum = 0.0f;
		for (size_t c = 0; c < channels; c++)
			sum += values[pixel + c * plane];
		for (size_t c = 0; c < channels; c++)
			values[pixel + c * plane] /= sum;
	}
}

/* Calls \a function with the channels of each pixel, as doubles, which it may change. Channels of a
 * pixel are a plane apart. */
template<typename Function>
void forEachPixel(std::vector<float> &values, size_t channels, Function function)
{
	const size_t plane = values.size() / channels;
	std::vector<double> pixel(channels);

	for (size_t at = 0; at < plane; at++) {
		for (size_t c = 0; c < channels; c++)
			pixel[c] = values[at + c * plane];
		function(pixel);
		for (size_t c = 0; c < channels; c++)
			values[at + c * plane] = static_cast<float>(pixel[c]);
	}
}

/*
 * Divides each channel by the root of the sum of squares. Rounds twice, as TensorFlow Lite's
 * kernels do: first to firstBits fraction bits, then to an integer. There are five fraction bits if
 * the sum of squares has 30 or 31 bits, and one fewer for every two bits fewer of the sum.
 */
void normalizeTwice(const EmuOperation &operation, std::vector<float> &values, size_t channels)
{
	const double in = operation.inScale, out = operation.outScale;

	forEachPixel(values, channels, [&](std::vector<double> &pixel) {
		double squares = 0;
		for (double &value : pixel) {
			value = static_cast<double>(integerLimits(16U).saturate(value / in));
			squares += value * value;
		}
		const double factor = 1 / (std::sqrt(std::max(squares, 1.0)) * out);
		const int firstBits = 5 - (31 - std::bit_width(static_cast<uint64_t>(squares))) / 2;
		for (double &value : pixel)
			value = out * static_cast<double>(
					      roundedTwice(value * factor, std::max(firstBits, 0)));
	});
}

/* Returns each pixel's largest channel value; \a before(x, y) is true if x counts as smaller. */
template<typename Before>
std::vector<float> extreme(const std::vector<float> &values, size_t channels, Before before)
{
	const size_t plane = values.size() / channels;
	std::vector<float> result(values.begin(), values.begin() + static_cast<ptrdiff_t>(plane));

	for (size_t i = plane; i < values.size(); i++)
		result[i % plane] = std::max(result[i % plane], values[i], before);
	return result;
}

/* Returns for each pixel the index of its largest channel; of several equal ones, the first. */
std::vector<float> argMax(const std::vector<float> &values, size_t channels)
{
	const size_t plane = values.size() / channels;
	std::vector<float> indices(plane);

	for (size_t pixel = 0; pixel < plane; pixel++) {
		size_t largest = 0;
		for (size_t c = 1; c < channels; c++)
			largest = values[pixel + c * plane] > values[pixel + largest * plane]
					  ? c
					  : largest;
		indices[pixel] = static_cast<float>(largest);
	}
	return indices;
}

/*
 * Returns the elements (of \a bytes bytes each) transposed; empty if the axes do not fit the number
 * of elements.
 */
std::vector<std::byte> reordered(const AxisOrder &axes, const std::vector<std::byte> &elements,
				 size_t bytes)
{
	std::array<size_t, AxisOrder::most> strides{}, extents{};
	size_t count = 1, rank = 0, seen = 0;

	while (rank < AxisOrder::most && axes.extents[rank])
		count *= axes.extents[rank++];
	for (size_t axis = 0; axis < rank; axis++) {
		const size_t from = axes.order[axis];
		seen |= size_t{ 1 } << from;
		if (from >= rank)
			return {};
		extents[axis] = axes.extents[from];
		strides[axis] = 1;
		for (size_t inner = from + 1; inner < rank; inner++)
			strides[axis] *= axes.extents[inner];
	}
	if (count * bytes != elements.size() || seen + 1 != size_t{ 1 } << rank)
		return {};
	std::vector<std::byte> result(elements.size());
	for (size_t i = 0; i < count; i++) {
		size_t rest = i, from = 0;
		for (size_t axis = rank; axis-- > 0;) {
			from += rest % extents[axis] * strides[axis];
			rest /= extents[axis];
		}
		std::copy_n(&elements[from * bytes], bytes, &result[i * bytes]);
	}
	return result;
}

Result<void> reshape(const AxisOrder &axes, const TensorDesc &from, std::span<const std::byte> src,
		     const TensorDesc &to, std::span<std::byte> dst)
{
	if (from.type != to.type || from.elements() != to.elements())
		return fail(ErrorCode::InvalidFile, runningCpuOperation, "dimensions",
			    fmt::format("{} cannot become {}", from.describe(), to.describe()));
	auto elements = unpackElements(from, src, ElementOrder::Nhwc);
	if (!elements)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, elements.error().where,
			    elements.error().why);
	if (!axes.none()) {
		*elements = reordered(axes, *elements, elementBytes(from.type));
		if (elements->empty())
			return fail(ErrorCode::InvalidFile, runningCpuOperation, "axes",
				    fmt::format("are not those of {}", from.describe()));
	}
	return overwriteElements(to, *elements, dst, ElementOrder::Nhwc);
}

/*
 * Clears the unused channels of the last atoms. The core computes with these channels, too, and
 * would count NaNs in bytes of an earlier surface.
 */
void clearUnusedLanes(const EmuBuffer &cube, std::span<std::byte> dst)
{
	const size_t bytes = elementBytes(cube.type), atomBytes = nvdla::atomBytes(cube.format);
	const uint32_t atom = static_cast<uint32_t>(atomBytes / bytes), used = cube.c % atom;

	if (used == 0)
		return;
	for (size_t y = 0; y < cube.h; y++) {
		for (size_t x = 0; x < cube.w; x++) {
			const size_t at = size_t{ cube.c / atom } * cube.surfaceStride +
					  y * cube.lineStride + x * atomBytes;
			if (at + atomBytes <= dst.size())
				std::ranges::fill(dst.subspan(at, atomBytes).subspan(used * bytes),
						  std::byte{ 0 });
		}
	}
}

/* Subtracts the zero point from each element, with saturation, and repeats the element \a times
 * times, once for each line and column of a kernel. */
template<typename T>
std::vector<std::byte> taps(const std::vector<std::byte> &elements, int zero, size_t times)
{
	constexpr unsigned bits = 8 * sizeof(T);
	std::vector<std::byte> all(elements.size() * times);

	for (size_t i = 0; i * sizeof(T) < elements.size(); i++) {
		T element;
		std::memcpy(&element, &elements[i * sizeof(T)], sizeof(T));
		if (zero)
			element = static_cast<T>(
				integerLimits(bits).saturate(int64_t{ element } - zero));
		for (size_t tap = i * times; tap < (i + 1) * times; tap++)
			std::memcpy(&all[tap * sizeof(T)], &element, sizeof(T));
	}
	return all;
}

Result<void> packWeights(const EmuOperation &operation, const TensorDesc &from,
			 std::span<const std::byte> src, std::span<std::byte> dst)
{
	const auto bad = [](const char *where, std::string why) {
		return fail(ErrorCode::InvalidFile, runningCpuOperation, where, std::move(why));
	};
	const EmuWeightOrder &order = operation.weights;
	const uint32_t pixels = from.h * from.w;
	const WeightDesc weights{ from.type, order.ofChannels ? from.c : pixels,
				  order.ofChannels ? pixels : from.c, order.lines, order.columns };
	CoreGeometry core = nvFull;

	if (!order.groupKernels || !order.blockChannels || order.lines > maxKernelSize ||
	    order.columns > maxKernelSize || operation.dst.type != from.type)
		return bad("weights", fmt::format("cannot be packed from {}", from.describe()));
	core.macChannels = order.blockChannels;
	core.int8Kernels = order.groupKernels * (from.type == DataType::Int8 ? 1U : 2U);
	core.weightSizeAlignment = 1;
	auto elements = unpackElements(from, src,
				       order.ofChannels ? ElementOrder::Nchw : ElementOrder::Nhwc);
	if (!elements)
		return bad(elements.error().where.c_str(), elements.error().why);
	const size_t times = size_t{ order.lines } * order.columns;
	const auto packed = packDirectWeights(
		core, weights,
		from.type == DataType::Int8 ? taps<int8_t>(*elements, operation.inZero, times)
					    : taps<int16_t>(*elements, operation.inZero, times));
	if (!packed)
		return bad("weights", packed.error().why);
	/* The rest of the surface is padding of the weights, which has to be 0. */
	const size_t room =
		std::min<size_t>(dst.size(), size_t{ operation.dst.h } * operation.dst.lineStride);
	if (packed->size() > room)
		return bad("weights",
			   fmt::format("of {} bytes do not fit into {}", packed->size(), room));
	std::ranges::copy(*packed, dst.begin());
	std::ranges::fill(dst.subspan(packed->size(), room - packed->size()), std::byte{ 0 });
	return {};
}

} /* namespace */

Result<void> runEmu(const EmuOperation &operation, std::span<const std::byte> src,
		    std::span<std::byte> dst)
{
	const sim::FloatEnvironment floats;
	const TensorDesc from = describe(operation.src, "source", src.size(),
					 { operation.inScale, operation.inZero });
	const TensorDesc to = describe(operation.dst, "destination", dst.size(),
				       { operation.outScale, operation.outZero });

	if (operation.type == EmuOpType::Reshape)
		return reshape(operation.axes, from, src, to, dst).map([&] {
			clearUnusedLanes(operation.dst, dst);
		});
	if (operation.type == EmuOpType::PackWeights)
		return packWeights(operation, from, src, dst);
	const uint32_t channels = makesOneChannel(operation.type) ? 1 : from.c;
	if (channels != to.c || from.h != to.h || from.w != to.w)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, "dimensions",
			    fmt::format("{} and {} differ", from.describe(), to.describe()));

	auto values = unpackFloat(from, src);
	if (!values)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, values.error().where,
			    values.error().why);

	switch (operation.type) {
	case EmuOpType::Power:
	case EmuOpType::Function:
		elementwise(operation, *values);
		break;
	case EmuOpType::ArgMax:
		*values = argMax(*values, from.c);
		break;
	case EmuOpType::Normalize:
		forEachPixel(*values, from.c, normalize);
		break;
	case EmuOpType::NormalizeTwice:
		normalizeTwice(operation, *values, from.c);
		break;
	case EmuOpType::LocalResponse:
		forEachPixel(*values, from.c, [&](std::span<double> pixel) {
			takeLocalResponse(pixel, operation.window, operation.power, operation.scale,
					  operation.shift);
		});
		break;
	case EmuOpType::LogSoftmax:
		forEachPixel(*values, from.c, takeLogSoftmax);
		break;
	case EmuOpType::Standardize:
		forEachPixel(*values, from.c,
			     [&](std::span<double> pixel) { standardize(pixel, operation.shift); });
		break;
	case EmuOpType::Largest:
		*values = extreme(*values, from.c, std::less<>());
		break;
	case EmuOpType::Smallest:
		*values = extreme(*values, from.c, std::greater<>());
		break;
	case EmuOpType::Softmax:
	case EmuOpType::Reshape:
	case EmuOpType::PackWeights:
		softmax(*values, from.c);
		break;
	}

	auto elements = elementsFromFloat(to, *values);
	if (!elements)
		return fail(ErrorCode::InvalidFile, runningCpuOperation, elements.error().where,
			    elements.error().why);
	return overwriteElements(to, *elements, dst).map([&] {
		clearUnusedLanes(operation.dst, dst);
	});
}

} /* namespace nvdla */
