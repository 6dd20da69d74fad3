/* SPDX-License-Identifier: MIT */
/*
 * The vfio-user wire format, protocol version 0.0.
 *
 * Source: QEMU's docs/interop/vfio-user.rst. Everything is in the host's byte
 * order (both ends run on one machine) and without padding.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::sim::vfiouser::wire
{

enum class Command : uint16_t {
	Version = 1,
	DmaMap = 2,
	DmaUnmap = 3,
	DeviceGetInfo = 4,
	DeviceGetRegionInfo = 5,
	DeviceGetRegionIoFds = 6,
	DeviceGetIrqInfo = 7,
	DeviceSetIrqs = 8,
	RegionRead = 9,
	RegionWrite = 10,
	DmaRead = 11,  /**< server to client */
	DmaWrite = 12, /**< server to client */
	DeviceReset = 13,
	DirtyPages = 14,
	RegionWriteMulti = 15,
};

/** \brief Header::flags: a message type in the low four bits; the other flags are single bits */
constexpr uint32_t kTypeMask = 0xf;
constexpr uint32_t kTypeCommand = 0;
constexpr uint32_t kTypeReply = 1;
constexpr uint32_t kNoReply = 0x10;
constexpr uint32_t kError = 0x20;

/** \brief Begins every message; \a size is in bytes, header included */
struct [[gnu::packed]] Header {
	uint16_t id;
	uint16_t command;
	uint32_t size;
	uint32_t flags;
	uint32_t error; /**< errno value if kError is set */
};
static_assert(sizeof(Header) == 16);

/** \brief VERSION, followed by a NUL-terminated JSON text */
struct [[gnu::packed]] Version {
	uint16_t major;
	uint16_t minor;
};
static_assert(sizeof(Version) == 4);

constexpr uint32_t kDmaMapRead = 1;  /**< the device may read */
constexpr uint32_t kDmaMapWrite = 2; /**< the device may write */
/** \brief Hints of older clients on how to access the memory; ignored by the server */
constexpr uint32_t kDmaMapHints = 4 | 8;

struct [[gnu::packed]] DmaMap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset; /**< offset in the file of the passed descriptor */
	uint64_t address;
	uint64_t size;
};
static_assert(sizeof(DmaMap) == 32);

constexpr uint32_t kDmaUnmapAll = 2;

struct [[gnu::packed]] DmaUnmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
};
static_assert(sizeof(DmaUnmap) == 24);

constexpr uint32_t kDeviceReset = 1;
constexpr uint32_t kDevicePci = 2;

struct [[gnu::packed]] DeviceInfo {
	uint32_t argsz;
	uint32_t flags;
	uint32_t regions;
	uint32_t irqs;
};
static_assert(sizeof(DeviceInfo) == 16);

constexpr uint32_t kRegionRead = 1;
constexpr uint32_t kRegionWrite = 2;

struct [[gnu::packed]] RegionInfo {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t capabilityOffset;
	uint64_t size;
	uint64_t offset;
};
static_assert(sizeof(RegionInfo) == 32);

/** \brief DEVICE_GET_IRQ_INFO, DEVICE_GET_REGION_IO_FDS; our replies list no sub-regions */
struct [[gnu::packed]] IndexInfo {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t count;
};
static_assert(sizeof(IndexInfo) == 16);

constexpr uint32_t kIrqEventfd = 1;
constexpr uint32_t kIrqMaskable = 2;

constexpr uint32_t kIrqDataNone = 1;
constexpr uint32_t kIrqDataBool = 2;
constexpr uint32_t kIrqDataEventfd = 4;
constexpr uint32_t kIrqDataMask = 7;
constexpr uint32_t kIrqActionMask = 8;
constexpr uint32_t kIrqActionUnmask = 0x10;
constexpr uint32_t kIrqActionTrigger = 0x20;
constexpr uint32_t kIrqActionsMask = 0x38;

/** \brief DEVICE_SET_IRQS; with kIrqDataBool, \a count bytes follow */
struct [[gnu::packed]] SetIrqs {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t start;
	uint32_t count;
};
static_assert(sizeof(SetIrqs) == 20);

/** \brief REGION_READ and REGION_WRITE; \a count bytes follow if the message has data */
struct [[gnu::packed]] RegionAccess {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
};
static_assert(sizeof(RegionAccess) == 16);

/** \brief DMA_READ and DMA_WRITE; \a count bytes follow if the message has data */
struct [[gnu::packed]] DmaAccess {
	uint64_t address;
	uint64_t count;
};
static_assert(sizeof(DmaAccess) == 16);

/** \brief DmaAccess in the layout of QEMU 10.1 and 10.2, which violates the specification */
struct [[gnu::packed]] DmaAccessOld {
	uint64_t address;
	uint32_t count;
};
static_assert(sizeof(DmaAccessOld) == 12);

/** \brief REGION_WRITE_MULTI: number of entries; as many RegionWriteEntry follow */
struct [[gnu::packed]] RegionWriteMulti {
	uint64_t count;
};
static_assert(sizeof(RegionWriteMulti) == 8);

struct [[gnu::packed]] RegionWriteEntry {
	uint64_t offset;
	uint32_t region;
	uint32_t count; /**< number of bytes in \a data */
	std::byte data[8];
};
static_assert(sizeof(RegionWriteEntry) == 24);

/** \brief Largest number of writes in one REGION_WRITE_MULTI */
constexpr uint64_t kMaxWriteMulti = 200;

/** \brief Region indexes of a PCI device: 0 to 5 are its BARs */
constexpr uint32_t kRegionRom = 6;
constexpr uint32_t kRegionConfig = 7;
constexpr uint32_t kRegionVga = 8;
constexpr uint32_t kRegionCount = 9;

/** \brief Interrupt indexes of a PCI device */
constexpr uint32_t kIrqIntx = 0;
constexpr uint32_t kIrqMsi = 1;
constexpr uint32_t kIrqMsix = 2;
constexpr uint32_t kIrqError = 3;
constexpr uint32_t kIrqRequest = 4;
constexpr uint32_t kIrqCount = 5;

/** \brief Most data bytes in a message of either direction: the protocol's default */
constexpr uint32_t kMaxTransfer = 1024 * 1024;
/** \brief Longest message: a DMA reply (or a region write) of kMaxTransfer bytes */
constexpr uint32_t kMaxMessage = sizeof(Header) + sizeof(DmaAccess) + kMaxTransfer;
/** \brief Most file descriptors that a client may attach to a message */
constexpr uint32_t kMaxFds = 8;
/** \brief Largest number of mapped ranges of guest memory, and their alignment */
constexpr uint32_t kMaxDmaMaps = 65535;
constexpr uint64_t kPageSize = 4096;

} /* namespace nvdla::sim::vfiouser::wire */
