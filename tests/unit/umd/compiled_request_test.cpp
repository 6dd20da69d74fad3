/* SPDX-License-Identifier: MIT */
/*
 * Compiled networks with all stored inputs in flight: the device under test gives the bytes that
 * the embedded device gives one after the other, copied or in place.
 */
#include <algorithm>

#include <gtest/gtest.h>
#include <nvdla/network.h>

#include "compiled_info.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

constexpr RunOptions patient{ .timeout = 120s };

class CompiledRequest : public testing::TestWithParam<const char *>
{
protected:
	void SetUp() override
	{
		NVDLA_NEED_REFERENCE(reference);
		const auto path = reference / "loadables/compiled" / GetParam();
		loadable_ = Loadable::readFile(path).value();
		inputs_ = test::storedInputs(path);
		ASSERT_GT(inputs_.size(), 1u);

		auto network =
			Network::load(Device::open(Device::embeddedPath).value(), *loadable_);
		ASSERT_TRUE(network) << network.error().message();
		for (const Bytes &input : inputs_) {
			auto &outputs = expected_.emplace_back();
			ASSERT_TRUE(network->setInput(0, input));
			ASSERT_TRUE(network->run(patient));
			for (size_t i = 0; i < network->outputs().size(); i++)
				outputs.push_back(network->output(i).value());
		}
	}

	std::optional<Loadable> loadable_;
	std::vector<Bytes> inputs_;
	std::vector<std::vector<Bytes>> expected_; /* by input and output */
};

Buffer bufferWith(const Device &device, const Bytes &data)
{
	Buffer buffer = device.allocate(data.size()).value();
	auto access = buffer.access(CpuAccess::Write, 10s);
	std::ranges::copy(data, access.value().bytes().begin());
	return buffer;
}

} /* namespace */

TEST_P(CompiledRequest, InFlightAllAtOnce)
{
	auto network = Network::load(test::openDevice(), *loadable_);
	ASSERT_TRUE(network) << network.error().message();
	std::vector<Request> requests;

	for (unsigned i = 0; i < 2 * inputs_.size(); i++) {
		requests.push_back(Request::create(*network).value());
		ASSERT_TRUE(requests[i].setInput(0, inputs_[i % inputs_.size()]));
		ASSERT_TRUE(requests[i].submit(patient));
	}
	for (unsigned i = 0; i < requests.size(); i++) {
		auto report = requests[i].wait();
		ASSERT_TRUE(report) << report.error().message();
		for (size_t o = 0; o < network->outputs().size(); o++)
			EXPECT_TRUE(std::ranges::equal(*requests[i].output(o),
						       expected_[i % inputs_.size()][o]))
				<< "input " << i << " output " << o;
	}
}

/* From network to network: the input comes from another one's output, the output goes on to a
 * third. */
TEST_P(CompiledRequest, AChainInBuffersGivesTheSame)
{
	const Device device = test::openDevice();
	auto network = Network::load(device, *loadable_).value();
	const TensorDesc in = network.inputs()[0];
	const TensorDesc out = network.outputs()[0];
	auto before = Network::load(device, test::passLoadable(in)).value();
	auto after = Network::load(device, test::passLoadable(out)).value();
	std::vector<Request> requests;
	std::vector<Buffer> results;

	for (const Bytes &input : inputs_) {
		const Buffer source = bufferWith(device, input);
		const Buffer between = device.allocate(in.size).value();
		const Buffer output = device.allocate(out.size).value();
		results.push_back(device.allocate(out.size).value());
		auto first = Request::create(before).value();
		auto second = Request::create(network).value();
		auto third = Request::create(after).value();
		ASSERT_TRUE(first.bindInput(0, { source, 0, in }));
		ASSERT_TRUE(first.bindOutput(0, { between }));
		auto bound = second.bindInput(0, { between, 0, before.outputs()[0] });
		ASSERT_TRUE(bound) << bound.error().message();
		bound = second.bindOutput(0, { output });
		ASSERT_TRUE(bound) << bound.error().message();
		ASSERT_TRUE(third.bindInput(0, { output, 0, out }));
		ASSERT_TRUE(third.bindOutput(0, { results.back() }));
		ASSERT_TRUE(first.run());
		auto report = second.run(patient);
		ASSERT_TRUE(report) << report.error().message();
		ASSERT_TRUE(third.run());
	}
	for (size_t i = 0; i < inputs_.size(); i++) {
		auto access = results[i].access(CpuAccess::Read, 10s);
		ASSERT_TRUE(access);
		EXPECT_TRUE(std::ranges::equal(access->bytes(), expected_[i][0])) << "input " << i;
	}
}

INSTANTIATE_TEST_SUITE_P(Reference, CompiledRequest,
			 testing::Values("bn_scale/nv_full_int8_fast-math.nvdla",
					 "conv_feat_odd/nv_full_int8_fast-math.nvdla",
					 "inception/nv_full_fp16_fast-math.nvdla",
					 "lenet_trained/nv_full_fp16_fast-math.nvdla",
					 "lenet_trained/nv_full_int8_fast-math.nvdla",
					 "two_outputs/nv_full_int8_fast-math.nvdla"));

} /* namespace nvdla */
