/* SPDX-License-Identifier: MIT */
#include "loadable_json.h"

#include <cstdlib>
#include <string_view>

#include <nvdla/loadable_json.h>

#include "result.h"

namespace nvdla::fuzz
{

void readLoadableJson(const uint8_t *data, size_t size)
{
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	auto loadable = loadableFromJson(text);
	if (!isWell(loadable))
		return;

	/* JSON strings are UTF-8, so there is a text. */
	auto json = loadableToJson(*loadable);
	if (!json)
		std::abort();
	auto again = loadableFromJson(*json);
	if (!again || !(*again == *loadable))
		std::abort();
}

} /* namespace nvdla::fuzz */
