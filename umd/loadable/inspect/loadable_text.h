/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/loadable.h>

namespace nvdla::inspect
{

/**
 * \return what is in a loadable, for a terminal: tensors, the memory map, the
 * operations of each task and what they wait for; or an error of its tasks
 */
Result<std::string> loadableText(const Loadable &loadable, const std::string &name);

} /* namespace nvdla::inspect */
