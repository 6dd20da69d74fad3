/* SPDX-License-Identifier: MIT */
/*
 * Reads a loadable's file. The FlatBuffers verifier runs table by table, so that the error names
 * the damaged entry.
 */
#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/core.h>
#include <nvdla/loadable.h>

#include "base/io/file.h"
#include "base/io/guarded.h"
#include "loadable/file_kind.h"
#include "loadable_generated.h"

namespace nvdla
{

namespace
{

constexpr const char *readingLoadable = "read loadable";

/* Limits of nesting and of tables, far above those that a compiler emits; they bound the work that
 * a hostile file can cause. */
constexpr flatbuffers::uoffset_t maxDepth = 8;
constexpr flatbuffers::uoffset_t maxTables = 1000000;
/* Alignment of the largest scalar of the format, which the verifier checks. */
constexpr size_t largestAlignment = 8;

constexpr const char *sharedReason =
	"with this entry more is named than the file has: entries share their data";

tl::unexpected<Error> damaged(std::string where, std::string why)
{
	return fail(ErrorCode::InvalidFile, readingLoadable, std::move(where), std::move(why));
}

/* FlatBuffers' generated classes hide their base class, which can verify single fields. */
const flatbuffers::Table *asTable(const fb::Loadable *root)
{
	return reinterpret_cast<const flatbuffers::Table *>(root);
}

template<typename T>
using List = flatbuffers::Vector<flatbuffers::Offset<T>>;

class Reader
{
public:
	/** \param[in] bytes the file behind \a skip other bytes; aligned for the format's scalars;
	 * must outlive the reader */
	Reader(std::span<const std::byte> bytes, size_t skip)
		: bytes_(bytes), skip_(skip),
		  verifier_(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), maxDepth,
			    maxTables),
		  left_(bytes.size())
	{
	}

	Result<Loadable> run();

private:
	Result<void> openRoot();

	/* Verify one list and every entry of it, then convert each entry. */
	template<typename T, typename Convert>
	Result<void> readList(const char *name, flatbuffers::voffset_t field,
			      const List<T> *(fb::Loadable::*list)() const, Convert convert);

	/*
	 * Entries may share data, so a small file could expand to any amount of memory. So the
	 * total of all copied bytes is limited to the size of the file.
	 */
	bool afford(size_t bytes);
	template<typename T>
	bool affordStrings(const T &entry, flatbuffers::voffset_t field,
			   const List<flatbuffers::String> *(T::*list)() const);
	template<typename T>
	bool canBeVerified(const T &entry);
	std::string text(const flatbuffers::String *string);
	template<typename T>
	std::vector<T> copyVector(const flatbuffers::Vector<T> *vector);
	std::optional<PixelScaling> pixelsOf(const fb::TensorSignature &signature);
	std::vector<std::string> copyStrings(const List<flatbuffers::String> *strings);

	Result<void> readMemory(const fb::MemoryListEntry &entry, const std::string &where);
	Result<void> readBlob(const fb::Blob &entry, const std::string &where);
	void readTask(const fb::TaskListEntry &entry);
	void readTensor(const fb::TensorDescListEntry &entry);

