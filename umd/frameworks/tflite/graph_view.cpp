/* SPDX-License-Identifier: MIT */
#include "graph_view.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace nvdla::delegate
{

Result<GraphView> GraphView::read(TfLiteContext *context)
{
	constexpr const char *what = "read TensorFlow Lite graph";
	GraphView view(context);
	TfLiteIntArray *plan = nullptr;

	if (context->GetExecutionPlan(context, &plan) != kTfLiteOk)
		return fail(ErrorCode::InvalidArgument, what, "", "there is no execution plan");
	/* TensorFlow Lite frees the list at the next GetExecutionPlan(), so copy the list. */
	view.plan_.assign(indices(plan).begin(), indices(plan).end());
	for (const int index : view.plan_) {
		Entry entry{};
		if (context->GetNodeAndRegistration(context, index, &entry.node,
						    &entry.registration) != kTfLiteOk)
			return fail(ErrorCode::InvalidArgument, what, fmt::format("node {}", index),
				    "cannot be had");
		view.nodes_[index] = entry;
		for (const int tensor : indices(entry.node->outputs))
			view.writers_[tensor] = index;
	}
	return view;
}

bool GraphView::isStored(int tensor) const
{
	return this->tensor(tensor).allocation_type == kTfLiteMmapRo;
}

bool GraphView::isConstant(int tensor) const
{
	if (isStored(tensor))
		return true;
	const auto writer = writers_.find(tensor);
	if (writer == writers_.end())
		return false;
	const auto inputs = indices(node(writer->second).inputs);
	return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [this](int input) {
		return input < 0 || isConstant(input);
	});
}

Part GraphView::part(std::span<const int> nodes, std::vector<int> outputs) const
{
	std::set<int> members(nodes.begin(), nodes.end());
	std::vector<int> open(nodes.begin(), nodes.end());
	Part part{ {}, {}, std::move(outputs) };
	std::set<int> seen;

	while (!open.empty()) {
		const int index = open.back();
		open.pop_back();
		for (const int tensor : indices(node(index).inputs)) {
			const auto writer = tensor < 0 ? writers_.end() : writers_.find(tensor);
			if (writer != writers_.end() && isConstant(tensor) &&
			    members.insert(writer->second).second)
				open.push_back(writer->second);
		}
	}
	for (const int index : plan_) {
		if (!members.contains(index))
			continue;
		part.nodes.push_back(index);
		for (const int tensor : indices(node(index).inputs)) {
			const auto writer = writers_.find(tensor);
			const bool inside =
				writer != writers_.end() && members.contains(writer->second);
			if (tensor >= 0 && !isStored(tensor) && !inside &&
			    seen.insert(tensor).second)
				part.inputs.push_back(tensor);
		}
	}
	return part;
}

std::string GraphView::layerName(int node) const
{
	const auto outputs = indices(this->node(node).outputs);
	const char *name = outputs.empty() ? nullptr : tensor(outputs.front()).name;

	return name ? name : "";
}

std::string GraphView::describe(int node) const
{
	return fmt::format("node {} '{}'", node, layerName(node));
}

} /* namespace nvdla::delegate */
