/* SPDX-License-Identifier: MIT */
#include <nlohmann/json.hpp>

#include "timing/operation_timing.h"
#include "tools/report/words.h"

namespace nvdla::report
{

namespace
{

using Json = nlohmann::ordered_json;

Json costJson(const Cost &cost)
{
	return { { "cycles", cost.cycles },
		 { "macs", cost.macs },
		 { "macUse", cost.macUse },
		 { "dramBytes", cost.traffic.mc.total() },
		 { "sramBytes", cost.traffic.cv.total() } };
}

Json stepJson(const Step &step)
{
	Json json = { { "engines", step.engines },
		      { "mode", step.mode },
		      { "shape", step.shape },
		      { "types", step.types },
		      { "operations", step.operations } };

	if (!step.predicted)
		return json;
	json["startNs"] = step.predicted->startNs;
	json["endNs"] = step.predicted->endNs;
	json["bound"] = sim::boundName(step.predicted->timing.bound);
	json.update(costJson(step.cost));
	return json;
}

Json choiceJson(const LayerChoice &choice)
{
	Json candidates = Json::array();

	for (const LayerChoice::Candidate &candidate : choice.candidates)
		candidates.push_back(
			{ { "what", candidate.what }, { "cycles", candidate.cycles } });
	return { { "operation", choice.name },
		 { "candidates", candidates },
		 { "chosen", choice.chosen } };
}

Json layerJson(const ModelReport &report, const Layer &layer)
{
	Json json = { { "name", layer.what.name },
		      { "type", layer.what.type },
		      { "operations", layer.what.operations },
		      { "cpu", layer.what.cpu },
		      { "host", layer.what.host } };

	if (const auto node = report.nodes.find(layer.what.name); node != report.nodes.end())
		json["node"] = node->second;
	if (!layer.what.inexact.empty())
		json["inexact"] = layer.what.inexact;
	if (layer.what.error)
		json["error"] = { { "ratio", layer.what.error->ratio },
				  { "ownRatio", layer.what.error->ownRatio },
				  { "largest", layer.what.error->largest } };
	json.update(costJson(layer.cost));
	if (!layer.what.choices.empty())
		json["choices"] = Json::array();
	for (const LayerChoice &choice : layer.what.choices)
		json["choices"].push_back(choiceJson(choice));
	json["steps"] = Json::array();
	for (const Step &step : layer.steps)
		json["steps"].push_back(stepJson(step));
	return json;
}

Json memoryJson(const MemoryUse &use)
{
	Json ranges = Json::array();

	for (const AssembledRange *range : use.ranges)
		ranges.push_back({ { "name", range->name },
				   { "offset", range->offset },
				   { "bytes", range->size },
				   { "firstStep", range->firstStep },
				   { "lastStep", range->lastStep } });
	return { { "id", use.memory->id }, { "domain", domainName(use.memory->domain) },
		 { "what", use.what },	   { "bytes", use.memory->size },
		 { "inUse", use.inUse },   { "ranges", ranges } };
}

} /* namespace */

std::string reportJson(const ModelReport &report)
{
	const sim::MemoryTraffic traffic = report.prediction.traffic();
	Json layers = Json::array(), memories = Json::array();

	for (const Layer &layer : report.layers)
		layers.push_back(layerJson(report, layer));
	for (const MemoryUse &use : memoryUses(report.model))
		memories.push_back(memoryJson(use));
	Json json = { { "name", report.name },
		      { "chip", report.prediction.chip.text() },
		      { "durationNs", report.prediction.durationNs },
		      { "macUse", report.prediction.macUse() },
		      { "dramBytes", traffic.mc.total() },
		      { "sramBytes", traffic.cv.total() },
		      { "cpuOperations", report.prediction.cpuOperations },
		      { "layers", layers },
		      { "memories", memories } };
	if (!hostText(report.model.report).empty()) {
		json["coreMacs"] = report.model.report.coreMacs;
		json["hostMacs"] = report.model.report.hostMacs;
	}
	/* Names come from the model's file. Their bytes that are not UTF-8 are replaced, as JSON
	 * forbids them. */
	return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} /* namespace nvdla::report */
