/* SPDX-License-Identifier: MIT */
/*
 * What is known of the reference data's compiled networks.
 */
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace nvdla::test
{

/** \return the folder's info.json */
nlohmann::json infoOf(const std::filesystem::path &folder);

/** \return what \a info says of the loadable with the name \a tag, null if nothing */
nlohmann::json configurationOf(const nlohmann::json &info, const std::string &tag);

/** \return the first input as it was stored for a loadable, in its layout, all of them */
std::vector<std::vector<std::byte>> storedInputs(const std::filesystem::path &loadable);

} /* namespace nvdla::test */
