/* SPDX-License-Identifier: MIT */
#include "labelled_pictures.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include <fmt/core.h>

#include "tools/folder.h"
#include "tools/text_file.h"

namespace nvdla::eval
{

namespace
{

namespace fs = std::filesystem;

constexpr const char *finding = "find pictures";

std::vector<size_t> labelsThat(const std::vector<std::string> &labels,
			       const std::function<bool(const std::string &)> &match)
{
	std::vector<size_t> found;

	for (size_t i = 0; i < labels.size(); i++) {
		if (match(labels[i]))
			found.push_back(i);
	}
	return found;
}

/* Splits a line of the form "PATH CLASS". Both may contain spaces, so the line is split at the
 * first space for which the file exists and the class is known. If there is no such file, the class
 * alone decides, and reading the picture fails later. */
Result<LabelledPicture> pictureInLine(const std::string &folder, const std::string &line,
				      const std::vector<std::string> &labels)
{
	Result<LabelledPicture> found =
		fail(ErrorCode::InvalidArgument, finding, line,
		     "must be a picture's path, a space and the picture's class");
	bool isThere = false;

	for (size_t at = line.find(' '); at != std::string::npos; at = line.find(' ', at + 1)) {
		const fs::path path = fs::path(folder) / line.substr(0, at);
		auto label = findLabel(labels, line.substr(at + 1));
		std::error_code error;
		const bool isFile = fs::is_regular_file(path, error);
		if (label && isFile)
			return LabelledPicture{ path.string(), *label };
		if (isThere || (found && !isFile))
			continue;
		isThere = isFile;
		found = label ? Result<LabelledPicture>({ path.string(), *label }) : forward(label);
	}
	return found;
}

} /* namespace */

Result<size_t> findLabel(const std::vector<std::string> &labels, const std::string &name)
{
	auto found = labelsThat(labels, [&](const std::string &label) { return label == name; });

	if (found.empty())
		found = labelsThat(labels, [&](const std::string &label) {
			return label.starts_with(name + ' ');
		});
	if (found.size() > 1)
		return fail(
			ErrorCode::InvalidArgument, finding, name,
			fmt::format("is the name of {} classes; use a class's number, such as {}",
				    found.size(), found.front()));
	if (!found.empty())
		return found.front();

	size_t number = 0;
	const char *const end = name.data() + name.size();
	const auto [parsed, error] = std::from_chars(name.data(), end, number);
	if (name.empty() || error != std::errc() || parsed != end || number >= labels.size())
		return fail(ErrorCode::InvalidArgument, finding, name,
			    fmt::format("is neither the name nor the number of one of {} classes",
					labels.size()));
	return number;
}

Result<std::vector<LabelledPicture>> picturesInFolders(const std::string &folder,
						       const std::vector<std::string> &labels)
{
	std::vector<LabelledPicture> pictures;
	auto classes = tools::pathsIn(folder, finding,
				      [](const fs::path &path) { return fs::is_directory(path); });

	if (!classes)
		return forward(classes);
	for (const fs::path &one : *classes) {
		auto label = findLabel(labels, one.filename().string());
		if (!label) {
			label.error().where = one.string();
			return forward(label);
		}
		auto files = tools::picturesIn(one, finding);
		if (!files)
			return forward(files);
		for (const fs::path &file : *files)
			pictures.push_back({ file.string(), *label });
	}
	if (pictures.empty())
		return fail(ErrorCode::InvalidArgument, finding, folder,
			    "has no folder with pictures; make a folder for each class, with the "
			    "name of the class, or list the pictures in a file for --truth");
	return pictures;
}

Result<std::vector<LabelledPicture>> picturesInList(const std::string &folder,
						    const std::string &list,
						    const std::vector<std::string> &labels)
{
	std::vector<LabelledPicture> pictures;
	auto lines = tools::readLines(list);

	if (!lines)
		return forward(lines);
	for (size_t i = 0; i < lines->size(); i++) {
		const std::string &line = (*lines)[i];
		if (line.empty())
			continue;
		auto picture = pictureInLine(folder, line, labels);
		if (!picture) {
			picture.error().where =
				fmt::format("{}:{}: {}", list, i + 1, picture.error().where);
			return forward(picture);
		}
		pictures.push_back(std::move(*picture));
	}
	if (pictures.empty())
		return fail(ErrorCode::InvalidArgument, finding, list, "names no picture");
	return pictures;
}

} /* namespace nvdla::eval */
