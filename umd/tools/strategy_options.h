/* SPDX-License-Identifier: MIT */
/*
 * The options for compiling a model.
 */
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nvdla/compiler.h>
#include <nvdla/strategy.h>

#include "command-line/command_line.h"
#include "compiler/option_names.h"

namespace nvdla::tools
{

/**
 * \brief --strategy, --sram-size, --fold-sums, --shape, --host and --target. The object must exist
 * until the command line is parsed
 */
class StrategyOptions
{
public:
	StrategyOptions() = default;
	StrategyOptions(const StrategyOptions &) = delete;
	StrategyOptions &operator=(const StrategyOptions &) = delete;

	void addTo(CommandLine &app)
	{
		add(app.option(
			"--strategy", text_,
			"how the core computes a model where there are several ways: "
			"SUBJECT=auto, always or never, separated by commas; subjects are "
			"winograd, compression, pixels, post-extension, bands, fused-pooling, "
			"reuse, join and branches; without SUBJECT= a choice applies to all of "
			"them. The default is auto, the way that is predicted to be faster, but "
			"winograd=never, because the device model is slow with it; the list may "
			"also have options of the chip for which times are predicted, such as "
			"dram=2.5GB/s"));
		add(app.option("--sram-size", sramBytes_,
			       "on-chip memory for tensors between a model's layers")
			    .bytes());
		add(app.choice(
			"--fold-sums", foldSums_, foldSumsNames(),
			"whether the SDP operation of a convolution also adds another tensor to "
			"the result: floats (the default): in float models, calibrated or not; "
			"never; or always: also in models of integers, where the result of the "
			"convolution is then not saturated before the addition"));
		add(app.option("--shape", shapes_,
			       "sizes of an input that a model leaves open: NAME=1x3x480x640, or "
			       "without a name of the only input; repeat for further inputs")
			    .repeatable());
		add(app.choice(
			"--host", host_, hostNames(),
			"library for operators that neither the core nor libnvdla itself can "
			"compute: auto (the default): ONNX Runtime for ONNX models, TensorFlow "
			"Lite for its own, if installed; never: such models are refused"));
		add(app.option(
			"--target", target_,
			"the core that a model is compiled for: " + coreVariantNames() +
				"; the default is the core of the device, and nv_full where the "
				"program opens no device"));
	}

	/** \return whether --target names the core, instead of the device */
	bool hasTarget() const { return !target_.empty(); }

	/** \return the options, for programs that report options without effect */
	const std::vector<CommandLineOption> &all() const { return all_; }

	/**
	 * \return the options for the compiler; InvalidArgument naming an unknown strategy or
	 * target
	 * \param[in] chip further options of the chip, as Strategy::chip
	 */
	Result<CompileOptions>
	options(const std::vector<std::pair<std::string, std::string>> &chip = {}) const
	{
		auto strategy = parseStrategy(text_);
		if (!strategy) {
			strategy.error().what = "--strategy";
			return forward(strategy);
		}
		auto core = hasTarget() ? findCoreVariant(target_) : Result<CoreGeometry>(nvFull);
		if (!core) {
			core.error().what = "--target";
			return forward(core);
		}
		std::vector<InputShape> shapes;
		for (const std::string &text : shapes_) {
			auto shape = parseInputShape(text);
			if (!shape) {
				shape.error().what = "--shape";
				return forward(shape);
			}
			shapes.push_back(std::move(*shape));
		}
		strategy->chip.insert(strategy->chip.end(), chip.begin(), chip.end());
		return CompileOptions{ .strategy = std::move(*strategy),
				       .sramBytes = sramBytes_,
				       .foldSums = foldSums_,
				       .core = *core,
				       .shapes = std::move(shapes),
				       .host = host_ };
	}

private:
	void add(const CommandLineOption &option) { all_.push_back(option); }

	std::vector<CommandLineOption> all_;
	std::string text_;
	uint64_t sramBytes_ = 0;
	FoldSums foldSums_ = FoldSums::Floats;
	std::vector<std::string> shapes_;
	HostUse host_ = HostUse::Auto;
	std::string target_;
};

} /* namespace nvdla::tools */
