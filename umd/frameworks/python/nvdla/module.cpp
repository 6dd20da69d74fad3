/* SPDX-License-Identifier: MIT */
/*
 * The part of the Python package "nvdla" that needs C++. The interface for applications, with its
 * checks and messages, is in the Python files beside it.
 */
#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>
#include <nvdla/network.h>
#include <nvdla/nvdla.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/io/file.h"
#include "done_signal.h"
#include "support.h"
#include "tensor_info.h"
#include "tools/prof/profile_json.h"
#include "tools/prof/profile_table.h"
#include "tools/prof/run_profile.h"

namespace nvdla::python
{

namespace
{

/* Memory that the device and numpy share. The CPU may access it except during a run. */
class SharedMemory
{
public:
	SharedMemory(const Device &device, uint64_t size) : buffer_(take(device.allocate(size)))
	{
		begin();
	}

	const Buffer &buffer() const { return buffer_; }

	void begin()
	{
		access_.reset();
		access_.emplace(take(released([this] {
			return buffer_.access(CpuAccess::ReadWrite, std::chrono::seconds(60));
		})));
		bytes_ = access_->bytes();
	}

	void end() { access_.reset(); }

	/* numpy keeps this address, which does not change while the buffer exists. */
	py::buffer_info view() const
	{
		return py::buffer_info(reinterpret_cast<uint8_t *>(bytes_.data()),
				       static_cast<py::ssize_t>(bytes_.size()));
	}

private:
	Buffer buffer_;
	std::optional<Buffer::Access> access_;
	std::span<std::byte> bytes_;
};

struct LoadedNetwork {
	Device device;
	Loadable loadable; /* source of the names in profiles */
	Network network;
};

/* A request, which can run repeatedly, and a file descriptor that is readable after each run. */
class Run
{
public:
	explicit Run(std::shared_ptr<LoadedNetwork> network)
		: network_(std::move(network)), request_(take(Request::create(network_->network))),
		  done_(std::make_shared<DoneSignal>())
	{
		if (!*done_)
			raise({ ErrorCode::Io, "create request", "eventfd", std::strerror(errno) });
	}

	int fileno() const { return done_->fileno(); }

	void setElements(size_t index, const py::buffer &array, bool nhwc)
	{
		const py::buffer_info info = array.request();

		take(released([&] {
			return request_.setInputElements(index, bytesOf(info), orderOf(nhwc));
		}));
		warnOfChanges(network_->network.inputs()[index], info);
	}

	void setReal(size_t index, const py::buffer &array, bool nhwc)
	{
		const py::buffer_info info = array.request();

		take(released([&] {
			return request_.setInputFloat(index, floatsOf(info), orderOf(nhwc));
		}));
		warnOfChanges(network_->network.inputs()[index], info);
	}

	void bind(bool input, size_t index, const SharedMemory &memory)
	{
		const TensorPlace place{ .buffer = memory.buffer() };

		take(input ? request_.bindInput(index, place) : request_.bindOutput(index, place));
	}

	void submit(double timeout, int priority, bool statistics, bool busy)
	{
		RunOptions options;

		options.timeout = std::chrono::milliseconds(static_cast<int64_t>(timeout * 1000));
		options.priority = static_cast<Priority>(priority);
		options.statistics = statistics && network_->device.has(Feature::Statistics);
		options.whenFull = busy ? WhenFull::Busy : WhenFull::Wait;
		take(released([&] {
			const uint64_t run = done_->announce();
			return request_.submit(
				options, [done = done_, run](const auto &) { done->done(run); });
		}));
	}

	/*
	 * Waits for the run. If a signal handler raises an exception, such as KeyboardInterrupt,
	 * the run is cancelled and the exception raised.
	 */
	void wait()
	{
		while (request_.inFlight()) {
			released([this] { return request_.wait(signalInterval); });
			if (!PyErr_CheckSignals())
				continue;
			const py::error_scope interrupted;
			request_.cancel();
			released([this] { return request_.wait(); });
			break;
		}
		if (PyErr_Occurred())
			throw py::error_already_set();
		report_ = take(request_.wait());
	}

	void cancel() { request_.cancel(); }

	Memory elements(size_t index, bool nhwc) const
	{
		return { take(released(
				 [&] { return request_.outputElements(index, orderOf(nhwc)); })),
			 {} };
	}

	Memory real(size_t index, bool nhwc) const
	{
		return { {}, take(released([&] {
				 return request_.outputFloat(index, orderOf(nhwc));
			 })) };
	}

