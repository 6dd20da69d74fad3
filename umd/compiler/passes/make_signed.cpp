/* SPDX-License-Identifier: MIT */
#include "passes.h"

namespace nvdla::compiler
{

void makeSigned(Model &model)
{
	constexpr int32_t half = 128;

	for (Value &value : model.values) {
		if (value.type != ElementType::UInt8 || value.isConstant)
			continue;
		const Quantization all = value.quantization.channel(0);
		value.type = ElementType::Int8;
		value.quantization = Quantization{ all.scale, all.zeroPoint - half };
	}
}

} /* namespace nvdla::compiler */
