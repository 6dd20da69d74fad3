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
	bool isModel = false; /**< TensorFlow Lite or ONNX, to be compiled */
	std::string cache;    /**< folder of models that were compiled; empty: there is none */
	CompileOptions options = {}; /**< of a model */
	bool hasTarget = false;	     /**< options.core was asked for */

	/** \return the path without its folders */
	std::string name() const;
};

/** \return the file at \a path: a model if its name ends so */
NetworkFile networkFile(const std::string &path);

/** \brief The argument and the options that name it; has to exist until they are parsed */
class NetworkOptions
{
public:
	NetworkOptions() = default;
	NetworkOptions(const NetworkOptions &) = delete;
	NetworkOptions &operator=(const NetworkOptions &) = delete;

	/** \param[in] modelHelp what else there is to say of --model */
	void addTo(CommandLine &app, const std::string &modelHelp = "");

	/** \return the argument and the options, for who has another use for the command line */
	const std::vector<CommandLineOption> &all() const { return all_; }

	/** \brief With --loadable or --model the first argument is \a next, if there is no other */
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

/** \return \a device, for whose core \a file is compiled if it is a model that names no target */
Result<Device> targetOf(NetworkFile &file, Result<Device> device);

/** \return the network; of a loadable nothing else is filled in */
Result<CompiledModel> readNetwork(const NetworkFile &file);

} /* namespace nvdla::tools */
