/* SPDX-License-Identifier: MIT */
/*
 * Python's classes for pools of devices.
 */
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include <nvdla/pool.h>
#include <pybind11/stl.h>
#include <sys/eventfd.h>

#include "base/io/unique_fd.h"
#include "support.h"
#include "tensor_info.h"

namespace nvdla::python
{

namespace
{

/* The answer to a request. PoolRun and the request's callback share the Outcome, because the
 * callback may be called after the PoolRun was destroyed. */
struct Outcome {
	UniqueFd done{ eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	std::mutex lock;
	std::condition_variable changed;
	std::optional<Result<PoolAnswer>> answer;

	void set(Result<PoolAnswer> result)
	{
		const std::lock_guard guard(lock);
		answer.emplace(std::move(result));
		changed.notify_all();
		eventfd_write(done.get(), 1);
	}

	bool waitFor(std::chrono::milliseconds timeout)
	{
		std::unique_lock guard(lock);
		return changed.wait_for(guard, timeout, [this] { return answer.has_value(); });
	}
};

/* One run of a network of a pool. A PoolRun can be submitted only once. */
class PoolRun
{
public:
	PoolRun(std::shared_ptr<Pool> pool, size_t network, uint64_t stream)
		: pool_(std::move(pool)), outcome_(std::make_shared<Outcome>())
	{
		if (!outcome_->done)
			raise({ ErrorCode::Io, "create request", "eventfd", std::strerror(errno) });
		request_.network = network;
		request_.stream = stream;
		for (const TensorDesc &desc : pool_->inputs(network))
			request_.inputs.emplace_back(desc.size);
	}

	int fileno() const { return outcome_->done.get(); }

	void setElements(size_t index, const py::buffer &array, bool nhwc)
	{
		const py::buffer_info info = array.request();
		const TensorDesc &input = pool_->inputs(request_.network).at(index);

		take(released([&] {
			return packElements(input, bytesOf(info), request_.inputs.at(index),
					    orderOf(nhwc));
		}));
		warnOfChanges(input, info);
	}

	void setReal(size_t index, const py::buffer &array, bool nhwc)
	{
		const py::buffer_info info = array.request();
		const TensorDesc &input = pool_->inputs(request_.network).at(index);

		take(released([&] {
			return packFloat(input, floatsOf(info), request_.inputs.at(index),
					 orderOf(nhwc));
		}));
		warnOfChanges(input, info);
	}

	void submit(double timeout, int priority, bool statistics, bool busy)
	{
		request_.options.timeout =
			std::chrono::milliseconds(static_cast<int64_t>(timeout * 1000));
		request_.options.priority = static_cast<Priority>(priority);
		request_.options.statistics = statistics;
		request_.options.whenFull = busy ? WhenFull::Busy : WhenFull::Wait;
		take(released([&] {
			return pool_->submit(std::move(request_),
					     [outcome = outcome_](Result<PoolAnswer> answer) {
						     outcome->set(std::move(answer));
					     });
		}));
	}

	/* Waits for the answer. If a Python signal handler raises an exception, such as
	 * KeyboardInterrupt, the waiting ends with this exception and the answer is dropped. */
	void wait()
	{
		while (!released([this] { return outcome_->waitFor(signalInterval); })) {
			if (PyErr_CheckSignals())
				throw py::error_already_set();
		}
		if (!*outcome_->answer)
			raise(outcome_->answer->error());
	}

	/* Does nothing, because a pool cannot cancel a single request; the request runs on. */
	void cancel() {}

	Memory elements(size_t index, bool nhwc) const
	{
		if (output(index).empty())
			return {};
		return { take(released([&] {
				 return unpackElements(tensor(index), output(index), orderOf(nhwc));
			 })),
			 {} };
	}

	Memory real(size_t index, bool nhwc) const
	{
		if (output(index).empty())
			return {};
		return { {}, take(released([&] {
				 return unpackFloat(tensor(index), output(index), orderOf(nhwc));
			 })) };
	}

	py::tuple shape(size_t index) const { return shapeOf(tensor(index)); }

private:
	const std::vector<std::byte> &output(size_t index) const
	{
		return (*outcome_->answer)->outputs.at(index);
	}
	const TensorDesc &tensor(size_t index) const
	{
		return (*outcome_->answer)->tensors.at(index);
	}

	std::shared_ptr<Pool> pool_;
	/* Shared with the callback of submit(), which may be called after the PoolRun was
	 * destroyed. */
	std::shared_ptr<Outcome> outcome_;
	PoolRequest request_;
};

py::list useOf(const Pool &pool)
{
	py::list list;

	for (const DeviceUse &use : pool.use()) {
		py::dict dict;
		dict["path"] = textOf(use.path);
		dict["lost"] = use.lost;
		dict["running"] = use.running;
		dict["completed"] = use.completed;
		dict["moved"] = use.moved;
		dict["busy"] = std::chrono::duration<double>(use.busy).count();
		list.append(dict);
	}
	return list;
}

} /* namespace */

void addPools(py::module_ &module)
{
	/* The destructor of Pool waits for requests, so it runs without the GIL (Python's global
	 * lock). */
	const auto release = [](Pool *pool) {
		const py::gil_scoped_release released;
		delete pool;
	};

	py::class_<Pool, std::shared_ptr<Pool>>(module, "Pool")
		.def(py::init([release](const std::vector<Device> &devices, unsigned slots,
					unsigned maxPending) {
			const PoolOptions options{ .slots = slots, .maxPending = maxPending };
			return std::shared_ptr<Pool>(new Pool(take(Pool::create(devices, options))),
						     release);
		}))
		.def("add_network",
		     [](Pool &pool, const Loadable &loadable) {
			     return take(released([&] { return pool.addNetwork(loadable); }));
		     })
		.def("add_device",
		     [](Pool &pool, const Device &device) {
			     take(released([&] { return pool.addDevice(device); }));
		     })
		.def("inputs", [](const Pool &pool,
				  size_t network) { return tensorList(pool.inputs(network)); })
		.def("outputs", [](const Pool &pool,
				   size_t network) { return tensorList(pool.outputs(network)); })
		.def("use", &useOf);
	py::class_<PoolRun>(module, "PoolRun")
		.def(py::init<std::shared_ptr<Pool>, size_t, uint64_t>())
		.def("fileno", &PoolRun::fileno)
		.def("set_elements", &PoolRun::setElements)
		.def("set_real", &PoolRun::setReal)
		.def("submit", &PoolRun::submit)
		.def("wait", &PoolRun::wait)
		.def("cancel", &PoolRun::cancel)
		.def("elements", &PoolRun::elements)
		.def("real", &PoolRun::real)
		.def("shape", &PoolRun::shape);
}

} /* namespace nvdla::python */
