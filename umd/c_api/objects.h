/* SPDX-License-Identifier: MIT */
/*
 * What is behind the C interface's pointers and status values.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include <nvdla/network.h>
#include <nvdla/nvdla.h>

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
	/* What callbacks are given; null once the application freed the request. */
	std::shared_ptr<std::atomic<nvdla_request *>> self;
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
