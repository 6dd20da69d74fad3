/* SPDX-License-Identifier: MIT */
/* Requests: runs of a network, one after the other or many at once. */
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <nvdla/device.h>
#include <nvdla/error.h>
#include <nvdla/run_report.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

class Network;
struct RequestState;

/** \brief Behaviour of submit() if the network's queue is full */
enum class WhenFull {
	Wait, /**< block until there is room; in the thread of LoadOptions::loop, which must not
	       * block, return Busy */
	Busy, /**< return ErrorCode::Busy */
};

/** \brief Options of a run */
struct RunOptions {
	/**
	 * \brief Longest time on the hardware in which no operation of a job begins or ends, as
	 * SubmitOptions::timeout
	 */
	std::chrono::milliseconds timeout{ 30000 };
	/** \brief Priority over other requests of this network and other jobs of the device */
	Priority priority = Priority::Normal;
	/** \brief Enable the core's counters: stalls, latencies, saturation, NaNs */
	bool statistics = false;
	WhenFull whenFull = WhenFull::Wait;
};

/** \brief The application's memory for a tensor: a range of a Buffer */
struct TensorPlace {
	Buffer buffer; /**< buffer of the network's device, allocated or imported */
	/** \brief Offset of the tensor's first byte, a multiple of DeviceInfo::atomBytes */
	uint64_t offset = 0;
	/**
	 * \brief Layout of the bytes in the buffer, which is compared with the network's tensor;
	 * without it, the bytes have the tensor's layout
	 *
	 * Shape, type, pixel format, strides and size have to be equal, and the quantization if
	 * both have one.
	 */
	std::optional<TensorDesc> layout = {};
};

/**
 * \brief One run of a network, with its inputs and outputs
 *
 * Each request has inputs and outputs of its own, so any number of requests of one network may be
 * in flight, submitted from any threads. A single Request may be used from one thread at a time,
 * except cancel(). It may be run any number of times, but not again before it is done.
 *
 * A Request may outlive its Network; it cannot be run then. A request that is destroyed
 * in flight is cancelled; its callback still comes.
 */
class Request
{
public:
	/** \brief Receives the result of wait(), in the thread of the loop, LoadOptions::loop */
	using Callback = std::function<void(const Result<RunReport> &)>;

	static Result<Request> create(const Network &network);

	Request(Request &&other) noexcept = default;
	Request &operator=(Request &&other) noexcept;
	~Request();

	/**
	 * \brief Write an input tensor
	 *
	 * The input keeps its value over any number of runs; before the first write all its bytes
	 * are zero.
	 *
	 * \param[in] index into Network::inputs()
	 * \param[in] tensor bytes in the tensor's layout, exactly its size
	 * \return InvalidArgument naming both sizes if they differ, or if the input is bound; Busy
	 * in flight
	 */
	Result<void> setInput(size_t index, std::span<const std::byte> tensor);

	/** \brief Like setInput(), from elements in \a order */
	Result<void> setInputElements(size_t index, std::span<const std::byte> elements,
				      ElementOrder order = ElementOrder::Nchw);

	/** \brief Like setInput(), from numbers in \a order, with the quantization of
	 * Network::inputs() */
	Result<void> setInputFloat(size_t index, std::span<const float> values,
				   ElementOrder order = ElementOrder::Nchw);

	/**
	 * \brief Let the network read an input from a buffer, without a copy
	 *
	 * Holds for all runs until the input is bound to another buffer or unbound. The device
	 * reads the buffer when earlier jobs that write to it are done; writes by the CPU or a
	 * CPU step have to be complete before submit(). The request keeps the buffer.
	 *
	 * \param[in] index into Network::inputs()
	 * \return InvalidArgument naming the wrong property: offset, size, layout, another
	 * device's buffer; Unsupported for a tensor that shares its memory in the loadable
	 * or that the network writes into, and for an output with an open axis; Busy in flight
	 */
	Result<void> bindInput(size_t index, TensorPlace place);

