/* SPDX-License-Identifier: MIT */
#pragma once

namespace nvdla::inspect
{

/**
 * \brief Colours of the engines in pictures, as CSS rules: each engine's name is a class
 *
 * They can be distinguished with the common forms of colour blindness, too: P. Tol, "Colour
 * schemes", 2021, the scheme "light".
 */
constexpr const char *engineColours =
	".BDMA{fill:#99ddff}\n"
	".CONV{fill:#77aadd}\n"
	".SDP{fill:#44bb99}\n"
	".PDP{fill:#eedd88}\n"
	".CDP{fill:#ffaabb}\n"
	".RUBIK{fill:#bbcc33}\n"
	".POWER,.SOFTMAX,.RESHAPE,.ARG_MAX,.NORMALIZE,.LOCAL_RESPONSE,"
	".LOG_SOFTMAX,.STANDARDIZE,.LARGEST,.PACK_WEIGHTS,.CPU{fill:#dddddd}\n";

} /* namespace nvdla::inspect */
