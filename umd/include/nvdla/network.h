/* SPDX-License-Identifier: MIT */
/*
 * Networks: loadables that reside on a device.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <nvdla/device.h>
#include <nvdla/error.h>
#include <nvdla/loadable.h>
#include <nvdla/tensor.h>

namespace nvdla
{

/** \brief How to run a network */
struct RunOptions {
	/** \brief Longest time one job may take on the hardware, and be waited for beyond that */
	std::chrono::milliseconds timeout{ 30000 };
};

/** \brief What a run did */
struct RunReport {
	struct Step {
		bool cpu = false;   /**< a CPU task; otherwise tasks of one job */
		unsigned tasks = 0; /**< tasks of the loadable in this step */
		unsigned operations = 0;
		std::chrono::nanoseconds duration{ 0 }; /**< from submission to completion */
	};

	std::vector<Step> steps;
	std::chrono::nanoseconds duration{ 0 };
};

/**
 * \brief A loadable resident on a device, with memory of its own
 *
 * Any number of networks may reside on a device and run at the same time, each
 * from one thread at a time. A network may be run any number of times.
 */
class Network
{
public:
	/**
	 * \brief Allocate the memories of a loadable and write what they hold at the start
	 * \param[in] device keeps open as long as the network lives
	 * \param[in] loadable not needed afterwards
	 */
	static Result<Network> load(const Device &device, const Loadable &loadable);

	Network(Network &&) noexcept;
	Network &operator=(Network &&) noexcept;
	~Network();

	/** \return tensors to write before a run and to read after it, by bind id */
	const std::vector<TensorDesc> &inputs() const;
	const std::vector<TensorDesc> &outputs() const;

	/**
	 * \brief Write an input tensor
	 *
	 * It keeps its value over any number of runs; before the first write it is
	 * zero.
	 *
	 * \param[in] index into inputs()
	 * \param[in] tensor bytes in the tensor's layout, exactly its size
	 * \return InvalidArgument naming both sizes if they differ
	 */
	Result<void> setInput(size_t index, std::span<const std::byte> tensor);

	/** \brief As setInput(), from elements in N, C, H, W order */
	Result<void> setInputElements(size_t index, std::span<const std::byte> elements);

	/** \return bytes of an output tensor in its layout */
	Result<std::vector<std::byte>> output(size_t index) const;

	/** \return elements of an output tensor in N, C, H, W order */
	Result<std::vector<std::byte>> outputElements(size_t index) const;

	/** \brief Run all tasks in their order and wait for the last */
	Result<RunReport> run(const RunOptions &options = {});

private:
	class Impl;
	explicit Network(std::unique_ptr<Impl> impl);

	std::unique_ptr<Impl> impl_;
};

} /* namespace nvdla */
