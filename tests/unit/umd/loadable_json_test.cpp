/* SPDX-License-Identifier: MIT */
/*
 * Loadables as text: the same back, readable, and errors that lead to the place.
 */
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <nvdla/loadable_json.h>
#include <unistd.h>

#include "edge_network.h"
#include "loadable/emu_descriptors.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using Json = nlohmann::ordered_json;

class Folder
{
public:
	Folder()
	{
		std::string name = std::filesystem::temp_directory_path() / "nvdla-XXXXXX";
		path_ = mkdtemp(name.data());
	}
	~Folder() { std::filesystem::remove_all(path_); }

	std::filesystem::path path() const { return path_; }

private:
	std::filesystem::path path_;
};

Loadable exampleNetwork()
{
	auto loadable = examples::edgeNetwork({ 16, 16 });
	EXPECT_TRUE(loadable);
	/* As a file would have it. */
	return *Loadable::read(*loadable->write());
}

Loadable emuNetwork(float scale, EmuOpType type = EmuOpType::Power)
{
	test::LoadableBuilder builder;
	EmuNetworkDesc network = { 2, 3, 1 };
	std::vector<std::byte> root = test::bytesOf(network);
	EmuOperationDesc operation = {};
	EmuBufferPair<EmuBufferDesc> pair = {};

	root.resize(256);
	operation.op_type = static_cast<uint8_t>(type);
	operation.in_scale = 0.1f;
	operation.out_scale = scale;
	if (hasPower(type))
		operation.power.power = -0.0f;
	pair.src_data.width = 7;
	const uint16_t first = builder.content("addr0", root, Interface::Emu1);
	const uint16_t data = builder.memory(64);
	const uint16_t operations =
		builder.content("ops", test::bytesOf(operation), Interface::Emu1);
	const uint16_t buffers = builder.content("bufs", test::bytesOf(pair), Interface::Emu1);
	builder.task(Interface::Emu1, { first, data, operations, buffers });
	EXPECT_TRUE(builder.loadable.check());
	return builder.loadable;
}

/* A task of one SDP operation with a look-up table. */
Loadable lutNetwork()
{
	test::LoadableBuilder builder;
	test::DlaDescriptors task;
	nvdla_lut_desc lut = {};

	task.graph.push_back(test::graphNode(NVDLA_OP_SDP));
	task.operations.emplace_back();
	task.surfaces.emplace_back();
	lut.lo_table[NVDLA_LUT_LO_ENTRIES - 1] = -5;
	lut.le_start = ~uint64_t{ 0 };
	lut.le_underflow.field.shifter = -1;
	lut.method = NVDLA_LUT_LINEAR;
	task.luts.push_back(lut);
	task.addTo(builder, { builder.memory(64) });
	EXPECT_TRUE(builder.loadable.check());
	return builder.loadable;
}

/* What only later lists say: a region of a picture, and NaN flush. */
Loadable extendedNetwork()
{
	test::LoadableBuilder builder;
	test::DlaDescriptors task;

	task.graph = { test::graphNode(NVDLA_OP_CONV), test::graphNode(NVDLA_OP_SDP) };
	task.operations.resize(2);
	task.surfaces.resize(2);
	task.operations[0].extended.nan_to_zero = 1;
	task.operations[0].extended.pixel_x_offset = 5;
	task.version = { 0, 13, 0 };
	task.addTo(builder, { builder.memory(64) });
	EXPECT_TRUE(builder.loadable.check());
	return builder.loadable;
}

const Json &blobWith(const Json &json, const char *list)
{
	for (const Json &blob : json["blobs"]) {
		if (blob.contains("list") && blob["list"] == list)
			return blob;
	}
	ADD_FAILURE() << "no list " << list;
	return json;
}

/* Lists of descriptors that were not decoded. */
unsigned undecoded(const Json &json)
{
	unsigned count = 0;

	for (const Json &blob : json["blobs"])
		count += blob["interface"] != "none" && !blob.contains("list");
	return count;
}

} /* namespace */

