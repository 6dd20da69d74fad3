/* SPDX-License-Identifier: MIT */
/*
 * How fast the device model's SDP works on a chunk of INT8 atoms, stage by stage, next to
 * copying the chunk ("of_memcpy", the limit) and to the readable stage ("of_reference").
 */
#include <random>
#include <vector>

#include "lut/lut_fast.h"
#include "of_memcpy.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim
{

namespace
{

/* What SdpStream works on at a time. */
constexpr size_t lanes = 32, atoms = 256;

using Values = std::vector<int32_t>;

Values randomValues(size_t count, int limit)
{
	std::mt19937 engine(1);
	std::uniform_int_distribution<int32_t> number(-limit, limit);
	Values values(count);

	for (int32_t &value : values)
		value = number(engine);
	return values;
}

/* Both ways work in place: on a copy of the input each time, which counts as theirs. */
template<typename Fast, typename Reference>
void measure(benchmark::State &state, Fast fast, Reference reference)
{
	const Values input = randomValues(lanes * atoms, 1 << 14);
	Values values = input;
	auto on = [&](auto &work) {
		return [&] {
			values.assign(input.begin(), input.end());
			work(values);
			benchmark::ClobberMemory();
		};
	};

	bench::compareWithMemcpy(state, values.size() * sizeof(values[0]), on(fast));
	state.counters["of_reference"] =
		bench::secondsOf(on(reference)) / bench::secondsOf(on(fast));
	state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * values.size()));
}

/* Bias, multiplier and ReLU of each channel. */
void x(benchmark::State &state)
{
	SdpStage stage;
	const Values bias = randomValues(lanes, 1000);
	const Values scale = randomValues(lanes, 100);

	stage.algorithm = SdpAlu::Sum;
	stage.alu.bypass = stage.mul.bypass = stage.reluBypass = false;
	stage.mulShift = 7;
	const SdpStageRun run = { &stage, false, { bias.data(), 0 }, { scale.data(), 0 } };
	measure(
		state,
		[&](Values &values) {
			applySdpFast({ &run, 1 }, lanes, values, values);
		},
		[&](Values &values) { applySdpStage(run, Precision::Int8, values, lanes); });
}
BENCHMARK(x);

/* An element-wise sum. */
void y(benchmark::State &state)
{
	SdpStage stage;
	const Values other = randomValues(lanes * atoms, 1000);

	stage.algorithm = SdpAlu::Sum;
	stage.alu.bypass = false;
	const SdpStageRun run = { &stage, true, { other.data(), lanes }, {} };
	measure(
		state,
		[&](Values &values) {
			applySdpFast({ &run, 1 }, lanes, values, values);
		},
		[&](Values &values) { applySdpStage(run, Precision::Int8, values, lanes); });
}
BENCHMARK(y);

/* Both tables, some inputs beyond their edges. */
void lut(benchmark::State &state)
{
	const LutConfig config = { .le = { .indexSelect = 9, .start = -16000, .end = 16768 },
				   .lo = { .indexSelect = 4, .start = -2048, .end = 2048 } };
	LutTables tables;
	LutCounters counters;

	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(i * 50);
	const Lut readable(sdpLut, config, tables);
	const FastLut fast(sdpLut, config, tables, true);
	measure(
		state, [&](Values &values) { fast.lookup(values, counters); },
		[&](Values &values) { applySdpLut(readable, Precision::Int8, values, counters); });
}
BENCHMARK(lut);

void converter(benchmark::State &state)
{
	SdpOp op;
	SdpCounters counters;
	std::vector<std::byte> bytes(lanes * atoms);

	op.converter = { .offset = 3, .scale = 77, .shift = 13 };
	measure(
		state,
		[&](Values &values) { storeSdpFast(op, {}, lanes, values, bytes, counters); },
		[&](Values &values) { convertSdpOutput(op, values, counters); });
}
BENCHMARK(converter);

} /* namespace */

} /* namespace nvdla::sim */

BENCHMARK_MAIN();
