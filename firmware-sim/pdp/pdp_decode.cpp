/* SPDX-License-Identifier: MIT */
#include "pdp/pdp_op.h"

#include <algorithm>
#include <bit>

#include <nvdla/hw/registers.h>

#include "core/fields.h"
#include "core/operation.h"

namespace nvdla::sim
{

namespace
{

constexpr uint32_t kernelMax = 8;
constexpr uint32_t lineBufferAtoms = 128;

class PdpDecoder
{
public:
	PdpDecoder(const RegisterView &pdp, const RegisterView &rdma, const Geometry &geometry)
		: pdp_(pdp), rdma_(rdma), op_{ .geometry = &geometry }
	{
	}

	PdpOp decode();

private:
	void error(const char *text) { noteError(op_.guestError, text); }
	uint32_t kernelSize(uint32_t mask);
	void decodeMode();
	void decodeGeometry();
	void decodePadding();
	PdpPartWidths partWidths(uint32_t address) const;
	void decodeRdma();
	void checkAxis(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride, uint32_t before,
		       uint32_t after, const char *text);
	void checkParts();

	const RegisterView &pdp_;
	const RegisterView &rdma_;
	PdpOp op_;
};

/* The field has four bits, but the pooling logic uses only three of them. */
uint32_t PdpDecoder::kernelSize(uint32_t mask)
{
	const uint32_t size = pdp_.field(NVDLA_PDP_D_POOLING_KERNEL_CFG, mask) + 1;
	if (size > kernelMax)
		error("PDP: the kernel is larger than 8");
	return (size - 1) % kernelMax + 1;
}

void PdpDecoder::decodeMode()
{
	const uint32_t precision = FIELD(pdp_, PDP_D_DATA_FORMAT, INPUT_DATA);
	const uint32_t method = FIELD(pdp_, PDP_D_OPERATION_MODE_CFG, POOLING_METHOD);

	if (precision > NVDLA_PDP_D_DATA_FORMAT__INPUT_DATA__FP16)
		error("PDP: reserved value in INPUT_DATA");
	else if (!op_.geometry->has(static_cast<Precision>(precision)))
		error("PDP: the core has INT8 only");
	else
		op_.precision = static_cast<Precision>(precision);
	if (method > NVDLA_PDP_D_OPERATION_MODE_CFG__POOLING_METHOD__POOLING_METHOD_MIN)
		error("PDP: reserved value in POOLING_METHOD");
	else
		op_.method = static_cast<PoolingMethod>(method);

	op_.flying = FIELD(pdp_, PDP_D_OPERATION_MODE_CFG, FLYING_MODE) ==
		     NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE__ON_FLYING;
	op_.parts = COUNT(pdp_, PDP_D_OPERATION_MODE_CFG, SPLIT_NUM);
	op_.nanToZero = FLAG(pdp_, PDP_D_NAN_FLUSH_TO_ZERO, NAN_TO_ZERO);
	if (op_.flying && op_.parts > 1) {
		error("PDP: no split of the width when the input comes from SDP");
		op_.parts = 1;
	}
}

void PdpDecoder::decodeGeometry()
{
	op_.inWidth = pdp_[NVDLA_PDP_D_DATA_CUBE_IN_WIDTH] + 1;
	op_.inHeight = pdp_[NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT] + 1;
	op_.channels = pdp_[NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL] + 1;
	op_.outWidth = pdp_[NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH] + 1;
	op_.outHeight = pdp_[NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT] + 1;
	if (pdp_[NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL] + 1 != op_.channels)
		error("PDP: numbers of input and output channels differ");

	op_.kernelWidth = kernelSize(NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_WIDTH);
	op_.kernelHeight = kernelSize(NVDLA_PDP_D_POOLING_KERNEL_CFG__KERNEL_HEIGHT);
	op_.strideX = COUNT(pdp_, PDP_D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH);
	op_.strideY = COUNT(pdp_, PDP_D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT);
	op_.recipWidth = pdp_[NVDLA_PDP_D_RECIP_KERNEL_WIDTH];
	op_.recipHeight = pdp_[NVDLA_PDP_D_RECIP_KERNEL_HEIGHT];
}

void PdpDecoder::decodePadding()
{
	op_.padLeft = FIELD(pdp_, PDP_D_POOLING_PADDING_CFG, PAD_LEFT);
	op_.padTop = FIELD(pdp_, PDP_D_POOLING_PADDING_CFG, PAD_TOP);
	op_.padRight = FIELD(pdp_, PDP_D_POOLING_PADDING_CFG, PAD_RIGHT);
	op_.padBottom = FIELD(pdp_, PDP_D_POOLING_PADDING_CFG, PAD_BOTTOM);

	const uint32_t values = NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG;
	const uint32_t mask = NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG__PAD_VALUE_1X;
	for (uint32_t n = 1; n < op_.padValue.size(); n++)
		op_.padValue[n] =
			op_.precision == Precision::Fp16
				? static_cast<int32_t>(pdp_.field(values + 4 * (n - 1), mask))
				: pdp_.signedField(values + 4 * (n - 1), mask);
}

/* The fields are the same for input and output widths. */
PdpPartWidths PdpDecoder::partWidths(uint32_t address) const
{
	return {
		.first = pdp_.field(address, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_FIRST) +
			 1,
		.mid = pdp_.field(address, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_MID) + 1,
		.last = pdp_.field(address, NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_LAST) +
			1,
	};
}

/* PDP_RDMA has its own copies of the geometry's registers; they must agree with those of PDP. Its
 * D_FLYING_MODE has no effect. */
void PdpDecoder::decodeRdma()
{
	op_.source = decodeCube(rdma_, CUBE(PDP_RDMA_D_SRC_, RAM_CFG, SRC_RAM_TYPE), *op_.geometry);

	if (rdma_[NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH] != pdp_[NVDLA_PDP_D_DATA_CUBE_IN_WIDTH] ||
	    rdma_[NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT] != pdp_[NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT] ||
	    rdma_[NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL] != pdp_[NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL])
		error("PDP: cube sizes of PDP and PDP_RDMA differ");
	if (rdma_[NVDLA_PDP_RDMA_D_DATA_FORMAT] != pdp_[NVDLA_PDP_D_DATA_FORMAT])
		error("PDP: INPUT_DATA of PDP and PDP_RDMA differ");
	if (COUNT(rdma_, PDP_RDMA_D_OPERATION_MODE_CFG, SPLIT_NUM) != op_.parts)
		error("PDP: SPLIT_NUM of PDP and PDP_RDMA differ");
	if (op_.parts == 1)
		return;

	if (rdma_[NVDLA_PDP_RDMA_D_PARTIAL_WIDTH_IN] != pdp_[NVDLA_PDP_D_PARTIAL_WIDTH_IN] ||
	    COUNT(rdma_, PDP_RDMA_D_POOLING_KERNEL_CFG, KERNEL_WIDTH) != op_.kernelWidth ||
	    COUNT(rdma_, PDP_RDMA_D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH) != op_.strideX)
		error("PDP: kernel or part widths of PDP and PDP_RDMA differ");
}

/* Checks that each input element is in a window, and that each window has an element. */
void PdpDecoder::checkAxis(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride,
			   uint32_t before, uint32_t after, const char *text)
{
	if ((out - 1) * stride + kernel != before + in + after)
		error(text);
	if (before >= kernel || after >= kernel)
		error("PDP: the padding is not smaller than the kernel");
}

void PdpDecoder::checkParts()
{
	const uint32_t widest = pdpMaxOutWidth(op_.kernelHeight, op_.strideY);
	int64_t inEnd = 0;
	uint32_t outEnd = 0;

	for (const PdpPart &part : pdpParts(op_)) {
		if (part.inWidth == 0 || part.inX < 0)
			error("PDP: a part has no input columns");
		checkAxis(part.inWidth, part.outWidth, op_.kernelWidth, op_.strideX, part.padLeft,
			  part.padRight,
			  "PDP: input, output, kernel and padding widths do not fit");
		if (part.outWidth > widest)
			error("PDP: the output is wider than the line buffer");
		inEnd = part.inX + part.inWidth;
		outEnd = part.outX + part.outWidth;
	}
	if (inEnd != op_.inWidth || outEnd != op_.outWidth)
		error("PDP: the parts do not make up the width of the cube");
}

PdpOp PdpDecoder::decode()
{
	decodeMode();
	decodeGeometry();
	decodePadding();
	op_.partIn = partWidths(NVDLA_PDP_D_PARTIAL_WIDTH_IN);
	op_.partOut = partWidths(NVDLA_PDP_D_PARTIAL_WIDTH_OUT);
	op_.destination = decodeCube(pdp_, CUBE(PDP_D_DST_, RAM_CFG, DST_RAM_TYPE), *op_.geometry);
	if (!op_.flying)
		decodeRdma();
	checkParts();
	checkAxis(op_.inHeight, op_.outHeight, op_.kernelHeight, op_.strideY, op_.padTop,
		  op_.padBottom, "PDP: input, output, kernel and padding heights do not fit");
	return op_;
}

} /* namespace */

PdpOp decodePdp(const RegisterView &pdp, const RegisterView &rdma, const Geometry &geometry)
{
	return PdpDecoder(pdp, rdma, geometry).decode();
}

std::vector<PdpPart> pdpParts(const PdpOp &op)
{
	if (op.parts == 1)
		return { { 0, op.inWidth, 0, op.outWidth, op.padLeft, op.padRight } };

	const int64_t overlap = int64_t{ op.kernelWidth } - op.strideX;
	std::vector<PdpPart> parts = { { 0, op.partIn.first, 0, op.partOut.first, op.padLeft, 0 } };
	for (uint32_t n = 1; n < op.parts; n++) {
		const PdpPart &left = parts.back();
		const bool last = n + 1 == op.parts;
		const int64_t width = (last ? op.partIn.last : op.partIn.mid) + overlap;
		parts.push_back({ left.inX + left.inWidth - overlap,
				  static_cast<uint32_t>(std::max<int64_t>(width, 0)),
				  left.outX + left.outWidth,
				  last ? op.partOut.last : op.partOut.mid, 0,
				  last ? op.padRight : 0 });
	}
	return parts;
}

uint32_t pdpMaxOutWidth(uint32_t kernelHeight, uint32_t strideY)
{
	const uint32_t lines = (kernelHeight + strideY - 1) / strideY;
	return lineBufferAtoms / std::bit_ceil(lines);
}

} /* namespace nvdla::sim */