TEST(LoadableJson, GivesTheSameLoadable)
{
	Loadable loadable = exampleNetwork();
	TensorEntry &input = loadable.tensors.front();
	const auto count = static_cast<uint32_t>(input.n * input.c * input.h * input.w);
	input.signature = { .shape = { count },
			    .pixels = PixelScaling{ .mean = { 1, 2, 3, 4 }, .normalize = 0.5f } };
	const auto copy = Loadable::read(*loadable.write());
	ASSERT_TRUE(copy) << copy.error().message();
	EXPECT_EQ(copy->tensors.front().signature, input.signature);
	auto json = loadableToJson(loadable);
	ASSERT_TRUE(json) << json.error().message();
	auto back = loadableFromJson(*json);
	ASSERT_TRUE(back) << back.error().message();
	EXPECT_TRUE(*back == loadable);
	EXPECT_EQ(*loadableToJson(*back), *json);
}

TEST(LoadableJson, DescriptorsAreFieldsInTheHeadersTerms)
{
	const auto json = Json::parse(*loadableToJson(exampleNetwork()));
	const Json &operations = blobWith(json, "dla_operations")["entries"];
	const Json &surfaces = blobWith(json, "dla_surfaces")["entries"];
	const Json &graph = blobWith(json, "dla_graph")["entries"];

	EXPECT_EQ(undecoded(json), 0u);
	ASSERT_EQ(graph[0]["op_type"], "conv");
	EXPECT_EQ(graph[0]["consumers"]["sdp"]["index"], 1);
	EXPECT_EQ(graph[0]["consumers"].size(), 1u);
	EXPECT_EQ(operations[0]["conv"]["conv_mode"], "direct");
	EXPECT_EQ(surfaces[0]["conv"]["dst_data"]["type"], "hw");
	EXPECT_EQ(surfaces[0]["conv"]["src_data"]["width"], 16);
}

TEST(LoadableJson, OperationsOfLaterFilesSayMore)
{
	const Loadable loadable = extendedNetwork();
	Json json = Json::parse(*loadableToJson(loadable));
	const Json &blob = blobWith(json, "dla_extended_operations");

	EXPECT_EQ(blob["version"], "0.13.0");
	EXPECT_EQ(blob["entries"][0]["conv"]["nan_to_zero"], 1);
	EXPECT_EQ(blob["entries"][0]["conv"]["pixel_x_offset"], 5);
	EXPECT_FALSE(blob["entries"][1]["sdp"].contains("nan_to_zero"));
	auto back = loadableFromJson(json.dump());
	ASSERT_TRUE(back) << back.error().message();
	EXPECT_TRUE(*back == loadable);

	/* A list of the older kind has no place for it. */
	json = Json::parse(*loadableToJson(exampleNetwork()));
	for (Json &one : json["blobs"]) {
		if (one.value("list", "") == "dla_operations")
			one["entries"][0]["conv"]["nan_to_zero"] = 1;
	}
	back = loadableFromJson(json.dump());
	ASSERT_FALSE(back);
	EXPECT_NE(back.error().message().find("conv.nan_to_zero: is no field of a conv"),
		  std::string::npos)
		<< back.error().message();
}

TEST(LoadableJson, LookUpTables)
{
	const Loadable loadable = lutNetwork();
	const auto text = loadableToJson(loadable);
	ASSERT_TRUE(text);
	const Json lut = blobWith(Json::parse(*text), "dla_luts")["entries"][0];

	EXPECT_EQ(lut["lo_table"].size(), 257u);
	EXPECT_EQ(lut["lo_table"][256], -5);
	EXPECT_EQ(lut["le_start"], ~uint64_t{ 0 });
	EXPECT_EQ(lut["le_underflow"]["shifter"], -1);
	EXPECT_EQ(lut["method"], "linear");
	EXPECT_TRUE(*loadableFromJson(*text) == loadable);
}

TEST(LoadableJson, LinesAreShort)
{
	Folder folder;
	const auto json = loadableToJson(lutNetwork(), folder.path());
	ASSERT_TRUE(json);
	std::istringstream lines(*json);
	for (std::string line; std::getline(lines, line);)
		EXPECT_LE(line.size(), 100u) << line;
}

