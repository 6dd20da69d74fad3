/* SPDX-License-Identifier: MIT */
/*
 * Reads the inputs of a network from files, and writes its outputs to files.
 */
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nvdla/network.h>

#include "run_options.h"
#include "scaling_options.h"

namespace nvdla::tools
{

/** \brief Kind of a file by the ending of its name. Checks of options count an input of kind Other
 * as a picture */
enum class FileKind { Dimg, Npy, Raw, Other };

FileKind fileKind(const std::string &path);

/** \return InvalidArgument if an option of \a scaling was given, but no input is a picture */
Result<void> checkUses(const ScalingOptions &scaling, const std::vector<std::string> &inputs);

/**
 * \brief Set an input from a file
 *
 * If the name ends in .raw, the file has the bytes of the tensor as they are in memory. For other
 * names, the contents show whether the file is a picture (PGM, PPM, PNG, JPEG), a numpy array or a
 * .dimg. NaNs in an array are reported on standard error.
 *
 * \return how a picture became the input (pictureNote()); empty for other files
 */
Result<std::string> setInput(Network &network, size_t index, const std::string &path,
			     const RunSettings &settings);

/**
 * \brief Print that the inputs without a file are zero
 *
 * Call this after everything that may fail, so that an error is the only line that is printed.
 *
 * \param[in] given number of inputs with a file
 */
void sayZeroInputs(const char *program, size_t given, const Network &network);

/**
 * \brief Write an output to a file
 *
 * The ending of the name decides: .raw gives the bytes of the tensor as they are in memory, .npy
 * its real numbers, any other ending a .dimg or, if settings.rawDump, the elements as text. The
 * axes of a .npy are in the order of settings.layout, by default in the model's.
 */
Result<void> writeOutput(const Network &network, size_t index, const std::string &path,
			 const RunSettings &settings);

/** \return index and value of the \a count largest elements of output \a index, largest first */
Result<std::vector<std::pair<size_t, float>>> topElements(const Network &network, size_t index,
							  size_t count);

} /* namespace nvdla::tools */
