/* SPDX-License-Identifier: MIT */
#include "profile.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <nvdla/device.h>
#include <nvdla/hw/pci.h>

namespace nvdla::prof
{

namespace
{

/* Engines in the order in which data pass through them: timelines show their rows in this order. */
constexpr std::array engineOrder = { "BDMA",  "CONV",  "SDP",	  "PDP",    "CDP",
				     "RUBIK", "POWER", "SOFTMAX", "RESHAPE" };

/* Returns whether a device file or its name is the PCI function that nvdla-sim adds to QEMU. */
bool isOfQemu(const std::string &device)
{
	const std::string name = device.substr(device.rfind('/') + 1);

	/* Kernels without accel nodes have a render node instead. */
	for (const char *place : { "/sys/class/accel/", "/sys/class/drm/" }) {
		std::ifstream file(place + name + "/device/vendor");
		unsigned vendor = 0;

		if (file >> std::hex >> vendor)
			return vendor == NVDLA_PCI_VENDOR_ID;
	}
	return false;
}

std::vector<size_t> byStart(const Profile &profile)
{
	std::vector<size_t> order;

	for (size_t i = 0; i < profile.operations.size(); i++) {
		if (profile.operations[i].timed)
			order.push_back(i);
	}
	std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
		return profile.operations[a].startNs < profile.operations[b].startNs;
	});
	return order;
}

size_t rank(const std::string &engine)
{
	return static_cast<size_t>(std::find(engineOrder.begin(), engineOrder.end(), engine) -
				   engineOrder.begin());
}

} /* namespace */

std::vector<Lane> lanes(const Profile &profile)
{
	std::vector<Lane> lanes;

	for (size_t index : byStart(profile)) {
		const OperationProfile &operation = profile.operations[index];
		size_t rows = 0;
		auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane &lane) {
			if (lane.engine != operation.text.engine)
				return false;
			rows++;
			return profile.operations[lane.operations.back()].endNs <=
			       operation.startNs;
		});
		if (lane == lanes.end())
			lane = lanes.insert(lanes.end(), { operation.text.engine, rows, {} });
		lane->operations.push_back(index);
	}
	std::stable_sort(lanes.begin(), lanes.end(), [](const Lane &a, const Lane &b) {
		return rank(a.engine) < rank(b.engine);
	});
	return lanes;
}

bool hasTimesOfHost(const std::string &device)
{
	/* With the option realtime, operations take as long as on the chip of the other options. */
	return isOfQemu(device) || (device.starts_with(Device::embeddedPath) &&
				    device.find("realtime") == std::string::npos);
}

std::string deviceText(const std::string &device)
{
	if (isOfQemu(device))
		return device + " (time of the device model, not of a chip)";
	if (hasTimesOfHost(device))
		return device + " (host time, not a chip's)";
	return device +
	       (device.starts_with(Device::embeddedPath) ? " (time of the described chip)" : "");
}

double Gauge::mean(uint64_t endNs) const
{
	double sum = 0;

	for (size_t i = 0; i < steps.size(); i++) {
		const uint64_t until = i + 1 < steps.size() ? steps[i + 1].startNs : endNs;
		if (until > steps[i].startNs)
			sum += steps[i].share * static_cast<double>(until - steps[i].startNs);
	}
	return endNs ? sum / static_cast<double>(endNs) : 0;
}

uint64_t busyNs(const Profile &profile, std::vector<size_t> operations)
{
	uint64_t busy = 0;
	uint64_t until = 0;

	std::ranges::sort(operations, {},
			  [&](size_t index) { return profile.operations[index].startNs; });
	for (size_t index : operations) {
		const OperationProfile &operation = profile.operations[index];
		if (!operation.timed || operation.endNs <= until)
			continue;
		busy += operation.endNs - std::max(operation.startNs, until);
		until = operation.endNs;
	}
	return busy;
}

uint64_t busyNs(const Profile &profile, const std::string &engine)
{
	std::vector<size_t> operations;

	for (size_t i = 0; i < profile.operations.size(); i++) {
		if (profile.operations[i].text.engine == engine)
			operations.push_back(i);
	}
	return busyNs(profile, std::move(operations));
}

} /* namespace nvdla::prof */
