/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <nvdla/tensor_file.h>

#include "base/io/file.h"
#include "fitted.h"
#include "folder.h"
#include "scaling_options.h"

namespace nvdla::tools
{

namespace
{

constexpr const char *reading = "read samples";
constexpr size_t colours = 3; /* a further channel of an input gets no pixels */
constexpr uint64_t maxSampleBytes = uint64_t{ 1 } << 32;

/* Replaces folders by their pictures and .npy files, sorted by name. */
Result<std::vector<std::string>> filesOf(const std::vector<std::string> &paths)
{
	std::vector<std::string> files;

	for (const std::string &path : paths) {
		std::error_code error;
		if (!std::filesystem::is_directory(path, error)) {
			files.push_back(path);
			continue;
		}
		auto samples = picturesIn(path, reading, [](const std::filesystem::path &file) {
			return file.extension() == ".npy";
		});
		if (!samples)
			return forward(samples);
		if (samples->empty())
			return fail(ErrorCode::InvalidArgument, reading, path,
				    "has no picture and no .npy file");
		for (const std::filesystem::path &file : *samples)
			files.push_back(file.string());
	}
	return files;
}

Result<std::vector<float>> numbersOfPicture(const Image &image, const ModelInput &input,
					    const PixelScaling &scaling)
{
	const TensorDesc desc =
		TensorDesc::packedFeature(input.name, DataType::Half, input.c, input.h, input.w);
	auto elements =
		ScalingOptions::forChannels(scaling, input.c).and_then([&](auto &&complete) {
			return elementsFromImage(desc, fitted(image, input.c, input.h, input.w),
						 complete);
		});
	if (!elements)
		return forward(elements);
	std::vector<float> numbers = elementsToFloat(DataType::Half, *elements);
	if (input.signature.order == ElementOrder::Nchw)
		return numbers;
	std::vector<float> turned(numbers.size());
	const size_t plane = size_t{ input.h } * input.w;
	for (size_t i = 0; i < numbers.size(); i++)
		turned[i % plane * input.c + i / plane] = numbers[i];
	return turned;
}

/* Returns the numbers of black and of white pixels, for each colour of the input. */
std::vector<float> extremesOf(const ModelInput &input, const PixelScaling &scaling)
{
	std::vector<float> extremes;

	for (size_t c = 0; c < std::min<size_t>(input.c, colours); c++) {
		for (const float pixel : { 0.0f, 255.0f })
			extremes.push_back((pixel - scaling.mean[c]) / scaling.normalize);
	}
	return extremes;
}

/* Reads the samples in a file: one in a picture, one or more in an array. */
Result<std::vector<std::vector<float>>>
numbersOfFile(const std::string &path, const ModelInput &input, const PixelScaling &scaling)
{
	auto bytes = readWholeFile(path, maxSampleBytes);
	if (!bytes)
		return forward(bytes);
	if (!path.ends_with(".npy")) {
		auto image = decodeImage(*bytes, path);
		if (!image)
			return forward(image);
		auto numbers = numbersOfPicture(*image, input, scaling);
		if (!numbers)
			return forward(numbers);
		return std::vector<std::vector<float>>{ std::move(*numbers) };
	}
	auto array = decodeNpy(*bytes, path);
	if (!array)
		return forward(array);
	auto count = countSamples(input.name, input.signature, array->shape);
	if (!count) {
		count.error().where = fmt::format("{}: {}", path, count.error().where);
		return forward(count);
	}
	const std::vector<float> all = elementsToFloat(array->type, array->elements);
	const size_t one = all.size() / *count;
	std::vector<std::vector<float>> samples;
	for (auto at = all.begin(); at != all.end(); at += static_cast<ptrdiff_t>(one))
		samples.emplace_back(at, at + static_cast<ptrdiff_t>(one));
	return samples;
}

} /* namespace */

bool hasPictures(const std::vector<std::string> &paths)
{
	const auto files = filesOf(paths);

	return files && std::ranges::any_of(*files, [](const std::string &path) {
		       return !path.ends_with(".npy");
	       });
}

Result<void> readSamples(Calibration &calibration, const std::vector<std::string> &paths,
			 const std::vector<ModelInput> &inputs, const PixelScaling &scaling)
{
	auto files = filesOf(paths);
	if (!files)
		return forward(files);
	if (inputs.empty() || files->size() % inputs.size())
		return fail(ErrorCode::InvalidArgument, reading, "",
			    fmt::format("the files of the model's {} inputs alternate, but {} "
					"files are no multiple of {}",
					inputs.size(), files->size(), inputs.size()));
	auto &samples = calibration.samples;
	for (size_t file = 0; file < files->size(); file += inputs.size()) {
		const size_t first = samples.size();
		for (size_t i = 0; i < inputs.size(); i++) {
			const std::string &path = (*files)[file + i];
			auto numbers = numbersOfFile(path, inputs[i], scaling);
			if (!numbers)
				return forward(numbers);
			if (!path.ends_with(".npy"))
				calibration.extremes[inputs[i].name] =
					extremesOf(inputs[i], scaling);
			if (i == 0)
				samples.resize(first + numbers->size());
			if (first + numbers->size() != samples.size())
				return fail(ErrorCode::InvalidArgument, reading, path,
					    fmt::format("has {} samples, but the file of the first "
							"input has {}",
							numbers->size(), samples.size() - first));
			for (size_t j = 0; j < numbers->size(); j++)
				samples[first + j].push_back(std::move((*numbers)[j]));
		}
	}
	return {};
}

void storeScaling(Loadable &loadable, const std::map<std::string, std::vector<float>> &extremes,
		  const PixelScaling &scaling)
{
	for (TensorEntry &entry : loadable.tensors) {
		const auto complete = ScalingOptions::forChannels(scaling, entry.c);
		if (entry.signature && complete && extremes.contains(entry.name) &&
		    loadable.memory(entry.memId)->flags & MemoryInput)
			entry.signature->pixels = *complete;
	}
}

} /* namespace nvdla::tools */