	/**
	 * \brief Have the network write an output into a buffer, without a copy
	 *
	 * The rules of bindInput() apply. Bytes of the tensor that the network does not write keep
	 * their value. Two requests in flight must not have the same bytes as output.
	 *
	 * \param[in] index into Network::outputs()
	 */
	Result<void> bindOutput(size_t index, TensorPlace place);

	/** \brief Use the network's own memory again, with the last input of setInput() */
	Result<void> unbindInput(size_t index);
	Result<void> unbindOutput(size_t index);

	/**
	 * \return bytes of an output tensor in its layout, valid until the next submission; zero
	 * before the first run. Busy in flight; InvalidArgument for a bound output, whose bytes are
	 * in the bound buffer
	 */
	Result<std::span<const std::byte>> output(size_t index) const;

	/**
	 * \brief Describe an output of the last run
	 *
	 * As in Network::outputs(), except that open axes have their lengths in that run: 0 or
	 * more, and 0 before the first run. elements() and size are 0 if an axis has length 0.
	 *
	 * \param[in] index into Network::outputs()
	 * \return Busy in flight if an axis is open
	 */
	Result<TensorDesc> outputDesc(size_t index) const;

	/** \return elements of an output tensor in \a order */
	Result<std::vector<std::byte>>
	outputElements(size_t index, ElementOrder order = ElementOrder::Nchw) const;

	/** \return numbers of an output tensor in \a order, dequantized with the quantization of
	 * Network::outputs() */
	Result<std::vector<float>> outputFloat(size_t index,
					       ElementOrder order = ElementOrder::Nchw) const;

	/**
	 * \brief Start a run; returns immediately
	 *
	 * Among a network's waiting requests, those of higher priority run first, and among them
	 * the oldest.
	 *
	 * \param[in] callback called once if submit() succeeds, whatever the result of
	 * the run; the request may be submitted again from there. May be empty.
	 * \return Busy if the request is in flight or, unless the options say to wait, the
	 * network's queue is full; Unsupported for a priority or statistics that the device does
	 * not have; Cancelled if cancel() came while submit() waited for room; InvalidArgument if
	 * an output is bound to bytes that another tensor is bound to
	 */
	Result<void> submit(const RunOptions &options = {}, Callback callback = {});

	/** \brief Like submit(); the future gets the result of wait() */
	std::future<Result<RunReport>> runAsync(const RunOptions &options = {});

	/**
	 * \brief Wait until the run is done; its callback may come later
	 * \param[in] timeout longest time to wait; without it, there is no limit
	 * \return the result of the last run: DeviceRefused with operation and field, Timeout for a
	 * job that hung, DeviceFailed, Cancelled; Timeout also if the run is not done after \a
	 * timeout; InvalidArgument if never submitted, or in the thread of LoadOptions::loop
	 */
	Result<RunReport> wait(std::optional<std::chrono::milliseconds> timeout = {});

	/**
	 * \brief Call submit() and wait()
	 *
	 * If one of LoadOptions::slots is free, no other request waits and the priority is Normal,
	 * the calling thread does the run, which is faster than the thread of LoadOptions::loop.
	 */
	Result<RunReport> run(const RunOptions &options = {});

	/**
	 * \brief Cancel the run, from any thread
	 *
	 * A request that waits for its turn completes as Cancelled immediately; a submit() that
	 * still waits for room in the queue returns Cancelled. A running request completes as
	 * Cancelled when its current step has ended: from then on nothing uses its tensors. A
	 * completed request is not affected.
	 */
	void cancel();

	/** \return true if the request was submitted and is not done */
	bool inFlight() const;

private:
	Result<void> begin(const RunOptions &options, Callback callback);
	Result<void> queue(bool here);
	Result<void> bind(const char *kind, const std::vector<TensorDesc> &tensors, size_t index,
			  std::optional<TensorPlace> place);

	explicit Request(std::shared_ptr<RequestState> state) : state_(std::move(state)) {}

	std::shared_ptr<RequestState> state_;
};

} /* namespace nvdla */

#pragma GCC visibility pop
