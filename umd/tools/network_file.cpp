/* SPDX-License-Identifier: MIT */
#include "network_file.h"

#include <cerrno>
#include <filesystem>

#include <fmt/core.h>

#include <nvdla/loadable_json.h>

#include "base/io/file.h"
#include "folder.h"
#include "frameworks/plugin/cache.h"
#include "loadable/file_kind.h"
#include "program.h"

namespace nvdla::tools
{

std::string NetworkFile::name() const
{
	return std::filesystem::path(path).filename().string();
}

NetworkFile NetworkFile::onChip(const ChipOptions &chip) const
{
	NetworkFile file = *this;

	for (const auto &[name, value] : chip.values())
		file.options.strategy->chip.emplace_back(name, value);
	return file;
}

NetworkFile networkFile(const std::string &path)
{
	const auto ends = [&](const char *suffix) { return path.ends_with(suffix); };
	const bool isModel = ends(".tflite") || ends(".onnx") || isCaffeNet(path);

	return { .path = path, .isModel = isModel };
}

void NetworkOptions::addTo(CommandLine &app, const std::string &usualTarget, bool calibrates)
{
	all_.push_back(
		app.option("network", network_,
			   "a loadable (a compiled model), the text that nvdla-convert makes of a "
			   "loadable, or a model. A model is compiled first; its name ends in "
			   ".tflite, .onnx or, for Caffe, .prototxt (with its .caffemodel beside "
			   "it)")
			.valueText("FILE")
			.inputFile());
	const auto loadable = app.option("--loadable", loadable_,
					 "a loadable, whatever its name ends in, in place of "
					 "the argument network")
				      .valueText("FILE")
				      .inputFile();
	all_.push_back(loadable);
	all_.push_back(app.option("--model", model_,
				  "a TensorFlow Lite or ONNX model, whatever its name ends in, or "
				  "the .prototxt of a Caffe net, in place of the argument network")
			       .valueText("FILE")
			       .inputFile()
			       .excludes(loadable));
	ofModels_.push_back(
		app.option("--cache", cache_,
			   "keep compiled models in this folder; a model that was compiled before "
			   "is read from there, unless the model, the options of the compiler or "
			   "this program have changed since; default: compile each time")
			.valueText("FOLDER"));
	strategy_.addTo(app, usualTarget, calibrates);
	calibrates_ = calibrates;
	ofModels_.insert(ofModels_.end(), strategy_.all().begin(), strategy_.all().end());
	all_.insert(all_.end(), ofModels_.begin(), ofModels_.end());
}

void NetworkOptions::yieldTo(std::string &next)
{
	if (next.empty() && !(loadable_ + model_).empty())
		std::swap(network_, next);
}

Result<NetworkFile> NetworkOptions::file() const
{
	if (!network_.empty() && !(loadable_ + model_).empty())
		return fail(ErrorCode::InvalidArgument, "network", network_,
			    fmt::format("excludes {}, which also names a network",
					model_.empty() ? "--loadable" : "--model"));
	if (!cache_.empty()) {
		if (auto checked = checkFolder("--cache", cache_); !checked)
			return forward(checked);
	}
	auto options = strategy_.options();
	if (!options)
		return forward(options);
	if (!model_.empty())
		return NetworkFile{
			model_,	    true, cache_, std::move(*options), strategy_.hasTarget(),
			calibrates_
		};
	const std::string &path = loadable_.empty() ? network_ : loadable_;
	if (path.empty())
		return fail(ErrorCode::InvalidArgument, "network is required", "",
			    fmt::format("a loadable or a model; see {} --help",
					program_invocation_short_name));
	const bool isModel = loadable_.empty() && networkFile(path).isModel;
	for (const CommandLineOption &option : ofModels_) {
		if (auto used = checkUses({ { option, isModel, "a model to compile" } }); !used)
			return forward(used);
	}
	return NetworkFile{ path,	isModel, cache_, std::move(*options), strategy_.hasTarget(),
			    calibrates_ };
}

namespace
{

Result<CompiledModel> cachedModel(const NetworkFile &file)
{
	const plugin::Cache cache(file.cache);
	if (auto writable = cache.check(); !writable) {
		writable.error().what = "--cache";
		return forward(writable);
	}
	auto model = readModelFile(file.path);
	if (!model)
		return forward(model);
	if (auto known = cache.find(*model, file.options))
		return std::move(*known);
	auto compiled = compileFile(file.path, file.options);
	if (!compiled)
		return compiled;
	if (auto kept = cache.keep(*model, *compiled, file.options); !kept)
		say(fmt::format("{}: --cache: {} is not kept: {}\n", program_invocation_short_name,
				file.path, kept.error().message()));
	return compiled;
}

/* Replaces the compiler's advice, which is for nvdla-compile, by advice for this program. */
void adaptAdvice(Error &error, const NetworkFile &file)
{
	const auto replace = [&](std::string_view advice, const std::string &by) {
		const size_t at = error.why.find(advice);
		if (at != std::string::npos)
			error.why.replace(at, advice.size(), by);
	};

	if (!file.calibrates)
		replace("(--calibrate)", fmt::format("(nvdla-compile --target {} --calibrate)",
						     file.options.core.name));
	replace(runLoadable, "; name it with --loadable");
}

} /* namespace */

Result<Device> targetOf(NetworkFile &file, Result<Device> device)
{
	if (!device || !file.isModel || file.hasTarget)
		return device;
	auto core = coreOf(device->info());
	if (!core)
		return forward(core);
	file.options.core = *core;
	return device;
}

Result<CompiledModel> readNetwork(const NetworkFile &file)
{
	if (file.isModel) {
		if (auto checked = checkSram(file.options); !checked)
			return forward(checked);
		auto compiled = file.cache.empty() ? compileFile(file.path, file.options)
						   : cachedModel(file);
		if (!compiled)
			adaptAdvice(compiled.error(), file);
		return compiled;
	}
	auto loadable = readLoadable(file.path);
	if (!loadable)
		return forward(loadable);
	return CompiledModel{ .loadable = std::move(*loadable) };
}

} /* namespace nvdla::tools */
