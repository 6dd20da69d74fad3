/* SPDX-License-Identifier: MIT */
/* Descriptor lists of a task: bytes that a memory holds at the start. */
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <nvdla/task.h>

namespace nvdla
{

/** \brief Bytes of a descriptor list and the version of the blob they are from */
struct DescriptorList {
	std::span<const std::byte> bytes;
	Version version;
};

/**
 * \brief Finds objects of a loadable by their ids and names
 *
 * Every task looks up each of its addresses; searching the lists each time would take time
 * quadratic in the size of a hostile file.
 */
class LoadableIndex
{
public:
	/** \brief A blob in a memory */
	struct Content {
		uint64_t offset;
		const Blob *blob;
	};

	/** \param[in] loadable that passed Loadable::check(); must outlive this object */
	explicit LoadableIndex(const Loadable &loadable);

	/** \return the entry, nullptr if there is none */
	const Task *task(uint16_t id) const { return at(tasks_, id); }
	const Address *address(uint16_t id) const { return at(addresses_, id); }
	const TensorEntry *tensor(uint16_t id) const { return at(tensors_, id); }
	/** \return initial contents of a memory */
	const std::vector<Content> &contents(uint16_t memory) const { return contents_.at(memory); }

private:
	template<typename Map>
	static typename Map::mapped_type at(const Map &map, uint16_t id)
	{
		const auto entry = map.find(id);
		return entry == map.end() ? nullptr : entry->second;
	}

	std::unordered_map<uint16_t, const Task *> tasks_;
	std::unordered_map<uint16_t, const Address *> addresses_;
	std::unordered_map<uint16_t, const TensorEntry *> tensors_;
	std::unordered_map<uint16_t, std::vector<Content>> contents_;
};

/** \brief Finds the descriptor lists of one task */
class TaskLists
{
public:
	/** \param[in] task an entry of the loadable's task list; both must outlive this object */
	TaskLists(const LoadableIndex &index, const Task &task) : index_(index), task_(task) {}

	/**
	 * \brief Find the bytes at the address with the given index
	 *
	 * They start at the address and end with the blob, the memory or the address entry,
	 * whichever comes first.
	 *
	 * \param[in] name name of the data, for the error
	 * \param[in] index into the task's address list
	 * \param[in] bytes required number of bytes
	 */
	Result<DescriptorList> find(const char *name, int index, uint64_t bytes) const;

	/** \return the task's addresses, with TaskAddress::used not yet set */
	std::vector<TaskAddress> addresses() const;
	size_t addressCount() const { return task_.addressList.size(); }

	/** \return for each of the \a operations the name of its layer, or an empty list;
	 * InvalidFile if the task has another number of names */
	Result<std::vector<std::string>> layers(size_t operations) const;

	/** \return "task ID NAME", for errors */
	std::string where(const std::string &name) const;

private:
	const LoadableIndex &index_;
	const Task &task_;
};

/** \brief Like dlaTask() of a loadable, faster for several tasks */
Result<DlaTask> dlaTask(const LoadableIndex &index, uint16_t id);
/** \brief Like emuTask() of a loadable, faster for several tasks */
Result<EmuTask> emuTask(const LoadableIndex &index, uint16_t id);
/** \brief Like hostTask() of a loadable, faster for several tasks */
Result<HostTask> hostTask(const LoadableIndex &index, uint16_t id);

/** \brief Copy element \a index of an array with the given stride out of \a bytes */
template<typename T>
T element(std::span<const std::byte> bytes, size_t index, size_t stride = sizeof(T))
{
	static_assert(std::is_trivially_copyable_v<T>);
	T value;

	std::memcpy(&value, bytes.data() + index * stride, sizeof(T));
	return value;
}

/** \return a tensor as the loadable describes it, not yet checked */
Result<TensorDesc> describeTensor(const TensorEntry &entry);
/** \return true if the bytes of one tensor can replace those of the other */
bool haveSameLayout(const TensorEntry &a, const TensorEntry &b);

/**
 * \return tensors that the application binds, as the loadable describes them: not yet checked,
 * since a layout for another core may not even fit
 */
Result<std::vector<TensorDesc>> describeTensors(const Loadable &loadable, MemoryFlags direction);

} /* namespace nvdla */
