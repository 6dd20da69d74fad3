/* SPDX-License-Identifier: MIT */
/*
 * The network that a command line names: a loadable, or a model to compile.
 */
#pragma once

#include <string>

#include <nvdla/compiler.h>
#include <nvdla/device.h>

#include "command-line/command_line.h"
#include "strategy_options.h"

namespace nvdla::tools
{

/** \brief A file with a network */
struct NetworkFile {
	std::string path;
	bool isModel = false;	     /**< TensorFlow Lite or ONNX, to be compiled */
	std::string cache;	     /**< folder of the cache of compiled models; empty: no cache */
	CompileOptions options = {}; /**< options to compile a model */
	bool hasTarget = false;	     /**< true if --target named options.core */

	/** \return the path without its folders */
	std::string name() const;
};

/** \return the file at \a path: a model if its name has the ending of one */
NetworkFile networkFile(const std::string &path);

/** \brief The network argument and its options; must outlive the parsing of the command line */
class NetworkOptions
{
public:
	NetworkOptions() = default;
	NetworkOptions(const NetworkOptions &) = delete;
	NetworkOptions &operator=(const NetworkOptions &) = delete;

	/** \param[in] usualTarget the program's core without --target, for the help */
	void addTo(CommandLine &app, const std::string &usualTarget);

	/** \return the argument and the options, to be excluded by other options */
	const std::vector<CommandLineOption> &all() const { return all_; }

	/**
	 * \brief Move the first positional argument to \a next, if that is empty and --loadable or
	 * --model names the network
	 */
	void yieldTo(std::string &next);

	/** \return the file; InvalidArgument if none was named, or an option is for models only */
	Result<NetworkFile> file() const;

private:
	std::string network_;
	std::string loadable_;
	std::string model_;
	std::string cache_;
	StrategyOptions strategy_;
	std::vector<CommandLineOption> ofModels_;
	std::vector<CommandLineOption> all_;
};

/**
 * \brief Make the core of \a device the target of \a file, if that is a model without --target
 * \return \a device
 */
Result<Device> targetOf(NetworkFile &file, Result<Device> device);

/** \brief Compile a model, or read a loadable, of which only the member loadable is set */
Result<CompiledModel> readNetwork(const NetworkFile &file);

} /* namespace nvdla::tools */
