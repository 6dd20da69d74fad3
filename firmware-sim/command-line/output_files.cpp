/* SPDX-License-Identifier: MIT */
#include "output_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include <sys/stat.h>

namespace nvdla
{

namespace
{

/* Identity of a file: device and inode. A file that does not exist yet has those of its folder, and
 * its name in that folder. */
using Identity = std::tuple<dev_t, ino_t, std::string>;

std::string folderOf(const std::string &path)
{
	const std::string folder = std::filesystem::path(path).parent_path().string();

	return folder.empty() ? "." : folder;
}

/* Returns the identity of a path; nothing if its file is a pipe, a device or the like. */
std::optional<Identity> identityOf(const std::string &path)
{
	struct stat there;

	if (path == "-")
		return std::nullopt;
	if (!stat(path.c_str(), &there)) {
		if (!S_ISREG(there.st_mode))
			return std::nullopt;
		return Identity{ there.st_dev, there.st_ino, "" };
	}
	if (stat(folderOf(path).c_str(), &there))
		return std::nullopt;
	return Identity{ there.st_dev, there.st_ino,
			 std::filesystem::path(path).filename().string() };
}

/* Returns the reason why no file can be written at \a path; empty if none is known yet. */
std::string problemAt(const std::string &path)
{
	struct stat there;

	if (path.empty())
		return "is no name of a file";
	if (path == "-")
		return "";
	if (!stat(path.c_str(), &there))
		return S_ISDIR(there.st_mode) ? "is a folder; name a file" : "";
	const std::string folder = folderOf(path);
	if (stat(folder.c_str(), &there))
		return errno == ENOENT ? "there is no folder " + folder
				       : folder + ": " + std::strerror(errno);
	return S_ISDIR(there.st_mode) ? "" : folder + " is no folder";
}

/* Returns a folder's files, or the file itself; with a .prototxt also its .caffemodel. */
std::vector<std::string> filesAt(const std::string &path)
{
	std::vector<std::string> files{ path };
	std::error_code error;

	if (path.ends_with(".prototxt"))
		files.push_back(
			std::filesystem::path(path).replace_extension(".caffemodel").string());
	if (!std::filesystem::is_directory(path, error))
		return files;
	for (std::filesystem::directory_iterator entry(path, error);
	     !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
		files.push_back(entry->path().string());
	return files;
}

} /* namespace */

std::string problemOfOutputs(const std::vector<NamedFile> &inputs,
			     const std::vector<NamedFile> &outputs)
{
	std::map<Identity, std::string> known;

	for (const NamedFile &output : outputs) {
		const std::string where = output.option + ": " + output.path + ": ";
		if (const std::string problem = problemAt(output.path); !problem.empty())
			return where + problem;
		const auto identity = identityOf(output.path);
		if (identity && !known.emplace(*identity, output.option).second)
			return where + "is the file of " + known.at(*identity) +
			       ", too; name another";
	}
	if (known.empty())
		return "";
	for (const NamedFile &input : inputs) {
		for (const std::string &path : filesAt(input.path)) {
			const auto identity = identityOf(path);
			const auto output = identity ? known.find(*identity) : known.end();
			if (output != known.end())
				return output->second + ": " + path +
				       ": is the input file; name another";
		}
	}
	return "";
}

} /* namespace nvdla */
