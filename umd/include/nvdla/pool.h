/* SPDX-License-Identifier: MIT */
/* Pools: the requests of several networks spread over several devices. */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nvdla/device.h>
#include <nvdla/error.h>
#include <nvdla/event_loop.h>
#include <nvdla/loadable.h>
#include <nvdla/request.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Options of a pool */
struct PoolOptions {
	/** \brief Loop whose thread runs callbacks; without one, EventLoop::shared() */
	std::optional<EventLoop> loop = {};
	/** \brief Maximum number of requests on each device at a time */
	unsigned slots = 2;
	/** \brief Maximum number of requests without an answer; see RunOptions::whenFull */
	unsigned maxPending = 1024;
};

/** \brief One run of a network of a pool */
struct PoolRequest {
	size_t network = 0; /**< number from Pool::addNetwork() */
	/** \brief Bytes of all inputs in their layouts, as packElements() makes them */
	std::vector<std::vector<std::byte>> inputs;
	/** \brief Requests of a stream are answered in the order of their submission */
	uint64_t stream = 0;
	RunOptions options = {};
};

/** \brief Result of a request */
struct PoolAnswer {
	/** \brief Bytes of all outputs in their layouts, for unpackElements() with tensors */
	std::vector<std::vector<std::byte>> outputs;
	size_t device = 0; /**< the device that computed the answer, an index into Pool::use() */
	RunReport report;
	/** \brief Descriptions of the outputs; axes of variable length have their length in this
	 * run */
	std::vector<TensorDesc> tensors = {};
};

/** \brief Use of a device by a pool */
struct DeviceUse {
	std::string path;
	bool lost = false;	/**< the device is gone and gets no more requests */
	unsigned running = 0;	/**< requests that are on the device now */
	uint64_t completed = 0; /**< requests that the device answered, with or without error */
	uint64_t moved = 0;	/**< requests moved to another device when this one was lost */
	/** \brief Time during which the device had at least one request */
	std::chrono::nanoseconds busy{ 0 };
};

/**
 * \brief Devices that share the requests of networks
 *
 * Each network resides on each device. A request goes to the device with the fewest requests;
 * waiting requests share one queue. When a device is lost, its requests run on other devices; each
 * request is answered once. Requests are answered DeviceLost only if no device is left. A request
 * whose job hangs or fails is answered with that error and not repeated.
 *
 * All functions may be called from several threads at once. The destructor cancels pending
 * requests, and waits for their callbacks in the same cases as the destructor of Network.
 */
class Pool
{
public:
	/** \brief Receives the answer, once, in the loop's thread */
	using Callback = std::function<void(Result<PoolAnswer>)>;

	/**
	 * \param[in] devices one or more; each embedded device has a core of its own
	 * \return InvalidArgument for an empty list, and for options that are 0
	 */
	static Result<Pool> create(std::vector<Device> devices, const PoolOptions &options = {});

	Pool(Pool &&) noexcept;
	Pool &operator=(Pool &&) noexcept;
	~Pool();

	/**
	 * \brief Load a network onto all devices
	 * \return the network's number; errors of Network::load(); Unsupported for a loadable with
	 * states (Loadable::states); DeviceLost if no device is left
	 */
	Result<size_t> addNetwork(const Loadable &loadable);

	/**
	 * \brief Add a device, for requests from now on
	 * \return errors of Network::load() for one of the networks
	 */
	Result<void> addDevice(const Device &device);

	/** \return tensors of a network, in the order of Network::inputs() and outputs(); none for
	 * a number that addNetwork() did not return */
	const std::vector<TensorDesc> &inputs(size_t network) const;
	const std::vector<TensorDesc> &outputs(size_t network) const;

	/**
	 * \brief Start a run of a network. If the queue is full, waits for room, or returns Busy if
	 * the options say so
	 * \param[in] callback called once if submit() succeeds
	 * \return InvalidArgument for an unknown network or wrong inputs; Unsupported for a
	 * priority or statistics that a device does not have; Busy; DeviceLost if no device is left
	 */
	Result<void> submit(PoolRequest request, Callback callback);

	/** \brief Call submit() and wait for the answer; not in the loop's thread */
	Result<PoolAnswer> run(PoolRequest request);

	/** \return the devices, in the order of create() and addDevice() */
	std::vector<DeviceUse> use() const;

private:
	class State;
	explicit Pool(std::shared_ptr<State> state);

	std::shared_ptr<State> state_;
};

} /* namespace nvdla */

#pragma GCC visibility pop
