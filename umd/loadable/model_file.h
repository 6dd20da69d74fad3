/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>
#include <string_view>

#include <nvdla/error.h>

namespace nvdla
{

/** \return InvalidFile naming the remedy if a file that is to be a loadable is a model */
inline Result<void> refuseModel(const std::string &path, std::string_view bytes)
{
	/* TensorFlow Lite's files have it behind an offset of four bytes; ONNX's say nothing. */
	constexpr std::string_view tfliteIdentifier = "TFL3";
	const bool isTflite = bytes.size() >= 8 && bytes.substr(4, 4) == tfliteIdentifier;

	if (!isTflite && !path.ends_with(".onnx"))
		return {};
	return fail(ErrorCode::InvalidFile, "read loadable", path,
		    "is a model; make a loadable of it: nvdla-compile, nvdla.compile() or "
		    "nvdla_compile_file()");
}

} /* namespace nvdla */