TEST(LoadableJson, BlobsAsFiles)
{
	EXPECT_EQ(loadableToJson(exampleNetwork(), "/nonexistent").error().code,
		  ErrorCode::NotFound);
	Folder folder;
	const Loadable loadable = exampleNetwork();
	const auto json = loadableToJson(loadable, folder.path());
	ASSERT_TRUE(json);
	EXPECT_EQ(json->find("base64"), std::string::npos);
	EXPECT_FALSE(std::filesystem::is_empty(folder.path()));

	auto back = loadableFromJson(*json, folder.path());
	ASSERT_TRUE(back) << back.error().message();
	EXPECT_TRUE(*back == loadable);
	auto nowhere = loadableFromJson(*json);
	ASSERT_FALSE(nowhere);
	EXPECT_NE(nowhere.error().why.find("no folder"), std::string::npos);
}

TEST(LoadableJson, FloatsAreExact)
{
	for (float scale : { 0.1f, 1e-45f, std::numeric_limits<float>::max(), -0.0f, INFINITY,
			     std::numeric_limits<float>::quiet_NaN() }) {
		const Loadable loadable = emuNetwork(scale);
		auto json = loadableToJson(loadable);
		ASSERT_TRUE(json);
		EXPECT_EQ(undecoded(Json::parse(*json)), 0u);
		EXPECT_NE(json->find("\"in_scale\": 0.1,"), std::string::npos);
		auto back = loadableFromJson(*json);
		ASSERT_TRUE(back) << back.error().message();
		EXPECT_TRUE(*back == loadable) << scale;
	}
}

TEST(LoadableJson, OperationsOfTheCpuHaveFields)
{
	const std::pair<EmuOpType, const char *> types[] = {
		{ EmuOpType::LocalResponse, "\"local_response\"" },
		{ EmuOpType::Standardize, "\"standardize\"" },
		{ EmuOpType::Function, "\"function\": \"identity\"" },
		{ EmuOpType::NormalizeTwice, "\"normalize_twice\"" },
		{ EmuOpType::PackWeights, "\"pack_weights\"" },
	};

	for (const auto &[type, text] : types) {
		const Loadable loadable = emuNetwork(1.0f, type);
		auto json = loadableToJson(loadable);
		ASSERT_TRUE(json);
		EXPECT_EQ(undecoded(Json::parse(*json)), 0u) << text;
		EXPECT_NE(json->find(text), std::string::npos) << text;
		EXPECT_TRUE(*loadableFromJson(*json) == loadable) << text;
	}
}

TEST(LoadableJson, BytesThatAreNoFieldSurvive)
{
	Loadable loadable = emuNetwork(1.0f);
	loadable.blobs[0].data[100] = std::byte{ 7 };
	auto json = loadableToJson(loadable);
	ASSERT_TRUE(json);
	EXPECT_EQ(undecoded(Json::parse(*json)), 1u);
	EXPECT_TRUE(*loadableFromJson(*json) == loadable);
}

TEST(LoadableJson, NamesThatAreNoText)
{
	Loadable loadable = exampleNetwork();
	loadable.tensors[0].name = "le\xff\nt";
	auto json = loadableToJson(loadable);
	ASSERT_TRUE(json);
	auto back = loadableFromJson(*json);
	ASSERT_TRUE(back);
	EXPECT_EQ(back->tensors[0].name, R"(le\xff\x0at)");
	loadable.tensors[0].name = back->tensors[0].name;
	EXPECT_TRUE(*back == loadable);
}

TEST(LoadableJson, NamesOfBlobsThatAreNoTextMeetTheirReferences)
{
	Loadable loadable = emuNetwork(1.0f);
	for (Memory &memory : loadable.memories) {
		for (auto &content : memory.contents)
			content.blob += "\xfe";
	}
	for (Blob &blob : loadable.blobs)
		blob.name += "\xfe";
	auto json = loadableToJson(loadable);
	ASSERT_TRUE(json) << json.error().message();
	auto back = loadableFromJson(*json);
	ASSERT_TRUE(back) << back.error().message();
	EXPECT_EQ(back->blobs[0].name.substr(back->blobs[0].name.size() - 4), R"(\xfe)");
}

