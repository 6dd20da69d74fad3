/* SPDX-License-Identifier: MIT */
/*
 * ONNX models whose constants are in files beside them.
 */
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <nvdla/compiler.h>

#include "onnx_builder.h"

namespace nvdla::test
{

namespace
{

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

struct Place {
	std::string location;
	std::string offset = "";
	std::string length = "";
};

/* y = x w, with two numbers w in a file behind one that is not its */
class ExternalData : public testing::Test
{
protected:
	ExternalData()
	{
		EXPECT_NE(mkdtemp(folder_.data()), nullptr);
		write("w.bin", { 7, 2, 3 });
		std::filesystem::create_directory(path("inner"));
	}

	~ExternalData() override { std::filesystem::remove_all(folder_); }

	std::string path(const std::string &name) const { return folder_ + "/" + name; }
	void write(const std::string &name, const std::vector<float> &numbers) const
	{
		std::ofstream(path(name), std::ios::binary)
			.write(reinterpret_cast<const char *>(numbers.data()),
			       static_cast<std::streamsize>(numbers.size() * sizeof(float)));
	}
	std::string writeModel(const std::string &name, const Place &place) const
	{
		OnnxBuilder builder;
		builder.input("x", { 1, 2 });
		builder.floats("w", { 2, 1 }, { 0, 0 });
		builder.node("MatMul", { "x", "w" }, "y");
		builder.output("y");
		onnx::Model model;
		const auto bytes = builder.file();
		EXPECT_TRUE(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
		onnx::Tensor &w = *model.mutable_graph()->mutable_initializer(0);
		w.clear_float_data();
		w.clear_raw_data();
		w.set_data_location(1);
		for (const auto &[key, value] :
		     { std::pair("location", place.location), std::pair("offset", place.offset),
		       std::pair("length", place.length) }) {
			if (value.empty())
				continue;
			onnx::Entry &entry = *w.add_external_data();
			entry.set_key(key);
			entry.set_value(value);
		}
		std::ofstream(path(name), std::ios::binary) << model.SerializeAsString();
		return path(name);
	}

	std::string folder_ = testing::TempDir() + "/external-XXXXXX";
};

} /* namespace */

TEST_F(ExternalData, IsPutIntoTheModel)
{
	for (const Place &place : { Place{ "w.bin", "4", "8" }, Place{ "w.bin", "4" },
				    Place{ "./inner/../w.bin", "4" } }) {
		auto bytes = readModelFile(writeModel("m.onnx", place));
		ASSERT_TRUE(bytes) << bytes.error().message();
		onnx::Model model;
		ASSERT_TRUE(model.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
		const onnx::Tensor &w = model.graph().initializer(0);
		const float wanted[] = { 2, 3 };
		ASSERT_EQ(w.raw_data().size(), sizeof(wanted));
		EXPECT_EQ(std::memcmp(w.raw_data().data(), wanted, sizeof(wanted)), 0);
		EXPECT_TRUE(compileModel(*bytes));
	}
}

TEST_F(ExternalData, IsOnlyReadFromTheModelsFolder)
{
	write("secret", { 1, 2 });
	std::filesystem::create_symlink("../secret", path("inner/link"));

	for (const std::string &location :
	     { std::string("../secret"), path("secret"), std::string("link"),
	       std::string("../") + std::filesystem::path(folder_).filename().string() +
		       "/secret" }) {
		const auto bytes = readModelFile(writeModel("inner/m.onnx", { location }));
		ASSERT_FALSE(bytes) << location;
		EXPECT_EQ(bytes.error().code, ErrorCode::InvalidFile);
		EXPECT_TRUE(has(bytes.error().message(), "constant 'w'"))
			<< bytes.error().message();
		EXPECT_TRUE(has(bytes.error().message(), "not in the model's folder"))
			<< bytes.error().message();
	}
}

TEST_F(ExternalData, HasToBeThere)
{
	for (const Place &place :
	     { Place{ "w.bin", "13" }, Place{ "w.bin", "8", "8" }, Place{ "w.bin", "x" },
	       Place{ "w.bin", "-4" }, Place{ "w.bin", "4", "18446744073709551615" } }) {
		const auto bytes = readModelFile(writeModel("m.onnx", place));
		ASSERT_FALSE(bytes) << place.offset;
		EXPECT_TRUE(has(bytes.error().message(), "constant 'w': is at"))
			<< bytes.error().message();
	}
	const auto bytes = readModelFile(writeModel("m.onnx", { "none.bin" }));
	ASSERT_FALSE(bytes);
	EXPECT_TRUE(has(bytes.error().message(), "none.bin")) << bytes.error().message();
}

/* Without a path nobody knows where they are. */
TEST_F(ExternalData, IsAskedForByName)
{
	const std::string file = writeModel("m.onnx", { "w.bin", "4" });
	std::ifstream stream(file, std::ios::binary);
	const std::string text{ std::istreambuf_iterator<char>(stream), {} };
	const auto compiled = compileModel(std::as_bytes(std::span(text)));

	ASSERT_FALSE(compiled);
	EXPECT_TRUE(has(compiled.error().message(), "given by its path"))
		<< compiled.error().message();
}

} /* namespace nvdla::test */
