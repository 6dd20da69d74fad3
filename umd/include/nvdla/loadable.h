/* SPDX-License-Identifier: MIT */
/* Loadables, the output of a compiler and input of the runtime, as plain values. An "extension" is
 * a part of the format that only this project knows, not NVIDIA's compiler and runtime. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Three-part version of the container or of the descriptors in a blob */
struct Version {
	uint8_t major = 0;
	uint8_t minor = 0;
	uint8_t subMinor = 0;

	friend auto operator<=>(const Version &, const Version &) = default;
};

/** \return "major.minor.subMinor" */
std::string toString(Version version);

/** \brief Executor of a task, and kind of the descriptors in a blob */
enum class Interface : uint32_t {
	None = 0,
	Dla1 = 1, /**< the core */
	Emu1 = 2, /**< this runtime, on the CPU */
	Host1 = 3 /**< a library of the host; extension of this project */
};

/** \brief Which array of a DLA task is in a blob (Blob::subInterface); 0 in files of compilers that
 * do not state it */
enum DlaSubInterface : uint32_t {
	DlaAddr0 = 1,
	DlaDeps = 2,
	DlaOps = 3,
	DlaSurfs = 4,
	DlaLuts = 5,
};

/** \brief Bytes with a name, such as descriptors or weights */
struct Blob {
	std::string name;
	Interface interface = Interface::None;
	uint32_t subInterface = 0;
	Version version;
	std::vector<std::byte> data;

	bool operator==(const Blob &) const = default;
};

enum class MemoryDomain : uint8_t {
	System = 0,
	Sram = 1,
};

enum MemoryFlags : uint16_t {
	MemoryAlloc = 1,  /**< the runtime allocates the memory */
	MemorySet = 2,	  /**< contents are written before the first task */
	MemoryInput = 4,  /**< the application writes the memory */
	MemoryOutput = 8, /**< the application reads the memory */
	MemoryDebug = 16,
};

/** \brief A blob that is copied to \a offset (in bytes) of a memory before the first task */
struct MemoryContent {
	std::string blob;
	uint64_t offset = 0;

	bool operator==(const MemoryContent &) const = default;
};

struct Memory {
	uint16_t id = 0;
	MemoryDomain domain = MemoryDomain::System;
	uint16_t flags = 0;
	uint64_t size = 0;
	uint32_t alignment = 0;
	std::vector<MemoryContent> contents;
	uint16_t bindId = 0;
	uint16_t tensorDescId = 0;

	bool operator==(const Memory &) const = default;
};

/** \brief A range of a memory; tasks name the range by its id */
struct Address {
	uint16_t id = 0;
	uint16_t memId = 0;
	uint64_t offset = 0;
	uint64_t size = 0;

	bool operator==(const Address &) const = default;
};

struct Event {
	uint16_t id = 0;
	uint8_t type = 0;
	uint16_t target = 0;
	uint32_t val = 0;
	uint8_t op = 0; /**< 0: wait for the event, 1: signal it */

	bool operator==(const Event &) const = default;
};

struct Task {
	uint16_t id = 0;
	Interface interface = Interface::None;
	int16_t instance = -1;
	std::vector<uint16_t> addressList;
	std::vector<uint16_t> preActions;
	std::vector<uint16_t> postActions;
	/**
	 * \brief Layer for which each operation was made; extension
	 *
	 * Empty, or one name for each operation: a layer of the model, or an operation of the
	 * graph.
	 */
	std::vector<std::string> layers;
	/** \brief Extension: the members of a HostTask; inputs and outputs are ids of tensors */
	std::string model;
	std::vector<uint16_t> inputs;
	std::vector<uint16_t> outputs;
	std::vector<std::string> reasons;

	bool operator==(const Task &) const = default;
};

struct Submit {
	uint16_t id = 0;
	std::vector<uint16_t> taskIds;

	bool operator==(const Submit &) const = default;
};

