/* SPDX-License-Identifier: MIT */
/*
 * Transposed convolutions. The core's have neither groups nor holes: zeros in kernels make them.
 */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

constexpr uint64_t mostOfKernels = uint64_t{ 1 } << 26;

/* How an axis of a kernel and of the sums is made. */
struct Axis {
	uint32_t kernel = 0; /* with its holes, and zeros behind it */
	uint32_t before = 0; /* sums that are cut off */
	uint32_t after = 0;
	uint32_t out = 0;
};

/* What an axis of the output is to be, as attributes have it. */
struct Wanted {
	int64_t more = 0;	    /* behind the sums */
	std::optional<int64_t> out; /* sums before and behind it are cut off */
	bool moreBehind = false;    /* of an odd number of these */
};

Axis axisOf(NodeReader &reader, Axis axis, uint32_t in, uint32_t stride, const Wanted &wanted)
{
	const int64_t sums = int64_t{ in - 1 } * stride + axis.kernel;

	if (wanted.out) {
		const int64_t cut = std::max<int64_t>(sums + wanted.more - *wanted.out, 0);
		if (!reader.need(cut <= mostOfWindow, "output_shape",
				 fmt::format("cuts off {} elements", cut)))
			return {};
		axis.before = static_cast<uint32_t>(wanted.moreBehind ? cut / 2 : cut - cut / 2);
		axis.after = static_cast<uint32_t>(cut) - axis.before;
	}
	const int64_t out =
		wanted.out ? *wanted.out : sums + wanted.more - axis.before - axis.after;
	/* Sums of nothing, behind the others: the kernel has zeros there. */
	const int64_t all = out + axis.before;
	const int64_t zeros = std::max<int64_t>(all - sums, 0);
	reader.need(out >= 1 && out <= mostOfWindow, "pads",
		    fmt::format("or output_shape leave {} elements", out));
	reader.need(zeros <= mostOfWindow, "output_padding",
		    fmt::format("makes {} elements of nothing", zeros));
	if (reader.failed())
		return {};
	axis.kernel += static_cast<uint32_t>(zeros);
	axis.after = static_cast<uint32_t>(sums + zeros - all);
	axis.out = static_cast<uint32_t>(out);
	return axis;
}

/* Numbers of lines and columns; those of one axis are of columns. */
std::vector<int64_t> pairOf(NodeReader &reader, const std::string &name)
{
	std::vector<int64_t> numbers = reader.integers(name);

	if (name == "output_shape" && numbers.size() > 2)
		numbers.erase(numbers.begin(), numbers.end() - 2);
	if (numbers.size() == 1 && reader.isLine())
		numbers.insert(numbers.begin(), name == "output_shape" ? 1 : 0);
	reader.need(numbers.empty() || numbers.size() == 2, name,
		    fmt::format("has {} numbers for two axes", numbers.size()));
	for (const int64_t number : numbers)
		reader.need(number >= 0 && number <= mostOfWindow, name,
			    fmt::format("{} is not possible", number));
	return reader.failed() ? std::vector<int64_t>{} : numbers;
}

/* Kernels that have groups, holes and zeros behind them only as numbers. */
Value plainKernels(NodeReader &reader, const Value &kernels, op::Axes dilation,
		   const op::Axes &size)
{
	const int64_t groups = reader.integer("group", 1);
	const uint32_t channels = kernels.shape[0];
	const auto scales = kernels.quantization.values();

	reader.need(groups >= 1 && groups <= channels && channels % groups == 0, "group",
		    fmt::format("is {}, of {} channels", groups, channels));
	if (reader.failed())
		return {};
	const Value turned = permuted(kernels, { 1, 0, 2, 3 });
	if (groups == 1 && size.y == kernels.shape[2] && size.x == kernels.shape[3])
		return turned;
	reader.support(groups == 1 || scales.size() <= 1, "group",
		       "is not 1, of weights with several scales");
	reader.support(std::all_of(scales.begin(), scales.end(),
				   [](const Quantization &one) { return one.zeroPoint == 0; }),
		       "weights", "have a zero point, and groups, dilations or output_padding");
	/* Each factor is below 2^32, so the first product fits; the others are held against it. */
	const uint64_t planes = uint64_t{ turned.shape[0] } * static_cast<uint64_t>(groups);
	reader.support(planes <= mostOfKernels && planes * channels <= mostOfKernels &&
			       planes * channels * size.y <= mostOfKernels &&
			       planes * channels * size.y * size.x <= mostOfKernels,
		       "weights", "are too many with their groups and holes filled by zeros");
	if (reader.failed())
		return {};
	return spreadKernels(turned, static_cast<uint32_t>(groups), dilation, size);
}

void readConvTranspose(NodeReader &reader)
{
	const FileTensor x = reader.pictureOrLine(0);
	const Value weights = kernelsOf(reader, 1);
	const std::vector<int64_t> more = pairOf(reader, "output_padding");
	const std::vector<int64_t> sizes = pairOf(reader, "output_shape");
	const std::string kind = reader.text("auto_pad", "NOTSET");

	reader.support(weights.shape.size() == 4 && elementCount(weights.shape), "weights",
		       "are no kernels with lines and columns, or with columns alone");
	reader.need(elementCount(x.shape), "input 0", "has no elements");
	if (reader.failed())
		return;
	const Windows all = windows(reader, x, { weights.shape[3], weights.shape[2] });
	auto withHoles = [](uint32_t kernel, uint32_t dilation) {
		return uint64_t{ kernel - 1 } * dilation + 1;
	};
	reader.support(withHoles(all.kernel.x, all.dilation.x) <= mostOfWindow &&
			       withHoles(all.kernel.y, all.dilation.y) <= mostOfWindow,
		       "dilations", "make kernels too large");
	if (reader.failed())
		return;
	const bool same = kind.starts_with("SAME"), upper = kind == "SAME_UPPER";
	auto wanted = [&](size_t axis, uint32_t in, uint32_t stride) {
		Wanted result{ more.empty() ? 0 : more[axis], {}, upper };
		if (!sizes.empty())
			result.out = sizes[axis];
		else if (same)
			result.out = int64_t{ in } * stride;
		return result;
	};
	const op::Padding &cut = all.padding;
	const Axis lines = axisOf(reader,
				  { static_cast<uint32_t>(withHoles(all.kernel.y, all.dilation.y)),
				    cut.top, cut.bottom, 0 },
				  x.shape[2], all.stride.y, wanted(0, x.shape[2], all.stride.y));
	const Axis columns =
		axisOf(reader,
		       { static_cast<uint32_t>(withHoles(all.kernel.x, all.dilation.x)), cut.left,
			 cut.right, 0 },
		       x.shape[3], all.stride.x, wanted(1, x.shape[3], all.stride.x));
	if (reader.failed())
		return;
	Value kernels =
		plainKernels(reader, weights, all.dilation, { columns.kernel, lines.kernel });
	if (reader.failed())
		return;
	const Extents shape{ x.shape[0], kernels.shape[0], lines.out, columns.out };
	std::vector<ValueId> inputs{ x.id, reader.addConstant(std::move(kernels)) };
	for (const Value &one : biasOf(reader, 2))
		inputs.push_back(reader.addConstant(one));
	addPicture(
		reader,
		TransposedConvolution{ all.stride,
				       { columns.before, columns.after, lines.before, lines.after },
				       {} },
		std::move(inputs), reader.computed(x), shape, x.order);
}

} /* namespace */

const NodeTable transposedNodes = {
	{ "ConvTranspose", readConvTranspose },
};

} /* namespace nvdla::compiler::onnx */
