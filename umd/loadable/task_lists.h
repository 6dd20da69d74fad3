/* SPDX-License-Identifier: MIT */
/*
 * Descriptor lists of a task: bytes that a memory holds at the start.
 */
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include <nvdla/task.h>

namespace nvdla
{

/** \brief Bytes of a descriptor list and the version of the blob they are from */
struct DescriptorList {
	std::span<const std::byte> bytes;
	Version version;
};

/** \brief Finds the descriptor lists of one task */
class TaskLists
{
public:
	/** \param[in] task an entry of \a loadable's task list; both must outlive this object */
	TaskLists(const Loadable &loadable, const Task &task) : loadable_(loadable), task_(task) {}

	/**
	 * \brief The bytes at the address with the given index
	 *
	 * Starts where the address does and ends with the blob, the memory or
	 * the address, whatever comes first.
	 *
	 * \param[in] name what it is, for the error
	 * \param[in] index into the task's address list
	 * \param[in] bytes that have to be there
	 */
	Result<DescriptorList> find(const char *name, int index, uint64_t bytes) const;

	/** \return the task's addresses; \a used is false everywhere */
	std::vector<TaskAddress> addresses() const;

	/** \return "task_list id <id>.<name>" */
	std::string where(const std::string &name) const;

private:
	const Loadable &loadable_;
	const Task &task_;
};

/** \brief Copy element \a index of an array with the given stride out of \a bytes */
template<typename T>
T element(std::span<const std::byte> bytes, size_t index, size_t stride = sizeof(T))
{
	static_assert(std::is_trivially_copyable_v<T>);
	T value;

	std::memcpy(&value, bytes.data() + index * stride, sizeof(T));
	return value;
}

} /* namespace nvdla */
