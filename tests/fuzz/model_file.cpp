/* SPDX-License-Identifier: MIT */
#include "model_file.h"

#include <cstdlib>
#include <span>

#include <nvdla/compiler.h>

#include "result.h"

namespace nvdla::fuzz
{

void compileModelFile(const uint8_t *data, size_t size)
{
	auto compiled = compileModel(std::as_bytes(std::span(data, size)));
	if (!isWell(compiled))
		return;
	auto written = compiled->loadable.write();
	if (!isWell(written) || !isWell(Loadable::read(*written)))
		std::abort();
}

} /* namespace nvdla::fuzz */
