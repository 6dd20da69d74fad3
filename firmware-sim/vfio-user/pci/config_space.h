/* SPDX-License-Identifier: MIT */
/*
 * Configuration space of a conventional PCI function (256 bytes).
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim::vfiouser::pci
{

/** \brief Registers of the type 0 header (PCI Local Bus 3.0, section 6.1) */
enum Register : uint8_t {
	kVendorId = 0x00,
	kDeviceId = 0x02,
	kCommand = 0x04,
	kStatus = 0x06,
	kRevision = 0x08,
	kClass = 0x09, /**< three bytes: programming interface, subclass, base class */
	kCacheLineSize = 0x0c,
	kLatencyTimer = 0x0d,
	kBar0 = 0x10,
	kSubsystemVendorId = 0x2c,
	kSubsystemId = 0x2e,
	kCapabilities = 0x34,
	kInterruptLine = 0x3c,
	kInterruptPin = 0x3d,
	kHeaderEnd = 0x40,
};

constexpr uint16_t kCommandMemory = 1 << 1;
constexpr uint16_t kCommandMaster = 1 << 2;
constexpr uint16_t kCommandParity = 1 << 6;
constexpr uint16_t kCommandSerr = 1 << 8;
constexpr uint16_t kCommandIntxDisable = 1 << 10;
constexpr uint16_t kStatusCapabilities = 1 << 4;

constexpr uint8_t kCapabilityPower = 0x01;
constexpr uint8_t kCapabilityMsi = 0x05;
constexpr uint8_t kCapabilityVendor = 0x09;
constexpr uint8_t kCapabilityMsix = 0x11;
constexpr uint8_t kCapabilityAdvanced = 0x13;

constexpr unsigned int kBarCount = 6;

/** \brief Identity of the function: vendor, device, class */
struct Identity {
	uint16_t vendorId;
	uint16_t deviceId;
	uint16_t subsystemVendorId;
	uint16_t subsystemId;
	uint8_t revision;
	uint32_t classCode; /**< 24 bits: base class, subclass, programming interface */
};

/**
 * \brief A configuration space: its bytes, and a mask of the bits that can be written
 *
 * Capabilities are laid out one after the other in the order they are added.
 */
class ConfigSpace
{
public:
	static constexpr size_t kSize = 256;

	explicit ConfigSpace(const Identity &identity);

	/**
	 * \brief Add a 32-bit memory BAR
	 * \param size power of two, at least 16
	 *
	 * The size can be read after all ones are written, as the PCI specification requires.
	 */
	void addMemoryBar(unsigned int bar, uint32_t size);

	/**
	 * \brief Add a capability
	 * \param body bytes after the two-byte header
	 * \param writable mask of writable bits of \a body; bytes beyond it are read-only
	 * \return offset of the capability in configuration space
	 */
	uint8_t addCapability(uint8_t id, std::span<const uint8_t> body,
			      std::span<const uint8_t> writable = {});

	/** \brief Make the present values the initial values that reset() restores */
	void seal() { initial_ = bytes_; }
	void reset() { bytes_ = initial_; }

	void read(size_t offset, std::span<std::byte> data) const;
	/** \brief Write the writable bits; the others keep their values */
	void write(size_t offset, std::span<const std::byte> data);

	uint8_t get8(size_t offset) const { return bytes_[offset]; }
	uint16_t get16(size_t offset) const;

private:
	void set(size_t offset, uint64_t value, size_t size);
	void allow(size_t offset, uint64_t mask, size_t size);

	std::array<uint8_t, kSize> bytes_ = {};
	std::array<uint8_t, kSize> writable_ = {};
	std::array<uint8_t, kSize> initial_ = {};
	size_t lastPointer_ = kCapabilities;
	size_t nextFree_ = kHeaderEnd;
};

} /* namespace nvdla::sim::vfiouser::pci */
