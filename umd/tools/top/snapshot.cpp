/* SPDX-License-Identifier: MIT */
#include "snapshot.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/io/file.h"
#include "text_file.h"

namespace nvdla::top
{

namespace
{

namespace fs = std::filesystem;

constexpr std::string_view enginePrefix = "counters_";

/* Returns the counters of an engine. Files that disappear are left out: the driver may be
 * unbound at any time. */
Counters readEngine(const fs::path &folder)
{
	Counters counters;
	std::error_code error;

	for (const auto &entry : fs::directory_iterator(folder, error)) {
		const auto text = readText(entry.path());
		const auto value = text ? parseNumber(*text) : std::nullopt;
		if (value)
			counters[entry.path().filename().string()] = *value;
	}
	return counters;
}

Device readDevice(const fs::path &node)
{
	const fs::path folder = node / "device";
	std::error_code error;
	Device device;

	device.name = node.filename().string();
	device.address = fs::canonical(folder, error).filename().string();
	device.counters = folder / "counters";
	device.counting = readText(device.counters / "enable").value_or("0").starts_with('1');
	for (const auto &entry : fs::directory_iterator(folder, error)) {
		const std::string name = entry.path().filename().string();
		if (name.starts_with(enginePrefix))
			device.engines[name.substr(enginePrefix.size())] = readEngine(entry.path());
	}
	return device;
}

/* Returns whether a node belongs to the nvdla driver. The driver has an accel node or, on kernels
 * without accel nodes, a render node. The card node beside a render node does not count. */
bool isOurs(const fs::path &node)
{
	const std::string name = node.filename();
	std::error_code error;
	return (name.starts_with("accel") || name.starts_with("renderD")) &&
	       fs::read_symlink(node / "device/driver", error).filename() == "nvdla";
}

bool isWanted(const Device &device, const std::string &wanted)
{
	const fs::path name = fs::path(wanted).filename();
	return wanted.empty() || name == device.name || name == device.address;
}

/* Returns whether a name that fits no device is at least like one: a path, accel0, renderD128 or a
 * bus address. */
bool looksLikeDevice(const std::string &wanted)
{
	return wanted.find_first_of("/:") != std::string::npos || wanted.starts_with("accel") ||
	       wanted.starts_with("renderD");
}

std::vector<Device> readDevices(const Selection &selection)
{
	std::vector<Device> devices;
	std::error_code error;

	for (const char *folder : { "sys/class/accel", "sys/class/drm" }) {
		for (const auto &entry : fs::directory_iterator(selection.root / folder, error)) {
			if (!isOurs(entry.path()))
				continue;
			Device device = readDevice(entry.path());
			if (isWanted(device, selection.device))
				devices.push_back(std::move(device));
		}
	}
	/* Sort by length first, so that accel10 comes after accel9. */
	std::ranges::sort(devices, {}, [](const Device &device) {
		return std::pair(device.name.size(), device.name);
	});
	return devices;
}

/* Fails if this user may not read the counters; usually only root may. */
Result<void> checkAccess(const std::vector<Device> &devices)
{
	for (const Device &device : devices) {
		const fs::path file = device.counters / "enable";
		if (faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) && errno == EACCES)
			return fail(
				ErrorCode::Io, "read counters", device.counters.string(),
				"they include the jobs of all users, so only root may read them: "
				"run nvdla-top as root, for example with sudo");
	}
	return {};
}

} /* namespace */

Result<Snapshot> takeSnapshot(const Selection &selection)
{
	Snapshot snapshot;

	snapshot.time = std::chrono::steady_clock::now().time_since_epoch();
	snapshot.devices = readDevices(selection);
	if (snapshot.devices.empty() && !selection.device.empty()) {
		const std::vector<Device> others = readDevices({ .root = selection.root });
		std::string names;
		for (const Device &device : others)
			names += (names.empty() ? "" : ", ") + device.name;
		if (!others.empty())
			return fail(ErrorCode::NoDevice, "find device", selection.device,
				    "is no device of the driver nvdla; there is " + names);
		if (!looksLikeDevice(selection.device))
			return fail(ErrorCode::NoDevice, "find device", selection.device,
				    "is neither a device file nor the address of a device on its "
				    "bus. nvdla-top shows devices of the driver nvdla; a device "
				    "model (embedded) runs within another program");
	}
	if (snapshot.devices.empty())
		return fail(ErrorCode::NoDevice, "find device",
			    selection.device.empty() ? "/sys/class/accel" : selection.device,
			    "no device is bound to the driver nvdla; is the module nvdla loaded? "
			    "nvdla-prof needs no device: it shows when the operations of a "
			    "network run");
	if (auto readable = checkAccess(snapshot.devices); !readable)
		return forward(readable);
	readClients(selection.root / "proc", snapshot);
	return snapshot;
}

Result<void> enableCounters(const std::vector<Device> &devices)
{
	for (const Device &device : devices) {
		const fs::path file = device.counters / "enable";
		auto done =
			writeWholeFile(file.string(), std::as_bytes(std::span("1", size_t{ 1 })));
		if (!done) {
			done.error().what = "enable counters";
			done.error().why += "; only root may write this file";
			return done;
		}
	}
	return {};
}

} /* namespace nvdla::top */
