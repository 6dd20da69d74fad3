/* SPDX-License-Identifier: MIT */
#include "trace/sequence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>

#include <nlohmann/json.hpp>
#include <nvdla/hw/registers.h>

#include "core/register_table.h"
#include "core/scheduler.h"

namespace nvdla::sim
{

namespace
{

/* \return the command with the name of its register in place of the address */
TraceCommand named(const Trace &trace, const TraceCommand &command)
{
	const auto address = static_cast<uint32_t>(command.address);
	TraceCommand result = command;

	if (command.isRegister())
		result.address = trace.geometry->nameOf(address);
	return result;
}

bool enables(const TraceCommand &command)
{
	const RegisterInfo *info = registerInfo(static_cast<uint32_t>(command.address));

	return info && std::strcmp(info->name, "D_OP_ENABLE") == 0 && command.value & 1;
}

bool launches(const TraceCommand &command)
{
	return command.address == NVDLA_BDMA_CFG_LAUNCH0 ||
	       command.address == NVDLA_BDMA_CFG_LAUNCH1;
}

/* \return the unit whose interrupt ends operations of an engine. */
Unit lastUnit(Engine engine)
{
	constexpr std::array<Unit, engineCount> units = { Unit::Bdma, Unit::Cacc, Unit::Sdp,
							  Unit::Pdp,  Unit::Cdp,  Unit::Rbk };
	return units[index(engine)];
}

class Timeline
{
public:
	Timeline(const SuiteRun &run, const Trace &trace)
		: testBench_(trace.geometry->timing->testBench)
	{
		for (const OperationRecord &record : run.operations)
			waiting_[index(record.engine)].push_back(record);
	}

	void add(const TraceCommand &command)
	{
		switch (command.kind) {
		case TraceCommand::Kind::Write:
			write(command);
			now_ += testBench_.write;
			break;
		case TraceCommand::Kind::Acknowledge:
		case TraceCommand::Kind::Read:
			now_ += testBench_.write;
			break;
		case TraceCommand::Kind::Poll:
			if (command.address == NVDLA_GLB_S_INTR_STATUS)
				waitFor(command.mask);
			break;
		case TraceCommand::Kind::AnyInterrupt:
			waitFor(command.mask);
			break;
		case TraceCommand::Kind::Interrupts:
			waitFor(command.value);
			break;
		case TraceCommand::Kind::Load:
		case TraceCommand::Kind::Expect:
		case TraceCommand::Kind::ExpectCrc:
			break;
		}
	}

	std::optional<Sequence> finish()
	{
		if (std::ranges::any_of(waiting_, [](const auto &left) { return !left.empty(); }))
			return std::nullopt;
		runAll();
		return std::move(sequence_);
	}

private:
	void write(const TraceCommand &command)
	{
		if (command.address == NVDLA_BDMA_CFG_OP)
			copies_++;
		if (command.address == NVDLA_GLB_S_INTR_MASK && command.value)
			sequence_.masked = true;
		if (launches(command)) {
			const unsigned int group = command.address == NVDLA_BDMA_CFG_LAUNCH1;
			auto &waiting = waiting_[index(Engine::Bdma)];
			for (; copies_ && !waiting.empty(); copies_--) {
				begin(waiting, group);
				/* Only the last copy of a group raises the group's interrupt. */
				if (copies_ > 1)
					bits_.back() = 0;
			}
		}
		if (!enables(command))
			return;
		enabled_[command.address / NVDLA_UNIT_SIZE]++;
		for (auto &waiting : waiting_)
			if (!waiting.empty() && takeUnits(waiting.front()))
				begin(waiting, groupOf(waiting.front()));
	}

	/* An operation is enabled when the last one of its units is enabled. */
	bool takeUnits(const OperationRecord &record)
	{
		if (record.engine == Engine::Bdma)
			return false;
		for (size_t unit = 0; unit < unitCount; unit++)
			if (record.units >> unit & 1 && !enabled_[unit])
				return false;
		for (size_t unit = 0; unit < unitCount; unit++) {
			enabled_[unit] -= record.units >> unit & 1;
			begun_[unit] += record.units >> unit & 1;
		}
		return true;
	}

