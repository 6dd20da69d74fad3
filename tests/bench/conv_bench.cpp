/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of the device model beside oneDNN's on one thread, from memory to memory: the
 * cube and the weights in NVDLA's layouts are fetched, multiplied, go through SDP (bias,
 * scale, ReLU) and are written as a cube. Both take turns, and the best of each counts.
 */
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>

#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "command-line/command_line.h"
#include "conv/conv_engine.h"
#include "core/ram_memory.h"
#include "onednn.h"
#include "peak.h"
#include "process.h"
#include "sdp/sdp_stream.h"

namespace nvdla::bench
{

namespace
{

using namespace sim;

constexpr ConvShape kShapes[] = {
	{ "28x28x64 -> 64, 3x3", 28, 28, 64, 64, 3, 1, 1, 1 },
	{ "14x14x256 -> 256, 3x3", 14, 14, 256, 256, 3, 1, 1, 1 },
	{ "56x56x256 -> 64, 1x1", 56, 56, 256, 64 },
	{ "7x7x512 -> 512, 3x3", 7, 7, 512, 512, 3, 1, 1, 1 },
	{ "image 224x224x3 -> 64, 7x7/2", 224, 224, 3, 64, 7, 2, 3, 3, true },
	{ "1x1x2048 -> 1000", 1, 1, 2048, 1000 },
	{ "14x14x512, 3x3, depthwise", 14, 14, 512, 512, 3, 1, 1, 1, false, 512 },
};

constexpr uint32_t kAtomBytes = 32;

uint32_t divideRoundUp(uint32_t value, uint32_t divisor)
{
	return (value + divisor - 1) / divisor;
}

/**
 * A layer in the model: operations on bands of lines that fit the convolution buffer
 *
 * Groups are put together until their channels are an atom, as compilers do.
 */
class ModelledConvolution
{
public:
	ModelledConvolution(const ConvShape &shape, Precision precision, Fp16Arithmetic fp16,
			    unsigned int threads)
		: shape_(shape), precision_(precision), memory_(0, kMemory), cvsram_(kMemory, 4096),
		  workers_(threads), engine_(workers_, { fp16, ReleasedEntries::MayChange })
	{
		fill();
		const uint32_t bands = bandCount();
		for (uint32_t set = 0; set < shape.channels / setChannels(); set++) {
			for (uint32_t band = 0; band < bands; band++) {
				const uint32_t first = shape.outHeight() * band / bands;
				addBand(set, first, shape.outHeight() * (band + 1) / bands - first);
			}
		}
	}

	void run()
	{
		for (const Band &band : bands_) {
			MemoryPort port(memory_, cvsram_);
			SdpStream sdp(band.sdp, {}, port);
			OperationResult result = engine_.run(band.conv, port, sdp);
			if (!result.hangs)
				result = sdp.finish();
			if (result.hangs || port.faulted()) {
				std::fprintf(stderr, "conv-bench: %s: %s\n", shape_.name,
					     result.guestError.c_str());
				std::exit(1);
			}
		}
	}

private:
	struct Band {
		ConvOp conv;
		SdpOp sdp;
	};

	static constexpr size_t kMemory = 32 << 20;
	static constexpr uint64_t kWeights = 8 << 20;
	static constexpr uint64_t kBias = 24 << 20;
	static constexpr uint64_t kOut = 25 << 20;

	uint32_t atom() const { return atomChannels(precision_); }
	/* Channels and kernels of an operation. */
	uint32_t setChannels() const { return shape_.groups > 1 ? atom() : shape_.channels; }
	uint32_t setKernels() const { return shape_.groups > 1 ? atom() : shape_.kernels; }
	uint32_t inSurfaces() const { return divideRoundUp(setChannels(), atom()); }
	uint32_t lineStride() const { return shape_.width * (shape_.image ? 4 : kAtomBytes); }

	uint32_t channels() const { return shape_.image ? 4 : setChannels(); }

	/** \return bytes of \a kernels kernels */
	uint64_t weightBytes(uint32_t kernels) const
	{
		return uint64_t{ kernels } * shape_.kernelSize * shape_.kernelSize * channels() *
		       elementBytes(precision_);
	}

	/* For one kernel group. */
	uint32_t weightBanks() const
	{
		const uint64_t bytes = weightBytes(std::min(setKernels(), atom()));
		return divideRoundUp(static_cast<uint32_t>(bytes), kBankBytes);
	}

	uint32_t bandCount() const
	{
		const uint64_t bytes = uint64_t{ shape_.width } * shape_.height *
				       (shape_.image ? 4 : inSurfaces() * atom()) *
				       elementBytes(precision_);
		const uint64_t bands = bytes / ((kBanks - weightBanks()) * kBankBytes) + 1;
		return static_cast<uint32_t>(bands);
	}

