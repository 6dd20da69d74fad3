/* SPDX-License-Identifier: MIT */
#include "expansion.h"

#include <algorithm>

#include <fmt/core.h>

#include "conv_groups.h"
#include "conv_layer.h"
#include "operation_names.h"

namespace nvdla::assembly
{

namespace
{

struct Kind {
	const char *name;
	nvdla_op_type type;
};

/* In the order of op::Any. CPU operations have no engine; their type has no meaning. */
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
	{ "function", NVDLA_OP_BDMA },
	{ "reshape", NVDLA_OP_BDMA },
	{ "function of channels", NVDLA_OP_BDMA },
	{ "packing of weights", NVDLA_OP_BDMA },
};
static_assert(std::size(kinds) == std::variant_size_v<op::Any>);

const std::string &weightsOf(const op::Any &operation)
{
	const auto *conv = std::get_if<op::Convolution>(&operation);

	return conv ? conv->weights : std::get<op::Deconvolution>(operation).weights;
}

/* Returns whether a convolution has to be divided into operations of fewer kernels. If not even one
 * kernel fits, only a batch can be divided: into its cubes, each of which needs less room. */
bool takesKernelParts(const Lowering &lowering, const ConvLayer &layer)
{
	const uint32_t kernels = kernelsAtOnce(lowering, layer);

	return kernels < layer.core.kernels && (kernels > 0 || layer.in.desc.n > 1);
}

} /* namespace */

const std::string *streamOf(const op::Any &operation)
{
	if (const auto *conv = std::get_if<op::Convolution>(&operation))
		return &conv->output;
	if (const auto *deconv = std::get_if<op::Deconvolution>(&operation))
		return &deconv->output;
	return nullptr;
}

