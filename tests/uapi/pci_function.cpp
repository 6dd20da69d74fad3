/* SPDX-License-Identifier: MIT */
#include "pci_function.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include <nvdla/hw/pci.h>

#include "device.h"
#include "driver_files.h"

namespace nvdla::test
{

namespace
{

const std::filesystem::path driverFolder = "/sys/bus/pci/drivers/nvdla";
const std::filesystem::path functionsFolder = "/sys/bus/pci/devices";

bool tell(const std::filesystem::path &attribute, const std::string &what)
{
	std::ofstream file(attribute);
	file << what << std::flush;
	return file.good();
}

std::set<std::string> boundAddresses()
{
	std::set<std::string> addresses;
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(driverFolder, error)) {
		const std::string name = entry.path().filename();
		if (name.starts_with("0000:"))
			addresses.insert(name);
	}
	return addresses;
}

} /* namespace */

PciFunction::PciFunction(const std::string &node)
{
	address_ = deviceFolder(node).filename();
}

std::string PciFunction::bound()
{
	const std::set<std::string> addresses = boundAddresses();
	return addresses.empty() ? std::string() : *addresses.begin();
}

bool PciFunction::reset() const
{
	return tell(functionsFolder / address_ / "reset", "1");
}

bool PciFunction::silence() const
{
	/* The command register: neither memory accesses nor DMA. */
	constexpr std::streamoff command = 4;
	std::fstream config(functionsFolder / address_ / "config",
			    std::ios::in | std::ios::out | std::ios::binary);
	config.rdbuf()->pubsetbuf(nullptr, 0);
	config.seekp(command);
	config.write("\0\0", 2);
	return config.flush().good();
}

bool PciFunction::stayAwake(bool awake) const
{
	return tell(functionsFolder / address_ / "power" / "control", awake ? "on" : "auto");
}

std::string PciFunction::config() const
{
	std::ifstream file(functionsFolder / address_ / "config", std::ios::binary);
	std::ostringstream bytes;
	bytes << file.rdbuf();
	return bytes.str();
}

/* Where the capability is does not change: it is found once, while the function answers. */
bool PciFunction::order(uint32_t fault, uint32_t count) const
{
	constexpr size_t capabilities = 0x34, vendor = 0x09;
	static const std::string bytes = config();
	auto byte = [](size_t offset) -> size_t {
		return offset < bytes.size() ? static_cast<uint8_t>(bytes[offset]) : 0;
	};
	auto isFaults = [&](size_t at) {
		uint32_t magic = 0;
		if (byte(at) == vendor && at + NVDLA_PCI_FAULTS_LENGTH <= bytes.size())
			std::memcpy(&magic, &bytes[at + NVDLA_PCI_VSC_MAGIC_OFFSET], sizeof(magic));
		return magic == NVDLA_PCI_FAULTS_MAGIC;
	};

	size_t at = byte(capabilities);
	while (at && !isFaults(at))
		at = byte(at + 1);
	const uint32_t order = fault | count << NVDLA_PCI_FAULTS_COUNT_SHIFT;
	const int fd =
		at ? open((functionsFolder / address_ / "config").c_str(), O_WRONLY | O_CLOEXEC)
		   : -1;
	if (fd < 0)
		return false;
	const auto place = static_cast<off_t>(at + NVDLA_PCI_FAULTS_ORDER_OFFSET);
	const bool written = pwrite(fd, &order, sizeof(order), place) == sizeof(order);
	close(fd);
	return written;
}

bool PciFunction::unbind() const
{
	return tell(driverFolder / "unbind", address_);
}

bool PciFunction::bind() const
{
	return tell(driverFolder / "bind", address_);
}

bool PciFunction::remove() const
{
	return tell(functionsFolder / address_ / "remove", "1");
}

bool PciFunction::rescan()
{
	return tell("/sys/bus/pci/rescan", "1");
}

std::string presentNode()
{
	const std::filesystem::path usual = Device::path();
	const auto letters = [](const std::string &name) {
		return name.substr(0, name.find_first_of("0123456789"));
	};
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(usual.parent_path(), error)) {
		if (letters(entry.path().filename()) == letters(usual.filename()))
			return entry.path();
	}
	return {};
}

/* Nodes get the lowest numbers that are free, in the order in which functions are bound. */
bool restoreNode(const std::string &first)
{
	const std::set<std::string> addresses = boundAddresses();
	bool done = true;

	if (std::filesystem::exists(first))
		return true;
	for (const std::string &address : addresses)
		done &= tell(driverFolder / "unbind", address);
	for (const std::string &address : addresses)
		done &= tell(driverFolder / "bind", address);
	return done && std::filesystem::exists(first);
}

} /* namespace nvdla::test */
