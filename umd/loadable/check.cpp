/* SPDX-License-Identifier: MIT */
/*
 * Checks that the verifier of FlatBuffers does not make: ids refer to entries, and ranges are
 * inside their memories.
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/core.h>
#include <nvdla/loadable.h>

#include "base/io/guarded.h"
#include "task_lists.h"

namespace nvdla
{

namespace
{

constexpr const char *checkingLoadable = "check loadable";

/* Largest size of a memory: no device has as much, and the sum of two sizes cannot overflow. */
constexpr uint64_t maxMemoryBytes = uint64_t{ 1 } << 40;

tl::unexpected<Error> bad(std::string where, std::string why)
{
	return fail(ErrorCode::InvalidFile, checkingLoadable, std::move(where), std::move(why));
}

/* Position of each entry in its list, by the entry's id. */
class Ids
{
public:
	template<typename List>
	Result<void> collect(const char *list, const List &entries)
	{
		list_ = list;
		for (size_t i = 0; i < entries.size(); i++) {
			if (!positions_.emplace(entries[i].id, i).second)
				return bad(fmt::format("{}[{}].id", list, i),
					   fmt::format("{} was used before", entries[i].id));
		}
		return {};
	}

	bool contains(uint16_t id) const { return positions_.contains(id); }
	size_t at(uint16_t id) const { return positions_.at(id); }

	/* Check fields that name one or several entries of this list. */
	Result<void> require(uint16_t id, const std::string &field) const
	{
		if (contains(id))
			return {};
		return bad(field, fmt::format("{} names no entry of {}", id, list_));
	}

	Result<void> require(const std::vector<uint16_t> &ids, const std::string &field) const
	{
		for (size_t i = 0; i < ids.size(); i++) {
			if (!contains(ids[i]))
				return require(ids[i], fmt::format("{}[{}]", field, i));
		}
		return {};
	}

private:
	const char *list_ = "";
	std::unordered_map<uint16_t, size_t> positions_;
};

class Checker
{
public:
	explicit Checker(const Loadable &loadable) : loadable_(loadable) {}

	Result<void> run()
	{
		return collectIds()
			.and_then([&] { return checkMemories(); })
			.and_then([&] { return checkAddresses(); })
			.and_then([&] { return checkTasks(); })
			.and_then([&] { return checkTensors(); })
			.and_then([&] { return checkRelocs(); })
			.and_then([&] { return checkStates(); });
	}

private:
	Result<void> collectIds();
	Result<void> checkMemories();
	Result<void> checkContents(const Memory &memory, const std::string &where);
	Result<void> checkAddresses();
	Result<void> checkHost(const Task &task, const std::string &where) const;
	Result<void> checkTasks();
	Result<void> checkTensors();
	Result<void> checkRelocs();
	Result<void> checkStates();

	const Memory &memoryOf(uint16_t id) const { return loadable_.memories[memories_.at(id)]; }

	const Loadable &loadable_;
	Ids memories_;
	Ids addresses_;
	Ids tasks_;
	Ids events_;
	Ids tensors_;
	Ids submits_;
	std::unordered_map<std::string_view, size_t> blobs_;
};

Result<void> Checker::collectIds()
{
	for (size_t i = 0; i < loadable_.blobs.size(); i++) {
		if (!blobs_.emplace(loadable_.blobs[i].name, i).second)
			return bad(fmt::format("blobs[{}].name", i),
				   fmt::format("\"{}\" was used before", loadable_.blobs[i].name));
	}
	return memories_.collect("memory_list", loadable_.memories)
		.and_then([&] { return addresses_.collect("address_list", loadable_.addresses); })
		.and_then([&] { return tasks_.collect("task_list", loadable_.tasks); })
		.and_then([&] { return events_.collect("event_list", loadable_.events); })
		.and_then([&] { return tensors_.collect("tensor_desc_list", loadable_.tensors); })
		.and_then([&] { return submits_.collect("submit_list", loadable_.submits); });
}

Result<void> Checker::checkMemories()
{
	for (size_t i = 0; i < loadable_.memories.size(); i++) {
		const Memory &memory = loadable_.memories[i];
		const std::string where = fmt::format("memory_list[{}]", i);

		if (memory.size == 0 || memory.size > maxMemoryBytes)
			return bad(where + ".size", fmt::format("is {}, must be 1 to {}",
								memory.size, maxMemoryBytes));
		if (memory.alignment & (memory.alignment - 1))
			return bad(where + ".alignment",
				   fmt::format("{} is no power of two", memory.alignment));
		if (auto checked = checkContents(memory, where); !checked)
			return checked;
	}
	return {};
}

