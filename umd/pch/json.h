/* SPDX-License-Identifier: MIT */
/* As umd.h, for the files that read and write JSON. */
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tl/expected.hpp>
