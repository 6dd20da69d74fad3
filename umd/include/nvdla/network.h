/* SPDX-License-Identifier: MIT */
/* Networks: loadables that reside on a device. */
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
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

/** \brief Options of loading a network onto a device */
struct LoadOptions {
	/** \brief Loop that completes requests; without one, EventLoop::shared() */
	std::optional<EventLoop> loop = {};
	/**
	 * \brief Largest number of runs in flight
	 *
	 * Each run in flight needs memory for its own tensors and intermediate results, which is
	 * allocated at first use; all share one copy of the parameters. With two runs in flight,
	 * the device begins the next run while the CPU still reads the results of the earlier
	 * run; small networks and networks with CPU tasks gain from more than two. If the memory
	 * for another run cannot be allocated, the network continues with fewer. A network with
	 * states has one run in flight, whatever is set here.
	 */
	unsigned slots = 4;
	/** \brief Maximum number of waiting requests; see RunOptions::whenFull */
	unsigned maxQueued = 4096;
};

/**
 * \brief A loadable resident on a device, with memory of its own
 *
 * A loadable may have states, numbers that a network keeps from run to run (Loadable::states).
 * They belong to this object: runs take place in the order in which they are submitted, each one
 * reads the states of the run before, and a run that fails or is cancelled does not change them.
 * For several sequences of inputs, load a network for each; for a new sequence, load it anew.
 *
 * Any number of networks may reside on a device and run at the same time. The member functions run
 * one request, from one thread at a time; use objects of class Request for more.
 *
 * The destructor cancels requests in flight, and returns when all callbacks have been called. In
 * the loop's thread, or with a loop that the caller runs, the destructor does not wait: the
 * callbacks come when the loop runs.
 */
class Network
{
public:
	/**
	 * \brief Allocate the memories of a loadable and write their initial contents
	 * \param[in] device stays open as long as the network exists
	 * \param[in] loadable not needed afterwards
	 * \return InvalidFile for errors that Loadable::check() or the decoding of tasks find,
	 * NoMemory, Unsupported for on-chip memory that the CPU would have to reach and for
	 * tensors whose atoms have another size than the device's
	 */
	static Result<Network> load(const Device &device, const Loadable &loadable,
				    const LoadOptions &options = {});

	Network(Network &&) noexcept;
	Network &operator=(Network &&) noexcept;
	~Network();

	/** \return tensors to write before a run and to read after it, sorted by the bind id that
	 * the loadable gives each */
	const std::vector<TensorDesc> &inputs() const;
	const std::vector<TensorDesc> &outputs() const;

	/**
	 * \brief Set the quantization of an input or output
	 *
	 * Needed for loadables that do not contain the quantization, which then only the author of
	 * the network knows. The quantization applies to this object and all requests of the
	 * network: setInputFloat() quantizes, outputFloat() dequantizes, and inputs() and outputs()
	 * return it. Do not call this function while another thread calls one of these functions.
	 *
	 * An output that a CPU operation writes has its scale after loading, because loadables
	 * contain the scales of CPU operations.
	 *
	 * \return InvalidArgument for an error that TensorDesc::check() finds
	 */
	Result<void> setInputQuantization(size_t index, TensorQuantization quantization);
	Result<void> setOutputQuantization(size_t index, TensorQuantization quantization);

	/**
	 * \brief Write an input tensor
	 *
	 * The input keeps its value over any number of runs; before the first write all its bytes
	 * are zero.
	 *
	 * \param[in] index into inputs()
	 * \param[in] tensor bytes in the tensor's layout, exactly its size
	 * \return InvalidArgument naming both sizes if they differ
	 */
	Result<void> setInput(size_t index, std::span<const std::byte> tensor);

	/** \brief Like setInput(), from elements in \a order */
	Result<void> setInputElements(size_t index, std::span<const std::byte> elements,
				      ElementOrder order = ElementOrder::Nchw);

	/** \brief Like setInput(), from numbers in \a order, with the quantization of inputs() */
	Result<void> setInputFloat(size_t index, std::span<const float> values,
				   ElementOrder order = ElementOrder::Nchw);

	/** \return bytes of an output tensor in its layout */
	Result<std::vector<std::byte>> output(size_t index) const;

	/** \return an output of the last run; see Request::outputDesc() */
	Result<TensorDesc> outputDesc(size_t index) const;

	/** \return elements of an output tensor in \a order */
	Result<std::vector<std::byte>>
	outputElements(size_t index, ElementOrder order = ElementOrder::Nchw) const;

	/** \return numbers of an output tensor in \a order, dequantized with the quantization of
	 * outputs() */
	Result<std::vector<float>> outputFloat(size_t index,
					       ElementOrder order = ElementOrder::Nchw) const;

	/** \brief Run all tasks in their order and wait for the last task; see Request::run() */
	Result<RunReport> run(const RunOptions &options = {});

private:
	friend class Request;
	class Impl;
	explicit Network(std::unique_ptr<Impl> impl);

	std::unique_ptr<Impl> impl_;
};

} /* namespace nvdla */

#pragma GCC visibility pop