	py::tuple shape(size_t index) const { return shapeOf(take(request_.outputDesc(index))); }

	/* Returns the seconds in the queue, and those from the start of the first step (a job of
	 * the core or a task of the CPU) to the end of the last step. */
	std::pair<double, double> times() const
	{
		const auto seconds = [](std::chrono::nanoseconds duration) {
			return std::chrono::duration<double>(duration).count();
		};
		return { seconds(report_.queued), seconds(report_.duration) };
	}

	/* Returns the profile of the last run: the operations of core and CPU as JSON, the layers
	 * of the model as JSON, and a table as text. */
	std::tuple<py::str, py::str, py::str> profile(const std::string &name) const
	{
		const auto profile = take(prof::runProfile(
			network_->loadable, report_,
			name + " on " + prof::deviceText(network_->device.path())));

		return { textOf(prof::rowsJsonText(profile)),
			 textOf(prof::rowsJsonText(profile, { .byLayer = true })),
			 textOf(prof::profileTable(profile)) };
	}

private:
	std::shared_ptr<LoadedNetwork> network_;
	Request request_;
	std::shared_ptr<DoneSignal> done_; /* the callback may come after the Run is destroyed */
	RunReport report_;
};

std::shared_ptr<LoadedNetwork> load(const Device &device, Loadable loadable, unsigned slots,
				    unsigned maxQueued)
{
	const LoadOptions options{ .slots = slots, .maxQueued = maxQueued };
	auto network = take(released([&] { return Network::load(device, loadable, options); }));

	return std::make_shared<LoadedNetwork>(
		LoadedNetwork{ device, std::move(loadable), std::move(network) });
}

void addRuns(py::module_ &module)
{
	py::class_<Memory>(module, "Memory", py::buffer_protocol()).def_buffer(&Memory::buffer);
	py::class_<SharedMemory>(module, "SharedMemory", py::buffer_protocol())
		.def(py::init<const Device &, uint64_t>())
		.def("begin", &SharedMemory::begin)
		.def("end", &SharedMemory::end)
		.def_buffer(&SharedMemory::view);
	py::class_<Run>(module, "Run")
		.def(py::init<std::shared_ptr<LoadedNetwork>>())
		.def("fileno", &Run::fileno)
		.def("set_elements", &Run::setElements)
		.def("set_real", &Run::setReal)
		.def("bind", &Run::bind)
		.def("submit", &Run::submit)
		.def("wait", &Run::wait)
		.def("cancel", &Run::cancel)
		.def("elements", &Run::elements)
		.def("real", &Run::real)
		.def("shape", &Run::shape)
		.def("times", &Run::times)
		.def("profile", &Run::profile);
}

} /* namespace */

PYBIND11_MODULE(_nvdla, module)
{
	module.attr("version") = nvdla_version();
	module.def("devices", [] { return released(Device::enumerate); });

	py::class_<Device>(module, "Device")
		.def(py::init([](const std::string &path) {
			return take(released([&] {
				return Device::open(path.empty() ? Device::defaultPath() : path);
			}));
		}))
		.def_property_readonly("path",
				       [](const Device &device) { return textOf(device.path()); })
		.def("info", [](const Device &device) { return deviceInfo(device.info()); });

	py::class_<Loadable>(module, "Loadable")
		.def_static("read",
			    [](const py::buffer &file) {
				    const py::buffer_info info = file.request();
				    return take(released(
					    [&] { return Loadable::read(bytesOf(info)); }));
			    })
		.def_static("read_file",
			    [](const std::string &path) {
				    return take(released([&] { return Loadable::readFile(path); }));
			    })
		.def("write",
		     [](const Loadable &loadable) {
			     const auto file = take(released([&] { return loadable.write(); }));
			     return py::bytes(reinterpret_cast<const char *>(file.data()),
					      file.size());
		     })
		.def("write_file", [](const Loadable &loadable, const std::string &path) {
			take(released([&] {
				return loadable.write().and_then([&](const auto &file) {
					return writeWholeFile(path, file);
				});
			}));
		});

	addCompiler(module);
	py::class_<LoadedNetwork, std::shared_ptr<LoadedNetwork>>(module, "LoadedNetwork")
		.def(py::init(&load))
		.def("inputs",
		     [](const LoadedNetwork &net) { return tensorList(net.network.inputs()); })
		.def("outputs",
		     [](const LoadedNetwork &net) { return tensorList(net.network.outputs()); });
	addRuns(module);
	addPools(module);
}

} /* namespace nvdla::python */
