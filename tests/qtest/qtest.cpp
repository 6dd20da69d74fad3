/* SPDX-License-Identifier: MIT */
#include "qtest.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

namespace nvdla::test
{

namespace
{

/* Longer than anything here takes, so that a test fails rather than hangs. */
constexpr int kPatienceMs = 60000;

constexpr uint16_t kConfigAddress = 0xcf8;
constexpr uint16_t kConfigData = 0xcfc;

struct Pipe {
	UniqueFd read;
	UniqueFd write;
};

Pipe makePipe()
{
	int fds[2] = { -1, -1 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		ADD_FAILURE() << "no pipe: " << std::strerror(errno);
	return { UniqueFd(fds[0]), UniqueFd(fds[1]) };
}

/* What a program writes to stdout, and how it ends. */
std::pair<std::string, int> outputOf(const std::vector<std::string> &arguments)
{
	Pipe pipe = makePipe();
	Process process(arguments, UniqueFd(), std::move(pipe.write), "/dev/null");
	std::string output;
	std::array<char, 4096> chunk;
	for (;;) {
		const ssize_t count = ::read(pipe.read.get(), chunk.data(), chunk.size());
		if (count <= 0)
			break;
		output.append(chunk.data(), static_cast<size_t>(count));
	}
	return { output, process.wait() };
}

QemuBinary findBinary()
{
	QemuBinary binary;
	const char *named = std::getenv("NVDLA_QEMU");
	const bool insist = named && *named;
	std::istringstream words(insist ? named : "qemu-system-x86_64");
	for (std::string word; words >> word;)
		binary.words.push_back(word);

	std::vector<std::string> command = binary.words;
	command.push_back("--version");
	const auto [output, status] = outputOf(command);
	int major = 0, minor = 0, patch = 0;
	const size_t at = output.find("version ");
	std::string problem;
	if (status != 0 || at == std::string::npos ||
	    std::sscanf(output.c_str() + at, "version %d.%d.%d", &major, &minor, &patch) != 3)
		problem = binary.words.front() + " cannot be run";
	else if (std::tie(major, minor, patch) < std::make_tuple(10, 1, 1))
		problem = fmt::format("QEMU {}.{}.{} has no usable vfio-user client; 10.1.1 has",
				      major, minor, patch);
	(insist ? binary.error : binary.skipReason) = problem;
	return binary;
}

} /* namespace */

const QemuBinary &QemuBinary::find()
{
	static const QemuBinary binary = findBinary();
	return binary;
}

Qtest::Qtest(const std::vector<std::string> &arguments, const std::string &errors)
{
	std::vector<std::string> command = QemuBinary::find().words;
	command.insert(command.end(),
		       { "-nodefaults", "-no-user-config", "-display", "none", "-accel", "qtest",
			 "-qtest", "stdio", "-qtest-log", "none" });
	command.insert(command.end(), arguments.begin(), arguments.end());

	Pipe input = makePipe();
	Pipe output = makePipe();
	in_ = std::move(input.write);
	out_ = std::move(output.read);
	process_ = std::make_unique<Process>(command, std::move(input.read),
					     std::move(output.write), errors);
}

bool Qtest::ready()
{
	return process_->started() && request("endianness") == "little";
}

std::optional<std::string> Qtest::readLine()
{
	for (;;) {
		const size_t end = buffer_.find('\n');
		if (end != std::string::npos) {
			std::string line = buffer_.substr(0, end);
			buffer_.erase(0, end + 1);
			return line;
		}
		pollfd entry = { out_.get(), POLLIN, 0 };
		if (poll(&entry, 1, kPatienceMs) <= 0)
			return std::nullopt;
		std::array<char, 65536> chunk;
		const ssize_t count = ::read(out_.get(), chunk.data(), chunk.size());
		if (count <= 0)
			return std::nullopt;
		buffer_.append(chunk.data(), static_cast<size_t>(count));
	}
}

std::optional<std::string> Qtest::request(const std::string &line)
{
	const std::string bytes = line + "\n";
	size_t sent = 0;
	while (sent < bytes.size()) {
		const ssize_t count = ::write(in_.get(), bytes.data() + sent, bytes.size() - sent);
		if (count <= 0)
			return std::nullopt;
		sent += static_cast<size_t>(count);
	}
	const auto reply = readLine();
	if (!reply || reply->compare(0, 2, "OK") != 0)
		return std::nullopt;
	return reply->size() > 3 ? reply->substr(3) : std::string();
}

uint64_t Qtest::number(const std::string &line)
{
	const auto reply = request(line);
	if (!reply || reply->empty()) {
		ADD_FAILURE() << "QEMU does not answer \"" << line << "\"";
		return 0;
	}
	return std::strtoull(reply->c_str(), nullptr, 0);
}

void Qtest::out32(uint16_t port, uint32_t value)
{
	EXPECT_TRUE(request(fmt::format("outl {:#x} {:#x}", port, value)));
}

void Qtest::out16(uint16_t port, uint16_t value)
{
	EXPECT_TRUE(request(fmt::format("outw {:#x} {:#x}", port, value)));
}

void Qtest::out8(uint16_t port, uint8_t value)
{
	EXPECT_TRUE(request(fmt::format("outb {:#x} {:#x}", port, value)));
}

uint32_t Qtest::in32(uint16_t port)
{
	return static_cast<uint32_t>(number(fmt::format("inl {:#x}", port)));
}

uint16_t Qtest::in16(uint16_t port)
{
	return static_cast<uint16_t>(number(fmt::format("inw {:#x}", port)));
}

uint8_t Qtest::in8(uint16_t port)
{
	return static_cast<uint8_t>(number(fmt::format("inb {:#x}", port)));
}

void Qtest::write8(uint64_t address, uint8_t value)
{
	EXPECT_TRUE(request(fmt::format("writeb {:#x} {:#x}", address, value)));
}

void Qtest::write16(uint64_t address, uint16_t value)
{
	EXPECT_TRUE(request(fmt::format("writew {:#x} {:#x}", address, value)));
}

void Qtest::write32(uint64_t address, uint32_t value)
{
	EXPECT_TRUE(request(fmt::format("writel {:#x} {:#x}", address, value)));
}

void Qtest::write64(uint64_t address, uint64_t value)
{
	EXPECT_TRUE(request(fmt::format("writeq {:#x} {:#x}", address, value)));
}

uint8_t Qtest::read8(uint64_t address)
{
	return static_cast<uint8_t>(number(fmt::format("readb {:#x}", address)));
}

uint16_t Qtest::read16(uint64_t address)
{
	return static_cast<uint16_t>(number(fmt::format("readw {:#x}", address)));
}

uint32_t Qtest::read32(uint64_t address)
{
	return static_cast<uint32_t>(number(fmt::format("readl {:#x}", address)));
}

uint64_t Qtest::read64(uint64_t address)
{
	return number(fmt::format("readq {:#x}", address));
}

void Qtest::writeMemory(uint64_t address, std::span<const std::byte> data)
{
	std::string line = fmt::format("write {:#x} {:#x} 0x", address, data.size());
	for (const std::byte byte : data)
		line += fmt::format("{:02x}", std::to_integer<unsigned int>(byte));
	EXPECT_TRUE(request(line));
}

std::vector<std::byte> Qtest::readMemory(uint64_t address, size_t size)
{
	const auto reply = request(fmt::format("read {:#x} {:#x}", address, size));
	if (!reply || reply->size() != 2 + 2 * size) {
		ADD_FAILURE() << "QEMU does not let memory be read";
		return {};
	}
	std::vector<std::byte> bytes;
	bytes.reserve(size);
	for (size_t i = 0; i < size; i++)
		bytes.push_back(static_cast<std::byte>(
			std::stoul(reply->substr(2 + 2 * i, 2), nullptr, 16)));
	return bytes;
}

void PciDevice::select(uint8_t offset)
{
	qtest_.out32(kConfigAddress, 0x80000000U | slot_ << 11 | (offset & 0xfcU));
}

uint8_t PciDevice::config8(uint8_t offset)
{
	select(offset);
	return qtest_.in8(kConfigData + (offset & 3));
}

uint16_t PciDevice::config16(uint8_t offset)
{
	select(offset);
	return qtest_.in16(kConfigData + (offset & 2));
}

uint32_t PciDevice::config32(uint8_t offset)
{
	select(offset);
	return qtest_.in32(kConfigData);
}

void PciDevice::setConfig8(uint8_t offset, uint8_t value)
{
	select(offset);
	qtest_.out8(kConfigData + (offset & 3), value);
}

void PciDevice::setConfig16(uint8_t offset, uint16_t value)
{
	select(offset);
	qtest_.out16(kConfigData + (offset & 2), value);
}

void PciDevice::setConfig32(uint8_t offset, uint32_t value)
{
	select(offset);
	qtest_.out32(kConfigData, value);
}

uint8_t PciDevice::findCapability(uint8_t id)
{
	uint8_t at = config8(0x34);
	for (int i = 0; at && i < 48; i++) {
		if (config8(at) == id)
			return at;
		at = config8(static_cast<uint8_t>(at + 1));
	}
	return 0;
}

uint32_t PciDevice::barSize(unsigned int bar)
{
	const auto offset = static_cast<uint8_t>(0x10 + 4 * bar);
	setConfig32(offset, 0xffffffff);
	const uint32_t mask = config32(offset) & ~0xfU;
	setConfig32(offset, 0);
	return ~mask + 1;
}

void PciDevice::mapBar(unsigned int bar, uint32_t address)
{
	setConfig32(static_cast<uint8_t>(0x10 + 4 * bar), address);
}

void PciDevice::enable(bool memory, bool master)
{
	setConfig16(0x04, static_cast<uint16_t>((memory ? 2 : 0) | (master ? 4 : 0)));
}

} /* namespace nvdla::test */
