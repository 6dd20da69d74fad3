/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "base/io/printable.h"

namespace nvdla::prof
{

namespace
{

struct Group {
	std::vector<size_t> operations; /* indices in Profile::operations */
	size_t hardwareLayers = 1;
};

/* Groups operations that pass data to each other directly, not through memory. A group takes the
 * place of its first operation. */
std::vector<Group> hardwareLayers(const Profile &profile)
{
	std::vector<Group> groups;
	std::vector<size_t> groupOf;

	for (size_t i = 0; i < profile.operations.size(); i++) {
		const auto &from = profile.operations[i].takesFrom;
		if (from && *from < i) {
			groupOf.push_back(groupOf[*from]);
			groups[groupOf[i]].operations.push_back(i);
			continue;
		}
		groupOf.push_back(groups.size());
		groups.push_back({ { i } });
	}
	return groups;
}

/* Joins the hardware layers of the same layer of the model. A hardware layer whose first operation
 * names no layer stays a row of its own. */
std::vector<Group> modelLayers(const Profile &profile, std::vector<Group> hardware)
{
	std::vector<Group> groups;
	std::map<std::string, size_t> byName;

	for (Group &one : hardware) {
		const std::string &layer = profile.operations[one.operations.front()].text.layer;
		const auto known = layer.empty() ? byName.end() : byName.find(layer);
		if (known != byName.end()) {
			Group &all = groups[known->second];
			all.operations.insert(all.operations.end(), one.operations.begin(),
					      one.operations.end());
			all.hardwareLayers++;
			continue;
		}
		if (!layer.empty())
			byName[layer] = groups.size();
		groups.push_back(std::move(one));
	}
	return groups;
}

std::string nameOf(const Profile &profile, const Group &group)
{
	if (group.hardwareLayers > 1)
		return fmt::format("{} operations", group.operations.size());
	std::string name;
	for (size_t index : group.operations) {
		const OperationProfile &one = profile.operations[index];
		name += name.empty() ? fmt::format("{}.{}", one.task, one.index)
				     : fmt::format("+{}", one.index);
	}
	return name;
}

std::string enginesOf(const Profile &profile, const std::vector<size_t> &operations)
{
	std::vector<std::string> seen;
	std::string text;

	for (size_t index : operations) {
		const std::string &engine = profile.operations[index].text.engine;
		if (std::ranges::count(seen, engine))
			continue;
		seen.push_back(engine);
		text += (text.empty() ? "" : "+") + engine;
	}
	return text;
}

Row rowOf(const Profile &profile, Group group)
{
	const OperationProfile &first = profile.operations[group.operations.front()];
	const OperationProfile &last = profile.operations[group.operations.back()];
	Row row;

	row.name = nameOf(profile, group);
	row.engines = enginesOf(profile, group.operations);
	row.layer = first.text.layer;
	row.action = first.text.action;
	row.shape = inspect::shapeBetween(first.text, last.text);
	row.types = last.text.types;
	for (size_t index : group.operations) {
		const OperationProfile &one = profile.operations[index];
		if (!one.timed)
			continue;
		row.startNs = row.timed ? std::min(row.startNs, one.startNs) : one.startNs;
		row.timed = true;
	}
	row.durationNs = busyNs(profile, group.operations);
	row.operations = std::move(group.operations);
	return row;
}

constexpr std::string_view layerTitle = "layer";

} /* namespace */

std::vector<Row> rowsOf(const Profile &profile, const View &view)
{
	std::vector<Group> groups = hardwareLayers(profile);
	std::vector<Row> rows;

	if (view.byLayer)
		groups = modelLayers(profile, std::move(groups));
	for (Group &group : groups)
		rows.push_back(rowOf(profile, std::move(group)));
	if (view.sort == View::Sort::Time)
		std::ranges::stable_sort(rows, std::greater(), &Row::durationNs);
	if (view.top && rows.size() > view.top)
		rows.resize(view.top);
	return rows;
}

FirstColumns::FirstColumns(const std::vector<Row> &rows)
{
	constexpr size_t widestLayer = 40;

	for (const Row &row : rows) {
		name_ = std::max(name_, row.name.size());
		engines_ = std::max(engines_, row.engines.size());
		if (!row.layer.empty())
			layer_ = std::max({ layer_, layerTitle.size(),
					    std::min(row.layer.size(), widestLayer) });
		action_ = std::max(action_, row.action.size());
	}
}

std::string FirstColumns::titles() const
{
	return cells("op", "engine", std::string(layerTitle), "what");
}

std::string FirstColumns::of(const Row &row) const
{
	return cells(row.name, row.engines, row.layer, row.action);
}

std::string FirstColumns::cells(const std::string &name, const std::string &engines,
				const std::string &layer, const std::string &action) const
{
	std::string line = fmt::format("{:>{}} {:<{}} ", name, name_, engines, engines_);

	if (layer_)
		line += fmt::format("{:<{}} ", shortened(layer, layer_), layer_);
	return line + fmt::format("{:<{}}", action, action_);
}

} /* namespace nvdla::prof */
