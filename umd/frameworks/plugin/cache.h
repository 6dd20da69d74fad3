/* SPDX-License-Identifier: MIT */
/*
 * Cache of compiled models.
 */
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <nvdla/compiler.h>

namespace nvdla::plugin
{

/**
 * \brief A folder of compiled models
 *
 * The name of a file is derived from the model, the options and the build of the compiler. A file
 * begins with a checksum of its contents; a file with a wrong checksum is ignored. Several
 * processes may use one folder, because a file gets its name only when it is complete. The cache
 * never deletes a file.
 */
class Cache
{
public:
	/** \param[in] folder path of the folder; if it is empty, nothing is ever found or kept */
	explicit Cache(std::string folder) : folder_(std::move(folder)) {}

	/** \brief Create the folder if it is missing; do nothing if its path is empty
	 * \return InvalidArgument naming the folder if files cannot be written there */
	Result<void> check() const;

	/**
	 * \return a result of compileModel() for the same model and options that was kept earlier,
	 * without its report; nothing if there is none. Results with calibration are never kept
	 */
	std::optional<CompiledModel> find(std::span<const std::byte> model,
					  const CompileOptions &options = {}) const;

	/** \brief Keep a result of compileModel(), unless it has a calibration
	 * \return why it cannot be kept, such as a full disk; the result itself can still be used
	 */
	Result<void> keep(std::span<const std::byte> model, const CompiledModel &compiled,
			  const CompileOptions &options = {}) const;

private:
	bool keeps(const CompileOptions &options) const;
	std::string pathOf(std::span<const std::byte> model, const CompileOptions &options) const;

	std::string folder_;
};

} /* namespace nvdla::plugin */
