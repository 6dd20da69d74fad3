/* SPDX-License-Identifier: MIT */
/*
 * Objects behind the C interface's pointers, and conversion of its status values.
 */
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <fmt/core.h>
#include <nvdla/device_watch.h>
#include <nvdla/network.h>
#include <nvdla/nvdla.h>
#include <nvdla/pool.h>

#include "base/io/guarded.h"

namespace nvdla::c_api
{

/**
 * \brief Holder of the request pointer that callbacks get. nvdla_request_free() waits until no
 * callback uses the pointer
 */
class RequestHandle
{
public:
	/** \brief Exists while a callback runs. \a request is null if the application has freed the
	 * request */
	class Use
	{
	public:
		explicit Use(RequestHandle &handle);
		~Use();
		Use(const Use &) = delete;
		Use &operator=(const Use &) = delete;

		nvdla_request *request;

	private:
		RequestHandle &handle_;
	};

	/**
	 * \brief Called before the request is freed: waits for a running callback, unless the
	 * callback itself calls this function
	 */
	void forget();

	nvdla_request *request = nullptr;

private:
	std::mutex lock_;
	std::condition_variable changed_;
	std::thread::id user_; /* thread of the running callback */
};

} /* namespace nvdla::c_api */

struct nvdla_device {
	nvdla::Device device;
};

struct nvdla_buffer {
	nvdla::Buffer buffer;
	std::optional<nvdla::Buffer::Access> access = {};
};

struct nvdla_loop {
	nvdla::EventLoop loop;
};

struct nvdla_network {
	nvdla::Network network;
	std::optional<nvdla::ElementOrder> order = {}; /* order of elements that the application
							  chose; nothing: each tensor's own */
};

struct nvdla_pool {
	nvdla::Pool pool;
};

struct nvdla_pool_answer {
	nvdla::PoolAnswer answer;
};

struct nvdla_report {
	nvdla::RunReport report;
};

struct nvdla_request {
	nvdla::Request request;
	/* Element order of each input and output */
	std::vector<nvdla::ElementOrder> inputOrders, outputOrders;
	std::shared_ptr<nvdla::c_api::RequestHandle> handle;
};

struct nvdla_watch {
	nvdla::DeviceWatch watch;
};

namespace nvdla::c_api
{

inline nvdla_status statusOf(ErrorCode code)
{
	return static_cast<nvdla_status>(static_cast<int>(code) + 1);
}

/** \brief Keep \a error for nvdla_last_error(), and return its status */
nvdla_status failure(const Error &error) noexcept;

/** \brief Run the body of a function of the C interface; no exception leaves it */
template<typename Work>
nvdla_status guardedCall(const char *what, Work work) noexcept
{
	const Result<nvdla_status> status =
		guarded(what, [&]() -> Result<nvdla_status> { return work(); });

	return status ? *status : failure(status.error());
}

/** \return the message of \a error, for a callback; a fixed text if there is no memory for it */
std::string wordsOf(const Error &error) noexcept;

/** \brief Keep the error "argument is missing" of a function of the C interface, and return its
 * status */
nvdla_status missing(const char *function, const char *argument);

/** \brief Keep the error of a function that got a struct whose size is 0, and return its status */
nvdla_status noSize(const char *function);

/**
 * \brief Copy a struct of the caller, whose version of the struct may be older (shorter) or newer
 * (longer)
 * \param[in] from may be null
 * \param[out] to members that the caller's version lacks keep their values
 */
template<typename Struct>
nvdla_status readSized(const char *function, const Struct *from, Struct &to)
{
	if (!from)
		return NVDLA_STATUS_OK;
	if (from->size < sizeof(from->size))
		return noSize(function);
	std::memcpy(&to, from, std::min(from->size, sizeof(to)));
	return NVDLA_STATUS_OK;
}

/** \brief Copy a struct to the caller: as many bytes as the caller's version has */
template<typename Struct>
nvdla_status writeSized(const char *function, const Struct &from, Struct *to)
{
	const size_t size = to->size;

	if (size < sizeof(size))
		return noSize(function);
	std::memcpy(to, &from, std::min(size, sizeof(from)));
	to->size = size;
	return NVDLA_STATUS_OK;
}

/** \brief Read options, which may be null. Members of \a to keep their values where the options are
 * zero */
nvdla_status readRunOptions(const nvdla_run_options *options, RunOptions &to);

/** \brief Describe tensor number \a index of a network's inputs or outputs */
nvdla_status describe(const std::vector<TensorDesc> &tensors, size_t index,
		      nvdla_tensor_info *info);

/** \brief Keep the error of a function that got an invalid tensor \a index, and return its
 * status */
nvdla_status noTensor(const char *what, size_t index, const std::vector<TensorDesc> &tensors);

nvdla_status giveReport(const RunReport &report, nvdla_report **to);

std::optional<EventLoop> loopOf(const nvdla_loop *loop);

/** \return nothing for NVDLA_ORDER_MODEL; InvalidArgument for an unknown order */
Result<std::optional<ElementOrder>> orderOf(const char *what, uint32_t order);

inline std::span<const std::byte> bytesAt(const void *data, size_t size)
{
	return { static_cast<const std::byte *>(data), size };
}

/**
 * \brief Copy values to memory of the caller. \a size must be the number of values; \a kind names
 * the values in the error
 */
template<typename Values, typename T>
nvdla_status copyOut(const char *what, const char *field, const Values &from, T *to, size_t size,
		     const char *kind)
{
	if ((size && !to) || size != from.size())
		return failure({ ErrorCode::InvalidArgument, what, field,
				 fmt::format("room for {} {} given, it has {}", to ? size : 0, kind,
					     from.size()) });
	std::copy(from.begin(), from.end(), to);
	return NVDLA_STATUS_OK;
}

/** \brief Copy the lengths of a tensor's axes; there are nvdla_tensor_info.rank of them */
inline nvdla_status copyShape(const char *what, const TensorDesc &desc, uint32_t *shape,
			      size_t rank)
{
	return copyOut(what, "shape",
		       desc.signature ? desc.signature->shape : std::vector<uint32_t>(), shape,
		       rank, "lengths");
}

template<typename T>
nvdla_status statusOf(const Result<T> &result)
{
	return result ? NVDLA_STATUS_OK : failure(result.error());
}

} /* namespace nvdla::c_api */
