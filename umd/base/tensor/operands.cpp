/* SPDX-License-Identifier: MIT */
#include <nvdla/operands.h>

#include <cstring>

#include <fmt/core.h>

#include "base/io/guarded.h"
#include "limits.h"

namespace nvdla
{

namespace
{

tl::unexpected<Error> bad(const OperandDesc &desc, std::string why)
{
	return fail(ErrorCode::InvalidArgument, "lay out operands", "operands " + desc.describe(),
		    std::move(why));
}

bool validTypes(const OperandDesc &desc)
{
	if (desc.processing == DataType::Half)
		return desc.type == DataType::Half;
	return (desc.processing == DataType::Int8 || desc.processing == DataType::Int16) &&
	       (desc.type == DataType::Int8 || desc.type == DataType::Int16);
}

Result<void> check(const CoreGeometry &geometry, const OperandDesc &desc)
{
	for (uint32_t size : { desc.channels, desc.height, desc.width }) {
		if (size < 1 || size > maxDimension)
			return bad(desc, fmt::format("a dimension is {}, must be 1 to {}", size,
						     maxDimension));
	}
	if (!validTypes(desc))
		return bad(desc, "integer pipelines take int8 and int16, fp16 takes fp16");
	if (desc.components != 1 && desc.components != 2)
		return bad(desc, fmt::format("{} components, must be 1 or 2", desc.components));

	const uint64_t line = uint64_t{ desc.width } * desc.atomBytes(geometry);
	if (desc.height > 1 && desc.lineStride < line)
		return bad(desc, fmt::format("line stride {} is less than the {} bytes of a line",
					     desc.lineStride, line));
	const uint64_t surface = uint64_t{ desc.height - 1 } * desc.lineStride + line;
	if (desc.channels > geometry.atomChannels(desc.processing) && desc.surfaceStride < surface)
		return bad(desc, fmt::format("surface stride {} is less than the {} bytes of a "
					     "surface",
					     desc.surfaceStride, surface));
	return {};
}

/* Calls move(plain, packed) for every operand. plain: byte offset in the plain array of a single
 * component; packed: byte offset of the operand's first component in the layout of SDP. */
template<typename Move>
void forEachOperand(const CoreGeometry &geometry, const OperandDesc &desc, Move move)
{
	const uint32_t lanes = geometry.atomChannels(desc.processing);
	const uint64_t bytes = elementBytes(desc.type);
	const uint64_t atom = desc.atomBytes(geometry);
	uint64_t plain = 0;

	for (uint32_t c = 0; c < desc.channels; c++) {
		const uint64_t channel = uint64_t{ c / lanes } * desc.surfaceStride +
					 c % lanes * desc.components * bytes;
		for (uint32_t h = 0; h < desc.height; h++) {
			uint64_t packed = channel + uint64_t{ h } * desc.lineStride;
			for (uint32_t w = 0; w < desc.width; w++, plain += bytes, packed += atom)
				move(plain, packed);
		}
	}
}

} /* namespace */

OperandDesc OperandDesc::perChannel(const CoreGeometry &geometry, DataType processing,
				    DataType type, uint32_t components, uint32_t channels)
{
	return perElement(geometry, processing, type, components, channels, 1, 1);
}

OperandDesc OperandDesc::perElement(const CoreGeometry &geometry, DataType processing,
				    DataType type, uint32_t components, uint32_t channels,
				    uint32_t height, uint32_t width)
{
	OperandDesc desc{ processing, type, components, channels, height, width, 0, 0 };
	const uint64_t atom = desc.atomBytes(geometry);
	const bool point = height == 1 && width == 1;
	const uint64_t line = point ? atom : alignUp(width * atom, geometry.atomBytes);

	desc.lineStride = static_cast<uint32_t>(line);
	desc.surfaceStride = static_cast<uint32_t>(line * height);
	return desc;
}

uint32_t OperandDesc::atomBytes(const CoreGeometry &geometry) const
{
	return geometry.atomChannels(processing) * components *
	       static_cast<uint32_t>(elementBytes(type));
}

uint64_t OperandDesc::bytes(const CoreGeometry &geometry) const
{
	const uint32_t lanes = geometry.atomChannels(processing);
	const uint64_t surfaces = (uint64_t{ channels } + lanes - 1) / lanes;

	return (surfaces - 1) * surfaceStride + uint64_t{ height - 1 } * lineStride +
	       uint64_t{ width } * atomBytes(geometry);
}

std::string OperandDesc::describe() const
{
	return fmt::format("{}x{}x{}x{} {} for {}", components, channels, height, width,
			   dataTypeName(type), dataTypeName(processing));
}

Result<std::vector<std::byte>> packOperands(const CoreGeometry &geometry, const OperandDesc &desc,
					    std::span<const std::byte> first,
					    std::span<const std::byte> second)
{
	return guarded("pack operands", [&]() -> Result<std::vector<std::byte>> {
		auto checked = check(geometry, desc);
		if (!checked)
			return forward(checked);

		const uint64_t bytes = elementBytes(desc.type);
		const uint64_t need = desc.elements() * bytes;
		const uint64_t needSecond = desc.components == 2 ? need : 0;
		if (first.size() != need || second.size() != needSecond)
			return bad(desc,
				   fmt::format("{} and {} bytes given, {} and {} needed",
					       first.size(), second.size(), need, needSecond));

		std::vector<std::byte> packed(desc.bytes(geometry));
		forEachOperand(geometry, desc, [&](uint64_t plain, uint64_t to) {
			std::memcpy(&packed[to], &first[plain], bytes);
			if (!second.empty())
				std::memcpy(&packed[to + bytes], &second[plain], bytes);
		});
		return packed;
	});
}

Result<Operands> unpackOperands(const CoreGeometry &geometry, const OperandDesc &desc,
				std::span<const std::byte> packed)
{
	return guarded("unpack operands", [&]() -> Result<Operands> {
		auto checked = check(geometry, desc);
		if (!checked)
			return forward(checked);
		if (packed.size() < desc.bytes(geometry))
			return bad(desc, fmt::format("{} bytes given, {} needed", packed.size(),
						     desc.bytes(geometry)));

		const uint64_t bytes = elementBytes(desc.type);
		Operands operands;
		operands.first.resize(desc.elements() * bytes);
		if (desc.components == 2)
			operands.second.resize(operands.first.size());
		forEachOperand(geometry, desc, [&](uint64_t plain, uint64_t from) {
			std::memcpy(&operands.first[plain], &packed[from], bytes);
			if (!operands.second.empty())
				std::memcpy(&operands.second[plain], &packed[from + bytes], bytes);
		});
		return operands;
	});
}

} /* namespace nvdla */
