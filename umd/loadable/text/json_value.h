/* SPDX-License-Identifier: MIT */
/* JSON text and its values, with errors that name the place. */
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>
#include <nvdla/error.h>

#include "names.h"

namespace nvdla::text
{

/** \brief Objects keep the order of their fields, so that files can be compared line by line */
using Json = nlohmann::ordered_json;

/**
 * \brief Parse a JSON text
 *
 * \return InvalidFile naming line and column if the text is no JSON, a field
 * occurs twice, or a limit is exceeded: 16 levels, 64 fields in
 * an object, 16 million values
 */
Result<Json> parseJson(std::string_view text);

/**
 * \brief Readable text of a JSON value
 *
 * A value that fits into 100 columns is on one line. Lists of scalars fill their lines; otherwise
 * each entry has its own line.
 */
std::string printJson(const Json &json);

/** \brief Make the error for the value at \a path, such as "blobs[3].entries[0].conv.pad_val" */
tl::unexpected<Error> badText(std::string path, std::string why);

/** \return the text of \a json, shortened, for an error */
std::string quote(const Json &json);

/** \brief "path.field", or "field" at the root */
std::string fieldPath(const std::string &path, std::string_view field);

/** \return the field of an object, or an error if \a json is no object or lacks the field */
Result<const Json *> findField(const Json &json, const std::string &path, const char *field);

/** \brief Read a number from 0 to \a max or, with \a nameOf, the name of such a number */
Result<uint64_t> unsignedValue(const Json &json, const std::string &path, uint64_t max,
			       NameOf nameOf = nullptr);

/** \brief Read a number from \a min to \a max */
Result<int64_t> signedValue(const Json &json, const std::string &path, int64_t min, int64_t max);

/** \brief Convert a float: finite numbers to numbers, others to their bits: "0x7fc00000" */
Json floatToJson(float value);
Result<float> floatValue(const Json &json, const std::string &path);

Result<std::string> stringValue(const Json &json, const std::string &path);

/** \return the name of an unsigned number, or the number itself if it has no name */
Json namedToJson(uint64_t value, NameOf nameOf);

} /* namespace nvdla::text */
