/* SPDX-License-Identifier: MIT */
/*
 * TFLite files: what the importer makes of operators, against numbers worked out by hand.
 */
#include <gtest/gtest.h>

#include "compiler/import/import.h"
#include "core_run.h"
#include "refused_file.h"
#include "tflite_generated.h"

namespace nvdla::test
{

namespace
{

namespace fb = nvdla::tflite;
using Shape = std::vector<int32_t>;

/* Puts a small file together; tensors are named by their indices, operators go in their order. */
class TfliteBuilder
{
public:
	TfliteBuilder() { buffers_.push_back(fb::CreateBuffer(flat)); }

	int32_t floats(const Shape &shape) { return add(shape, fb::TensorType::FLOAT32, 0, 0); }
	/* As shapes are computed. */
	int32_t wholeNumbers(const Shape &shape) { return add(shape, fb::TensorType::INT32, 0, 0); }
	int32_t integers(const Shape &shape, float scale, int64_t zero)
	{
		const std::vector scales{ scale };
		const std::vector zeros{ zero };
		return add(shape, fb::TensorType::INT8, 0,
			   fb::CreateQuantizationParametersDirect(flat, nullptr, nullptr, &scales,
								  &zeros));
	}
	template<typename T>
	int32_t constant(const Shape &shape, const std::vector<T> &elements)
	{
		const auto *bytes = reinterpret_cast<const uint8_t *>(elements.data());
		const std::vector<uint8_t> data(bytes, bytes + elements.size() * sizeof(T));
		buffers_.push_back(fb::CreateBufferDirect(flat, &data));
		return add(shape,
			   std::is_same_v<T, float> ? fb::TensorType::FLOAT32
						    : fb::TensorType::INT32,
			   static_cast<uint32_t>(buffers_.size() - 1), 0);
	}
	int32_t list(const std::vector<int32_t> &numbers)
	{
		return constant<int32_t>({ static_cast<int32_t>(numbers.size()) }, numbers);
	}
	template<typename Options>
	void node(int32_t code, const Shape &inputs, const Shape &outputs, fb::BuiltinOptions kind,
		  flatbuffers::Offset<Options> options)
	{
		codes_.push_back(
			fb::CreateOperatorCode(flat, static_cast<int8_t>(code), 0, 1, code));
		operators_.push_back(
			fb::CreateOperatorDirect(flat, static_cast<uint32_t>(codes_.size() - 1),
						 &inputs, &outputs, kind, options.Union()));
	}
	/* The bytes; nothing can be added to it any more. */
	std::vector<std::byte> file(const Shape &inputs, const Shape &outputs)
	{
		const std::vector graphs{ fb::CreateSubGraphDirect(flat, &tensors_, &inputs,
								   &outputs, &operators_) };
		fb::FinishModelBuffer(
			flat, fb::CreateModelDirect(flat, 3, &codes_, &graphs, nullptr, &buffers_));
		const auto *bytes = reinterpret_cast<const std::byte *>(flat.GetBufferPointer());
		return { bytes, bytes + flat.GetSize() };
	}

	flatbuffers::FlatBufferBuilder flat;

private:
	int32_t add(const Shape &shape, fb::TensorType type, uint32_t buffer,
		    flatbuffers::Offset<fb::QuantizationParameters> quantization)
	{
		const std::string name = "t" + std::to_string(tensors_.size());
		tensors_.push_back(fb::CreateTensorDirect(flat, &shape, type, buffer, name.c_str(),
							  quantization));
		return static_cast<int32_t>(tensors_.size() - 1);
	}

