/* SPDX-License-Identifier: MIT */
/*
 * A partition: a part of a framework's network that the device computes.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>
#include <nvdla/network.h>

#include "base/tensor/host_tensor.h"
#include "session.h"

namespace nvdla::plugin
{

/** \brief Computes a partition with the framework's own code on the CPU, after the device was
 * lost */
class CpuNetwork
{
public:
	virtual ~CpuNetwork() = default;
	/** \brief Compute the partition; arguments and result are those of Partition::run() */
	virtual Result<void> run(std::span<const HostTensor> inputs,
				 std::span<const HostTensor> outputs) = 0;
};

/**
 * \brief Compile a partition
 *
 * \param[in] session has the device and the cache for the partition
 * \param[in] model a file of the framework's format that contains only the partition
 * \return the result or the error of compileModel(); Unsupported also if the core would compute
 * nothing. If the result comes from the cache, its report is empty
 */
Result<CompiledModel> compilePartition(const Session &session, std::span<const std::byte> model);

/** \return layers that the runtime would compute on the CPU; a plug-in leaves these to the
 * framework */
std::vector<LayerReport> layersOnCpu(const CompileReport &report);

/**
 * \brief A compiled partition that resides on a device
 *
 * Used from one thread at a time.
 */
class Partition
{
public:
	/**
	 * \brief Bring a partition to the session's device
	 * \param[in] name name of the partition in the log
	 * \param[in] cpu computes the partition after the device was lost
	 */
	static Result<std::unique_ptr<Partition>> load(std::shared_ptr<Session> session,
						       const CompiledModel &compiled,
						       std::string name,
						       std::unique_ptr<CpuNetwork> cpu);

	Partition(const Partition &) = delete;
	Partition &operator=(const Partition &) = delete;
	/** \brief Logs the number and the times of all runs, if Options::profile is set */
	~Partition();

	/**
	 * \brief Get the device memory of an input, in which the framework may keep the input
	 *
	 * run() does not copy an input that is in this memory. The memory exists as long as the
	 * partition; during a run the framework must not access it.
	 *
	 * \param[in] type element type of the framework's tensor
	 * \return nothing if the device and the framework store the elements differently
	 */
	std::span<std::byte> inputMemory(size_t index, DataType type) const;
	/** \brief Get the device memory of an output; rules as for inputMemory() */
	std::span<std::byte> outputMemory(size_t index, DataType type) const;

	/**
	 * \brief Compute the partition on the device, or on the CPU after the device was lost
	 * \param[in] inputs in the types and the order of the model
	 * \param[in] outputs get the results
	 * \return InvalidArgument for a wrong number of tensors; an error of the computation on the
	 * CPU, for instance because a tensor has another type or size. Errors of the run on the
	 * device are not returned: the device then counts as lost (Session::lose()), and the CPU
	 * computes the partition
	 */
	Result<void> run(std::span<const HostTensor> inputs, std::span<const HostTensor> outputs);

private:
	/* An input or output of the partition, and its memory. */
	struct End {
		TensorDesc desc;
		/* Memory that the device accesses directly; nothing if run() copies the tensor. */
		std::optional<Buffer> buffer = {};
		/* Set while the CPU has access to the buffer. */
		std::optional<Buffer::Access> access = {};
		std::span<std::byte> bytes = {};
	};

	Partition(std::shared_ptr<Session> session, Network network, Request request,
		  std::string name, std::unique_ptr<CpuNetwork> cpu);

	using Bind = Result<void> (Request::*)(size_t, TensorPlace);
	Result<std::vector<End>> makeEnds(const std::vector<TensorDesc> &tensors, Bind bind);
	Result<void> runOnDevice(std::span<const HostTensor> inputs,
				 std::span<const HostTensor> outputs);
	Result<void> setInput(size_t index, const HostTensor &input);
	Result<void> takeOutput(size_t index, const HostTensor &output);
	Result<void> takeBack(std::vector<End> &ends);
	static std::span<std::byte> memoryOf(const End &end, DataType type);

	std::shared_ptr<Session> session_;
	Network network_;
	Request request_;
	std::vector<End> inputs_;
	std::vector<End> outputs_;
	std::string name_;
	std::unique_ptr<CpuNetwork> cpu_;
	unsigned runs_ = 0;
	unsigned runsOnCpu_ = 0;
	std::chrono::nanoseconds whole_{ 0 };
	std::chrono::nanoseconds onDevice_{ 0 };
};

} /* namespace nvdla::plugin */