	std::span<const std::byte> bytes_;
	size_t skip_;
	flatbuffers::Verifier verifier_;
	const fb::Loadable *root_ = nullptr;
	Loadable loadable_;
	size_t left_; /* number of bytes that may still be copied */
	bool exhausted_ = false;
};

bool Reader::afford(size_t bytes)
{
	exhausted_ = exhausted_ || bytes > left_;
	left_ -= exhausted_ ? 0 : bytes;
	return !exhausted_;
}

std::string Reader::text(const flatbuffers::String *string)
{
	return string && afford(string->size()) ? string->str() : std::string();
}

template<typename T>
std::vector<T> Reader::copyVector(const flatbuffers::Vector<T> *vector)
{
	if (!vector || !afford(vector->size() * sizeof(T)))
		return {};
	return { vector->begin(), vector->end() };
}

/* A list of other than four means makes the tensor's description invalid, by NaNs. */
std::optional<PixelScaling> Reader::pixelsOf(const fb::TensorSignature &signature)
{
	const std::vector<float> mean = copyVector(signature.pixel_mean());
	PixelScaling pixels{ .normalize = signature.pixel_divisor() };

	if (!signature.pixel_mean())
		return std::nullopt;
	pixels.mean.fill(std::numeric_limits<float>::quiet_NaN());
	if (mean.size() == pixels.mean.size())
		std::ranges::copy(mean, pixels.mean.begin());
	return pixels;
}

std::vector<std::string> Reader::copyStrings(const List<flatbuffers::String> *strings)
{
	std::vector<std::string> copied;

	if (strings) {
		for (const flatbuffers::String *string : *strings)
			copied.push_back(text(string));
	}
	return copied;
}

/*
 * Entries may share a list of strings, and the verifier checks the list again for each of them. So
 * the list counts towards the limit of bytes once for each entry.
 */
template<typename T>
bool Reader::affordStrings(const T &entry, flatbuffers::voffset_t field,
			   const List<flatbuffers::String> *(T::*list)() const)
{
	const auto &table = reinterpret_cast<const flatbuffers::Table &>(entry);

	if (!table.VerifyTableStart(verifier_) || !table.VerifyOffset(verifier_, field) ||
	    !verifier_.VerifyVector((entry.*list)()) || !verifier_.EndTable())
		return false;
	return !(entry.*list)() || afford((entry.*list)()->size() * sizeof(flatbuffers::uoffset_t));
}

template<typename T>
bool Reader::canBeVerified([[maybe_unused]] const T &entry)
{
	return true;
}

template<>
bool Reader::canBeVerified(const fb::MemoryListEntry &entry)
{
	return affordStrings(entry, fb::MemoryListEntry::VT_CONTENTS,
			     &fb::MemoryListEntry::contents);
}

template<>
bool Reader::canBeVerified(const fb::TaskListEntry &entry)
{
	return affordStrings(entry, fb::TaskListEntry::VT_LAYERS, &fb::TaskListEntry::layers) &&
	       affordStrings(entry, fb::TaskListEntry::VT_REASONS, &fb::TaskListEntry::reasons);
}

Version toVersion(const fb::Version *version)
{
	if (!version)
		return {};
	return { version->major(), version->minor(), version->sub_minor() };
}

Result<void> Reader::openRoot()
{
	/* Bytes of the root offset, the identifier and an empty table. */
	constexpr size_t smallest = 16;
	const auto file = bytes_.subspan(skip_);
	if (file.size() < smallest)
		return damaged("file",
			       fmt::format("{} bytes is too short for a loadable", file.size()));

	const auto offset = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(file.data());
	if (offset < sizeof(offset) || offset > file.size() - sizeof(flatbuffers::soffset_t) ||
	    (skip_ + offset) % alignof(flatbuffers::soffset_t))
		return damaged("file", fmt::format("{}: its first table would be at byte {} of {}",
						   unreadableKind(file), offset, file.size()));

	root_ = reinterpret_cast<const fb::Loadable *>(file.data() + offset);
	if (!asTable(root_)->VerifyTableStart(verifier_))
		return damaged("file", fmt::format("{}: its first table lies outside of the file",
						   unreadableKind(file)));
	if (!asTable(root_)->VerifyField<fb::Version>(verifier_, fb::Loadable::VT_VERSION,
						      alignof(fb::Version)) ||
	    !root_->version())
		return damaged("version", "is missing or lies outside of the file");

	loadable_.version = toVersion(root_->version());
	if (loadable_.version.major != 0 || loadable_.version.minor != 7)
		return fail(
			ErrorCode::Unsupported, readingLoadable, "version",
			fmt::format("is {}, this library reads 0.7", toString(loadable_.version)));
	if (!asTable(root_)->VerifyOffset(verifier_, fb::Loadable::VT_VARIANT) ||
	    !verifier_.VerifyString(root_->variant()))
		return damaged("variant", "lies outside of the file");
	loadable_.variant = text(root_->variant());
	return {};
}

template<typename T, typename Convert>
Result<void> Reader::readList(const char *name, flatbuffers::voffset_t field,
			      const List<T> *(fb::Loadable::*list)() const, Convert convert)
{
	if (!asTable(root_)->VerifyOffset(verifier_, field) ||
	    !verifier_.VerifyVector((root_->*list)()))
		return damaged(name, "the list lies outside of the file");

	const List<T> *entries = (root_->*list)();
	if (!entries)
		return {};
	for (flatbuffers::uoffset_t i = 0; i < entries->size(); i++) {
		const std::string where = fmt::format("{}[{}]", name, i);

		/* A null offset is rejected here: an entry cannot be the offset itself. */
		const auto start = entries->Data() + i * sizeof(flatbuffers::uoffset_t);
		const auto offset = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(start);
		const size_t position = start - reinterpret_cast<const uint8_t *>(bytes_.data());
		if (offset == 0 || offset > bytes_.size() - position)
			return damaged(where, "points outside of the file");
		if (!canBeVerified(*entries->Get(i)) || !entries->Get(i)->Verify(verifier_))
			return damaged(where,
				       exhausted_
					       ? sharedReason
					       : "a field of the entry lies outside of the file");
		auto converted = convert(*entries->Get(i), where);
		if (exhausted_)
			return damaged(where, sharedReason);
		if (!converted)
			return converted;
	}
	return {};
}

Result<void> Reader::readMemory(const fb::MemoryListEntry &entry, const std::string &where)
{
	Memory memory;

	if (entry.domain() > static_cast<uint8_t>(MemoryDomain::Sram))
		return damaged(where + ".domain", fmt::format("{} is unknown", entry.domain()));
	memory.id = entry.id();
	memory.domain = static_cast<MemoryDomain>(entry.domain());
	memory.flags = entry.flags();
	memory.size = entry.size();
	memory.alignment = entry.alignment();
	memory.bindId = entry.bind_id();
	memory.tensorDescId = entry.tensor_desc_id();

	/* Without MemorySet, contents and offsets have no meaning; some files have an empty name in
	 * contents. */
	const size_t contents = entry.contents() ? entry.contents()->size() : 0;
	const size_t offsets = entry.offsets() ? entry.offsets()->size() : 0;
	if (memory.flags & MemorySet) {
		if (contents != offsets)
			return damaged(where, fmt::format("{} contents, but {} offsets", contents,
							  offsets));
		for (flatbuffers::uoffset_t i = 0; i < contents; i++)
			memory.contents.push_back(
				{ text(entry.contents()->Get(i)), entry.offsets()->Get(i) });
	}
	loadable_.memories.push_back(std::move(memory));
	return {};
}

Result<void> Reader::readBlob(const fb::Blob &entry, const std::string &where)
{
	const size_t bytes = entry.data() ? entry.data()->size() : 0;
	Blob blob;

	if (entry.size() != bytes)
		return damaged(where + ".size",
			       fmt::format("is {}, the data has {} bytes", entry.size(), bytes));
	blob.name = text(entry.name());
	blob.interface = static_cast<Interface>(entry.interface());
	blob.subInterface = entry.sub_interface();
	blob.version = toVersion(entry.version());
	if (bytes && afford(bytes)) {
		const auto *data = reinterpret_cast<const std::byte *>(entry.data()->data());
		blob.data.assign(data, data + bytes);
	}
	loadable_.blobs.push_back(std::move(blob));
	return {};
}

void Reader::readTask(const fb::TaskListEntry &entry)
{
	Task task;

	task.id = entry.id();
	task.interface = static_cast<Interface>(entry.interface());
	task.instance = entry.instance();
	task.addressList = copyVector(entry.address_list());
	task.preActions = copyVector(entry.pre_actions());
	task.postActions = copyVector(entry.post_actions());
	task.layers = copyStrings(entry.layers());
	task.model = text(entry.model());
	task.inputs = copyVector(entry.inputs());
	task.outputs = copyVector(entry.outputs());
	task.reasons = copyStrings(entry.reasons());
	loadable_.tasks.push_back(std::move(task));
}

void Reader::readTensor(const fb::TensorDescListEntry &entry)
{
	TensorEntry tensor;

	tensor.id = entry.id();
	tensor.memId = entry.mem_id();
	tensor.size = entry.size();
	tensor.offset = entry.offset();
	tensor.dataFormat = entry.data_format();
	tensor.dataType = entry.data_type();
	tensor.dataCategory = entry.data_category();
	tensor.pixelFormat = entry.pixel_format();
	tensor.pixelMapping = entry.pixel_mapping();
	tensor.name = text(entry.name());
	tensor.n = entry.n();
	tensor.c = entry.c();
	tensor.h = entry.h();
	tensor.w = entry.w();
	const uint32_t strides[] = { entry.stride_0(), entry.stride_1(), entry.stride_2(),
				     entry.stride_3(), entry.stride_4(), entry.stride_5(),
				     entry.stride_6(), entry.stride_7() };
	std::copy(std::begin(strides), std::end(strides), tensor.stride);
	tensor.scale = copyVector(entry.scale());
	tensor.zeroPoint = copyVector(entry.zero_point());
	if (const fb::TensorSignature *signature = entry.signature())
		tensor.signature = { copyVector(signature->shape()),
				     static_cast<ElementOrder>(signature->order()),
				     signature->is_8_bits(), pixelsOf(*signature) };
	loadable_.tensors.push_back(std::move(tensor));
}

Result<Loadable> Reader::run()
{
	using Root = fb::Loadable;

	return openRoot()
		.and_then([&] {
			return readList("task_list", Root::VT_TASK_LIST, &Root::task_list,
					[&](const auto &entry, const std::string &) {
						readTask(entry);
						return Result<void>{};
					});
		})
		.and_then([&] {
			return readList("memory_list", Root::VT_MEMORY_LIST, &Root::memory_list,
					[&](const auto &entry, const std::string &where) {
						return readMemory(entry, where);
					});
		})
		.and_then([&] {
			return readList("address_list", Root::VT_ADDRESS_LIST, &Root::address_list,
					[&](const auto &entry, const std::string &) {
						loadable_.addresses.push_back(
							{ entry.id(), entry.mem_id(),
							  entry.offset(), entry.size() });
						return Result<void>{};
					});
		})
		.and_then([&] {
			return readList("event_list", Root::VT_EVENT_LIST, &Root::event_list,
					[&](const auto &entry, const std::string &) {
						loadable_.events.push_back(
							{ entry.id(), entry.type(), entry.target(),
							  entry.val(), entry.op() });
						return Result<void>{};
					});
		})
		.and_then([&] {
			return readList("blobs", Root::VT_BLOBS, &Root::blobs,
					[&](const auto &entry, const std::string &where) {
						return readBlob(entry, where);
					});
		})
		.and_then([&] {
			return readList("tensor_desc_list", Root::VT_TENSOR_DESC_LIST,
					&Root::tensor_desc_list,
					[&](const auto &entry, const std::string &) {
						readTensor(entry);
						return Result<void>{};
					});
		})
		.and_then([&] {
			return readList("reloc_list", Root::VT_RELOC_LIST, &Root::reloc_list,
					[&](const auto &entry, const std::string &) {
						loadable_.relocs.push_back(
							{ entry.address_id(), entry.write_id(),
							  entry.offset(), entry.interface(),
							  entry.sub_interface(),
							  entry.reloc_type() });
						return Result<void>{};
					});
		})
		.and_then([&] {
			return readList(
				"submit_list", Root::VT_SUBMIT_LIST, &Root::submit_list,
				[&](const auto &entry, const std::string &) {
					loadable_.submits.push_back(
						{ entry.id(), copyVector(entry.task_id()) });
					return Result<void>{};
				});
		})
		.and_then([&] {
			return readList("state_list", Root::VT_STATE_LIST, &Root::state_list,
					[&](const auto &entry, const std::string &) {
						loadable_.states.push_back(
							{ entry.before(), entry.after() });
						return Result<void>{};
					});
		})
		.and_then([&] { return loadable_.check(); })
		.map([&] { return std::move(loadable_); });
}

/* Reads a file with \a skip bytes put before it, which changes the alignment of its scalars. */
Result<Loadable> readBehind(std::span<const std::byte> bytes, size_t skip)
{
	if (!skip && reinterpret_cast<uintptr_t>(bytes.data()) % largestAlignment == 0)
		return Reader(bytes, 0).run();

	std::vector<std::byte> moved(skip);
	moved.insert(moved.end(), bytes.begin(), bytes.end());
	return Reader(moved, skip).run();
}

Result<Loadable> readEither(std::span<const std::byte> bytes)
{
	if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE - largestAlignment)
		return damaged("file", fmt::format("{} bytes is more than a loadable can have",
						   bytes.size()));

