/* SPDX-License-Identifier: MIT */
/*
 * nvdla-sim attached to the stock QEMU, with a test in the processor's place.
 */
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "qtest/pci_device.h"
#include "qtest/process.h"
#include "qtest/qemu_binary.h"

namespace nvdla::test
{

using namespace nvdla::sim::qtest;

/**
 * \brief Base of the tests: a folder, and helpers to start both programs
 *
 * The machine has 64 MiB of RAM and the device in slot 3. Nothing runs in it, so
 * all RAM above 1 MiB is the test's.
 */
class NvdlaSimTest : public testing::Test
{
protected:
	static constexpr unsigned int kSlot = 3;
	static constexpr uint32_t kCsb = 0xe0000000;
	static constexpr uint32_t kMsixTable = 0xe0100000;
	static constexpr uint64_t kRam = 0x200000;

	enum class Ram {
		Shared,	 /**< a memfd that the device maps */
		Private, /**< reached through messages only */
	};

	void SetUp() override;
	void TearDown() override;

	std::string file(const std::string &name) const { return folder_ + "/" + name; }
	std::string socket() const { return file("device"); }
	/** \return what a program said on stderr \param name as given to file() */
	std::string said(const std::string &name) const;

	void startSim(const std::vector<std::string> &options = {});
	/** \brief Start QEMU with the device, and give the BARs addresses */
	void startQemu(Ram ram = Ram::Shared);
	std::vector<std::string> qemuArguments(Ram ram) const;
	/** \brief Start a QEMU whose failed requests fail the test */
	std::unique_ptr<Qtest> makeQemu(Ram ram, const std::string &errors) const;

	/** \brief Read and write a register of the core */
	uint32_t csb(uint32_t address) { return qemu_->read<uint32_t>(kCsb + address); }
	void setCsb(uint32_t address, uint32_t value)
	{
		qemu_->write<uint32_t>(kCsb + address, value);
	}

	/** \brief Program BDMA's next slot and launch group 0 \param cv RAM types are CVSRAM */
	void startCopy(uint64_t from, uint64_t to, uint32_t bytes, bool fromCv = false,
		       bool toCv = false);
	/** \brief Wait for BDMA's group 0 and clear its interrupt status */
	void finishCopy();

	/** \brief Wait until \a condition holds; the test fails if it never does */
	void waitFor(const char *what, const std::function<bool()> &condition);

	/** \return bytes that differ from each other and from zero */
	static std::vector<std::byte> pattern(size_t size);

	std::unique_ptr<SimProcess> sim_;
	std::unique_ptr<Qtest> qemu_;
	std::unique_ptr<PciDevice> device_;

private:
	std::string folder_;
};

} /* namespace nvdla::test */