	/* Units alternate between their two register groups. */
	unsigned int groupOf(const OperationRecord &record) const
	{
		return (begun_[index(lastUnit(record.engine))] - 1) % 2;
	}

	void begin(std::deque<OperationRecord> &waiting, unsigned int group)
	{
		const OperationRecord &record = waiting.front();

		bits_.push_back(Scheduler::doneBits(lastUnit(record.engine)) << group);
		works_.push_back({ .work = record.work, .notBefore = now_ });
		sequence_.steps.push_back({ .operation = record, .enabled = now_ });
		waiting.pop_front();
	}

	void runAll()
	{
		const auto times = schedule(works_, {});

		for (size_t i = 0; i < times.size(); i++)
			sequence_.steps[i].time = times[i];
	}

	/*
	 * Traces clear an interrupt once they have seen it, so each operation is waited for only
	 * once. In a wait for several interrupts, the interrupt line rises at the first of them,
	 * and the poll ends at the last.
	 */
	void waitFor(uint32_t mask)
	{
		std::vector<double> rises;

		runAll();
		for (size_t i = 0; i < bits_.size(); i++) {
			if (!(bits_[i] & mask))
				continue;
			mask &= ~bits_[i];
			bits_[i] = 0;
			now_ = std::max(now_, sequence_.steps[i].time.end);
			rises.push_back(sequence_.steps[i].time.end);
		}
		if (!rises.empty())
			sequence_.interrupt = testBench_.polls ? std::ranges::max(rises)
							       : std::ranges::min(rises);
	}

	const CoreTiming::TestBench testBench_;
	std::array<std::deque<OperationRecord>, engineCount> waiting_;
	std::array<unsigned int, unitCount> enabled_{};
	std::array<unsigned int, unitCount> begun_{};
	unsigned int copies_ = 0;
	double now_ = 0;
	std::vector<uint32_t> bits_; /* interrupt bit of each step; 0 after the wait for it */
	std::vector<ScheduledWork> works_;
	Sequence sequence_;
};

} /* namespace */

double Sequence::lastCycles() const
{
	double enabled = 0;

	for (const Step &step : steps)
		enabled = std::max(enabled, step.enabled);
	return interrupt - enabled;
}

std::optional<Sequence> sequenceOf(const SuiteRun &run, const Trace &trace)
{
	Timeline timeline(run, trace);

	for (const TraceCommand &command : trace.commands)
		timeline.add(named(trace, command));
	return timeline.finish();
}

std::optional<TimingComparison> compareTiming(const SuiteRun &run)
{
	const auto trace = loadTrace(run.directory);
	if (!trace)
		return std::nullopt;
	const auto sequence = sequenceOf(run, *trace);
	if (!sequence || sequence->steps.empty() || sequence->masked)
		return std::nullopt;
	const auto meta = loadMeta(run.directory);
	if (!meta.contains("rtl_cycles") || !meta["rtl_cycles"].is_number_unsigned() ||
	    meta["rtl_cycles"] == 0)
		return std::nullopt;
	return TimingComparison{ static_cast<uint64_t>(std::llround(sequence->lastCycles())),
				 meta["rtl_cycles"].get<uint64_t>() };
}

std::map<std::string, TimingSummary> summarizeTiming(const std::vector<SuiteRun> &runs)
{
	std::map<std::string, TimingSummary> summaries;
	std::map<std::string, double> logarithms;

	for (const SuiteRun &run : runs) {
		const auto compared = compareTiming(run);
		if (!compared)
			continue;
		const std::string name = run.directory.parent_path().filename().string();
		TimingSummary &summary = summaries[name];
		const double ratio = compared->ratio();
		summary.traces++;
		summary.worst = std::max({ summary.worst, ratio, 1 / ratio });
		logarithms[name] += std::log(ratio);
		summary.geometricMean = std::exp(logarithms[name] / summary.traces);
	}
	return summaries;
}

} /* namespace nvdla::sim */
