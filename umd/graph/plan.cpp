/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "device/embedded/task_rules.h"

namespace nvdla::assembly
{

namespace
{

bool overlap(const Region &one, const Region &other)
{
	/*
	 * Compare parts of one surface by their windows: their byte ranges can overlap without a
	 * common element.
	 */
	if (one.whole != none && one.whole == other.whole)
		return one.window.meets(other.window);
	return one.memory == other.memory && one.offset < other.offset + other.bytes &&
	       other.offset < one.offset + one.bytes;
}

bool touches(const Plan &plan, const std::vector<int> &regions, const std::vector<int> &others)
{
	return std::any_of(regions.begin(), regions.end(), [&](int one) {
		return std::any_of(others.begin(), others.end(), [&](int other) {
			return overlap(plan.regions[static_cast<size_t>(one)],
				       plan.regions[static_cast<size_t>(other)]);
		});
	});
}

/* Streams connect neighbours of a chain: convolution, SDP, PDP. */
void findChains(std::vector<Node> &nodes)
{
	for (size_t i = 0; i < nodes.size(); i++) {
		nodes[i].chainFirst = i;
		nodes[i].chainLast = i;
		if (nodes[i].producer == none)
			continue;
		nodes[i].chainFirst = nodes[static_cast<size_t>(nodes[i].producer)].chainFirst;
		for (int member = nodes[i].producer; member != none;
		     member = nodes[static_cast<size_t>(member)].producer)
			nodes[static_cast<size_t>(member)].chainLast = i;
	}
}

} /* namespace */

std::string tooManyRegions()
{
	return fmt::format("the graph has more than {} surfaces and constants; divide it into "
			   "several loadables",
			   maxRegions);
}

bool Window::meets(const Window &other) const
{
	auto meet = [](uint32_t first, uint32_t size, uint32_t otherFirst, uint32_t otherSize) {
		return first < otherFirst + otherSize && otherFirst < first + size;
	};

	if (cube != other.cube || !meet(channel, shape.c, other.channel, other.shape.c) ||
	    !meet(column, shape.w, other.column, other.shape.w))
		return false;
	/*
	 * Windows with the same step have common lines only if their first lines differ by a
	 * multiple of the step. The step of a window of a single line has no effect.
	 */
	const uint32_t step = shape.h == 1					 ? other.lineStep
			      : other.shape.h == 1 || lineStep == other.lineStep ? lineStep
										 : 1;
	if (line % step != other.line % step)
		return false;
	return meet(line, (shape.h - 1) * lineStep + 1, other.line,
		    (other.shape.h - 1) * other.lineStep + 1);
}

std::string where(const Node &node)
{
	return fmt::format("operation '{}' ({}{}{})", node.name, node.kind,
			   node.piece.empty() ? "" : ", ", node.piece);
}

bool Plan::conflict(const Node &one, const Node &other) const
{
	return touches(*this, one.writes, other.reads) ||
	       touches(*this, one.writes, other.writes) || touches(*this, one.reads, other.writes);
}

Result<void> divideIntoTasks(Plan &plan, const AssembleOptions &options)
{
	/* Reserve addresses for the task's own lists, such as the list of operations. */
	constexpr size_t mostRegions = NVDLA_TASK_MAX_ADDRESSES - 8;
	const std::vector<Node> &nodes = plan.nodes;
	const size_t most = std::max<size_t>(options.maxTaskOperations, 1);
	TaskRange range;
	std::set<int> regions; /* regions that the task's operations read or write */
	std::set<int> tables;  /* the task's look-up tables */
	size_t cut = 0;	 /* latest node so far that can begin a task: no stream crosses there */
	size_t open = 0; /* first node behind the chains so far */

	findChains(plan.nodes);
	auto take = [&](const Node &node) {
		regions.insert(node.reads.begin(), node.reads.end());
		regions.insert(node.writes.begin(), node.writes.end());
		if (node.lut != none)
			tables.insert(node.lut);
	};
	/* The next task begins with node last; the loop has already reached node next. */
	auto close = [&](size_t last, size_t next) {
		range.last = last;
		if (range.first < last)
			plan.tasks.push_back(range);
		range.first = last;
		regions.clear();
		tables.clear();
		for (size_t i = last; i < next; i++)
			take(nodes[i]);
	};
	for (size_t i = 0; i < nodes.size(); i++) {
		if (i >= open)
			cut = i;
		if (nodes[i].cpu && cut != i)
			return fail(ErrorCode::InvalidArgument, what, where(nodes[i]),
				    "stands between two operations that a stream connects");
		if (i > range.first && nodes[i].cpu != range.cpu && cut > range.first)
			close(cut, i);
		take(nodes[i]);
		const bool isFull = i - range.first >= most || regions.size() > mostRegions ||
				    tables.size() > NVDLA_TASK_MAX_LUTS;
		if (isFull && cut > range.first)
			close(cut, i + 1);
		range.cpu = nodes[range.first].cpu;
		open = std::max(open, nodes[i].chainLast + 1);
	}
	close(nodes.size(), nodes.size());
	return {};
}

std::vector<AssembledStep> stepsOf(const Plan &plan)
{
	std::vector<AssembledStep> steps;

	for (size_t task = 0; task < plan.tasks.size(); task++) {
		const TaskRange &range = plan.tasks[task];
		for (size_t i = range.first; i < range.last; i++)
			steps.push_back({ plan.nodes[i].name, plan.nodes[i].piece,
					  static_cast<uint16_t>(task), i - range.first });
	}
	return steps;
}

} /* namespace nvdla::assembly */
