/* SPDX-License-Identifier: MIT */
#include "model_folder.h"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>
#include <nvdla/half.h>

#include "compiler/import/import.h"
#include "reference_data.h"
#include "zip.h"

namespace nvdla::test
{

namespace
{

template<typename T>
Numbers numbersOf(const std::string &bytes)
{
	Numbers numbers;

	for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
		T element;
		std::memcpy(&element, &bytes[at], sizeof(T));
		numbers.push_back(static_cast<double>(element));
	}
	return numbers;
}

/* A .npy file's contents. */
Array arrayOf(const std::string &file)
{
	constexpr size_t headerStart = 10;
	Array array;

	if (file.size() < headerStart)
		return array;
	const size_t header = static_cast<uint8_t>(file[8]) + 256u * static_cast<uint8_t>(file[9]);
	const std::string text = file.substr(headerStart, header);
	const std::string bytes = file.substr(std::min(headerStart + header, file.size()));
	const size_t type = text.find("'descr': '");
	array.type = type == std::string::npos ? "" : text.substr(type + 10, 3);
	if (array.type == "|i1")
		array.numbers = numbersOf<int8_t>(bytes);
	else if (array.type == "|u1")
		array.numbers = numbersOf<uint8_t>(bytes);
	else if (array.type == "<i2")
		array.numbers = numbersOf<int16_t>(bytes);
	else if (array.type == "<f4")
		array.numbers = numbersOf<float>(bytes);
	else if (array.type == "<f2") {
		array.numbers = numbersOf<uint16_t>(bytes);
		for (double &number : array.numbers)
			number = halfToFloat(static_cast<uint16_t>(number));
	}
	return array;
}

std::filesystem::path models()
{
	return referenceData() / "models";
}

std::filesystem::path tensorsFile(const std::string &name)
{
	return models() / name / "tensors_0.npz";
}

nlohmann::json readInfo(const std::filesystem::path &folder)
{
	return nlohmann::json::parse(readText(folder / "info.json"));
}

} /* namespace */

Array readArray(const std::filesystem::path &path)
{
	return arrayOf(readText(path));
}

bool hasTensors(const std::string &name)
{
	return std::filesystem::exists(tensorsFile(name));
}

std::map<std::string, Array> readTensors(const std::string &name)
{
	std::map<std::string, Array> tensors;

	if (!hasTensors(name))
		return tensors;
	for (auto &[file, bytes] : unpackZip(readText(tensorsFile(name))))
		tensors[file.substr(0, file.rfind('.'))] = arrayOf(bytes);
	return tensors;
}

std::vector<std::string> modelFolders(const std::string &format)
{
	std::vector<std::string> names;

	if (!std::filesystem::is_directory(models()))
		return names;
	for (const auto &entry : std::filesystem::directory_iterator(models())) {
		if (std::filesystem::exists(entry.path() / ("model." + format)))
			names.push_back(entry.path().filename());
	}
	std::sort(names.begin(), names.end());
	return names;
}

std::vector<std::string> smallModels(const std::string &format, double mostMultiplications)
{
	std::vector<std::string> names = modelFolders(format);

	std::erase_if(names, [&](const std::string &name) {
		return readInfo(models() / name).at("macs").get<double>() > mostMultiplications;
	});
	return names;
}

ModelFolder readModelFolder(const std::string &name)
{
	const auto folder = models() / name;
	const auto info = readInfo(folder);
	ModelFolder model{ name,
			   info.at("format"),
			   readBytes(folder / info.at("file").get<std::string>()),
			   {},
			   info.at("macs") };

	for (const auto &one : info.at("cases")) {
		ModelCase known{ one.at("description"), {}, {}, one.contains("top5") };
		for (const auto &input : one.at("inputs"))
			known.inputs.push_back(readArray(folder / input.get<std::string>()));
		const auto &differences = one.at("max_diff");
		for (size_t i = 0; i < one.at("reference").size(); i++) {
			const auto &output = one.at("reference").at(i);
			known.outputs.push_back({ readArray(folder / output.get<std::string>()),
						  differences.at(i).get<double>() });
		}
		model.cases.push_back(std::move(known));
	}
	return model;
}

Result<compiler::Model> importModel(const ModelFolder &folder)
{
	return folder.format == "onnx" ? compiler::importOnnx(folder.file)
				       : compiler::importTflite(folder.file);
}

} /* namespace nvdla::test */
