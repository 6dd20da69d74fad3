/* SPDX-License-Identifier: MIT */
#include "nan_note.h"

#include <cstring>

#include <fmt/core.h>

#include "base/io/printable.h"

namespace nvdla
{

namespace
{

/* Returns the number of NaNs: numbers whose bits, without the sign bit, are above those of
 * infinity. */
template<typename Bits>
size_t countAbove(Bits infinity, std::span<const std::byte> data)
{
	size_t count = 0;

	for (size_t at = 0; at + sizeof(Bits) <= data.size(); at += sizeof(Bits)) {
		Bits bits;
		std::memcpy(&bits, data.data() + at, sizeof(bits));
		count += static_cast<Bits>(bits << 1) > static_cast<Bits>(infinity << 1);
	}
	return count;
}

} /* namespace */

std::string nanNote(const TensorDesc &input, DataType type, std::span<const std::byte> data)
{
	const size_t count = type == DataType::Float  ? countAbove<uint32_t>(0x7f800000, data)
			     : type == DataType::Half ? countAbove<uint16_t>(0x7c00, data)
						      : 0;

	if (!count)
		return {};
	const bool keepsThem = input.type == DataType::Float || input.type == DataType::Half;
	return fmt::format("input '{}' has {} NaN{}{}", printable(input.name), count,
			   count == 1 ? "" : "s", keepsThem ? "" : ": the network gets 0 instead");
}

} /* namespace nvdla */
