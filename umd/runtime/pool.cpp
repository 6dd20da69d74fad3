/* SPDX-License-Identifier: MIT */
#include <nvdla/pool.h>

#include <future>

#include "base/io/guarded.h"
#include "runtime/pool_state.h"

namespace nvdla
{

Pool::Pool(std::shared_ptr<State> state) : state_(std::move(state))
{
}

Pool::Pool(Pool &&) noexcept = default;

Pool &Pool::operator=(Pool &&other) noexcept
{
	std::swap(state_, other.state_);
	return *this;
}

Pool::~Pool()
{
	if (state_)
		state_->shutDown();
}

Result<Pool> Pool::create(std::vector<Device> devices, const PoolOptions &options)
{
	constexpr const char *creating = "create pool";

	return guarded(creating, [&]() -> Result<Pool> {
		if (devices.empty())
			return fail(ErrorCode::InvalidArgument, creating, "devices",
				    "none given; a pool has 1 or more");
		if (!options.slots || !options.maxPending)
			return fail(ErrorCode::InvalidArgument, creating, "options",
				    "slots and maxPending have to be 1 or more");
		auto loop = options.loop ? Result<EventLoop>(*options.loop) : EventLoop::shared();
		if (!loop)
			return forward(loop);
		auto state = std::make_shared<State>(*loop, options);
		for (const Device &device : devices) {
			if (auto added = state->addDevice(device); !added)
				return forward(added);
		}
		return Pool(std::move(state));
	});
}

Result<size_t> Pool::addNetwork(const Loadable &loadable)
{
	return guarded("load network",
		       [&]() -> Result<size_t> { return state_->addNetwork(loadable); });
}

Result<void> Pool::addDevice(const Device &device)
{
	return guarded("add device", [&]() -> Result<void> { return state_->addDevice(device); });
}

const std::vector<TensorDesc> &Pool::inputs(size_t network) const
{
	return state_->tensors(network, true);
}

const std::vector<TensorDesc> &Pool::outputs(size_t network) const
{
	return state_->tensors(network, false);
}

Result<void> Pool::submit(PoolRequest request, Callback callback)
{
	return guarded(State::what, [&]() -> Result<void> {
		return state_->submit(std::move(request), std::move(callback));
	});
}

Result<PoolAnswer> Pool::run(PoolRequest request)
{
	return guarded(State::what, [&]() -> Result<PoolAnswer> {
		if (state_->inLoopThread())
			return fail(ErrorCode::InvalidArgument, State::what, "pool",
				    "the thread of the loop would wait for itself; use submit()");
		std::promise<Result<PoolAnswer>> promise;
		auto future = promise.get_future();
		auto submitted = submit(std::move(request), [&promise](Result<PoolAnswer> answer) {
			promise.set_value(std::move(answer));
		});
		if (!submitted)
			return forward(submitted);
		return future.get();
	});
}

std::vector<DeviceUse> Pool::use() const
{
	return state_->use();
}

} /* namespace nvdla */
