/* SPDX-License-Identifier: MIT */
#include "pci_function.h"

#include <filesystem>
#include <fstream>

namespace nvdla::test
{

namespace
{

const std::filesystem::path driverFolder = "/sys/bus/pci/drivers/nvdla";
const std::filesystem::path deviceFolder = "/sys/bus/pci/devices";

bool tell(const std::filesystem::path &attribute, const std::string &what)
{
	std::ofstream file(attribute);
	file << what << std::flush;
	return file.good();
}

} /* namespace */

PciFunction::PciFunction(const std::string &node)
{
	const auto name = std::filesystem::path(node).filename();
	std::error_code error;
	address_ =
		std::filesystem::canonical("/sys/class/accel" / name / "device", error).filename();
}

std::string PciFunction::bound()
{
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(driverFolder, error)) {
		const std::string name = entry.path().filename();
		if (name.starts_with("0000:"))
			return name;
	}
	return {};
}

bool PciFunction::reset() const
{
	return tell(deviceFolder / address_ / "reset", "1");
}

bool PciFunction::silence() const
{
	/* The command register: neither memory accesses nor DMA. */
	constexpr std::streamoff command = 4;
	std::fstream config(deviceFolder / address_ / "config",
			    std::ios::in | std::ios::out | std::ios::binary);
	config.rdbuf()->pubsetbuf(nullptr, 0);
	config.seekp(command);
	config.write("\0\0", 2);
	return config.flush().good();
}

bool PciFunction::unbind() const
{
	return tell(driverFolder / "unbind", address_);
}

bool PciFunction::bind() const
{
	return tell(driverFolder / "bind", address_);
}

std::string presentNode()
{
	std::error_code error;
	std::filesystem::directory_iterator nodes("/dev/accel", error);
	return error || nodes == end(nodes) ? std::string() : nodes->path().string();
}

bool restoreNode(const std::string &first)
{
	if (presentNode() == first)
		return true;
	const PciFunction function;
	return function.valid() && function.unbind() && function.bind() && presentNode() == first;
}

} /* namespace nvdla::test */
