/* SPDX-License-Identifier: MIT */
#include "loadable_read.h"

#include <cstdlib>
#include <span>

#include <nvdla/task.h>

#include "result.h"

namespace nvdla::fuzz
{

void readLoadable(const uint8_t *data, size_t size)
{
	auto loadable = Loadable::read(std::as_bytes(std::span(data, size)));
	if (!isWell(loadable))
		return;

	isWell(loadable->inputs());
	isWell(loadable->outputs());
	isWell(networkParts(*loadable));

	/* What is written from a checked loadable is the same loadable. */
	auto bytes = loadable->write();
	if (!isWell(bytes))
		std::abort();
	auto again = Loadable::read(*bytes);
	if (!isWell(again) || !(*again == *loadable))
		std::abort();
}

} /* namespace nvdla::fuzz */
