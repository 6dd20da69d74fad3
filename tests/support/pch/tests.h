/* SPDX-License-Identifier: MIT */
/*
 * Headers of others that most of these tests include; compiled once. Every file still includes
 * what it uses: -Db_pch=false shows whether it does.
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
