/* SPDX-License-Identifier: MIT */
/*
 * Headers of others that most files of the device model include; compiled once. Every file
 * still includes what it uses: -Db_pch=false shows whether it does.
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
