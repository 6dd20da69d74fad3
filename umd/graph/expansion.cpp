/* SPDX-License-Identifier: MIT */
#include "expansion.h"

#include <fmt/core.h>

#include "conv_layer.h"

namespace nvdla::assembly
{

namespace
{

struct Kind {
	const char *name;
	nvdla_op_type type;
};

/* In the order of op::Any; the CPU's operations have no engine. */
constexpr Kind kinds[] = {
	{ "convolution", NVDLA_OP_CONV },
	{ "deconvolution", NVDLA_OP_CONV },
	{ "SDP", NVDLA_OP_SDP },
	{ "comparison", NVDLA_OP_SDP },
	{ "pooling", NVDLA_OP_PDP },
	{ "normalization", NVDLA_OP_CDP },
	{ "contract", NVDLA_OP_RUBIK },
	{ "split into planes", NVDLA_OP_RUBIK },
	{ "merge of planes", NVDLA_OP_RUBIK },
	{ "copy", NVDLA_OP_BDMA },
	{ "softmax", NVDLA_OP_BDMA },
	{ "power", NVDLA_OP_BDMA },
	{ "reshape", NVDLA_OP_BDMA },
	{ "function of channels", NVDLA_OP_BDMA },
};
static_assert(std::size(kinds) == std::variant_size_v<op::Any>);

/* The stream of a convolution or deconvolution. */
const std::string *streamOf(const op::Any &operation)
{
	if (const auto *conv = std::get_if<op::Convolution>(&operation))
		return &conv->output;
	if (const auto *deconv = std::get_if<op::Deconvolution>(&operation))
		return &deconv->output;
	return nullptr;
}

} /* namespace */

std::string describePart(Symbols &symbols, const Surface &whole, const std::string &range,
			 Surface part)
{
	part.name = fmt::format("{} [{}]", whole.name, range);
	part.within = whole.within.empty() ? whole.name : whole.within;
	part.atChannel += whole.atChannel;
	part.atColumn += whole.atColumn;
	part.atLine = whole.atLine + part.atLine * whole.lineStep;
	part.lineStep *= whole.lineStep;
	symbols.declared.insert_or_assign(part.name, part);
	return part.name;
}

Lowering Expansion::begin(const op::Any &operation, const std::string &piece)
{
	const Kind &kind = kinds[operation.index()];

	return { plan_,	    symbols_, *nvdla_variant_nv_full(), kind.name, operationName(operation),
		 kind.type, piece };
}

Result<void> Expansion::lowerOne(const op::Any &operation, const std::string &piece)
{
	Lowering lowering = begin(operation, piece);

	std::visit(
		[&](const auto &any) {
			if constexpr (!std::is_same_v<decltype(any), const op::Deconvolution &>)
				lower(lowering, any);
		},
		operation);
	return lowering.finish();
}

Result<bool> Expansion::isDivided(const op::Any &operation)
{
	Lowering lowering = begin(operation);
	bool divided = true;
	Shape shape;
	DataType type = DataType::Unknown;

	if (const auto *conv = std::get_if<op::Convolution>(&operation)) {
		const auto layer = convLayer(lowering, *conv);
		divided = layer && bandsOf(lowering, *layer).size() > 1;
		if (divided) {
			shape = { layer->plain.kernels, layer->outH, layer->outW };
			type = layer->plain.type;
		}
	} else {
		const auto layer = deconvLayer(lowering, std::get<op::Deconvolution>(operation));
		if (layer) {
			shape = layer->out;
			type = layer->weights.elements.type;
		}
	}
	if (divided && !lowering.failed()) {
		Surface stream = lowering.describe(*streamOf(operation), type, shape);
		stream.place = Place::Stream;
		lowering.checkPlace(stream);
	}
	if (auto result = lowering.result(); !result)
		return forward(result);
	return divided;
}

bool Expansion::needsBands(const op::Convolution &conv)
{
	Lowering lowering = begin(conv);
	const auto layer = convLayer(lowering, conv);

	return layer && bandsOf(lowering, *layer).size() > 1;
}

Result<void> Expansion::addPair(const op::Convolution &conv, const op::Sdp &sdp,
				const std::string &piece)
{
	Lowering lowering = begin(conv, piece);
	const auto layer = convLayer(lowering, conv);
	const std::vector<Band> bands = layer ? bandsOf(lowering, *layer) : std::vector<Band>();

	if (auto result = lowering.result(); !result)
		return result;
	if (bands.size() > 1)
		return addBands(conv, sdp, bands, piece);
	return lowerOne(conv, piece).and_then([&] { return lowerOne(sdp, piece); });
}

Result<void> Expansion::add(const op::Any &operation)
{
	if (const std::string *stream = streamOf(operation)) {
		auto divided = isDivided(operation);
		if (!divided)
			return forward(divided);
		if (!*divided)
			return lowerOne(operation);
		waiting_[*stream] = &operation;
		symbols_.divided.insert(*stream);
		symbols_.declared.erase(*stream);
		return {};
	}
	const auto *sdp = std::get_if<op::Sdp>(&operation);
	const auto waiting = sdp ? waiting_.find(sdp->input) : waiting_.end();
	if (waiting == waiting_.end())
		return lowerOne(operation);
	const op::Any &producer = *waiting->second;
	waiting_.erase(waiting);
	if (const auto *deconv = std::get_if<op::Deconvolution>(&producer))
		return addDeconvolution(*deconv, *sdp);
	return addPair(std::get<op::Convolution>(producer), *sdp);
}

Result<void> Expansion::run()
{
	for (const op::Any &operation : operations_) {
		if (auto added = add(operation); !added)
			return added;
	}
	if (waiting_.empty())
		return {};
	const auto &[stream, operation] = *waiting_.begin();
	Lowering lowering = begin(*operation);
	lowering.need(false, "output", fmt::format("no operation takes its stream '{}'", stream));
	return lowering.result();
}

} /* namespace nvdla::assembly */
