/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <fmt/core.h>

namespace nvdla::compiler
{

bool Rules::state(bool fulfilled, ErrorCode code, const std::string &field, const std::string &why)
{
	if (!fulfilled && !error_)
		error_ = Error{ code, what_, fmt::format("{}, {}", operator_, field), why };
	return fulfilled;
}

Result<void> Rules::result() const
{
	if (error_)
		return tl::unexpected<Error>(*error_);
	return {};
}

uint32_t Rules::axis(int64_t axis, size_t rank, const std::string &field)
{
	const auto axes = static_cast<int64_t>(rank);

	if (!need(axis >= -axes && axis < axes, field,
		  fmt::format("axis {}, the tensor has {}", axis, axes)))
		return 0;
	return static_cast<uint32_t>(axis < 0 ? axis + axes : axis);
}

std::vector<double> Rules::reciprocals(const Value &divisor, const std::string &field)
{
	if (failed())
		return {};
	std::vector<double> numbers = realNumbers(divisor);
	for (double &number : numbers) {
		need(number != 0, field, "is 0");
		number = 1 / number;
	}
	return numbers;
}

} /* namespace nvdla::compiler */
