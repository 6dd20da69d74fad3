/* SPDX-License-Identifier: MIT */
#include "pdp/pdp.h"

#include <algorithm>

#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "pdp/pdp_work.h"

namespace nvdla::sim
{

namespace
{


/* One line as bytes to elements; FP16 as bits, NaNs cleared if told so. */
void unpack(std::span<const std::byte> bytes, const PdpOp &op, std::span<int32_t> values)
{
	if (op.precision == Precision::Int8) {
		std::transform(bytes.begin(), bytes.end(), values.begin(), [](std::byte byte) {
			return static_cast<int8_t>(std::to_integer<uint8_t>(byte));
		});
		return;
	}
	for (size_t i = 0; i < values.size(); i++) {
		const auto bits =
			static_cast<uint16_t>(std::to_integer<unsigned>(bytes[2 * i]) |
					      std::to_integer<unsigned>(bytes[2 * i + 1]) << 8);
		values[i] = op.precision == Precision::Int16 ? static_cast<int16_t>(bits) : bits;
	}
	if (op.precision == Precision::Fp16 && op.nanToZero)
		for (int32_t &value : values)
			if (arith::Fp16::isNan(static_cast<uint32_t>(value)))
				value = 0;
}

/*
 * The counters of NaNs and infinities of the input always read 0 on the
 * hardware. Stalls come from the memory, which is ideal here.
 */
void addCounters(OperationResult &result, const PdpWriter &writer)
{
	result.updates = {
		{ NVDLA_PDP_D_INF_INPUT_NUM, 0 },
		{ NVDLA_PDP_D_NAN_INPUT_NUM, 0 },
		{ NVDLA_PDP_D_NAN_OUTPUT_NUM, writer.nanCount() },
		{ NVDLA_PDP_D_PERF_WRITE_STALL, 0 },
	};
}

/* Pool one part of all surfaces. */
void runPart(const PdpOp &op, const PdpPart &part, MemoryPort &port, PdpWriter &writer)
{
	const auto pooler = PdpPooler::create(op, part);
	std::vector<std::byte> bytes(size_t{ part.inWidth } * atomBytes);
	std::vector<int32_t> values(size_t{ part.inWidth } * op.lanes());
	const uint64_t first = op.source.address + static_cast<uint64_t>(part.inX) * atomBytes;

	for (uint32_t surface = 0; surface < op.surfaces(); surface++) {
		for (uint32_t y = 0; y < op.inHeight; y++) {
			if (port.cancelled())
				return;
			port.read(op.source.ram,
				  first + uint64_t{ surface } * op.source.surfaceStride +
					  uint64_t{ y } * op.source.lineStride,
				  bytes);
			unpack(bytes, op, values);
			pooler->push(values, [&](uint32_t outY, std::span<const int32_t> out) {
				writer.write(surface, outY, part.outX, out);
			});
		}
	}
}

} /* namespace */

void PdpWriter::write(uint32_t surface, uint32_t y, uint32_t x, std::span<const int32_t> values)
{
	line_.resize(values.size() * elementBytes(op_.precision));
	if (op_.precision == Precision::Int8) {
		std::transform(values.begin(), values.end(), line_.begin(),
			       [](int32_t value) { return static_cast<std::byte>(value); });
	} else {
		for (size_t i = 0; i < values.size(); i++) {
			line_[2 * i] = static_cast<std::byte>(values[i]);
			line_[2 * i + 1] = static_cast<std::byte>(values[i] >> 8);
		}
	}
	if (op_.precision == Precision::Fp16)
		nans_ += static_cast<uint32_t>(
			std::count_if(values.begin(), values.end(), [](int32_t value) {
				return arith::Fp16::isNan(static_cast<uint32_t>(value));
			}));

	const PdpCube &cube = op_.destination;
	port_.write(cube.ram,
		    cube.address + uint64_t{ surface } * cube.surfaceStride +
			    uint64_t{ y } * cube.lineStride + uint64_t{ x } * atomBytes,
		    line_);
}

PdpStream::PdpStream(const PdpOp &op, MemoryPort &port)
	: op_(op), part_(pdpParts(op).front()), port_(port), pooler_(PdpPooler::create(op_, part_)),
	  writer_(op_, port)
{
	for (Line &line : lines_)
		line.values.resize(size_t{ op_.inWidth } * op_.lanes());
}

bool PdpStream::accepts(const StreamRun &run) const
{
	return !mismatch_ && run.batch == 0 && surface_ < op_.surfaces() &&
	       run.surface == surface_ && (run.y == y_ || run.y == y_ + 1) &&
	       run.y < op_.inHeight && run.x <= op_.inWidth && run.width <= op_.inWidth - run.x &&
	       run.data.size() == size_t{ run.width } * op_.lanes();
}

void PdpStream::poolLine(std::span<const int32_t> values)
{
	if (!port_.cancelled())
		pooler_->push(values, [this](uint32_t outY, std::span<const int32_t> out) {
			writer_.write(surface_, outY, 0, out);
		});
	if (++y_ == op_.inHeight) {
		y_ = 0;
		surface_++;
	}
}

void PdpStream::push(const StreamRun &run)
{
	if (!accepts(run)) {
		mismatch_ = true;
		return;
	}
	Line &line = lines_[run.y % lines_.size()];
	if (run.y == y_ && run.width == op_.inWidth && line.filled == 0) {
		poolLine(run.data);
	} else {
		std::copy(run.data.begin(), run.data.end(),
			  line.values.begin() + static_cast<ptrdiff_t>(run.x * op_.lanes()));
		line.filled += run.width;
	}
	for (Line *next = &lines_[y_ % lines_.size()]; next->filled >= op_.inWidth;
	     next = &lines_[y_ % lines_.size()]) {
		next->filled = 0;
		poolLine(next->values);
	}
}

OperationResult PdpStream::finish()
{
	OperationResult result;

	result.guestError = op_.guestError;
	if (mismatch_ || surface_ < op_.surfaces()) {
		result.guestError = "PDP: SDP puts out another cube than PDP takes in";
		result.hangs = true;
	}
	addCounters(result, writer_);
	result.work.pdp = pdpWork(op_);
	return result;
}

OperationResult runPdp(const PdpOp &op, MemoryPort &port)
{
	OperationResult result;
	PdpWriter writer(op, port);

	result.guestError = op.guestError;
	result.work.pdp = pdpWork(op);
	for (const PdpPart &part : pdpParts(op))
		runPart(op, part, port, writer);
	addCounters(result, writer);
	result.updates.push_back({ NVDLA_PDP_RDMA_D_PERF_READ_STALL, 0 });
	return result;
}

} /* namespace nvdla::sim */