TEST(LoadableJson, ErrorsNamePathValueAndRemedy)
{
	const struct {
		const char *where;
		const char *why;
		std::function<void(Json &)> damage;
	} cases[] = {
		{ "nvdla_loadable", "missing", [](Json &j) { j.erase("nvdla_loadable"); } },
		{ "nvdla_loadable", "is 2, this library reads 1",
		  [](Json &j) { j["nvdla_loadable"] = 2; } },
		{ "version", "is \"0.7\", must be three numbers",
		  [](Json &j) { j["version"] = "0.7"; } },
		{ "version", "\"0.700.0\"", [](Json &j) { j["version"] = "0.700.0"; } },
		{ "extra", "is no field; those are nvdla_loadable",
		  [](Json &j) { j["extra"] = 1; } },
		{ "blobs", "missing", [](Json &j) { j.erase("blobs"); } },
		{ "blobs", "must be an array", [](Json &j) { j["blobs"] = 3; } },
		{ "memory_list[0].size", "missing",
		  [](Json &j) { j["memory_list"][0].erase("size"); } },
		{ "memory_list[0].id", "is -1, must be a whole number from 0 to 65535",
		  [](Json &j) { j["memory_list"][0]["id"] = -1; } },
		{ "memory_list[0].domain", "must be one of system, sram",
		  [](Json &j) { j["memory_list"][0]["domain"] = "dram"; } },
		{ "memory_list[0].flags[0]", "\"fast\"",
		  [](Json &j) { j["memory_list"][0]["flags"] = { "fast" }; } },
		{ "memory_list[0].flags", "must be an array",
		  [](Json &j) { j["memory_list"][0]["flags"] = 3; } },
		{ "tensor_desc_list[0].stride", "array of 8",
		  [](Json &j) { j["tensor_desc_list"][0]["stride"].push_back(1); } },
		{ "tensor_desc_list[0].n", "2147483648",
		  [](Json &j) { j["tensor_desc_list"][0]["n"] = 2147483648u; } },
		{ "task_list[0].address_list[0]", "names no entry",
		  [](Json &j) { j["task_list"][0]["address_list"][0] = 999; } },
		{ "blobs[0].name", "must be a string", [](Json &j) { j["blobs"][0]["name"] = 1; } },
		{ "blobs[0]", "has 0 of the fields",
		  [](Json &j) {
			  j["blobs"][0].erase("base64");
			  j["blobs"][0].erase("entries");
		  } },
		{ "blobs[0].base64", "is not base64",
		  [](Json &j) {
			  j["blobs"][0].erase("entries");
			  j["blobs"][0]["base64"] = "a";
		  } },
		{ "blobs[0].file", "no plain file name",
		  [](Json &j) {
			  j["blobs"][0].erase("base64");
			  j["blobs"][0].erase("entries");
			  j["blobs"][0]["file"] = "../x";
		  } },
	};

	const auto good = Json::parse(*loadableToJson(exampleNetwork()));
	for (const auto &one : cases) {
		Json json = good;
		one.damage(json);
		auto read = loadableFromJson(json.dump());
		ASSERT_FALSE(read) << one.where;
		EXPECT_EQ(read.error().code, ErrorCode::InvalidFile);
		EXPECT_EQ(read.error().where, one.where) << read.error().message();
		EXPECT_NE(read.error().why.find(one.why), std::string::npos)
			<< read.error().message();
	}
}