Result<void> Checker::checkContents(const Memory &memory, const std::string &where)
{
	for (size_t i = 0; i < memory.contents.size(); i++) {
		const MemoryContent &content = memory.contents[i];
		const auto blob = blobs_.find(content.blob);

		if (blob == blobs_.end())
			return bad(fmt::format("{}.contents[{}]", where, i),
				   fmt::format("there is no blob \"{}\"", content.blob));
		const uint64_t bytes = loadable_.blobs[blob->second].data.size();
		if (content.offset > memory.size || bytes > memory.size - content.offset)
			return bad(fmt::format("{}.offsets[{}]", where, i),
				   fmt::format("blob \"{}\" of {} bytes at {} does not fit into a "
					       "memory of {} bytes",
					       content.blob, bytes, content.offset, memory.size));
	}
	return {};
}

Result<void> Checker::checkAddresses()
{
	for (size_t i = 0; i < loadable_.addresses.size(); i++) {
		const Address &address = loadable_.addresses[i];
		const std::string where = fmt::format("address_list[{}]", i);

		if (auto found = memories_.require(address.memId, where + ".mem_id"); !found)
			return found;
		const uint64_t bytes = memoryOf(address.memId).size;
		if (address.offset > bytes)
			return bad(where + ".offset",
				   fmt::format("{} is beyond the {} bytes of memory {}",
					       address.offset, bytes, address.memId));
	}
	return {};
}

/* Checks the fields that only host tasks use: the names of a blob and of tensors. */
Result<void> Checker::checkHost(const Task &task, const std::string &where) const
{
	if (!task.model.empty() && !blobs_.contains(task.model))
		return bad(where + ".model", fmt::format("there is no blob \"{}\"", task.model));
	return tensors_.require(task.inputs, where + ".inputs").and_then([&] {
		return tensors_.require(task.outputs, where + ".outputs");
	});
}

Result<void> Checker::checkTasks()
{
	for (size_t i = 0; i < loadable_.tasks.size(); i++) {
		const Task &task = loadable_.tasks[i];
		const std::string where = fmt::format("task_list[{}]", i);

		const bool isHost = task.interface == Interface::Host1;
		if (task.interface != Interface::Dla1 && task.interface != Interface::Emu1 &&
		    !isHost)
			return bad(where + ".interface",
				   fmt::format("{} is neither DLA, EMU nor HOST",
					       static_cast<uint32_t>(task.interface)));
		if (task.addressList.empty() && !isHost)
			return bad(where + ".address_list",
				   "is empty, its first entry leads to the descriptors");
		if (auto checked = checkHost(task, where); !checked)
			return checked;
		auto checked = addresses_.require(task.addressList, where + ".address_list")
				       .and_then([&] {
					       return events_.require(task.preActions,
								      where + ".pre_actions");
				       })
				       .and_then([&] {
					       return events_.require(task.postActions,
								      where + ".post_actions");
				       });
		if (!checked)
			return checked;
	}
	std::unordered_set<uint16_t> submitted;
	for (size_t i = 0; i < loadable_.submits.size(); i++) {
		const std::string where = fmt::format("submit_list[{}].task_id", i);
		auto checked = tasks_.require(loadable_.submits[i].taskIds, where);
		if (!checked)
			return checked;
		for (uint16_t id : loadable_.submits[i].taskIds) {
			if (!submitted.insert(id).second)
				return bad(where, fmt::format("task {} is there twice", id));
		}
	}
	return {};
}

