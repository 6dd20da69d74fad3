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
 * A file is named by what was compiled, how, and by the build of the compiler; it begins with a sum
 * of its contents, so that one that is damaged or from somewhere else counts as none. Any number of
 * processes may use one folder: files appear whole. The cache never deletes a file.
 */
class Cache
{
public:
	/** \param[in] folder empty: nothing is ever found or kept */
	explicit Cache(std::string folder) : folder_(std::move(folder)) {}

	/** \return InvalidArgument naming the folder if nothing can be kept there; it is made if
	 * need be */
	Result<void> check() const;

	/**
	 * \return what compileModel() made of \a model with the same options once, without its
	 * report; what was calibrated is not kept
	 */
	std::optional<CompiledModel> find(std::span<const std::byte> model,
					  const CompileOptions &options = {}) const;

	/** \brief Keep a result; if the folder cannot be written, nothing is kept */
	void keep(std::span<const std::byte> model, const CompiledModel &compiled,
		  const CompileOptions &options = {}) const;

private:
	bool keeps(const CompileOptions &options) const;
	std::string pathOf(std::span<const std::byte> model, const CompileOptions &options) const;

	std::string folder_;
};

} /* namespace nvdla::plugin */
