/* SPDX-License-Identifier: MIT */
/*
 * Register traces: text files of register accesses, memory contents and
 * expectations, as the golden vectors are written.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "core/geometry.h"
#include "core/memory.h"

namespace nvdla::sim
{

/** \brief How near memory must come to the expected contents */
struct Tolerance {
	enum class Kind {
		Exact,	     /**< byte for byte */
		Convolution, /**< FP16, precision document: threshold of CC DC and CC Winograd */
		Pooling,     /**< FP16, precision document: threshold of CDP and PDP */
	};

	Kind kind = Kind::Exact;
	double products = 0;	/**< convolution: R * S * C */
	double maxExponent = 0; /**< convolution: largest exponent of a product in the layer */
	double absolute = 0;	/**< pooling */
	double relative = 0;	/**< pooling */
};

/** \brief One line of a trace */
struct TraceCommand {
	enum class Kind {
		Load,	/**< bytes of a file to memory */
		Write,	/**< register write */
		Poll,	/**< wait for (register & mask) == value */
		Read,	/**< (register & mask) must be value now */
		Expect, /**< memory must equal a file */
	};

	Kind kind;
	unsigned int line; /**< in the trace file, from 1 */
	RamType ram = RamType::Mc;
	uint64_t address = 0; /**< memory address, or register offset in the CSB space */
	uint32_t mask = 0;
	uint32_t value = 0;
	std::string file; /**< name in the trace's directory */
	Tolerance tolerance;
};

/** \brief A trace and where its files are */
struct Trace {
	std::filesystem::path directory;
	const Geometry *geometry = &nvFull; /**< of the core that it was recorded on */
	std::vector<TraceCommand> commands;
};

/** \return the commands, or a message that begins with the line number */
tl::expected<std::vector<TraceCommand>, std::string> parseTrace(std::string_view text);

/**
 * \return the trace DIRECTORY/trace, or a message that begins with the file's name
 *
 * The core is the "variant" of DIRECTORY/meta.json, nv_full if it says nothing.
 */
tl::expected<Trace, std::string> loadTrace(const std::filesystem::path &directory);

/** \return the object in DIRECTORY/meta.json, an empty one if there is none */
nlohmann::json loadMeta(const std::filesystem::path &directory);

/** \return contents of a file of at most 1 GiB, or a message that begins with its name */
tl::expected<std::vector<std::byte>, std::string> readFile(const std::filesystem::path &path);

} /* namespace nvdla::sim */