Result<void> Checker::checkTensors()
{
	for (size_t i = 0; i < loadable_.tensors.size(); i++) {
		const TensorEntry &tensor = loadable_.tensors[i];
		const std::string where = fmt::format("tensor_desc_list[{}]", i);

		if (auto found = memories_.require(tensor.memId, where + ".mem_id"); !found)
			return found;
		const uint64_t bytes = memoryOf(tensor.memId).size;
		if (tensor.offset > bytes || tensor.size > bytes - tensor.offset)
			return bad(where + ".size",
				   fmt::format("\"{}\", {} bytes at {}, does not fit into memory "
					       "{} of {} bytes",
					       tensor.name, tensor.size, tensor.offset,
					       tensor.memId, bytes));
		const std::array<int32_t, 4> dimensions{ tensor.n, tensor.c, tensor.h, tensor.w };
		if (std::any_of(dimensions.begin(), dimensions.end(),
				[](int32_t dimension) { return dimension < 1; }))
			return bad(where, fmt::format("\"{}\" has dimensions {}x{}x{}x{}, each "
						      "must be 1 or more",
						      tensor.name, tensor.n, tensor.c, tensor.h,
						      tensor.w));
		const bool finite = std::all_of(tensor.scale.begin(), tensor.scale.end(),
						[](float scale) { return std::isfinite(scale); });
		if (!finite)
			return bad(
				where + ".scale",
				fmt::format("\"{}\" has a scale that is no number", tensor.name));
	}
	for (size_t i = 0; i < loadable_.memories.size(); i++) {
		const Memory &memory = loadable_.memories[i];
		if (!(memory.flags & (MemoryInput | MemoryOutput)))
			continue;
		auto found = tensors_.require(memory.tensorDescId,
					      fmt::format("memory_list[{}].tensor_desc_id", i));
		if (!found)
			return found;
	}
	return {};
}

Result<void> Checker::checkRelocs()
{
	for (size_t i = 0; i < loadable_.relocs.size(); i++) {
		const Reloc &reloc = loadable_.relocs[i];
		const std::string where = fmt::format("reloc_list[{}]", i);

		auto found =
			addresses_.require(reloc.addressId, where + ".address_id").and_then([&] {
				return memories_.require(reloc.writeId, where + ".write_id");
			});
		if (!found)
			return found;
		const uint64_t bytes = memoryOf(reloc.writeId).size;
		if (bytes < sizeof(uint32_t) || reloc.offset > bytes - sizeof(uint32_t))
			return bad(where + ".offset",
				   fmt::format("{} is beyond the {} bytes of memory {}",
					       reloc.offset, bytes, reloc.writeId));
	}
	return {};
}

/* Checks that both tensors of a state have one layout, because runs copy bytes between them. */
Result<void> Checker::checkStates()
{
	std::unordered_set<uint16_t> used;

	for (size_t i = 0; i < loadable_.states.size(); i++) {
		const auto &[before, after] = loadable_.states[i];
		const std::string where = fmt::format("state_list[{}]", i);
		auto found = tensors_.require({ before, after }, where);
		if (!found)
			return found;
		const TensorEntry &from = loadable_.tensors[tensors_.at(after)];
		const TensorEntry &to = loadable_.tensors[tensors_.at(before)];
		if (!used.insert(from.memId).second || !used.insert(to.memId).second)
			return bad(where,
				   "a memory of its tensors holds another tensor of a state");
		if (!(memoryOf(from.memId).flags & MemoryOutput) ||
		    !(memoryOf(to.memId).flags & MemoryInput))
			return bad(where,
				   "before is in no input memory, or after in no output memory");
		if (!haveSameLayout(from, to))
			return bad(where, fmt::format("\"{}\" and \"{}\" have different layouts",
						      to.name, from.name));
	}
	return {};
}

template<typename List, typename Key>
auto find(const List &list, Key key) -> const typename List::value_type *
{
	const auto entry =
		std::find_if(list.begin(), list.end(), [&](const auto &e) { return e.id == key; });
	return entry == list.end() ? nullptr : &*entry;
}

/* Converts an entry's scales and zero points; TensorDesc::check() checks their values later. */
Result<TensorQuantization> quantizationOf(const TensorEntry &entry)
{
	std::vector<Quantization> values;

	if (entry.scale.size() != entry.zeroPoint.size())
		return bad(fmt::format("tensor '{}' scale", entry.name),
			   fmt::format("has {} numbers, zero_point {}", entry.scale.size(),
				       entry.zeroPoint.size()));
	for (size_t i = 0; i < entry.scale.size(); i++)
		values.push_back({ entry.scale[i], entry.zeroPoint[i] });
	return TensorQuantization(std::move(values));
}

} /* namespace */

std::string toString(Version version)
{
	return fmt::format("{}.{}.{}", version.major, version.minor, version.subMinor);
}

