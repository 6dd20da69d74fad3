/* SPDX-License-Identifier: MIT */
#include "trace/qemu_device.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

#include <nvdla/hw/pci.h>

namespace nvdla::sim
{

namespace
{

constexpr unsigned int kSlot = 3;
constexpr uint32_t kCsb = 0xe0000000; /* address of the device's registers; unused by the machine */

/* The machine "pc" with kMemorySize bytes has 3 GiB of them below 4 GiB. */
constexpr uint64_t kLowMemory = uint64_t{ 3 } << 30;
constexpr uint64_t kHighMemory = uint64_t{ 4 } << 30;
constexpr uint64_t kMemorySize = uint64_t{ 512 } << 30;
constexpr uint64_t kMemoryEnd = kHighMemory + kMemorySize - kLowMemory;

/* Advanced Features capability (PCI Local Bus ECN on conventional functions). */
constexpr uint8_t kCapAdvanced = 0x13;
constexpr uint8_t kAdvancedControl = 4;
constexpr uint8_t kFunctionLevelReset = 1;

bool isMemory(uint64_t address, uint64_t size)
{
	const uint64_t end = address < kHighMemory ? kLowMemory : kMemoryEnd;
	return address <= end && size <= end - address;
}

} /* namespace */

tl::expected<std::unique_ptr<QemuDevice>, std::string>
QemuDevice::start(const QemuPrograms &programs, uint64_t cvsramBase)
{
	std::error_code error;
	std::string folder = (std::filesystem::temp_directory_path(error) / "nvdla-trace-XXXXXX");
	if (error || !mkdtemp(folder.data()))
		return tl::unexpected(
			fmt::format("no folder {} can be made for the device's socket", folder));
	std::unique_ptr<QemuDevice> device(new QemuDevice(folder));
	if (std::string problem = device->launch(programs, cvsramBase); !problem.empty())
		return tl::unexpected(std::move(problem));
	return device;
}

QemuDevice::~QemuDevice()
{
	function_.reset();
	qemu_.reset();
	sim_.reset();
	std::error_code error;
	std::filesystem::remove_all(folder_, error);
}

std::string QemuDevice::launch(const QemuPrograms &programs, uint64_t cvsramBase)
{
	const std::string socket = path("device");
	sim_ = std::make_unique<qtest::SimProcess>(
		programs.sim, socket, path("sim.log"),
		std::vector<std::string>{ "--log-level", "warning", "--cvsram-base",
					  fmt::format("{}", cvsramBase) });
	if (!sim_->listening())
		return fmt::format("{} does not start: {}", programs.sim, said("sim.log"));

	const std::string memory = fmt::format("{}G", kMemorySize >> 30);
	const std::vector<std::string> arguments = {
		"-machine",
		"pc,memory-backend=ram",
		"-m",
		memory,
		"-object",
		fmt::format("memory-backend-memfd,id=ram,size={},share=on", memory),
		"-device",
		fmt::format(R"({{"driver": "vfio-user-pci", "addr": "{}", "x-msg-timeout": 60000, )"
			    R"("socket": {{"type": "unix", "path": "{}"}}}})",
			    kSlot, socket),
	};
	qemu_ = std::make_unique<qtest::Qtest>(
		programs.qemu, arguments, path("qemu.log"), [this](const std::string &message) {
			if (broken_.empty())
				broken_ = fmt::format("{} {}", message, said("qemu.log"));
		});
	if (!qemu_->ready())
		return fmt::format("{} does not start: {}", programs.qemu.front(),
				   said("qemu.log"));

	function_ = std::make_unique<qtest::PciDevice>(*qemu_, kSlot);
	advanced_ = function_->findCapability(kCapAdvanced);
	if (!advanced_)
		return "the PCI function has no function level reset " + broken_;
	enable();
	return broken_;
}

std::string QemuDevice::said(const char *name) const
{
	std::ostringstream text;
	text << std::ifstream(path(name)).rdbuf();
	std::string words = text.str();
	while (words.ends_with('\n'))
		words.pop_back();
	return words.empty() ? "it says nothing" : words;
}

void QemuDevice::enable()
{
	function_->mapBar(NVDLA_PCI_CSB_BAR, kCsb);
	function_->enable(true, true);
}

uint32_t QemuDevice::readRegister(uint32_t offset)
{
	const uint32_t value = qemu_->read<uint32_t>(kCsb + offset);
	/* Reads of a missing PCI function give all ones: nvdla-sim may have ended. */
	if (value == UINT32_MAX && !sim_->process().running() && broken_.empty())
		broken_ = fmt::format("nvdla-sim has ended: {}", said("sim.log"));
	return value;
}

void QemuDevice::writeRegister(uint32_t offset, uint32_t value)
{
	qemu_->post32(kCsb + offset, value);
}

void QemuDevice::reset()
{
	function_->setConfig<uint8_t>(static_cast<uint8_t>(advanced_ + kAdvancedControl),
				      kFunctionLevelReset);
	enable();
}

bool QemuDevice::readMemory(uint64_t address, std::span<std::byte> out)
{
	if (!isMemory(address, out.size()))
		return false;
	const std::vector<std::byte> bytes = qemu_->readMemory(address, out.size());
	std::ranges::copy(bytes, out.begin());
	return bytes.size() == out.size();
}

bool QemuDevice::writeMemory(uint64_t address, std::span<const std::byte> data)
{
	if (!isMemory(address, data.size()))
		return false;
	qemu_->writeMemory(address, data);
	return true;
}

bool QemuDevice::zeroMemory(uint64_t address, uint64_t size)
{
	if (!isMemory(address, size))
		return false;
	qemu_->zeroMemory(address, size);
	return true;
}

std::vector<std::string> QemuDevice::takeGuestErrors()
{
	constexpr std::string_view mark = "guest error: ";
	std::ifstream log(path("sim.log"));
	log.seekg(static_cast<std::streamoff>(logged_));
	std::vector<std::string> errors;
	for (std::string line; std::getline(log, line) && !log.eof();) {
		logged_ += line.size() + 1;
		if (const size_t at = line.find(mark); at != std::string::npos)
			errors.push_back(line.substr(at + mark.size()));
	}
	return errors;
}

} /* namespace nvdla::sim */
