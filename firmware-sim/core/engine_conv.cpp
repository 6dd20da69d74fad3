/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

namespace nvdla::sim
{

namespace
{

class ConvPipelineImpl : public ConvPipeline
{
public:
	OperationResult run(const OperationInputs &inputs, MemoryPort &port) override
	{
		return notModelled("CACC");
	}
};

} /* namespace */

std::unique_ptr<ConvPipeline> ConvPipeline::create()
{
	return std::make_unique<ConvPipelineImpl>();
}

} /* namespace nvdla::sim */
