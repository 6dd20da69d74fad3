/* SPDX-License-Identifier: MIT */
/*
 * Register traces: text files of register accesses, memory contents and expectations.
 *
 * Three formats are read. "trace" is that of the reference vectors. "input.txn" is the format of
 * branch nvdlav1 of the public hardware repository. NAME.cfg in a folder NAME is that of its branch
 * master.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "core/geometry.h"
#include "core/memory.h"

namespace nvdla::sim
{

/** \brief Largest difference allowed between memory and the expected contents */
struct Tolerance {
	enum class Kind {
		Exact,	     /**< byte for byte */
		Convolution, /**< FP16, precision document: threshold of CC DC and CC Winograd */
		Pooling,     /**< FP16, precision document: threshold of CDP and PDP */
	};

	Kind kind = Kind::Exact;
	double products = 0;	/**< convolution: number of products in a sum, R * S * C */
	double maxExponent = 0; /**< convolution: largest binary exponent of a product */
	double absolute = 0;	/**< pooling: largest difference */
	double relative = 0;	/**< pooling: largest difference divided by the expected number */
};

/** \brief One step of a trace */
struct TraceCommand {
	enum class Kind {
		Load,	      /**< bytes to memory */
		Write,	      /**< register write */
		Poll,	      /**< wait for (register & mask) == value */
		Read,	      /**< (register & mask) must be value now */
		Expect,	      /**< memory must equal these bytes */
		ExpectCrc,    /**< the CRC-32 of size bytes of memory must be value */
		AnyInterrupt, /**< wait for one interrupt of mask, which uses that interrupt up */
		Interrupts,   /**< wait for all interrupts of value, which uses them up */
		Acknowledge,  /**< write value to GLB's S_INTR_STATUS; no other command needs the
			       *  bits that it clears */
	};

	Kind kind;
	unsigned int line = 0; /**< line in the trace file, from 1 */
	RamType ram = RamType::Mc;
	uint64_t address = 0; /**< memory address, or register offset in the CSB space */
	uint32_t mask = 0;    /**< mask of a register, or of GLB's S_INTR_STATUS */
	uint32_t value = 0;
	uint64_t size = 0; /**< bytes that ExpectCrc checks */
	std::string file;  /**< name in the trace's directory */
	/** \brief The bytes of Load and Expect; if missing, those of the file */
	std::optional<std::vector<std::byte>> data = {};
	Tolerance tolerance = {};

	/** \return whether the address is that of a register */
	bool isRegister() const
	{
		return kind == Kind::Write || kind == Kind::Poll || kind == Kind::Read ||
		       kind == Kind::Acknowledge;
	}
};

/** \brief A trace and where its files are */
struct Trace {
	std::filesystem::path directory;
	const Geometry *geometry = &nvFull; /**< configuration of the recorded core */
	size_t cvsramSize = 0;		    /**< least bytes that the trace needs */
	std::vector<TraceCommand> commands;
};

/** \return the commands, or a message that begins with the line number */
tl::expected<std::vector<TraceCommand>, std::string> parseTrace(std::string_view text);

/** \return whether there is a trace in a directory, in any format */
bool hasTrace(const std::filesystem::path &directory);

/**
 * \return the trace in a directory, or a message that begins with the file's name
 *
 * The core is the "variant" of DIRECTORY/meta.json. Without that entry, input.txn and "trace" are
 * for nv_full, and a .cfg is for the core that is named last in the directory's path.
 */
tl::expected<Trace, std::string> loadTrace(const std::filesystem::path &directory);

/** \return the bytes of a Load or an Expect, or a message that begins with the file's name */
tl::expected<std::vector<std::byte>, std::string> contents(const Trace &trace,
							   const TraceCommand &command);

/** \return the object in DIRECTORY/meta.json, an empty one if there is none */
nlohmann::json loadMeta(const std::filesystem::path &directory);

/** \return contents of a file of at most 1 GiB, or a message that begins with its name */
tl::expected<std::vector<std::byte>, std::string> readFile(const std::filesystem::path &path);

} /* namespace nvdla::sim */
