/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace nvdla::compiler
{

namespace
{

/* Shapes are a file's, which may say anything. */
bool fitsMemory(const Extents &shape)
{
	constexpr uint64_t mostElements = uint64_t{ 1 } << 26;
	uint64_t elements = 1;

	for (const uint32_t extent : shape) {
		elements *= extent;
		if (elements > mostElements)
			return false;
	}
	return true;
}

/* Each element lies \a factor behind the one before; a single one is \a copies. */
struct Stretching {
	uint32_t factor = 1;
	uint32_t copies = 1;
};

std::optional<Stretching> stretching(uint32_t extent, uint32_t wanted)
{
	if (extent == 1 && wanted >= 1 && wanted <= mostParts)
		return Stretching{ 1, wanted };
	if (extent < 2 || wanted < extent || (wanted - 1) % (extent - 1))
		return std::nullopt;
	return Stretching{ (wanted - 1) / (extent - 1), 1 };
}

} /* namespace */

std::vector<Part> paddedParts(Rules &rules, const std::string &field, const std::string &mode,
			      uint32_t extent, uint32_t before, uint32_t after)
{
	const bool wraps = mode == "wrap", edge = mode == "edge", twice = mode == "symmetric";
	std::vector<Part> parts;

	if ((before == 0 && after == 0) || !rules.need(extent > 0, "input 0", "has no elements"))
		return {};
	const uint32_t pieces = wraps ? 2 : std::max(before, after);
	const uint32_t most = wraps || twice ? extent : edge ? mostParts : extent - 1;
	if (!rules.support(std::max(before, after) <= most && pieces <= mostParts / 2, field,
			   fmt::format("of {} and {} elements around {}, in mode {}; up to {} are "
				       "possible",
				       before, after, extent, mode,
				       wraps ? extent : std::min(most, mostParts / 2))))
		return {};
	if (wraps && before)
		parts.push_back({ extent - before, before });
	for (uint32_t i = before; !wraps && i > 0; i--)
		parts.push_back({ edge ? 0 : twice ? i - 1 : i, 1 });
	parts.push_back({ 0, extent });
	for (uint32_t i = 1; !wraps && i <= after; i++)
		parts.push_back({ edge ? extent - 1 : twice ? extent - i : extent - 1 - i, 1 });
	if (wraps && after)
		parts.push_back({ 0, after });
	return parts;
}

std::vector<Part> repeatedParts(Rules &rules, const std::string &field, uint32_t extent,
				int64_t times)
{
	rules.support(
		times >= 1 && times <= mostParts, field,
		fmt::format("repeats an axis {} times; up to {} are possible", times, mostParts));
	if (rules.failed() || times == 1)
		return {};
	return std::vector<Part>(static_cast<size_t>(times), { 0, extent });
}

std::vector<uint32_t> chosenElements(Rules &rules, const std::string &field, uint32_t extent,
				     const std::vector<int64_t> &numbers)
{
	const int64_t end = extent;
	std::vector<uint32_t> chosen;

	for (const int64_t number : numbers) {
		rules.need(number >= -end && number < end, field,
			   fmt::format("name element {} of {}", number, extent));
		chosen.push_back(static_cast<uint32_t>(number < 0 ? number + end : number));
	}
	return rules.failed() ? std::vector<uint32_t>{} : chosen;
}

std::vector<Part> takenParts(Rules &rules, const std::string &field, uint32_t extent,
			     const std::vector<uint32_t> &taken)
{
	std::vector<Part> parts;

	for (const uint32_t element : taken) {
		if (!parts.empty() && parts.back().begin + parts.back().count == element)
			parts.back().count++;
		else
			parts.push_back({ element, 1 });
	}
	if (parts.size() == 1 && parts.front().count == extent)
		return {};
	if (!rules.support(!parts.empty() && parts.size() <= mostParts, field,
			   fmt::format("takes {} parts of {} elements; up to {} are possible",
				       parts.size(), extent, mostParts)))
		return {};
	return parts;
}

Sides samePadding(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t dilation)
{
	if (!in)
		return {};
	const uint32_t last = (in - 1) / stride * stride;
	const uint64_t needed = last + uint64_t{ kernel - 1 } * dilation + 1;
	const auto total = static_cast<uint32_t>(needed > in ? needed - in : 0);

	return { total / 2, total - total / 2 };
}

Shrinking shrinking(Shrink method, uint32_t by, uint32_t extent)
{
	const bool even = by % 2 == 0;

	switch (method) {
	case Shrink::MiddleFloor:
		return { by, (by - 1) / 2, 1, extent };
	case Shrink::MiddleCeil:
		return { by, by / 2, 1, extent };
	case Shrink::Centers:
		return { by, (by - 1) / 2, even ? 2U : 1U, extent };
	case Shrink::First:
		break;
	}
	return { by, 0, 1, extent };
}

std::vector<double> repeatedNumbers(const std::vector<double> &numbers, const Extents &from,
				    const Extents &to)
{
	const size_t more = to.size() - std::min(from.size(), to.size());
	std::vector<double> result;

	if (from.size() > to.size() || !fitsMemory(to) || !fitsMemory(from) ||
	    elementCount(from) != numbers.size())
		return {};
	for (size_t axis = 0; axis < from.size(); axis++) {
		if (from[axis] != 1 && from[axis] != to[more + axis])
			return {};
	}
	for (uint64_t i = 0; i < elementCount(to); i++) {
		uint64_t rest = i, at = 0, step = 1;
		for (size_t axis = to.size(); axis-- > more;) {
			const uint32_t extent = from[axis - more];
			at += extent == 1 ? 0 : rest % to[axis] * step;
			rest /= to[axis];
			step *= extent;
		}
		result.push_back(numbers[at]);
	}
	return result;
}

std::optional<Ratio> ratioOf(uint32_t extent, uint32_t wanted)
{
	const uint32_t common = std::gcd(extent, wanted);

	if (common == 0 || wanted / common > mostLarger || extent / common > mostSmaller)
		return std::nullopt;
	return Ratio{ wanted / common, extent / common };
}

bool mayBeOnTheWay(const Extents &shape, const Ratio &lines, const Ratio &columns)
{
	constexpr uint64_t most = uint64_t{ 1 } << 24;
	uint64_t elements = uint64_t{ lines.larger } * columns.larger;

	for (const uint32_t extent : shape) {
		if (extent > most)
			return false;
		elements *= extent;
		if (elements > most)
			return false;
	}
	return true;
}

std::vector<Step> stretchingSteps(const Extents &in, const Extents &out)
{
	const auto y = stretching(in[1], out[1]), x = stretching(in[2], out[2]);
	std::vector<Step> steps;
	Extents shape = in;

	if (!y || !x)
		return {};
	for (const auto &[axis, copies] :
	     { std::pair{ 2U, x->copies }, std::pair{ 1U, y->copies } }) {
		shape[axis] *= copies;
		if (copies > 1)
			steps.push_back({ Concatenation{ axis, {} }, shape, copies });
	}
	shape[1] *= y->factor;
	shape[2] *= x->factor;
	if (x->factor > 1 || y->factor > 1)
		steps.push_back(
			{ Enlarge{ Enlarge::Method::Linear, { x->factor, y->factor } }, shape });
	if (shape != out || steps.empty())
		steps.push_back({ Slice{ { 0, 0, 0, 0 }, { 1, 1, 1, 1 } }, out });
	return steps;
}

std::vector<Step> resizingSteps(const Extents &in, const Extents &out, const Enlarge &larger,
				const Shrinking &lines, const Shrinking &columns)
{
	const Extents begin{ 0, lines.first, columns.first, 0 };
	const bool enlarges = larger.factor.x > 1 || larger.factor.y > 1;
	std::vector<Step> steps;

	if (enlarges)
		steps.push_back(
			{ larger,
			  { in[0], in[1] * larger.factor.y, in[2] * larger.factor.x, in[3] } });
	if (enlarges && lines.by == 1 && columns.by == 1)
		return steps;
	if (lines.taps == 1 && columns.taps == 1) {
		steps.push_back({ Slice{ begin, { 1, lines.by, columns.by, 1 } }, out });
		return steps;
	}
	steps.push_back({ Slice{ begin, { 1, 1, 1, 1 } },
			  { out[0], lines.used(), columns.used(), out[3] } });
	steps.push_back({ Pool{ Pool::Method::Average,
				{ columns.taps, lines.taps },
				{ columns.by, lines.by },
				{},
				false,
				{} },
			  out });
	return steps;
}

} /* namespace nvdla::compiler */
