/* SPDX-License-Identifier: MIT */
/* Reads the tasks of an ioctl's caller: arrays whose elements may be smaller or larger than those
 * of kmd/engine, because the caller's headers may have another version. */
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include <drm/nvdla_accel.h>

#include "user/nvdla_engine.h"

namespace nvdla
{

/* Copies a structure to the caller, as the kernel does, and zeroes the members that only the
 * caller's version has. */
template<typename T>
void writeStruct(uint64_t user, size_t userSize, const T &from)
{
	auto *to = reinterpret_cast<unsigned char *>(user);
	const size_t known = std::min(userSize, sizeof(T));

	std::memcpy(to, &from, known);
	std::memset(to + known, 0, userSize - known);
}

/*
 * Reads element \a index of an array whose elements have \a size bytes for the caller. As in the
 * kernel, members that the caller's version lacks are zero, and members that only the caller's
 * version has must be zero.
 */
template<typename T>
int copyElement(uint64_t array, uint32_t index, uint32_t size, T &to)
{
	const auto *from =
		reinterpret_cast<const unsigned char *>(array) + uint64_t{ index } * size;
	const size_t known = std::min<size_t>(size, sizeof(T));

	if (std::any_of(from + known, from + size, [](unsigned char byte) { return byte; }))
		return -E2BIG;
	to = {};
	std::memcpy(&to, from, known);
	return 0;
}

/* An array with elements of the size that kmd/engine knows: the caller's own array, or a copy if
 * the sizes differ. */
template<typename T>
class UserArray
{
public:
	/** \return 0 or a negative errno */
	int read(uint64_t array, uint32_t count, uint32_t size)
	{
		if (!count)
			return 0;
		if (!array)
			return -EFAULT;
		/*
		 * The caller's array is read in place, because the caller does not write to it
		 * during the call.
		 */
		data_ = reinterpret_cast<const T *>(array);
		if (size == sizeof(T))
			return 0;

		copy_.resize(count);
		data_ = copy_.data();
		for (uint32_t i = 0; i < count; i++) {
			if (const int error = copyElement(array, i, size, copy_[i]))
				return error;
		}
		return 0;
	}

	const T *data() const { return data_; }

private:
	const T *data_ = nullptr;
	std::vector<T> copy_;
};

/** \brief Descriptors of a task; the caller's arrays have to outlive it */
class TaskReader
{
public:
	/**
	 * \param[in] args arguments whose counts and sizes were checked
	 * \return 0 or a negative errno
	 */
	int read(const drm_nvdla_task &args);

	/** \return the task in the form for kmd/engine, without the extents of its buffers */
	const nvdla_task_source &source() const { return source_; }

private:
	UserArray<nvdla_graph_node> graph_;
	UserArray<nvdla_operation_desc> operations_;
	UserArray<nvdla_surface_desc> surfaces_;
	UserArray<nvdla_lut_desc> luts_;
	nvdla_task_source source_ = {};
};

/**
 * \brief Write the violated rule to the caller's struct drm_nvdla_error
 * \return -EINVAL
 */
int refuseTask(uint64_t user, uint32_t userSize, uint32_t task, nvdla_refusal &why);

} /* namespace nvdla */
