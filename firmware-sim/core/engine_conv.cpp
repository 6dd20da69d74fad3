/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include <new>
#include <optional>
#include <utility>

#include "conv/conv_engine.h"
#include "pdp/pdp.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

class ConvPipelineImpl : public ConvPipeline
{
public:
	ConvPipelineImpl(Workers &workers, const ConvOptions &options, const Geometry &geometry)
		: engine_(workers, options, geometry)
	{
	}

	OperationResult run(const OperationInputs &inputs, MemoryPort &port,
			    const std::function<void(OperationResult)> &sumsDone) override
	{
		const ConvOp conv = decode(inputs);
		const SdpOp sdp =
			decodeSdp(inputs[Unit::Sdp], inputs[Unit::SdpRdma], *inputs.geometry);
		MemoryPort results = port.fork();
		std::optional<PdpStream> pdp;
		if (inputs.has(Unit::Pdp))
			pdp.emplace(decodePdp(inputs[Unit::Pdp], {}, *inputs.geometry), results);
		SdpStream stream(sdp, inputs.sdpLut, results, pdp ? &*pdp : nullptr);

		OperationResult result = engine_.run(conv, port, stream);
		if (!result.hangs)
			merge(result, stream.finish());
		if (pdp && !result.hangs)
			merge(result, pdp->finish());
		port.join(results);
		if (!result.hangs && engine_.fetching()) {
			sumsDone(std::move(result));
			return engine_.finishFetch();
		}
		return result;
	}

	void reset() override { engine_.reset(); }

	bool isShared(const OperationInputs &inputs) const override
	{
		try {
			return engine_.worthwhileThreads(decode(inputs)) > 1;
		} catch (const std::bad_alloc &) { /* of which run() tells */
			return false;
		}
	}

private:
	static ConvOp decode(const OperationInputs &inputs)
	{
		return decodeConv({ inputs[Unit::Cdma], inputs[Unit::Csc], inputs[Unit::CmacA],
				    inputs[Unit::CmacB], inputs[Unit::Cacc] },
				  *inputs.geometry);
	}

	ConvEngine engine_;
};

} /* namespace */

std::unique_ptr<ConvPipeline> ConvPipeline::create(Workers &workers, const ConvOptions &options,
						   const Geometry &geometry)
{
	return std::make_unique<ConvPipelineImpl>(workers, options, geometry);
}

} /* namespace nvdla::sim */
