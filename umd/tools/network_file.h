/* SPDX-License-Identifier: MIT */
/*
 * The network that a command line names: a loadable, or a model to compile.
 */
#pragma once

#include <string>

#include <nvdla/compiler.h>
#include <nvdla/device.h>

#include "command-line/chip_options.h"
#include "command-line/command_line.h"
#include "strategy_options.h"

namespace nvdla::tools
{

/** \brief A file with a loadable or a model, and how to compile a model */
struct NetworkFile {
	std::string path;
	bool isModel = false; /**< TensorFlow Lite, ONNX or Caffe: to be compiled */
	std::string cache; /**< folder of --cache, which keeps compiled models; empty: no cache */
	CompileOptions options = {}; /**< options to compile a model */
	bool hasTarget = false;	     /**< true if --target named options.core */
	bool calibrates = false;     /**< true if the program has --calibrate */

	/** \return the path without its folders */
	std::string name() const;
	/** \return a copy with options that let the compiler choose the fastest way on the chip
	 * that \a chip describes */
	NetworkFile onChip(const ChipOptions &chip) const;
};

/** \return the file at \a path: a model if its name ends like a model's */
NetworkFile networkFile(const std::string &path);

/** \brief The network argument and its options. The object must exist until the command line is
 * parsed */
class NetworkOptions
{
public:
	NetworkOptions() = default;
	NetworkOptions(const NetworkOptions &) = delete;
	NetworkOptions &operator=(const NetworkOptions &) = delete;

	/**
	 * \param[in] usualTarget text for the help: the core for which models are compiled without
	 * --target
	 * \param[in] calibrates whether the program can calibrate models, for the help
	 */
	void addTo(CommandLine &app, const std::string &usualTarget, bool calibrates = false);

	/** \return the argument and the options; a program's other options may exclude them */
	const std::vector<CommandLineOption> &all() const { return all_; }

	/**
	 * \brief If --loadable or --model names the network, the first positional argument is not
	 * the network: move it to \a next, the variable of the second positional argument
	 *
	 * To be called after parsing and before file(). If \a next has a value, nothing is moved,
	 * and file() fails, because the network is named twice.
	 */
	void yieldTo(std::string &next);

	/** \return the file; InvalidArgument if none was named, or if it is a loadable and an
	 * option for models was given */
	Result<NetworkFile> file() const;

private:
	bool calibrates_ = false;
	std::string network_;
	std::string loadable_;
	std::string model_;
	std::string cache_;
	StrategyOptions strategy_;
	std::vector<CommandLineOption> ofModels_;
	std::vector<CommandLineOption> all_;
};

/**
 * \brief Make the core of \a device the core for which \a file is compiled, if \a file is a model
 * and --target was not given
 * \return \a device
 */
Result<Device> targetOf(NetworkFile &file, Result<Device> device);

/** \brief Compile a model or read a loadable; of a loadable, only the member loadable of the result
 * is set */
Result<CompiledModel> readNetwork(const NetworkFile &file);

} /* namespace nvdla::tools */