/** \brief Address and layout of a tensor */
struct TensorEntry {
	uint16_t id = 0;
	uint16_t memId = 0;
	uint64_t size = 0;
	uint64_t offset = 0;
	uint8_t dataFormat = 0;
	uint8_t dataType = 0;
	uint8_t dataCategory = 0;
	uint8_t pixelFormat = 0;
	uint8_t pixelMapping = 0;
	std::string name;
	int32_t n = 0;
	int32_t c = 0;
	int32_t h = 0;
	int32_t w = 0;
	/** strides in bytes: element, line, surface (or second plane), line of the second plane */
	uint32_t stride[8] = {};
	/**
	 * \brief Quantization of the elements, scale * (q - zeroPoint); extension
	 *
	 * The lists are empty, or have one entry, or one for each channel.
	 */
	std::vector<float> scale;
	std::vector<int32_t> zeroPoint;
	std::optional<TensorSignature> signature; /**< the model's shape; extension */

	bool operator==(const TensorEntry &) const = default;
};

/**
 * \brief Extension: two tensors for a state, numbers that a network keeps from run to run
 *
 * A run reads the tensor \a before and writes the tensor \a after, whose bytes the next run reads
 * in \a before. The first run reads the contents of the memory of \a before.
 */
struct StateEntry {
	uint16_t before = 0; /**< id of a tensor */
	uint16_t after = 0;  /**< id of a tensor with the same layout, in another memory */

	bool operator==(const StateEntry &) const = default;
};

/** \brief Place in a descriptor whose value depends on the strides of a tensor that the application
 * binds */
struct Reloc {
	uint16_t addressId = 0;
	uint16_t writeId = 0;
	uint64_t offset = 0;
	uint32_t interface = 0;
	uint32_t subInterface = 0;
	uint8_t type = 0;

	bool operator==(const Reloc &) const = default;
};

/**
 * \brief A loadable in memory
 *
 * The lists are those of the file, in its order. An object that came from read() or passed check()
 * holds the following: ids are unique within a list and every id that is named exists; contents and
 * tensors lie entirely in their memories, and every address starts in its memory; address sizes are
 * clamped to the end of the memory.
 */
class Loadable
{
public:
	Version version{ 0, 7, 0 };
	/** \brief Extension: name of the core's configuration (findCoreVariant()); empty if the
	 * file has none */
	std::string variant;
	std::vector<Task> tasks;
	std::vector<Memory> memories;
	std::vector<Address> addresses;
	std::vector<Event> events;
	std::vector<Blob> blobs;
	std::vector<TensorEntry> tensors;
	std::vector<Reloc> relocs;
	std::vector<Submit> submits;
	std::vector<StateEntry> states; /**< numbers kept from run to run; extension */

	/**
	 * \brief Read a loadable of format version 0.7
	 * \param[in] bytes the whole file; not needed afterwards
	 * \return the loadable, or ErrorCode::InvalidFile naming the list and the field
	 */
	static Result<Loadable> read(std::span<const std::byte> bytes);

	/** \brief Read a loadable from the file at \a path, of at most 2 GiB */
	static Result<Loadable> readFile(const std::string &path);

	/** \brief Check everything that read() guarantees, and clamp the addresses */
	Result<void> check();

	/**
	 * \brief Write the file, with the identifier "NVDA"
	 * \return the bytes, or the error that check() would give
	 */
	Result<std::vector<std::byte>> write() const;

	/** \brief Entry with the given id or name; nullptr if there is none */
	const Memory *memory(uint16_t id) const;
	const Address *address(uint16_t id) const;
	const Task *task(uint16_t id) const;
	const Blob *blob(const std::string &name) const;

	/**
	 * \brief Tensors that the application binds, sorted by the bind id of their memory
	 *
	 * Inputs and outputs are numbered separately. Tensors in the same memory keep the order of
	 * the file. The tensors of states are neither inputs nor outputs.
	 */
	Result<std::vector<TensorDesc>> inputs() const { return bound(MemoryInput); }
	Result<std::vector<TensorDesc>> outputs() const { return bound(MemoryOutput); }

	bool operator==(const Loadable &) const = default;

private:
	Result<std::vector<TensorDesc>> bound(MemoryFlags direction) const;
};

} /* namespace nvdla */

#pragma GCC visibility pop
