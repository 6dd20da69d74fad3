/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/core.h>

namespace nvdla::top
{

namespace
{

/* Names of the orders, indexed by the values of Order. */
constexpr std::array<std::string_view, 4> names = { "busy", "memory", "name", "pid" };

uint64_t busyNs(const ProcessLoad &process)
{
	return std::accumulate(
		process.intervalBusyNs.begin(), process.intervalBusyNs.end(), uint64_t{ 0 },
		[](uint64_t sum, const auto &engine) { return sum + engine.second; });
}

bool before(const ProcessLoad &a, const ProcessLoad &b, Order order)
{
	switch (order) {
	case Order::Busy:
		return std::pair(busyNs(b), a.pid) < std::pair(busyNs(a), b.pid);
	case Order::Memory:
		return std::pair(b.totalBytes, a.pid) < std::pair(a.totalBytes, b.pid);
	case Order::Name:
		return std::pair(a.command, a.pid) < std::pair(b.command, b.pid);
	case Order::Pid:
		break;
	}
	return a.pid < b.pid;
}

} /* namespace */

std::vector<std::string> orderNames()
{
	return { names.begin(), names.end() };
}

Order orderNamed(std::string_view name)
{
	return static_cast<Order>(std::distance(names.begin(), std::ranges::find(names, name)));
}

void sortProcesses(Load &load, Order order)
{
	for (DeviceLoad &device : load.devices)
		std::ranges::sort(device.processes,
				  [order](const ProcessLoad &a, const ProcessLoad &b) {
					  return before(a, b, order);
				  });
}

std::optional<Order> orderOfKey(char key, Order current)
{
	if (key == 's')
		return static_cast<Order>((static_cast<size_t>(current) + 1) % names.size());
	const auto found = std::ranges::find(names, key, &std::string_view::front);
	if (found == names.end())
		return std::nullopt;
	return orderNamed(*found);
}

std::string keyHelp(Order current)
{
	return fmt::format(
		"q quit   sort processes: b busy, m memory, n name, p pid, s next   now: {}",
		names[static_cast<size_t>(current)]);
}

} /* namespace nvdla::top */
