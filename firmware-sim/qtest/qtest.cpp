/* SPDX-License-Identifier: MIT */
#include "qtest/qtest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

namespace nvdla::sim::qtest
{

namespace
{

/* Time to wait for a reply; longer than any request takes, so that a test fails, not hangs. */
constexpr int kPatienceMs = 60000;

/* Most posted requests without a read reply: QEMU must not block on a full pipe. */
constexpr unsigned int kMaxPosted = 256;

/* Most bytes in a line: QEMU searches the whole line again whenever a part of it arrives. */
constexpr size_t kMaxTransfer = 32768;

std::string shortened(const std::string &line)
{
	return line.size() > 60 ? line.substr(0, 60) + "..." : line;
}

/* Letter of QEMU's commands for an access: byte, word (2 bytes), long (4) or quad (8). */
char letterOf(size_t bytes)
{
	return bytes == 1 ? 'b' : bytes == 2 ? 'w' : bytes == 4 ? 'l' : 'q';
}

constexpr std::string_view kDigits = "0123456789abcdef";

std::string hexOf(std::span<const std::byte> bytes)
{
	std::string text;

	text.reserve(2 * bytes.size());
	for (const std::byte byte : bytes) {
		text += kDigits[std::to_integer<size_t>(byte >> 4)];
		text += kDigits[std::to_integer<size_t>(byte & std::byte{ 0xf })];
	}
	return text;
}

} /* namespace */

Qtest::Qtest(const std::vector<std::string> &qemu, const std::vector<std::string> &arguments,
	     const std::string &errors, Failed failed)
	: failed_(std::move(failed))
{
	std::vector<std::string> command = qemu;
	command.insert(command.end(),
		       { "-nodefaults", "-no-user-config", "-display", "none", "-accel", "qtest",
			 "-qtest", "stdio", "-qtest-log", "none" });
	command.insert(command.end(), arguments.begin(), arguments.end());

	Pipe input = Pipe::make();
	Pipe output = Pipe::make();
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
		const size_t end = received_.find('\n');
		if (end != std::string::npos) {
			std::string line = received_.substr(0, end);
			received_.erase(0, end + 1);
			return line;
		}
		pollfd entry = { out_.get(), POLLIN, 0 };
		const int count = poll(&entry, 1, kPatienceMs);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return std::nullopt;
		std::array<char, 65536> chunk;
		const ssize_t size = ::read(out_.get(), chunk.data(), chunk.size());
		if (size <= 0)
			return std::nullopt;
		received_.append(chunk.data(), static_cast<size_t>(size));
	}
}

bool Qtest::send()
{
	size_t sent = 0;
	while (sent < toSend_.size()) {
		const ssize_t count =
			::write(in_.get(), toSend_.data() + sent, toSend_.size() - sent);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		sent += static_cast<size_t>(count);
	}
	const bool all = sent == toSend_.size();
	toSend_.clear();
	return all;
}

bool Qtest::collectPosted()
{
	bool good = send();
	while (good && posted_) {
		const auto reply = readLine();
		good = reply && reply->starts_with("OK");
		posted_--;
	}
	posted_ = 0;
	return good;
}

std::optional<std::string> Qtest::request(const std::string &line)
{
	toSend_ += line + "\n";
	if (!collectPosted())
		return std::nullopt;
	const auto reply = readLine();
	if (!reply || !reply->starts_with("OK"))
		return std::nullopt;
	return reply->size() > 3 ? reply->substr(3) : std::string();
}

std::string Qtest::demand(const std::string &line)
{
	const auto reply = request(line);
	if (!reply && failed_)
		failed_(fmt::format("QEMU does not answer \"{}\"", shortened(line)));
	return reply.value_or("");
}

void Qtest::put(const char *what, uint64_t at, size_t bytes, uint64_t value)
{
	demand(fmt::format("{}{} {:#x} {:#x}", what, letterOf(bytes), at, value));
}

uint64_t Qtest::get(const char *what, uint64_t at, size_t bytes)
{
	return std::strtoull(demand(fmt::format("{}{} {:#x}", what, letterOf(bytes), at)).c_str(),
			     nullptr, 0);
}

void Qtest::post32(uint64_t address, uint32_t value)
{
	toSend_ += fmt::format("writel {:#x} {:#x}\n", address, value);
	if (++posted_ >= kMaxPosted && !collectPosted() && failed_)
		failed_("QEMU does not answer register writes");
}

void Qtest::writeMemory(uint64_t address, std::span<const std::byte> data)
{
	while (!data.empty()) {
		const auto piece = data.first(std::min(data.size(), kMaxTransfer));
		demand(fmt::format("write {:#x} {:#x} 0x{}", address, piece.size(), hexOf(piece)));
		address += piece.size();
		data = data.subspan(piece.size());
	}
}

std::vector<std::byte> Qtest::readMemory(uint64_t address, size_t size)
{
	std::vector<std::byte> bytes;
	while (bytes.size() < size) {
		const size_t count = std::min(size - bytes.size(), kMaxTransfer);
		const std::string text =
			demand(fmt::format("read {:#x} {:#x}", address + bytes.size(), count));
		if (text.size() != 2 + 2 * count) {
			if (failed_)
				failed_("QEMU does not let memory be read");
			return {};
		}
		for (size_t i = 2; i < text.size(); i += 2)
			bytes.push_back(static_cast<std::byte>(kDigits.find(text[i]) << 4 |
							       kDigits.find(text[i + 1])));
	}
	return bytes;
}

void Qtest::zeroMemory(uint64_t address, uint64_t size)
{
	if (size)
		demand(fmt::format("memset {:#x} {:#x} 0", address, size));
}

} /* namespace nvdla::sim::qtest */
