/* SPDX-License-Identifier: MIT */
/*
 * Reads from /proc/PID/fdinfo/FD which processes have devices open, and their engine times and
 * memory. The format is in the kernel's Documentation/gpu/drm-usage-stats.rst.
 */
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "snapshot.h"
#include "text_file.h"

namespace nvdla::top
{

namespace
{

namespace fs = std::filesystem;

constexpr std::string_view engineKey = "drm-engine-";
constexpr std::string_view totalKey = "drm-total-";
constexpr std::string_view residentKey = "drm-resident-";

/** \return number of bytes in "12", "12 KiB" or "12 MiB" */
uint64_t parseBytes(std::string_view text)
{
	const uint64_t value = parseNumber(text).value_or(0);
	if (text.ends_with("KiB"))
		return value << 10;
	if (text.ends_with("MiB"))
		return value << 20;
	return value;
}

/* Replaces bytes that are not printable ASCII. A process chooses its name, and control characters
 * in the name would act on the terminal. */
std::string printable(std::string text)
{
	std::ranges::replace_if(
		text, [](char c) { return c < ' ' || c > '~'; }, '?');
	return text;
}

void parseLine(std::string_view key, std::string_view value, Client &client)
{
	if (key.starts_with(engineKey))
		client.busyNs[std::string(key.substr(engineKey.size()))] =
			parseNumber(value).value_or(0);
	else if (key.starts_with(totalKey))
		client.totalBytes += parseBytes(value);
	else if (key.starts_with(residentKey))
		client.residentBytes += parseBytes(value);
}

/** \return the client that \a text (the contents of an fdinfo file) describes; nothing if the open
 * file belongs to another driver */
std::optional<Client> parseClient(std::string_view text)
{
	std::optional<uint64_t> id;
	bool ours = false;
	Client client;

	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
		const size_t colon = line.find(':');
		const size_t start = line.find_first_not_of(" \t", colon + 1);
		if (colon == std::string_view::npos || start == std::string_view::npos)
			continue;
		const std::string_view key = line.substr(0, colon), value = line.substr(start);
		if (key == "drm-driver")
			ours = value == "nvdla";
		else if (key == "drm-client-id")
			id = parseNumber(value);
		else
			parseLine(key, value, client);
	}
	if (!ours || !id)
		return std::nullopt;
	client.id = *id;
	return client;
}

std::vector<uint64_t> processes(const fs::path &proc)
{
	std::vector<uint64_t> pids;
	std::error_code error;

	for (const auto &entry : fs::directory_iterator(proc, error)) {
		if (const auto pid = parseNumber(entry.path().filename().string()))
			pids.push_back(*pid);
	}
	std::ranges::sort(pids);
	return pids;
}

/** \return the clients of a process: its open files of the snapshot's devices */
std::vector<Client> clientsOf(const fs::path &process, Snapshot &snapshot)
{
	std::vector<Client> clients;
	std::error_code error;

	for (const auto &entry : fs::directory_iterator(process / "fd", error)) {
		std::error_code gone;
		const std::string target = fs::read_symlink(entry.path(), gone).string();
		if (!target.starts_with("/dev/accel/") && !target.starts_with("/dev/dri/"))
			continue;
		const std::string device = fs::path(target).filename();
		if (!std::ranges::count(snapshot.devices, device, &Device::name))
			continue;
		const auto text = readText(process / "fdinfo" / entry.path().filename());
		auto client = text ? parseClient(*text) : std::nullopt;
		if (client) {
			client->device = device;
			clients.push_back(std::move(*client));
		}
	}
	if (error == std::errc::permission_denied)
		snapshot.allProcesses = false;
	std::ranges::sort(clients, {}, &Client::id);
	return clients;
}

} /* namespace */

void readClients(const fs::path &proc, Snapshot &snapshot)
{
	/* Duplicated and inherited descriptors of one open file are the same client. */
	std::set<uint64_t> seen;

	for (const uint64_t pid : processes(proc)) {
		const fs::path process = proc / std::to_string(pid);
		for (Client &client : clientsOf(process, snapshot)) {
			if (!seen.insert(client.id).second)
				continue;
			std::string command = readText(process / "comm").value_or("?");
			client.command = printable(command.substr(0, command.find('\n')));
			client.pid = pid;
			snapshot.clients.push_back(std::move(client));
		}
	}
}

} /* namespace nvdla::top */