Result<void> checkLoadable(const Loadable &loadable)
{
	return guarded("check loadable", [&]() -> Result<void> { return Checker(loadable).run(); });
}

Result<void> Loadable::check()
{
	if (auto checked = checkLoadable(*this); !checked)
		return checked;
	/* Compilers write the size of the whole memory into every address of it, and 0 into
	 * addresses of descriptor lists. */
	for (Address &address : addresses) {
		const uint64_t rest = memory(address.memId)->size - address.offset;
		if (address.size == 0 || address.size > rest)
			address.size = rest;
	}
	return {};
}

const Memory *Loadable::memory(uint16_t id) const
{
	return find(memories, id);
}

const Address *Loadable::address(uint16_t id) const
{
	return find(addresses, id);
}

const Task *Loadable::task(uint16_t id) const
{
	return find(tasks, id);
}

const Blob *Loadable::blob(const std::string &name) const
{
	const auto entry = std::find_if(blobs.begin(), blobs.end(),
					[&](const Blob &blob) { return blob.name == name; });
	return entry == blobs.end() ? nullptr : &*entry;
}

bool haveSameLayout(const TensorEntry &a, const TensorEntry &b)
{
	/* If lines follow each other without gaps, it does not matter how pixels are divided into
	 * lines. */
	const auto layout = [](const TensorEntry &tensor) {
		const auto lineStride = tensor.stride[1];
		const bool hasGaps =
			lineStride * static_cast<uint64_t>(tensor.h) != tensor.stride[2];
		return std::tuple(tensor.size, tensor.dataType, tensor.pixelFormat, tensor.n,
				  tensor.c, int64_t{ tensor.h } * tensor.w, hasGaps ? tensor.w : 0,
				  hasGaps ? lineStride : 0, tensor.stride[2], tensor.scale,
				  tensor.zeroPoint);
	};

	return layout(a) == layout(b);
}

Result<TensorDesc> describeTensor(const TensorEntry &entry)
{
	TensorDesc desc;

	desc.name = entry.name;
	desc.type = static_cast<DataType>(entry.dataType);
	desc.format = static_cast<PixelFormat>(entry.pixelFormat);
	desc.n = static_cast<uint32_t>(entry.n);
	desc.c = static_cast<uint32_t>(entry.c);
	desc.h = static_cast<uint32_t>(entry.h);
	desc.w = static_cast<uint32_t>(entry.w);
	desc.lineStride = entry.stride[1];
	desc.surfaceStride = entry.stride[2];
	desc.lineStrideUv = entry.stride[3];
	desc.size = entry.size;
	desc.memory = entry.memId;
	desc.offset = entry.offset;
	auto quantization = quantizationOf(entry);
	if (!quantization)
		return forward(quantization);
	desc.quantization = std::move(*quantization);
	desc.signature = entry.signature;
	return desc;
}

/* Returns the tensors that the application binds, without those of states, by bind id. */
Result<std::vector<TensorDesc>> describeTensors(const Loadable &loadable, MemoryFlags direction)
{
	struct Bound {
		uint16_t bindId;
		TensorDesc desc;
	};
	std::vector<Bound> found;
	std::unordered_set<uint16_t> ofStates;

	for (const StateEntry &state : loadable.states)
		ofStates.insert({ state.before, state.after });
	for (const TensorEntry &entry : loadable.tensors) {
		const Memory *home = loadable.memory(entry.memId);
		if (!home || !(home->flags & direction) || ofStates.contains(entry.id))
			continue;
		auto desc = describeTensor(entry);
		if (!desc)
			return forward(desc);
		found.push_back({ home->bindId, std::move(*desc) });
	}
	std::stable_sort(found.begin(), found.end(),
			 [](const Bound &a, const Bound &b) { return a.bindId < b.bindId; });

	std::vector<TensorDesc> descs;
	for (Bound &bound : found)
		descs.push_back(std::move(bound.desc));
	return descs;
}

Result<std::vector<TensorDesc>> Loadable::bound(MemoryFlags direction) const
{
	return guarded("describe tensors", [&]() -> Result<std::vector<TensorDesc>> {
		auto descs = describeTensors(*this, direction);
		for (size_t i = 0; descs && i < descs->size(); i++) {
			if (auto checked = (*descs)[i].check(); !checked)
				return forward(checked);
		}
		return descs;
	});
}

} /* namespace nvdla */