	/* A kernel of groups put together has weights other than zero for its group's channel
	 * alone. */
	bool isGroups(size_t weight) const
	{
		return shape_.groups == 1 || weight % atom() == weight / atom() % atom();
	}

	/* Activations as behind ReLU, weights around zero. */
	void fill()
	{
		std::mt19937 engine(1);
		std::normal_distribution<float> normal;
		std::vector<std::byte> bytes(kMemory);
		size_t each = 0;

		for (size_t at = 0; at < kOut; at += each) {
			float value = normal(engine);
			const bool weight = at >= kWeights;
			/* Pixels are bytes. */
			each = shape_.image && !weight ? 1 : elementBytes(precision_);
			if (weight ? !isGroups((at - kWeights) / each) : value < 0)
				value = 0;
			if (precision_ == Precision::Fp16 && each == sizeof(uint16_t)) {
				const float scaled = weight ? value / 32 : value;
				const auto half = static_cast<uint16_t>(
					arith::fp32ToFp16(std::bit_cast<uint32_t>(scaled)));
				std::memcpy(&bytes[at], &half, sizeof(half));
			} else {
				const float limit = each == 1 ? 127 : 32767;
				const auto number = static_cast<int16_t>(
					std::clamp(value * limit / 4, -limit, limit));
				std::memcpy(&bytes[at], &number, each);
			}
		}
		memory_.write(0, bytes);
	}

	void addBand(uint32_t set, uint32_t first, uint32_t lines)
	{
		Band band;
		const uint32_t top = first * shape_.stride;
		const uint32_t firstIn = top > shape_.padding ? top - shape_.padding : 0;
		const uint32_t end = std::min((first + lines - 1) * shape_.stride +
						      shape_.kernelSize - shape_.padding,
					      shape_.height);

		band.conv = conv(firstIn, end - firstIn, lines);
		band.conv.windows.padTop = shape_.padding - std::min(shape_.padding, top);
		band.conv.fetch.address += uint64_t{ set } * band.conv.fetch.surfaceStride;
		band.conv.weights.address += uint64_t{ set } * band.conv.weights.bytes;
		band.sdp = sdp(first, lines);
		band.sdp.destination.address +=
			uint64_t{ set } * band.sdp.destination.surfaceStride;
		bands_.push_back(band);
	}

	/* Sums of INT16 have so many bits more than those of INT8 that 32 do not hold them; as many
	 * as the output has more stay, so that the same scale fills it as far. */
	uint32_t clipTruncate() const { return precision_ == Precision::Int16 ? 8 : 0; }

	ConvOp conv(uint32_t firstLine, uint32_t inLines, uint32_t outLines) const
	{
		ConvOp op;

		op.precision = op.inPrecision = precision_;
		op.clipTruncate = clipTruncate();
		op.dataBanks = kBanks - weightBanks();
		op.weightBanks = weightBanks();
		op.fetch.address = uint64_t{ firstLine } * lineStride();
		op.fetch.lineStride = lineStride();
		op.fetch.surfaceStride = lineStride() * shape_.height;
		op.fetch.size = { shape_.width, inLines, channels() };
		op.windows.data = op.fetch.size;
		op.windows.kernel = { shape_.kernelSize, shape_.kernelSize, channels() };
		op.windows.kernels = setKernels();
		op.windows.out = { shape_.outWidth(), outLines, setKernels() };
		op.windows.strideX = op.windows.strideY = shape_.stride;
		op.windows.padLeft = shape_.padding;
		op.windows.releasedSlices = inLines;
		op.weights.address = kWeights;
		op.weights.bytes = divideRoundUp(static_cast<uint32_t>(weightBytes(setKernels())),
						 kEntryBytes) *
				   kEntryBytes;
		if (shape_.image) {
			op.mode = ConvMode::Image;
			op.inPrecision = Precision::Int8;
			op.pixel.format = NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT__T_A8B8G8R8;
			op.pixel.convert = true;
			op.fetch.padLeft = op.fetch.padRight = shape_.padding;
			op.windows.kernel = { 1, shape_.kernelSize,
					      shape_.kernelSize * channels() };
		}
		return op;
	}

	SdpOp sdp(uint32_t firstLine, uint32_t lines) const
	{
		const uint32_t stride = shape_.outWidth() * kAtomBytes;
		SdpOp op;

		op.width = shape_.outWidth();
		op.height = lines;
		op.channels = setKernels();
		op.flying = true;
		op.in = op.proc = op.out = precision_;
		op.x1.bypass = op.x1.alu.bypass = op.x1.reluBypass = false;
		op.x1.algorithm = SdpAlu::Sum;
		op.x1.alu.fromMemory = true;
		op.x1.read = { .enabled = true, .alu = true, .twoBytes = true };
		op.x1.read.cube.address = kBias;
		op.converter.scale = 77;
		op.converter.shift = 16;
		op.destination.address = kOut + uint64_t{ firstLine } * stride;
		op.destination.lineStride = stride;
		op.destination.surfaceStride = stride * shape_.outHeight();
		return op;
	}

