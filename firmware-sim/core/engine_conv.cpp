/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include <algorithm>

#include "conv/conv_engine.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

/* Units of one fused operation work at the same time: the slowest one sets the pace. */
void merge(OperationResult &result, OperationResult &&part)
{
	result.updates.insert(result.updates.end(), part.updates.begin(), part.updates.end());
	result.cycles = std::max(result.cycles, part.cycles);
	result.hangs |= part.hangs;
	if (result.guestError.empty())
		result.guestError = std::move(part.guestError);
}

class ConvPipelineImpl : public ConvPipeline
{
public:
	OperationResult run(const OperationInputs &inputs, MemoryPort &port) override
	{
		const ConvOp conv =
			decodeConv({ inputs[Unit::Cdma], inputs[Unit::Csc], inputs[Unit::CmacA],
				     inputs[Unit::CmacB], inputs[Unit::Cacc] });
		const SdpOp sdp = decodeSdp(inputs[Unit::Sdp], inputs[Unit::SdpRdma]);
		SdpStream stream(sdp, inputs.sdpLut, port);

		OperationResult result = engine_.run(conv, port, stream);
		if (!result.hangs)
			merge(result, stream.finish());
		return result;
	}

private:
	ConvEngine engine_;
};

} /* namespace */

std::unique_ptr<ConvPipeline> ConvPipeline::create()
{
	return std::make_unique<ConvPipelineImpl>();
}

} /* namespace nvdla::sim */