	std::vector<flatbuffers::Offset<fb::Buffer>> buffers_;
	std::vector<flatbuffers::Offset<fb::Tensor>> tensors_;
	std::vector<flatbuffers::Offset<fb::OperatorCode>> codes_;
	std::vector<flatbuffers::Offset<fb::Operator>> operators_;
};

constexpr int32_t shapeCode = 77, divCode = 42, meanCode = 40, stridedSliceCode = 45, sumCode = 74,
		  reduceMaxCode = 82, packCode = 83, unpackCode = 88;

std::vector<Numbers> ofFile(const std::vector<std::byte> &file, const std::vector<Numbers> &inputs)
{
	auto run = CoreRun::of(compiler::importTflite(file));
	if (!run) {
		ADD_FAILURE() << run.error().message();
		return {};
	}
	auto outputs = run->run(inputs);
	EXPECT_TRUE(outputs) << outputs.error().message();
	return outputs ? *outputs : std::vector<Numbers>{};
}

/* 2 lines of 3 pixels with 2 channels. */
const Numbers pixels = { 1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60 };

TEST(Tflite, QuotientsByAConstant)
{
	for (const bool zero : { false, true }) {
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 2, 3, 2 });
		const int32_t by = builder.constant<float>({ 2 }, { 4, zero ? 0.0f : -2.0f });
		const int32_t y = builder.floats({ 1, 2, 3, 2 });
		builder.node(divCode, { x, by }, { y }, fb::BuiltinOptions::DivOptions,
			     fb::CreateDivOptions(builder.flat, fb::Activation::NONE));
		const auto file = builder.file({ x }, { y });
		if (zero) {
			expectRefusedFile(file, { "DIV 't2'", "input 1: is 0" });
			continue;
		}
		EXPECT_EQ(ofFile(file, { pixels }),
			  (std::vector<Numbers>{ Numbers{ 0.25, -5, 0.5, -10, 0.75, -15, 1, -20,
							  1.25, -25, 1.5, -30 } }));
	}
}

TEST(Tflite, ReductionsOfPictures)
{
	const struct {
		int32_t code;
		std::vector<int32_t> axes;
		Shape shape;
		Numbers wanted;
	} cases[] = {
		{ meanCode, { 1, 2 }, { 1, 2 }, { 3.5, 35 } },
		{ meanCode, { 1 }, { 1, 3, 2 }, { 2.5, 25, 3.5, 35, 4.5, 45 } },
		{ meanCode, { -2 }, { 1, 2, 1, 2 }, { 2, 20, 5, 50 } },
		{ sumCode, { 2, 1 }, { 1, 2 }, { 21, 210 } },
		{ sumCode, { 2 }, { 1, 2, 2 }, { 6, 60, 15, 150 } },
		{ reduceMaxCode, { 1 }, { 1, 1, 3, 2 }, { 4, 40, 5, 50, 6, 60 } },
		{ reduceMaxCode, { 1, 2 }, { 1, 2 }, { 6, 60 } },
	};

	for (const auto &[code, axes, shape, wanted] : cases) {
		SCOPED_TRACE(std::to_string(code) + " " + std::to_string(axes.front()));
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 2, 3, 2 });
		const int32_t list = builder.list(axes);
		const int32_t y = builder.floats(shape);
		builder.node(code, { x, list }, { y }, fb::BuiltinOptions::ReducerOptions,
			     fb::CreateReducerOptions(builder.flat, shape.size() == 4));
		const auto outputs = ofFile(builder.file({ x }, { y }), { pixels });
		ASSERT_EQ(outputs.size(), 1U);
		ASSERT_EQ(outputs[0].size(), wanted.size());
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(outputs[0][i], wanted[i], 0.002 * wanted[i]);
	}
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t axes = builder.list({ 3 });
	const int32_t y = builder.floats({ 1, 2, 3 });
	builder.node(sumCode, { x, axes }, { y }, fb::BuiltinOptions::ReducerOptions,
		     fb::CreateReducerOptions(builder.flat, false));
	expectRefusedFile(builder.file({ x }, { y }),
			  { "SUM 't2'", "axes: are not height or width" });
}

/* Zero points are no part of what is summed: (q - 5) / 2 each, in steps of 1.5 from -8 on. */
TEST(Tflite, SumsOfIntegers)
{
	TfliteBuilder builder;
	const int32_t x = builder.integers({ 1, 2, 3, 2 }, 0.5f, 5);
	const int32_t axes = builder.list({ 1, 2 });
	const int32_t y = builder.integers({ 1, 2 }, 1.5f, -8);

	builder.node(sumCode, { x, axes }, { y }, fb::BuiltinOptions::ReducerOptions,
		     fb::CreateReducerOptions(builder.flat, false));
	/* Halves are 21 - 30 and 210 - 30; a third of that in steps. */
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { pixels }),
		  (std::vector<Numbers>{ Numbers{ -8 - 3, -8 + 60 } }));
}

