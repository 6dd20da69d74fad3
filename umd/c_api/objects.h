/* SPDX-License-Identifier: MIT */
/*
 * What is behind the C interface's pointers and status values.
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
#include <thread>

#include <nvdla/network.h>
#include <nvdla/nvdla.h>

namespace nvdla::c_api
{

/** \brief The pointer that callbacks are given: not freed while one of them has it */
class RequestHandle
{
public:
	/** \brief A callback that runs; \a request is null once the application freed it */
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

	/** \brief It is about to be freed; waits for a callback, unless that is the caller */
	void forget();

	nvdla_request *request = nullptr;

private:
	std::mutex lock_;
	std::condition_variable changed_;
	std::thread::id user_; /* thread of the callback that runs */
};

} /* namespace nvdla::c_api */

struct nvdla_device {
	nvdla::Device device;
};

struct nvdla_buffer {
	nvdla::Buffer buffer;
	std::optional<nvdla::Buffer::Access> access = {};
};

struct nvdla_network {
	nvdla::Network network;
};

struct nvdla_request {
	nvdla::Request request;
	std::shared_ptr<nvdla::c_api::RequestHandle> handle;
};

namespace nvdla::c_api
{

inline nvdla_status statusOf(ErrorCode code)
{
	return static_cast<nvdla_status>(static_cast<int>(code) + 1);
}

/** \brief Keep \a error for nvdla_last_error() */
nvdla_status failure(const Error &error);

/** \brief The failure of a function that was given no \a argument */
nvdla_status missing(const char *function, const char *argument);

/** \brief The failure of a function that was given a struct without its size */
nvdla_status noSize(const char *function);

/**
 * \brief Take a struct of the caller's, whose version of it may be shorter or longer
 * \param[out] to what the caller does not have keeps its value
 */
template<typename Struct>
nvdla_status readSized(const char *function, const Struct *from, Struct &to)
{
	if (from->size < sizeof(from->size))
		return noSize(function);
	std::memcpy(&to, from, std::min(from->size, sizeof(to)));
	return NVDLA_STATUS_OK;
}

/** \brief Give the caller as much of a struct as its version of it has */
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

inline std::span<const std::byte> bytesAt(const void *data, size_t size)
{
	return { static_cast<const std::byte *>(data), size };
}

template<typename T>
nvdla_status statusOf(const Result<T> &result)
{
	return result ? NVDLA_STATUS_OK : failure(result.error());
}

} /* namespace nvdla::c_api */
