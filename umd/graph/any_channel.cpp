/* SPDX-License-Identifier: MIT */
#include "any_channel.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>
#include <nvdla/half.h>

#include "expansion.h"
#include "operation_names.h"

namespace nvdla::assembly
{

namespace
{

/*
 * Divides the channels of \a whole into runs that begin at \a starts. In the scratch surface of the
 * returned Join, each run begins at a whole atom.
 */
Join spread(const Surface &whole, const std::set<uint32_t> &starts, const CoreGeometry &core)
{
	Join join{ .apart = fmt::format("{} [parts]", whole.name) };

	for (auto start = starts.begin(); start != starts.end(); start++) {
		const auto next = std::next(start);
		const uint32_t end = next == starts.end() ? whole.c : *next;
		join.runs.push_back({ join.c, *start, end - *start });
		join.c +=
			static_cast<uint32_t>(alignUp(end - *start, channelUnit(whole.type, core)));
	}
	return join;
}

} /* namespace */

uint32_t channelUnit(DataType type, const CoreGeometry &core)
{
	const uint32_t atom = core.atomChannels(type);

	return type == DataType::Int16 ? 2 * atom : atom;
}

GraphWeights selection(const std::string &name, DataType type, uint32_t c,
		       const std::vector<ChannelRun> &runs)
{
	const size_t bytes = elementBytes(type);
	const int16_t one = type == DataType::Half ? static_cast<int16_t>(floatToHalf(1)) : 1;
	GraphWeights weights{ .name = name, .c = c, .r = 1, .s = 1 };

	for (const ChannelRun &run : runs)
		weights.k = std::max(weights.k, run.to + run.count);
	weights.elements = { type, std::vector<std::byte>(size_t{ weights.k } * c * bytes) };
	for (const ChannelRun &run : runs) {
		for (size_t i = 0; i < run.count; i++) {
			const size_t at = (run.to + i) * c + run.from + i;
			std::memcpy(&weights.elements.bytes[at * bytes], &one, bytes);
		}
	}
	return weights;
}

std::map<std::string, Join> findJoins(const std::vector<op::Any> &operations, Symbols &symbols)
{
	std::map<std::string, std::set<std::string>> parts;
	std::map<std::string, Join> joins;

	for (const op::Any &operation : operations) {
		for (const std::string &name : namesOf(operation).writes) {
			const auto part = symbols.declared.find(name);
			if (part != symbols.declared.end() && !part->second.within.empty())
				parts[part->second.within].insert(name);
		}
	}
	for (auto &[name, ofWhole] : parts) {
		const auto declared = symbols.declared.find(name);
		if (declared == symbols.declared.end() || !declared->second.within.empty() ||
		    !isFeature(declared->second.format) ||
		    declared->second.type == DataType::Unknown)
			continue;
		const Surface whole = declared->second;
		const uint32_t atom = symbols.core.atomChannels(whole.type);
		std::set<uint32_t> starts;
		for (const std::string &part : ofWhole)
			starts.insert(symbols.declared.at(part).atChannel);
		if (*starts.rbegin() >= whole.c ||
		    std::ranges::all_of(starts, [&](uint32_t at) { return at % atom == 0; }))
			continue;
		Join join = spread(whole, starts, symbols.core);
		Surface apart = whole;
		apart.name = join.apart;
		apart.c = join.c;
		apart.lineStride = apart.surfaceStride = 0;
		symbols.declared[join.apart] = apart;
		symbols.ragged.insert(join.apart);
		for (const std::string &part : ofWhole) {
			Surface &surface = symbols.declared.at(part);
			surface.within = join.apart;
			surface.atChannel =
				std::ranges::find(join.runs, surface.atChannel, &ChannelRun::to)
					->from;
		}
		join.parts = std::move(ofWhole);
		joins[name] = std::move(join);
	}
	return joins;
}

Result<void> Expansion::addSelection(const std::string &name, const std::string &input,
				     const Channels &channels, const std::vector<ChannelRun> &runs)
{
	const std::string conv = fmt::format("{} [channels]", name);

	for (const auto &[stream, state] : symbols_.surfaces) {
		if (state.place != Place::Stream || state.taker != none)
			continue;
		Lowering lowering = begin(op::Convolution{ .name = conv });
		lowering.need(
			false, "output",
			fmt::format("'{}' takes a convolution of its own, as it does not begin "
				    "at whole atoms of channels, but '{}' is a stream that no "
				    "operation has taken yet; add its taker first",
				    name, stream));
		return lowering.result();
	}
	symbols_.derivedWeights.push_back(
		selection(conv + " kernels", channels.type, channels.count, runs));
	const GraphWeights &weights = symbols_.derivedWeights.back();
	symbols_.weights[weights.name] = &weights;
	const op::Any &first = derived_.emplace_back(op::Convolution{
		.name = conv, .input = input, .weights = weights.name, .output = conv + " sums" });
	const op::Any &second = derived_.emplace_back(
		op::Sdp{ .name = conv + " SDP", .input = conv + " sums", .output = name });
	return add(first).and_then([&] { return add(second); });
}

std::optional<Channels> Expansion::channelsOf(const std::string &name, size_t depth) const
{
	const auto written = symbols_.surfaces.find(name);
	const auto declared = symbols_.declared.find(name);

	if (written != symbols_.surfaces.end()) {
		const TensorDesc &desc = written->second.desc;
		return isFeature(desc.format)
			       ? std::optional(Channels{ desc.type, desc.c, written->second.place })
			       : std::nullopt;
	}
	if (declared == symbols_.declared.end() || depth > symbols_.declared.size())
		return std::nullopt;
	const Surface &part = declared->second;
	auto channels = part.within.empty() ? std::nullopt : channelsOf(part.within, depth + 1);
	if (!channels || part.atChannel >= channels->count)
		return std::nullopt;
	channels->count = part.c ? part.c : channels->count - part.atChannel;
	return channels;
}

/* A slice whose first channel is not atom-aligned is extracted from the atoms that contain it. */
Result<void> Expansion::addSlice(const std::string &name)
{
	const auto declared = symbols_.declared.find(name);
	auto channels = symbols_.surfaces.contains(name) ? std::nullopt : channelsOf(name);

	/*
	 * Nothing is extracted if operations write the surface under this name, or if it is no part
	 * of a written surface.
	 */
	if (declared == symbols_.declared.end() || !channels)
		return {};
	Surface part = declared->second;
	if (auto added = addSlice(part.within); !added)
		return added;
	const uint32_t lead = part.atChannel % symbols_.core.atomChannels(channels->type);
	if (lead == 0 || part.turned)
		return {};
	const uint32_t c = channels->count;
	part.name = fmt::format("{} [atoms]", name);
	part.c = channels->count = c + lead;
	part.atChannel -= lead;
	symbols_.declared[part.name] = part;
	symbols_.declared[name] = { .name = name, .place = channels->place };
	return addSelection(name, part.name, *channels, { { lead, 0, c } });
}

Result<void> Expansion::addSlices(const op::Any &operation)
{
	std::vector<std::string> names = namesOf(operation).reads;

	/*
	 * A stream's consumer follows the stream's producer immediately, so slices that the
	 * consumer reads are extracted before the producer.
	 */
	if (const std::string *stream = streamOf(operation)) {
		for (const op::Any &taker : operations_) {
			if (!reads(taker, *stream))
				continue;
			for (const std::string &name : namesOf(taker).reads)
				names.push_back(name);
		}
	}
	for (const std::string &name : names) {
		if (auto added = addSlice(name); !added)
			return added;
	}
	return {};
}

Result<void> Expansion::checkJoin(const std::string &name, const Join &join)
{
	const Surface &whole = symbols_.declared.at(name);
	uint64_t missing = uint64_t{ whole.n } * whole.c * whole.h * whole.w;

	for (const std::string &part : join.parts) {
		const TensorDesc &desc = symbols_.surfaces.at(part).desc;
		const Surface &declared = symbols_.declared.at(part);
		const ChannelRun &run =
			*std::ranges::find(join.runs, declared.atChannel, &ChannelRun::from);
		if (desc.c > run.count)
			return fail(ErrorCode::InvalidArgument, what,
				    fmt::format("surface '{}'", part),
				    fmt::format("has {} channels from channel {} of '{}' on, where "
						"another part begins behind {}",
						desc.c, run.to, name, run.count));
		missing -= uint64_t{ desc.c } * desc.h * desc.w;
	}
	if (missing)
		return fail(
			ErrorCode::InvalidArgument, what, fmt::format("surface '{}'", name),
			fmt::format("{} of its elements are in no part that is written", missing));
	return {};
}

Result<void> Expansion::addJoins()
{
	for (auto &[name, join] : joins_) {
		if (join.done || !std::ranges::all_of(join.parts, [this](const std::string &part) {
			    return symbols_.surfaces.contains(part);
		    }))
			continue;
		join.done = true;
		if (auto checked = checkJoin(name, join); !checked)
			return checked;
		const DataType type = symbols_.declared.at(name).type;
		if (auto added = addSelection(name, join.apart, { type, join.c }, join.runs);
		    !added)
			return added;
	}
	return {};
}

} /* namespace nvdla::assembly */