/* What is taken apart, put together again along another axis. */
TEST(Tflite, UnpackAndPack)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t upper = builder.floats({ 1, 3, 2 }), lower = builder.floats({ 1, 3, 2 });
	const int32_t y = builder.floats({ 1, 3, 2, 2 });

	builder.node(unpackCode, { x }, { upper, lower }, fb::BuiltinOptions::UnpackOptions,
		     fb::CreateUnpackOptions(builder.flat, 2, 1));
	builder.node(packCode, { lower, upper }, { y }, fb::BuiltinOptions::PackOptions,
		     fb::CreatePackOptions(builder.flat, 2, 2));
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { pixels }),
		  (std::vector<Numbers>{ Numbers{ 4, 40, 1, 10, 5, 50, 2, 20, 6, 60, 3, 30 } }));
}

TEST(Tflite, UnpackHasAnOutputForEachElement)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t y = builder.floats({ 1, 3, 2 });

	builder.node(unpackCode, { x }, { y }, fb::BuiltinOptions::UnpackOptions,
		     fb::CreateUnpackOptions(builder.flat, 1, 1));
	expectRefusedFile(builder.file({ x }, { y }),
			  { "UNPACK 't1'", "outputs: are 1 for 2 elements" });
}

/* x[:, -1, ::2, :] */
TEST(Tflite, SlicesLeaveAxesOut)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t begin = builder.list({ 0, -1, 0, 0 }), end = builder.list({ 1, 0, 3, 2 });
	const int32_t stride = builder.list({ 1, 1, 2, 1 });
	const int32_t y = builder.floats({ 1, 2, 2 });

	builder.node(stridedSliceCode, { x, begin, end, stride }, { y },
		     fb::BuiltinOptions::StridedSliceOptions,
		     fb::CreateStridedSliceOptions(builder.flat, 0b1101, 0b1101, 0, 0, 0b0010));
	EXPECT_EQ(ofFile(builder.file({ x }, { y }), { pixels }),
		  (std::vector<Numbers>{ Numbers{ 4, 40, 6, 60 } }));
}

/* What computes a shape that the tensors have already is not needed. */
TEST(Tflite, ShapesMayBeComputed)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 3, 2 });
	const int32_t by = builder.constant<float>({ 1 }, { 2 });
	const int32_t half = builder.floats({ 1, 2, 3, 2 });
	const int32_t shape = builder.wholeNumbers({ 4 }), lines = builder.wholeNumbers({});
	const int32_t one = builder.list({ 1 }), two = builder.list({ 2 });
	const int32_t again = builder.wholeNumbers({ 2 });

	builder.node(shapeCode, { x }, { shape }, fb::BuiltinOptions::NONE,
		     flatbuffers::Offset<void>());
	builder.node(stridedSliceCode, { shape, one, two, one }, { lines },
		     fb::BuiltinOptions::StridedSliceOptions,
		     fb::CreateStridedSliceOptions(builder.flat, 0, 0, 0, 0, 1));
	builder.node(packCode, { lines, lines }, { again }, fb::BuiltinOptions::PackOptions,
		     fb::CreatePackOptions(builder.flat, 2, 0));
	builder.node(divCode, { x, by }, { half }, fb::BuiltinOptions::DivOptions,
		     fb::CreateDivOptions(builder.flat, fb::Activation::NONE));
	EXPECT_EQ(ofFile(builder.file({ x }, { half }),
			 { { 2, 4, 6, 8, 10, 12, 2, 4, 6, 8, 10, 12 } }),
		  (std::vector<Numbers>{ Numbers{ 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6 } }));
}

} /* namespace */

} /* namespace nvdla::test */
