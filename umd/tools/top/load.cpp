/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <algorithm>

namespace nvdla::top
{

namespace
{

template<typename T, typename Key, typename Value>
const T *find(const std::vector<T> &items, Key T::*key, const Value &value)
{
	const auto found = std::ranges::find(items, value, key);
	return found == items.end() ? nullptr : &*found;
}

Counters increase(const Counters &before, const Counters &now)
{
	Counters increase = now;

	for (auto &[name, value] : increase) {
		const uint64_t old = valueOf(before, name);
		if (old <= value)
			value -= old;
	}
	return increase;
}

void add(Counters &sum, const Counters &counters)
{
	for (const auto &[name, value] : counters)
		sum[name] += value;
}

std::vector<EngineLoad> engineLoads(const Device *before, const Device &now)
{
	std::vector<EngineLoad> loads;

	for (const auto &[name, counters] : now.engines) {
		Counters old;
		if (before && before->engines.contains(name))
			old = before->engines.at(name);
		loads.push_back({ name, counters, increase(old, counters) });
	}
	return loads;
}

std::vector<ProcessLoad> processLoads(const Snapshot &before, const Snapshot &now,
				      const std::string &device)
{
	std::vector<ProcessLoad> loads;

	for (const Client &client : now.clients) {
		if (client.device != device)
			continue;
		if (loads.empty() || loads.back().pid != client.pid)
			loads.push_back({ client.pid, client.command });
		const Client *old = find(before.clients, &Client::id, client.id);
		ProcessLoad &load = loads.back();
		load.files++;
		load.totalBytes += client.totalBytes;
		load.residentBytes += client.residentBytes;
		add(load.totalBusyNs, client.busyNs);
		add(load.intervalBusyNs, increase(old ? old->busyNs : Counters{}, client.busyNs));
	}
	return loads;
}

} /* namespace */

bool EngineLoad::counted() const
{
	return valueOf(interval, "counted_operations") != 0;
}

Load loadBetween(const Snapshot &before, const Snapshot &now)
{
	Load load;

	load.seconds = std::chrono::duration<double>(now.time - before.time).count();
	load.allProcesses = now.allProcesses;
	for (const Device &device : now.devices) {
		const Device *old = find(before.devices, &Device::name, device.name);
		load.devices.push_back({ device, engineLoads(old, device),
					 processLoads(before, now, device.name) });
	}
	return load;
}

uint64_t valueOf(const Counters &counters, std::string_view name)
{
	const auto found = counters.find(name);
	return found == counters.end() ? 0 : found->second;
}

double busyShare(uint64_t busyNs, double seconds)
{
	/* The quotient can slightly exceed 1, because counters are read shortly after the
	 * snapshot's time is taken. */
	return seconds > 0 ? std::min(static_cast<double>(busyNs) / 1e9 / seconds, 1.0) : 0.0;
}

double busyShare(const EngineLoad &engine, double seconds)
{
	return busyShare(valueOf(engine.interval, "busy_time_us") * 1000, seconds);
}

} /* namespace nvdla::top */
