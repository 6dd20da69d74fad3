/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* One more window, if the last ones do not cover the padded input. */
uint32_t ceilPadding(uint32_t in, uint32_t before, uint32_t after, uint32_t kernel, uint32_t stride)
{
	const uint32_t padded = in + before + after;

	if (padded < kernel)
		return after;
	const uint32_t rest = (padded - kernel) % stride;
	const uint32_t more = rest ? stride - rest : 0;
	/* A window that begins behind the input is none. */
	const uint32_t last = (padded - kernel) / stride * stride + stride;
	return more && last < in + before ? after + more : after;
}

void readMaxPool(NodeReader &reader)
{
	const FileTensor x = reader.pictureOrLine(0);

	reader.support(reader.outputs() == 1, "outputs", "are indices, too");
	addPool(reader, Pool::Method::Max, x, reader.same(x));
}

void readAveragePool(NodeReader &reader)
{
	const FileTensor x = reader.pictureOrLine(0);

	addPool(reader, Pool::Method::Average, x, reader.computed(x));
}

void readGlobalAverage(NodeReader &reader)
{
	const FileTensor x = reader.pictureOrLine(0);

	addGlobalAverage(reader, x, reader.computed(x));
}

void readGlobalMax(NodeReader &reader)
{
	const FileTensor x = reader.pictureOrLine(0);

	if (reader.failed())
		return;
	addPicture(reader, Pool{ Pool::Method::Max, { x.shape[3], x.shape[2] }, {}, {}, false, {} },
		   { x.id }, reader.same(x), { x.shape[0], x.shape[1], 1, 1 }, x.order);
}

} /* namespace */

void addPool(NodeReader &reader, Pool::Method method, const FileTensor &picture,
	     const ElementKind &elements)
{
	std::vector<int64_t> kernel = reader.integers("kernel_shape");
	const bool counts = reader.integer("count_include_pad", 0) != 0;

	if (kernel.size() == 1 && reader.isLine())
		kernel.insert(kernel.begin(), 1);
	if (reader.failed() ||
	    !reader.need(kernel.size() == 2 && kernel[0] >= 1 && kernel[1] >= 1 &&
				 kernel[0] <= UINT16_MAX && kernel[1] <= UINT16_MAX,
			 "kernel_shape", "is not two numbers"))
		return;
	Windows all =
		windows(reader, picture,
			{ static_cast<uint32_t>(kernel[1]), static_cast<uint32_t>(kernel[0]) });
	reader.support(all.dilation.x == 1 && all.dilation.y == 1, "dilations",
		       "of a pooling are not 1");
	if (reader.integer("ceil_mode", 0) && !reader.failed()) {
		const op::Padding padding = all.padding;
		all.padding.right = ceilPadding(picture.shape[3], padding.left, padding.right,
						all.kernel.x, all.stride.x);
		all.padding.bottom = ceilPadding(picture.shape[2], padding.top, padding.bottom,
						 all.kernel.y, all.stride.y);
		reader.support(!counts || (all.padding.right == padding.right &&
					   all.padding.bottom == padding.bottom),
			       "ceil_mode", "and count_include_pad together are not known");
	}
	const Extents shape = windowed(reader, picture, all, picture.shape[1]);
	if (!reader.failed())
		addPicture(reader, Pool{ method, all.kernel, all.stride, all.padding, counts, {} },
			   { picture.id }, elements, shape, picture.order);
}

void addGlobalAverage(NodeReader &reader, const FileTensor &picture, const ElementKind &elements)
{
	if (!reader.failed())
		addPicture(reader, GlobalAverage{}, { picture.id }, elements,
			   { picture.shape[0], picture.shape[1], 1, 1 }, picture.order);
}

const NodeTable poolingNodes = {
	{ "AveragePool", readAveragePool },
	{ "GlobalAveragePool", readGlobalAverage },
	{ "GlobalMaxPool", readGlobalMax },
	{ "MaxPool", readMaxPool },
};

} /* namespace nvdla::compiler::onnx */