	const ConvShape &shape_;
	const Precision precision_;
	RamMemory memory_;
	RamMemory cvsram_;
	Workers workers_;
	ConvEngine engine_;
	std::vector<Band> bands_;
};

struct Times {
	double model = 1e9;
	double onednn = 1e9;
};

struct Settings {
	unsigned int rounds = 20;
	unsigned int threads = 1;
};

Times measure(const ConvShape &shape, Precision precision, const Settings &settings,
	      Fp16Arithmetic fp16 = Fp16Arithmetic::Exact)
{
	const bool int8 = precision != Precision::Fp16;
	ModelledConvolution model(shape, precision, fp16, settings.threads);
	const auto onednn = onednnConvolution(shape, int8);
	const auto awakeSeconds = [&](const std::function<void()> &call) {
		wakeThreads(settings.threads, call);
		return secondsOf(settings.threads, call);
	};
	Times times;

	for (unsigned int i = 0; i < settings.rounds; i++) {
		letOneDnnSleep(settings.threads);
		times.model = std::min(times.model, awakeSeconds([&] { model.run(); }));
		if (onednn)
			times.onednn = std::min(times.onednn, awakeSeconds(onednn));
	}
	return times;
}

void printLine(const ConvShape &shape, const char *precision, const Times &times, double peak)
{
	const double giga = shape.macs() / 1e9;

	std::printf("| %s | %s | %.3f | %.1f | %.0f %% |", shape.name, precision, times.model * 1e3,
		    giga / times.model, 100 * shape.macs() / times.model / peak);
	if (times.onednn < 1e9)
		std::printf(" %.1f | %.2f |\n", giga / times.onednn, times.onednn / times.model);
	else
		std::printf(" - | - |\n");
	std::fflush(stdout);
}

} /* namespace */

} /* namespace nvdla::bench */

int main(int argc, char **argv)
{
	using namespace nvdla::bench;
	using nvdla::sim::Fp16Arithmetic;
	using nvdla::sim::Precision;

	Settings settings;
	std::string only;
	std::string part;
	std::string isa;
	nvdla::CommandLine app(
		"Measures convolutions of the device model (an NVDLA in software) and, for "
		"comparison, those of oneDNN, a library of CPU kernels. Prints a Markdown table.",
		"conv-bench", "conv-bench");
	app.option("--rounds", settings.rounds,
		   "run each convolution N times; the best time is printed")
		.range(1u, 100000u)
		.showDefault();
	app.option("--threads", settings.threads, "threads of the device model and of oneDNN")
		.range(1u, 256u)
		.showDefault();
	app.option("--precision", only, "measure only this precision; default: all three")
		.oneOf({ "int8", "int16", "fp16" })
		.valueText("int8|int16|fp16");
	app.option("--shape", part, "measure only convolutions with TEXT in their names")
		.valueText("TEXT");
	app.option("--isa", isa,
		   "use no processor instructions beyond these; default: all that the host has")
		.oneOf(kIsas)
		.valueText("avx512|avx2");
	if (const auto code = app.parse(argc, argv))
		return *code;
	restrictHost(argv, settings.threads, isa);

	const double ofCore[] = { int8Peak(), floatPeak() };
	const double int8 = settings.threads * ofCore[0], f32 = settings.threads * ofCore[1];
	std::printf("Peaks of this core in GMAC/s: INT8 %.0f, f32 %.0f.\n\n", ofCore[0] / 1e9,
		    ofCore[1] / 1e9);
	std::printf("| convolution | precision | ms | GMAC/s | of peak | oneDNN GMAC/s | ratio |\n"
		    "|---|---|---|---|---|---|---|\n");
	for (const ConvShape &shape : kShapes) {
		if (std::string_view(shape.name).find(part) == std::string_view::npos)
			continue;
		if (only.empty() || only == "int8")
			printLine(shape, "INT8", measure(shape, Precision::Int8, settings), int8);
		if (only.empty() || only == "int16")
			printLine(shape, "INT16", measure(shape, Precision::Int16, settings), int8);
		if (only.empty() || only == "fp16") {
			printLine(shape, "FP16 exact", measure(shape, Precision::Fp16, settings),
				  f32);
			printLine(shape, "FP16 fast",
				  measure(shape, Precision::Fp16, settings, Fp16Arithmetic::Fast),
				  f32);
		}
	}
	return 0;
}
