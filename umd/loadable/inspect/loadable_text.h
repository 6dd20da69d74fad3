/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/loadable.h>

namespace nvdla::inspect
{

/**
 * \return the contents of a loadable as text: tensors, the memory map, the
 * operations of each task and their dependencies; or an error of its tasks
 */
Result<std::string> loadableText(const Loadable &loadable, const std::string &name);

} /* namespace nvdla::inspect */
