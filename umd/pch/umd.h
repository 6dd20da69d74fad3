/* SPDX-License-Identifier: MIT */
/*
 * Headers of others that most files of the library include; compiled once. Every file still
 * includes what it uses: -Db_pch=false shows whether it does.
 */
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <tl/expected.hpp>
