/* SPDX-License-Identifier: MIT */
/*
 * Operands of an SDP operation that is divided into several layers.
 */
#include <algorithm>

#include <fmt/core.h>

#include "expansion.h"

namespace nvdla::assembly
{

namespace
{

/*
 * Returns the elements of a range, in C, H, W order. A range may end one column behind the elements
 * if phases of a deconvolution have unequal widths; that column then repeats the last one.
 */
Elements gather(const Elements &from, const OperandRange &range)
{
	Elements some{ from.type, {} };
	const size_t bytes = from.bytes.empty() ? 0 : elementBytes(from.type);
	const Shape &whole = range.whole;
	auto copy = [&](uint32_t c, uint32_t line, uint32_t column) {
		if (column >= whole.w)
			column -= range.columns.step;
		const size_t at = (size_t{ c } * whole.h + line) * whole.w + column;
		const auto element = from.bytes.begin() + static_cast<ptrdiff_t>(at * bytes);
		some.bytes.insert(some.bytes.end(), element,
				  element + static_cast<ptrdiff_t>(bytes));
	};

	for (uint32_t c = 0; bytes && c < range.channels->count; c++) {
		for (uint32_t y = 0; y < range.lines.count; y++) {
			for (uint32_t x = 0; x < range.columns.count; x++)
				copy(range.channels->first + c,
				     range.lines.first + y * range.lines.step,
				     range.columns.first + x * range.columns.step);
		}
	}
	return some;
}

/* Whether each channel has one operand in all of its lines and columns. */
bool isPerChannel(const Elements &elements, size_t plane)
{
	const size_t bytes = plane * elementBytes(elements.type);

	for (size_t at = 0; at < elements.bytes.size(); at += bytes) {
		const auto first = elements.bytes.begin() + static_cast<ptrdiff_t>(at);
		const auto last = first + static_cast<ptrdiff_t>(bytes);
		if (!std::equal(first + static_cast<ptrdiff_t>(elementBytes(elements.type)), last,
				first))
			return false;
	}
	return true;
}

/* Makes a constant of a range of \a operands; returns its name. */
std::string rangeOf(Lowering &lowering, Symbols &symbols, const GraphOperands &operands,
		    const std::string &field, const OperandRange &range)
{
	const Shape &whole = range.whole;
	const size_t count = size_t{ whole.c } * whole.h * whole.w;

	if (!lowering.need(operands.c == whole.c && operands.h == whole.h &&
				   operands.w == whole.w &&
				   (operands.alu.bytes.empty() || operands.alu.count() == count) &&
				   (operands.mul.bytes.empty() || operands.mul.count() == count),
			   field,
			   fmt::format("'{}' has not one operand for each element of {}",
				       operands.name, toString(whole))))
		return operands.name;
	GraphOperands some = operands;
	some.name = fmt::format("{} [{}]", operands.name, range.name);
	some.c = range.channels->count;
	some.h = range.lines.count;
	some.w = range.columns.count;
	some.alu = gather(operands.alu, range);
	some.mul = gather(operands.mul, range);
	if (const size_t plane = size_t{ some.h } * some.w;
	    isPerChannel(some.alu, plane) && isPerChannel(some.mul, plane)) {
		OperandRange point = range;
		point.lines.count = point.columns.count = 1;
		some.h = some.w = 1;
		some.alu = gather(operands.alu, point);
		some.mul = gather(operands.mul, point);
	}
	symbols.derivedOperands.push_back(std::move(some));
	const GraphOperands &derived = symbols.derivedOperands.back();
	symbols.operands[derived.name] = &derived;
	return derived.name;
}

std::string rangeOf(Lowering &lowering, Symbols &symbols, const std::string &surface,
		    const std::string &field, const OperandRange &range)
{
	lowering.need(range.columns.step == 1, field,
		      fmt::format("'{}' is a surface, whose columns are not apart as those of {} "
				  "are; operands of this deconvolution are constants",
				  surface, range.name));
	return describePart(symbols, { .name = surface }, range.name,
			    { .c = range.channels->count,
			      .h = range.lines.count,
			      .w = range.columns.count,
			      .atChannel = range.channels->first,
			      .atLine = range.lines.first,
			      .atColumn = range.columns.first,
			      .lineStep = range.lines.step });
}

/*
 * Returns the name of the operands of a range. Per-channel operands are the same for all lines and
 * columns.
 */
std::string operandsOf(Lowering &lowering, Symbols &symbols, const std::string &name,
		       const std::string &field, const OperandRange &wanted)
{
	const auto constant = symbols.operands.find(name);
	const auto written = symbols.surfaces.find(name);
	const bool isConstant = constant != symbols.operands.end();
	OperandRange range = wanted;
	auto isPoint = [](const auto &operands) { return operands.h == 1 && operands.w == 1; };

	if (isConstant ? isPoint(*constant->second)
		       : written != symbols.surfaces.end() && isPoint(written->second.desc)) {
		if (!wanted.channels)
			return name;
		range.lines = range.columns = { 0, 1, 1 };
		range.whole.h = range.whole.w = 1;
	}
	if (!range.channels)
		range.channels = { 0, 1, range.whole.c };
	return isConstant ? rangeOf(lowering, symbols, *constant->second, field, range)
			  : rangeOf(lowering, symbols, name, field, range);
}

} /* namespace */

op::Sdp withOperands(Lowering &lowering, Symbols &symbols, const op::Sdp &sdp,
		     const OperandRange &range)
{
	op::Sdp some = sdp;
	struct {
		const char *field;
		std::optional<op::SdpUnit> &unit;
	} units[] = { { "x1.operands", some.x1 },
		      { "x2.operands", some.x2 },
		      { "y.operands", some.y } };

	for (auto &[field, unit] : units) {
		if (unit && !unit->operands.empty())
			unit->operands =
				operandsOf(lowering, symbols, unit->operands, field, range);
	}
	return some;
}

} /* namespace nvdla::assembly */