std::string describePart(Symbols &symbols, const Surface &whole, const std::string &range,
			 Surface part)
{
	part.name = fmt::format("{} [{}]", whole.name, range);
	part.within = whole.within.empty() ? whole.name : whole.within;
	part.atBatch += whole.atBatch;
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

	return { plan_, symbols_, kind.name, operationName(operation), kind.type, piece };
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

Result<bool> Expansion::isDivided(const op::Convolution &conv)
{
	Lowering lowering = begin(conv);
	const auto layer = convLayer(lowering, conv);
	const bool banded = layer && bandsOf(lowering, *layer).size() > 1;

	if (auto result = lowering.result(); !result)
		return forward(result);
	return banded || takesKernelParts(lowering, *layer);
}

std::optional<Shape> Expansion::shapeOf(Lowering &lowering, const op::Any &operation)
{
	if (const auto *deconv = std::get_if<op::Deconvolution>(&operation)) {
		const auto layer = deconvLayer(lowering, *deconv);
		return layer ? std::optional(layer->out) : std::nullopt;
	}
	const auto &conv = std::get<op::Convolution>(operation);
	const auto groups = groupedLayer(lowering, conv);
	if (!groups)
		return {};
	const op::Convolution first = convolutionOf(symbols_, conv, *groups, groups->tiles.front());
	const auto layer = convLayer(lowering, conv.groups > 1 ? first : conv);
	if (!layer)
		return {};
	return Shape{ groups->weights.k, layer->outH, layer->outW, groups->n };
}

Result<void> Expansion::wait(const op::Any &operation)
{
	Lowering lowering = begin(operation);
	const auto shape = shapeOf(lowering, operation);
	const std::string &name = *streamOf(operation);

	if (shape) {
		const DataType type = symbols_.weights.at(weightsOf(operation))->elements.type;
		Surface stream = lowering.describe(name, type, *shape);
		stream.place = Place::Stream;
		lowering.checkPlace(stream);
	}
	if (auto result = lowering.result(); !result)
		return result;
	waiting_[name] = &operation;
	symbols_.divided.insert(name);
	symbols_.declared.erase(name);
	return {};
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
	if (takesKernelParts(lowering, *layer))
		return addKernels(conv, sdp, piece);
	return lowerOne(conv, piece).and_then([&] { return lowerOne(sdp, piece); });
}

Result<op::Sdp> Expansion::separate(const op::Sdp &sdp)
{
	Lowering lowering = begin(sdp);
	op::Sdp two = sdp;
	op::SdpUnit &sum = *two.x1;

	lowering.need(sum.alu && sum.multiply && !sum.operands.empty(), "x1.mulOperands",
		      fmt::format("'{}' are beside operands of the ALU, which x1 has not",
				  sum.mulOperands));
	lowering.need(!two.x2, "x2",
		      fmt::format("has to be free: it multiplies by '{}' for x1", sum.mulOperands));
	if (auto result = lowering.result(); !result)
		return forward(result);
	two.x2 = op::SdpUnit{ .multiply = true,
			      .activation = sum.activation,
			      .operands = sum.mulOperands,
			      .shift = sum.shift };
	sum.multiply = false;
	sum.activation = op::Activation::None;
	sum.mulOperands.clear();
	sum.shift = 0;
	return two;
}

void Expansion::placeStream(const op::Sdp &sdp, bool isDivided)
{
	const auto declared = symbols_.declared.find(sdp.output);
	const auto in = symbols_.surfaces.find(sdp.input);
	const auto takes = [&](const op::Any &any) {
		const auto *pooling = std::get_if<op::Pooling>(&any);
		return pooling && pooling->input == sdp.output;
	};
	const auto pooling = std::ranges::find_if(operations_, takes);

	if (declared == symbols_.declared.end() || declared->second.place != Place::Stream ||
	    pooling == operations_.end() || std::ranges::count(symbols_.outputs, sdp.output) > 0)
		return;
	if (!isDivided && in != symbols_.surfaces.end()) {
		const Lowering lowering = begin(*pooling);
		TensorDesc stream = in->second.desc;
		stream.type = lowering.outputType(sdp.output, sdp.type, stream.type);
		if (poolsOnTheFly(lowering, std::get<op::Pooling>(*pooling), stream))
			return;
	}
	declared->second.place = Place::Memory;
}

Result<void> Expansion::add(const op::Any &operation)
{
	if (std::holds_alternative<op::Deconvolution>(operation))
		return wait(operation);
	if (const auto *conv = std::get_if<op::Convolution>(&operation)) {
		if (conv->groups != 1)
			return addGrouped(*conv);
		auto divided = isDivided(*conv);
		if (!divided)
			return forward(divided);
		return *divided ? wait(operation) : lowerOne(operation);
	}
	const auto *sdp = std::get_if<op::Sdp>(&operation);
	if (sdp && sdp->x1 && !sdp->x1->mulOperands.empty()) {
		auto separated = separate(*sdp);
		return separated ? add(*separated) : forward(separated);
	}
	const auto waiting = sdp ? waiting_.find(sdp->input) : waiting_.end();
	if (sdp)
		placeStream(*sdp, waiting != waiting_.end());
	if (waiting == waiting_.end())
		return lowerOne(operation);
	const op::Any &producer = *waiting->second;
	waiting_.erase(waiting);
	return addDivided(producer, *sdp);
}

Result<void> Expansion::addDivided(const op::Any &producer, const op::Sdp &sdp)
{
	if (const auto *deconv = std::get_if<op::Deconvolution>(&producer))
		return addDeconvolution(*deconv, sdp);
	const auto &conv = std::get<op::Convolution>(producer);

	return conv.groups > 1 ? addGroups(conv, sdp) : addPair(conv, sdp);
}

/* Marks outputs as missing; a whole with a missing part is missing too. */
void Expansion::forget(const op::Any &operation)
{
	for (std::string name : namesOf(operation).writes) {
		while (!name.empty() && missing_.insert(name).second) {
			const auto declared = symbols_.declared.find(name);
			const auto join = std::ranges::find_if(joins_, [&](const auto &entry) {
				return entry.second.apart == name;
			});
			if (join != joins_.end())
				name = join->first;
			else
				name = declared == symbols_.declared.end()
					       ? ""
					       : declared->second.within;
		}
	}
}

void Expansion::refuse(const op::Any &operation, const Error &error)
{
	forget(operation);
	if (error_)
		error_->why += fmt::format("; {}: {}", error.where, error.why);
	else
		error_ = error;
}

bool Expansion::isMissing(std::string name) const
{
	/* The bound ends the loop if parts contain each other; Lowering::readPart() reports it. */
	for (size_t i = 0; i <= symbols_.declared.size() && !missing_.contains(name); i++) {
		const auto declared = symbols_.declared.find(name);
		name = declared == symbols_.declared.end() ? "" : declared->second.within;
	}
	return missing_.contains(name);
}

bool Expansion::lacks(const op::Any &operation) const
{
	const auto *conv = std::get_if<op::Convolution>(&operation);

	if (missing_.empty())
		return false;
	return (conv && (conv->reuseData || conv->reuseWeights)) ||
	       std::ranges::any_of(namesOf(operation).reads,
				   [this](const std::string &name) { return isMissing(name); });
}

Result<void> Expansion::run()
{
	joins_ = findJoins(operations_, symbols_);
	for (const op::Any &operation : operations_) {
		if (lacks(operation)) {
			forget(operation);
			continue;
		}
		auto added =
			addSlices(operation).and_then([&] { return add(operation); }).and_then([&] {
				return addJoins();
			});
		if (!added)
			refuse(operation, added.error());
	}
	if (error_)
		return tl::unexpected<Error>(std::move(*error_));
	if (waiting_.empty())
		return {};
	const auto &[stream, operation] = *waiting_.begin();
	Lowering lowering = begin(*operation);
	lowering.need(false, "output", fmt::format("no operation takes its stream '{}'", stream));
	return lowering.result();
}

} /* namespace nvdla::assembly */