TEST(LoadableJson, ErrorsInDescriptors)
{
	const struct {
		const char *list;
		const char *where;
		const char *why;
		std::function<void(Json &)> damage;
	} cases[] = {
		{ "dla_operations", "[0].conv.pad_val", "from -32768 to 32767",
		  [](Json &e) { e[0]["conv"]["pad_val"] = 40000; } },
		{ "dla_operations", "[0].conv.in_precision", "one of int8, int16, fp16",
		  [](Json &e) { e[0]["conv"]["in_precision"] = "fp32"; } },
		{ "dla_operations", "[0].conv.colour", "is no field of a conv",
		  [](Json &e) { e[0]["conv"]["colour"] = 1; } },
		{ "dla_operations", "[0].conv.fetch_grain", "missing",
		  [](Json &e) { e[0]["conv"].erase("fetch_grain"); } },
		{ "dla_operations", "[0].conv.in_cvt",
		  "must be an object with the fields of a converter",
		  [](Json &e) { e[0]["conv"]["in_cvt"] = 1; } },
		{ "dla_operations", "[0]", "one of bdma, conv, sdp, pdp, cdp, rubik",
		  [](Json &e) {
			  e[0] = { { "fft", 1 } };
		  } },
		{ "dla_graph", "[0].consumers.fft", "known are bdma",
		  [](Json &e) { e[0]["consumers"]["fft"] = 1; } },
		{ "dla_graph", "[0].consumers", "must be an object",
		  [](Json &e) { e[0]["consumers"] = Json::array(); } },
		{ "dla_luts", "[0].le_table", "array of at most 65",
		  [](Json &e) { e[0]["le_table"] = std::vector<int>(66); } },
		{ "dla_luts", "[0].le_table[1]", "is 1.5",
		  [](Json &e) {
			  e[0]["le_table"] = { 1, 1.5 };
		  } },
	};

	for (const auto &one : cases) {
		const bool lut = std::string_view(one.list) == "dla_luts";
		Json json = Json::parse(*loadableToJson(lut ? lutNetwork() : exampleNetwork()));
		size_t index = 0;
		while (json["blobs"][index].value("list", "") != one.list)
			index++;
		one.damage(json["blobs"][index]["entries"]);
		auto read = loadableFromJson(json.dump());
		ASSERT_FALSE(read) << one.where;
		EXPECT_EQ(read.error().where,
			  "blobs[" + std::to_string(index) + "].entries" + one.where);
		EXPECT_NE(read.error().why.find(one.why), std::string::npos)
			<< read.error().message();
	}
}

TEST(LoadableJson, HostileTexts)
{
	std::string fields = "{";
	for (int i = 0; i < 100; i++)
		fields += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";

	const std::pair<std::string, const char *> cases[] = {
		{ "", "is no JSON" },
		{ "{\n  \"a\": }", "is no JSON" },
		{ "{\"version\": 1e999}", "number overflow" },
		{ std::string(1000000, '['), "nested deeper" },
		{ "{\"a\": 1, \"a\": 2}", "twice" },
		{ fields + "}", "more than 64 fields" },
		{ "null", "must be an object" },
		{ "{\"\\ud800\": 1}", "is no JSON" },
	};
	for (const auto &[text, why] : cases) {
		auto read = loadableFromJson(text);
		ASSERT_FALSE(read) << text.substr(0, 40);
		EXPECT_NE(read.error().why.find(why), std::string::npos) << read.error().message();
	}
	EXPECT_EQ(loadableFromJson("{\n  \"a\": }").error().where, "line 2 column 8");
}

TEST(LoadableJson, FilesOfEitherForm)
{
	Folder folder;
	const Loadable loadable = exampleNetwork();
	const auto json = loadableToJson(loadable, folder.path());
	ASSERT_TRUE(json);
	auto write = [&](const char *name, const auto &bytes) {
		std::ofstream file(folder.path() / name, std::ios::binary);
		file.write(reinterpret_cast<const char *>(bytes.data()),
			   static_cast<std::streamsize>(bytes.size()));
	};
	write("net.json", *json);
	write("net.nvdla", *loadable.write());

	for (const char *name : { "net.json", "net.nvdla" }) {
		auto read = readLoadable(folder.path() / name);
		ASSERT_TRUE(read) << read.error().message();
		EXPECT_TRUE(*read == loadable) << name;
	}
	auto missing = readLoadable(folder.path() / "none");
	ASSERT_FALSE(missing);
	EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
}

TEST(LoadableJson, ReferenceLoadables)
{
	NVDLA_NEED_REFERENCE(reference);

	for (const auto &path : test::referenceLoadables(reference)) {
		auto loadable = Loadable::readFile(path);
		ASSERT_TRUE(loadable) << path;
		auto json = loadableToJson(*loadable);
		ASSERT_TRUE(json) << path << ": " << json.error().message();
		EXPECT_EQ(undecoded(Json::parse(*json)), 0u) << path;
		auto back = loadableFromJson(*json);
		ASSERT_TRUE(back) << path << ": " << back.error().message();
		EXPECT_TRUE(*back == *loadable) << path;
	}
}

} /* namespace nvdla */
