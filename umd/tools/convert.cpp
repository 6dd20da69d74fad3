/* SPDX-License-Identifier: MIT */
/*
 * nvdla-convert: writes a loadable as text, and text as a loadable.
 */
#include <cstdio>
#include <filesystem>

#include <fmt/core.h>
#include <nvdla/loadable_json.h>

#include "base/io/file.h"
#include "command-line/command_line.h"
#include "program.h"

namespace
{

using namespace nvdla;

constexpr const char *textSuffix = ".json";

struct Settings {
	std::string from;
	std::string to;
	bool blobFiles = false;
};

Result<void> writeText(const Loadable &loadable, const Settings &settings)
{
	std::string folder;

	/* Write the blobs (weights and other large data) to files in the folder of the text, where
	 * readLoadable() looks for them. */
	if (settings.blobFiles)
		folder = std::filesystem::absolute(settings.to).parent_path().string();
	auto text = loadableToJson(loadable, folder);
	if (!text)
		return forward(text);
	return tools::writeOrPrint(settings.to, std::as_bytes(std::span(*text)));
}

Result<void> convert(const Settings &settings)
{
	auto loadable = readLoadable(settings.from);
	if (!loadable)
		return forward(loadable);
	if (settings.blobFiles && !settings.to.ends_with(textSuffix))
		return fail(
			ErrorCode::InvalidArgument, "--blob-files", settings.to,
			fmt::format("must end in {}, because only JSON text can have such files",
				    textSuffix));
	if (settings.to.ends_with(textSuffix) || settings.to == "-")
		return writeText(*loadable, settings);
	auto bytes = loadable->write();
	if (!bytes)
		return forward(bytes);
	return tools::writeOrPrint(settings.to, *bytes);
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-convert", [&]() -> Result<int> {
		CommandLine app{
			"Converts loadables (neural networks compiled for NVDLA, a hardware "
			"accelerator) to JSON text and back.",
			"nvdla-convert", "nvdla-convert net.nvdla net.json"
		};
		Settings settings;

		app.footer(tools::exitCodeHelpWithoutDevice);
		app.option("FROM", settings.from,
			   "file to read: a loadable, or the JSON text of a loadable")
			.valueText("FILE")
			.inputFile()
			.required();
		app.option("TO", settings.to,
			   "file to write: JSON text if the name ends in .json or is - (standard "
			   "output), otherwise a loadable")
			.valueText("FILE")
			.outputFile()
			.required();
		app.flag(
			"--blob-files", settings.blobFiles,
			"only if TO ends in .json: write the weights (blobs) to files of their own "
			"in the folder of TO. The text then has the names of these files, and "
			"programs that read the text look for the files in its folder. Without "
			"this option, the text has the weights, in base64");
		if (const auto code = app.parse(argc, argv))
			return *code;

		return tools::finished(convert(settings));
	});
}
