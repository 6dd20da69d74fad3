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

	/**
	 * \param[in] usualTarget text for the help: the core for which models are compiled without
	 * --target
	 * \param[in] calibrates whether the program can calibrate models, for the help
	 */
	void addTo(CommandLine &app, const std::string &usualTarget, bool calibrates = false)
	{
		add(app.option("--strategy", text_,
			       "ways in which NVDLA may compute parts of a model: a list of "
			       "WAY=CHOICE, separated by commas. CHOICE is auto (use the way where "
			       "it is predicted to be faster), always (use it wherever possible; "
			       "an error if no layer allows it) or never. WAY is winograd, "
			       "compression, pixels, post-extension, bands, fused-pooling, reuse "
			       "or branches; nvdla-compile(1) explains them. The list may be just "
			       "auto or never, for all ways. The default is winograd=never, "
			       "because an NVDLA in software computes it slowly, and auto for all "
			       "other ways. The list may also describe the chip for which auto "
			       "predicts: clock, dram, dram-latency, sram, sram-latency, "
			       "interrupt-gap, as in dram=2.5GB/s. nvdla-compile, nvdla-info and "
			       "nvdla-prof have options of these names, which override the list")
			    .valueText("LIST"));
		add(app.option("--sram-size", sramBytes_,
			       "size of the on-chip memory that the compiler may use for tensors "
			       "between layers, in bytes, or as 512K or 4M (1K is 1024 bytes); "
			       "default: 0, no on-chip memory")
			    .bytes());
		add(app.choice(
			"--fold-sums", foldSums_, foldSumsNames(),
			std::string("in which models a convolution and a following addition "
				    "become one operation. floats (the default): in float "
				    "models") +
				(calibrates ? ", also if they are calibrated to integers" : "") +
				"; always: also in integer models; never: in no model. With "
				"always, the convolution's result is not limited to the "
				"range of its type before the addition, so results of an "
				"integer model can change"));
		add(app.option("--shape", shapes_,
			       "shape of an input, such as picture=1x3x480x640: for an ONNX model, "
			       "the sizes that the model leaves open; for a TensorFlow Lite model, "
			       "sizes in place of its own, which needs TensorFlow Lite on this "
			       "machine. NAME may be left out for a single input; repeat for "
			       "further inputs")
			    .valueText("[NAME=]SHAPE")
			    .repeatable());
		add(app.choice(
			"--host", host_, hostNames(),
			"which other library may compute, on the CPU, operators that neither NVDLA "
			"nor libnvdla (this project's library) can compute. auto (the default): "
			"ONNX Runtime for an ONNX model, TensorFlow Lite for a .tflite model, if "
			"the library is installed. never: none; a model with such operators is "
			"refused"));
		add(app.option("--target", target_,
			       "the core (configuration of NVDLA) for which a model is compiled: " +
				       coreVariantNames() +
				       "; only nv_full has FP16 and INT16; default: " + usualTarget)
			    .valueText("CORE"));
	}

	/** \return true if --target was given; models are then compiled for that core, not for the
	 * device's */
	bool hasTarget() const { return !target_.empty(); }

	/** \return the options, for programs that report options without effect */
	const std::vector<CommandLineOption> &all() const { return all_; }

	/**
	 * \return the options for the compiler; an error names the option whose value is wrong
	 * \param[in] chip further properties of the chip, which are added to Strategy::chip
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

/** \return InvalidArgument if --sram-size was given for a core that cannot have on-chip memory */
inline Result<void> checkSram(const CompileOptions &options)
{
	if (options.sramBytes && !options.core.hasOnChipMemory)
		return fail(ErrorCode::InvalidArgument, "--sram-size", "",
			    std::string(options.core.name) +
				    " has no on-chip memory that the driver can use");
	return {};
}

} /* namespace nvdla::tools */
