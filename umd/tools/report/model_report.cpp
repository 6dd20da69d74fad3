/* SPDX-License-Identifier: MIT */
#include "tools/report/model_report.h"

#include <map>
#include <utility>

#include <nvdla/task.h>

#include "tools/report/words.h"

namespace nvdla::report
{

namespace
{

using Place = std::pair<uint16_t, size_t>; /* id of a task, and index of an operation in it */

class Collector
{
public:
	explicit Collector(ModelReport &report)
		: report_(report), parameters_(report.prediction.chip.parameters())
	{
		const CompileReport &compiled = report.model.report;

		for (const AssembledStep &step : compiled.steps)
			names_[{ step.task, step.index }] = &step;
		for (size_t i = 0; i < compiled.layers.size(); i++) {
			report_.layers.push_back({ compiled.layers[i], {}, {} });
			for (const std::string &operation : compiled.layers[i].operations)
				layers_[operation] = i;
		}
	}

	Result<void> run()
	{
		auto tasks = tasksInOrder(report_.model.loadable);
		if (!tasks)
			return forward(tasks);
		std::map<Place, const chip::PredictedOperation *> firsts;
		for (const chip::PredictedOperation &operation : report_.prediction.operations)
			firsts[{ operation.task, operation.members.front().index }] = &operation;
		for (const AnyTask &any : *tasks) {
			if (const auto *cpu = std::get_if<EmuTask>(&any)) {
				for (size_t i = 0; i < cpu->operations.size(); i++)
					addCpu(*cpu, i);
				continue;
			}
			const auto *task = std::get_if<DlaTask>(&any);
			for (size_t i = 0; task && i < task->graph.size(); i++) {
				const auto first = firsts.find({ task->id, i });
				if (first != firsts.end())
					addCore(*first->second);
			}
		}
		return {};
	}

private:
	std::string nameOf(const Place &place) const
	{
		const auto step = names_.find(place);
		return step == names_.end() ? std::string() : step->second->operation;
	}

	void add(const std::string &operation, Step step)
	{
		const auto layer = layers_.find(operation);
		if (layer != layers_.end()) {
			report_.layers[layer->second].steps.push_back(std::move(step));
			return;
		}
		if (!rest_) {
			rest_ = report_.layers.size();
			report_.layers.push_back({ { "", "(copies)", {}, {}, {} }, {}, {} });
		}
		report_.layers[*rest_].what.operations.push_back(operation);
		report_.layers[*rest_].steps.push_back(std::move(step));
	}

	void addCpu(const EmuTask &task, size_t index)
	{
		const inspect::OperationText text = inspect::describeOperation(task, index);
		const std::string name = nameOf({ task.id, index });

		add(name, { nullptr,
			    text.engine,
			    text.action,
			    text.shape,
			    text.types,
			    { name },
			    { { task.id, index } },
			    {} });
	}

	void addCore(const chip::PredictedOperation &operation)
	{
		Step step;

		step.predicted = &operation;
		step.cost = { operation.macs(), operation.cycles(parameters_),
			      operation.macUse(parameters_), operation.work.traffic() };
		step.engines = operation.engines();
		step.shape = operation.shape();
		step.types = operation.members.back().text.types;
		for (const auto &member : operation.members) {
			step.mode += (step.mode.empty() ? "" : "; ") + member.text.action;
			step.operations.push_back(nameOf({ operation.task, member.index }));
			step.places.emplace_back(operation.task, member.index);
		}
		const std::string first = step.operations.front();
		add(first, std::move(step));
	}

	ModelReport &report_;
	const sim::TimingParameters parameters_;
	std::map<Place, const AssembledStep *> names_;
	std::map<std::string, size_t> layers_; /* name of an operation -> index in report_.layers */
	std::optional<size_t> rest_;
};

Cost sumOf(const std::vector<Step> &steps)
{
	Cost sum;
	double busy = 0;

	for (const Step &step : steps) {
		sum.macs += step.cost.macs;
		sum.cycles += step.cost.cycles;
		sum.traffic += step.cost.traffic;
		busy += step.cost.macUse * static_cast<double>(step.cost.cycles);
	}
	if (sum.cycles)
		sum.macUse = busy / static_cast<double>(sum.cycles);
	return sum;
}

} /* namespace */

Result<ModelReport> reportOf(CompiledModel model, const sim::Chip &chip, std::string name,
			     NodeNames nodes)
{
	ModelReport report;

	auto prediction = chip::predict(model.loadable, chip, name);
	if (!prediction)
		return forward(prediction);
	report.name = std::move(name);
	report.nodes = std::move(nodes);
	report.model = std::move(model);
	report.prediction = std::move(*prediction);
	if (auto collected = Collector(report).run(); !collected)
		return forward(collected);
	for (Layer &layer : report.layers)
		layer.cost = sumOf(layer.steps);
	return report;
}

std::vector<std::pair<std::string, ReportFormat>> reportFormats()
{
	return { { "text", ReportFormat::Text },
		 { "json", ReportFormat::Json },
		 { "svg", ReportFormat::Svg },
		 { "html", ReportFormat::Html } };
}

Result<std::string> formatted(const ModelReport &report, ReportFormat format)
{
	switch (format) {
	case ReportFormat::Json:
		return reportJson(report);
	case ReportFormat::Svg:
		return reportSvg(report);
	case ReportFormat::Html:
		return reportHtml(report);
	case ReportFormat::Text:
		break;
	}
	return reportText(report);
}

} /* namespace nvdla::report */
