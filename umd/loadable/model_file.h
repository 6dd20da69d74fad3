/* SPDX-License-Identifier: MIT */
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nvdla/error.h>

#include "base/host/host_model.h"

namespace nvdla
{

/** \return InvalidFile naming the remedy if a file that is to be a loadable is a model */
inline Result<void> refuseModel(const std::string &path, std::string_view bytes)
{
	/* ONNX's files say nothing of themselves. */
	if (!isTfliteFile(std::as_bytes(std::span(bytes))) && !path.ends_with(".onnx"))
		return {};
	return fail(ErrorCode::InvalidFile, "read loadable", path,
		    "is a model; make a loadable of it: nvdla-compile, nvdla.compile() or "
		    "nvdla_compile_file()");
}

} /* namespace nvdla */
