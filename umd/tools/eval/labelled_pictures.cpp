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

} /* namespace */

Result<size_t> findLabel(const std::vector<std::string> &labels, const std::string &name)
{
	auto found = labelsThat(labels, [&](const std::string &label) { return label == name; });

	if (found.empty())
		found = labelsThat(labels, [&](const std::string &label) {
			return label.starts_with(name + ' ');
		});
	if (found.size() > 1)
		return fail(ErrorCode::InvalidArgument, finding, name,
			    fmt::format("is the name of {} classes; use their numbers, such as {}",
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
		auto files = tools::pathsIn(one, finding, tools::isPictureFile);
		if (!files)
			return forward(files);
		for (const fs::path &file : *files)
			pictures.push_back({ file.string(), *label });
	}
	if (pictures.empty())
		return fail(ErrorCode::InvalidArgument, finding, folder,
			    "has no folder with pictures; each class has one of its name, or "
			    "--truth says what pictures show");
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
		const size_t space = line.find(' ');
		if (line.empty())
			continue;
		if (space == std::string::npos)
			return fail(ErrorCode::InvalidArgument, finding,
				    fmt::format("{}:{}", list, i + 1),
				    "a line is a picture's path, a space and its class");
		auto label = findLabel(labels, line.substr(space + 1));
		if (!label) {
			label.error().where =
				fmt::format("{}:{}: {}", list, i + 1, label.error().where);
			return forward(label);
		}
		pictures.push_back({ (fs::path(folder) / line.substr(0, space)).string(), *label });
	}
	if (pictures.empty())
		return fail(ErrorCode::InvalidArgument, finding, list, "names no picture");
	return pictures;
}

} /* namespace nvdla::eval */
