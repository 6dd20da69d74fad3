/* SPDX-License-Identifier: MIT */
#include "core/engines.h"

#include <new>
#include <optional>
#include <utility>

#include "cdp/cdp.h"
#include "conv/conv_engine.h"
#include "pdp/pdp.h"
#include "rubik/rubik.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

ConvOp decodeConvOf(const OperationInputs &inputs)
{
	return decodeConv({ inputs[Unit::Cdma], inputs[Unit::Csc], inputs[Unit::CmacA],
			    inputs[Unit::CmacB], inputs[Unit::Cacc] },
			  *inputs.geometry);
}

SdpOp decodeSdpOf(const OperationInputs &inputs)
{
	return decodeSdp(inputs[Unit::Sdp], inputs[Unit::SdpRdma], *inputs.geometry);
}

/* The PDP that takes an SDP operation's output, if one takes part. */
class FlyingPdp
{
public:
	FlyingPdp(const OperationInputs &inputs, MemoryPort &port)
	{
		if (inputs.has(Unit::Pdp))
			stream_.emplace(decodePdp(inputs[Unit::Pdp], {}, *inputs.geometry), port);
	}

	PdpStream *sink() { return stream_ ? &*stream_ : nullptr; }
	void finish(OperationResult &result)
	{
		if (stream_ && !result.hangs)
			merge(result, stream_->finish());
	}

private:
	std::optional<PdpStream> stream_;
};

} /* namespace */

ConvPipeline::ConvPipeline(Workers &workers, const ConvOptions &options, const Geometry &geometry)
	: engine_(std::make_unique<ConvEngine>(workers, options, geometry))
{
}

ConvPipeline::~ConvPipeline() = default;

OperationResult ConvPipeline::run(const OperationInputs &inputs, MemoryPort &port,
				  const std::function<void(OperationResult)> &sumsDone)
{
	const ConvOp conv = decodeConvOf(inputs);
	const SdpOp sdp = decodeSdpOf(inputs);
	MemoryPort results = port.fork();
	FlyingPdp pdp(inputs, results);
	SdpStream stream(sdp, inputs.sdpLut, results, pdp.sink());

	OperationResult result = engine_->run(conv, port, stream);
	if (!result.hangs)
		merge(result, stream.finish());
	pdp.finish(result);
	port.join(results);
	if (!result.hangs && engine_->fetching()) {
		sumsDone(std::move(result));
		return engine_->finishFetch();
	}
	return result;
}

void ConvPipeline::reset()
{
	engine_->reset();
}

bool ConvPipeline::isShared(const OperationInputs &inputs) const
{
	try {
		return engine_->worthwhileThreads(decodeConvOf(inputs)) > 1;
	} catch (const std::bad_alloc &) { /* run() reports the lack of memory */
		return false;
	}
}

OperationResult runOperation(Engine engine, const OperationInputs &inputs, MemoryPort &port,
			     Workers &workers)
{
	const Geometry &geometry = *inputs.geometry;

	if (engine == Engine::Pdp)
		return runPdp(decodePdp(inputs[Unit::Pdp], inputs[Unit::PdpRdma], geometry), port,
			      &workers);
	if (engine == Engine::Cdp)
		return runCdp(decodeCdp(inputs[Unit::Cdp], inputs[Unit::CdpRdma], geometry),
			      inputs.cdpLut, port, &workers);
	if (engine == Engine::Rubik)
		return run(decodeRubik(inputs[Unit::Rbk]), port);

	const SdpOp op = decodeSdpOf(inputs);
	FlyingPdp pdp(inputs, port);
	OperationResult result = runSdp(op, inputs.sdpLut, port, pdp.sink(), &workers);
	pdp.finish(result);
	return result;
}

void merge(OperationResult &result, OperationResult &&part)
{
	result.updates.insert(result.updates.end(), part.updates.begin(), part.updates.end());
	result.work.merge(part.work);
	result.hangs |= part.hangs;
	noteError(result.guestError, part.guestError);
}

} /* namespace nvdla::sim */
