/* SPDX-License-Identifier: MIT */
/*
 * What the runtime costs: a network of one copy, so that nothing else is measured.
 *
 * NVDLA_BENCH_DEVICE names the device, otherwise it is the embedded one.
 */
#include <cstdlib>

#include <benchmark/benchmark.h>
#include <nvdla/network.h>

#include "test_support.h"

namespace
{

using namespace nvdla;

Device openDevice()
{
	const char *path = std::getenv("NVDLA_BENCH_DEVICE");
	return Device::open(path ? path : Device::embeddedPath).value();
}

/* From run() to its return, nothing else in flight. */
void latency(benchmark::State &state)
{
	auto network = Network::load(openDevice(), test::passLoadable(32, 4)).value();

	for (auto _ : state) {
		if (!network.run())
			state.SkipWithError("a run failed");
	}
}
BENCHMARK(latency)->UseRealTime();

/* A number of requests, always in flight; the argument is the number of slots. */
void throughput(benchmark::State &state)
{
	constexpr unsigned inFlight = 64;
	const LoadOptions options{ .slots = static_cast<unsigned>(state.range(0)) };
	auto network = Network::load(openDevice(), test::passLoadable(32, 4), options).value();
	std::vector<Request> requests;
	size_t oldest = 0;

	for (unsigned i = 0; i < inFlight; i++)
		requests.push_back(Request::create(network).value());
	for (Request &request : requests)
		request.submit();
	for (auto _ : state) {
		Request &request = requests[oldest++ % inFlight];
		if (!request.wait() || !request.submit())
			state.SkipWithError("a request failed");
	}
	state.SetItemsProcessed(state.iterations());
}
BENCHMARK(throughput)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime();

/* A run with tensors of so many KiB, copied (0) or in buffers (1). */
void tensors(benchmark::State &state)
{
	const auto kib = static_cast<uint32_t>(state.range(0));
	const Device device = openDevice();
	auto network = Network::load(device, test::passLoadable(32, kib << 5)).value();
	auto request = Request::create(network).value();

	if (state.range(1)) {
		const Buffer input = device.allocate(kib << 10).value();
		const Buffer output = device.allocate(kib << 10).value();
		if (!request.bindInput(0, { input }) || !request.bindOutput(0, { output }))
			state.SkipWithError("cannot be bound");
	}
	for (auto _ : state) {
		if (!request.run())
			state.SkipWithError("a run failed");
	}
	state.SetBytesProcessed(state.iterations() * (int64_t{ kib } << 10));
}
BENCHMARK(tensors)->ArgsProduct({ { 16, 256 }, { 0, 1 } })->UseRealTime();

/* From bytes to a network on the device; the argument is KiB of parameters. */
void load(benchmark::State &state)
{
	const auto size = static_cast<size_t>(state.range(0)) << 10;
	const auto file = test::copyLoadable(std::vector<std::byte>(size)).write().value();
	const Device device = openDevice();

	for (auto _ : state) {
		auto loadable = Loadable::read(file);
		auto network = Network::load(device, loadable.value());
		benchmark::DoNotOptimize(network);
	}
	state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(file.size()));
}
BENCHMARK(load)->Arg(64)->Arg(4096)->Arg(65536)->UseRealTime()->Unit(benchmark::kMicrosecond);

} /* namespace */

BENCHMARK_MAIN();