	/* Scalars are aligned relative to the start of the file; in files of old compilers,
	 * relative to its end. */
	auto fromStart = readBehind(bytes, 0);
	const size_t skip = (largestAlignment - bytes.size() % largestAlignment) % largestAlignment;
	if (fromStart || !skip)
		return fromStart;
	auto fromEnd = readBehind(bytes, skip);
	return fromEnd ? fromEnd : fromStart;
}

} /* namespace */

Result<Loadable> Loadable::read(std::span<const std::byte> bytes)
{
	return guarded(readingLoadable, "file", [&] {
		return checkIsLoadable("file", bytes).and_then([&] { return readEither(bytes); });
	});
}

Result<Loadable> Loadable::readFile(const std::string &path)
{
	return guarded(readingLoadable, [&]() -> Result<Loadable> {
		auto bytes = readWholeFile(path, FLATBUFFERS_MAX_BUFFER_SIZE);
		if (!bytes)
			return forward(bytes);

		if (auto checked = checkIsLoadable(path, *bytes); !checked)
			return forward(checked);
		auto loadable =
			guarded(readingLoadable, "file", [&] { return readEither(*bytes); });
		if (!loadable)
			loadable.error().where = path + ": " + loadable.error().where;
		return loadable;
	});
}

} /* namespace nvdla */
