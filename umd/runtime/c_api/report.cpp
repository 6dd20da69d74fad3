/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <fmt/core.h>

using namespace nvdla;

using c_api::failure;
using c_api::missing;
using c_api::writeSized;

namespace
{

constexpr const char *gettingReport = "get report";

uint64_t count(std::chrono::nanoseconds duration)
{
	return static_cast<uint64_t>(duration.count());
}

nvdla_status noEntry(const char *kind, size_t index, size_t there)
{
	return failure({ ErrorCode::InvalidArgument, gettingReport,
			 fmt::format("{} {}", kind, index), fmt::format("there are {}", there) });
}

} /* namespace */

nvdla_status c_api::giveReport(const RunReport &report, nvdla_report **to)
{
	*to = new nvdla_report{ report };
	return NVDLA_STATUS_OK;
}

enum nvdla_status nvdla_request_get_report(struct nvdla_request *request,
					   struct nvdla_report **report)
{
	return c_api::guardedCall("nvdla_request_get_report", [&]() -> nvdla_status {
		if (!request || !report)
			return missing(gettingReport, request ? "report" : "request");
		if (request->request.inFlight())
			return failure(
				{ ErrorCode::Busy, gettingReport, "", "the request is in flight" });
		auto last = request->request.wait();
		if (!last)
			return failure(last.error());
		return c_api::giveReport(*last, report);
	});
}

void nvdla_report_free(struct nvdla_report *report)
{
	delete report;
}

enum nvdla_status nvdla_report_get_info(const struct nvdla_report *report,
					struct nvdla_report_info *info)
{
	return c_api::guardedCall("nvdla_report_get_info", [&]() -> nvdla_status {
		if (!report || !info)
			return missing(gettingReport, report ? "info" : "report");
		const nvdla_report_info all = {
			.size = sizeof(all),
			.queued_ns = count(report->report.queued),
			.duration_ns = count(report->report.duration),
			.num_steps = report->report.steps.size(),
		};
		return writeSized(gettingReport, all, info);
	});
}

enum nvdla_status nvdla_report_get_step(const struct nvdla_report *report, size_t step,
					struct nvdla_step_info *info)
{
	return c_api::guardedCall("nvdla_report_get_step", [&]() -> nvdla_status {
		if (!report || !info)
			return missing(gettingReport, report ? "info" : "report");
		if (step >= report->report.steps.size())
			return noEntry("step", step, report->report.steps.size());
		const RunReport::Step &of = report->report.steps[step];
		const nvdla_step_info all = {
			.size = sizeof(all),
			.cpu = of.cpu,
			.num_tasks = of.tasks,
			.duration_ns = count(of.duration),
			.num_operations = of.operations,
			.num_operation_infos = of.results.size(),
			.num_runs = of.job.numRuns,
			.submit_ns = of.job.submitNs,
			.start_ns = of.job.startNs,
			.end_ns = of.job.endNs,
		};
		return writeSized(gettingReport, all, info);
	});
}

enum nvdla_status nvdla_report_get_operation(const struct nvdla_report *report, size_t step,
					     size_t operation, struct nvdla_operation_info *info)
{
	return c_api::guardedCall("nvdla_report_get_operation", [&]() -> nvdla_status {
		if (!report || !info)
			return missing(gettingReport, report ? "info" : "report");
		if (step >= report->report.steps.size())
			return noEntry("step", step, report->report.steps.size());
		const auto &results = report->report.steps[step].results;
		if (operation >= results.size())
			return noEntry("operation", operation, results.size());
		const OperationReport &of = results[operation];
		const nvdla_operation_info all = {
			.size = sizeof(all),
			.engine = of.engine,
			.started = of.started,
			.completed = of.completed,
			.counted = of.counted,
			.start_ns = of.startNs,
			.end_ns = of.endNs,
			.read_stall = of.readStall,
			.write_stall = of.writeStall,
			.weight_read_stall = of.weightReadStall,
			.read_latency = of.readLatency,
			.weight_read_latency = of.weightReadLatency,
			.operand_read_stall = { of.operandReadStall[0], of.operandReadStall[1],
						of.operandReadStall[2] },
			.saturation = of.saturation,
			.nan_input = of.nanInput,
			.inf_input = of.infInput,
			.nan_output = of.nanOutput,
			.nan_weight = of.nanWeight,
			.inf_weight = of.infWeight,
			.unequal = of.unequal,
			.lut_underflow = of.lut.underflow,
			.lut_overflow = of.lut.overflow,
			.lut_le_hit = of.lut.leHit,
			.lut_lo_hit = of.lut.loHit,
			.lut_hybrid = of.lut.hybrid,
		};
		return writeSized(gettingReport, all, info);
	});
}
