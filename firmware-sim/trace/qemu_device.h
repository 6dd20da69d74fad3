/* SPDX-License-Identifier: MIT */
/*
 * nvdla-sim attached to the stock QEMU, as a device to play traces on.
 */
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "qtest/pci_device.h"
#include "qtest/process.h"
#include "qtest/qtest.h"
#include "trace/external_target.h"

namespace nvdla::sim
{

/** \brief The programs that make a machine with the device */
struct QemuPrograms {
	std::vector<std::string> qemu; /**< program and first arguments */
	std::string sim;	       /**< nvdla-sim */
};

/**
 * \brief An nvdla-sim and a QEMU of its own, without a guest
 *
 * The machine has memory at all addresses that the traces of nvdlav1 use: up to
 * 3 GiB, and from 4 GiB to 513 GiB. This memory is a sparse file, of which only used
 * pages take room. Both programs end with the object, or if the thread that made the
 * object ends earlier, with this thread.
 */
class QemuDevice : public ExternalDevice
{
public:
	/** \return the device, or why one of the programs does not work */
	static tl::expected<std::unique_ptr<QemuDevice>, std::string>
	start(const QemuPrograms &programs, uint64_t cvsramBase);

	~QemuDevice() override;

	uint32_t readRegister(uint32_t offset) override;
	void writeRegister(uint32_t offset, uint32_t value) override;
	void reset() override;
	bool readMemory(uint64_t address, std::span<std::byte> out) override;
	bool writeMemory(uint64_t address, std::span<const std::byte> data) override;
	bool zeroMemory(uint64_t address, uint64_t size) override;
	std::string broken() const override { return broken_; }

	/** \return guest errors that nvdla-sim reported since the last call, one line each */
	std::vector<std::string> takeGuestErrors();

private:
	explicit QemuDevice(std::filesystem::path folder) : folder_(std::move(folder)) {}

	std::string launch(const QemuPrograms &programs, uint64_t cvsramBase);
	std::string path(const char *name) const { return (folder_ / name).string(); }
	std::string said(const char *name) const;
	void enable();

	const std::filesystem::path folder_;
	std::string broken_;
	size_t logged_ = 0;    /* bytes of nvdla-sim's log that were read */
	uint8_t advanced_ = 0; /* place of the Advanced Features capability */
	std::unique_ptr<qtest::SimProcess> sim_;
	std::unique_ptr<qtest::Qtest> qemu_;
	std::unique_ptr<qtest::PciDevice> function_;
};

} /* namespace nvdla::sim */
