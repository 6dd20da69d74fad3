/* SPDX-License-Identifier: MIT */
#include "model_convolution.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "conv/conv_engine.h"
#include "core/ram_memory.h"

namespace nvdla::test
{

namespace
{

constexpr uint64_t dataAddress = 0;
constexpr uint64_t secondPlaneAddress = 0x100000;
constexpr uint64_t weightAddress = 0x200000;
constexpr uint64_t maskAddress = 0x280000;
constexpr uint64_t groupSizeAddress = 0x2c0000;
constexpr size_t memoryBytes = 3 << 20;

/* Puts the stream back into K, H, W order. */
class Output : public sim::StreamSink
{
public:
	explicit Output(const sim::ConvOp &op)
		: size_(op.windows.out), atom_(sim::atomChannels(op.precision)),
		  values_(size_t{ size_.channels } * size_.height * size_.width)
	{
	}

	void push(const sim::StreamRun &run) override
	{
		for (uint32_t i = 0; i < run.width * atom_; i++) {
			const uint32_t k = run.surface * atom_ + i % atom_;
			const uint32_t x = run.x + i / atom_;
			if (k < size_.channels)
				values_[(size_t{ k } * size_.height + run.y) * size_.width + x] =
					run.data[i];
		}
	}

	std::vector<int32_t> take() { return std::move(values_); }

private:
	sim::CubeSize size_;
	uint32_t atom_;
	std::vector<int32_t> values_;
};

} /* namespace */

sim::Precision precisionOf(DataType type)
{
	return type == DataType::Int8	 ? sim::Precision::Int8
	       : type == DataType::Int16 ? sim::Precision::Int16
					 : sim::Precision::Fp16;
}

ModelConvolution::ModelConvolution(DataType type, uint32_t c, uint32_t h, uint32_t w,
				   std::span<const float> numbers)
{
	const TensorDesc desc = TensorDesc::packedFeature("data", type, c, h, w);

	data.resize(desc.size);
	EXPECT_TRUE(packElements(desc, elementsFromFloat(type, numbers), data));
	op.precision = op.inPrecision = precisionOf(type);
	op.dataBanks = 8;
	op.weightBanks = 7;
	op.fetch.lineStride = desc.lineStride;
	op.fetch.surfaceStride = desc.surfaceStride;
	op.fetch.size = { w, h, c };
	op.windows.data = op.fetch.size;
	op.windows.releasedSlices = h;
}

void ModelConvolution::setKernel(const WeightDesc &seen, uint32_t outHeight, uint32_t outWidth)
{
	op.windows.kernel = { seen.width, seen.height, seen.channels };
	op.windows.kernels = seen.kernels;
	op.windows.out = { outWidth, outHeight, seen.kernels };
}

std::vector<int32_t> ModelConvolution::run() const
{
	sim::RamMemory dram(0, memoryBytes);
	sim::RamMemory cvsram(0x50000000, 1 << 16);
	sim::MemoryPort port(dram, cvsram);
	sim::Workers workers;
	sim::ConvEngine engine(workers);
	sim::ConvOp operation = op;
	auto store = [&](uint64_t address, std::span<const std::byte> bytes) {
		EXPECT_TRUE(bytes.empty() || dram.write(address, bytes));
	};

	store(dataAddress, data);
	store(secondPlaneAddress, secondPlane);
	operation.fetch.address = dataAddress;
	operation.fetch.addressUv = secondPlaneAddress;
	operation.weights.address = weightAddress;
	if (compressed) {
		store(weightAddress, compressed->weights);
		store(maskAddress, compressed->mask);
		store(groupSizeAddress, compressed->groupSizes);
		operation.weights.compressed = true;
		operation.weights.bytes = static_cast<uint32_t>(compressed->weights.size());
		operation.weights.maskAddress = maskAddress;
		operation.weights.maskBytes = static_cast<uint32_t>(compressed->mask.size());
		operation.weights.groupSizeAddress = groupSizeAddress;
	} else {
		store(weightAddress, weights);
		operation.weights.bytes = static_cast<uint32_t>(weights.size());
	}

	Output output(operation);
	EXPECT_EQ(engine.run(operation, port, output).guestError, "");
	EXPECT_FALSE(port.faulted());
	return output.take();
}

} /* namespace nvdla::test */
