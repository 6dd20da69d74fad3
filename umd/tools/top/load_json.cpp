/* SPDX-License-Identifier: MIT */
#include "load_json.h"

#include <nlohmann/json.hpp>

namespace nvdla::top
{

namespace
{

using Json = nlohmann::ordered_json;

Json engineJson(const EngineLoad &engine, double seconds)
{
	return { { "engine", engine.name },
		 { "busy", busyShare(engine, seconds) },
		 { "total", engine.total },
		 { "interval", engine.interval } };
}

Json processJson(const ProcessLoad &process)
{
	return { { "pid", process.pid },
		 { "command", process.command },
		 { "files", process.files },
		 { "memory_bytes", process.totalBytes },
		 { "resident_bytes", process.residentBytes },
		 { "total_busy_ns", process.totalBusyNs },
		 { "interval_busy_ns", process.intervalBusyNs } };
}

Json deviceJson(const DeviceLoad &load, double seconds)
{
	Json engines = Json::array(), processes = Json::array();

	for (const EngineLoad &engine : load.engines)
		engines.push_back(engineJson(engine, seconds));
	for (const ProcessLoad &process : load.processes)
		processes.push_back(processJson(process));
	return { { "name", load.device.name },
		 { "address", load.device.address },
		 { "counting", load.device.counting },
		 { "engines", std::move(engines) },
		 { "processes", std::move(processes) } };
}

} /* namespace */

Json loadJson(const Load &load)
{
	Json devices = Json::array();

	for (const DeviceLoad &device : load.devices)
		devices.push_back(deviceJson(device, load.seconds));
	return { { "seconds", load.seconds },
		 { "all_processes", load.allProcesses },
		 { "devices", std::move(devices) } };
}

} /* namespace nvdla::top */
