/* SPDX-License-Identifier: MIT */
/*
 * Python's classes and functions for the compiler.
 */
#include <fmt/core.h>
#include <nvdla/compiler.h>
#include <nvdla/tensor_file.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "compiler/option_names.h"
#include "loadable/half_use.h"
#include "support.h"
#include "tools/report/model_report.h"

namespace nvdla::python
{

namespace
{

constexpr const char *compiling = "compile model";

/* Returns the value that belongs to a name; for an unknown name, raises InvalidArgument with a list
 * of all names. */
template<typename T>
T chosen(const OptionNames<T> &names, const char *option, const std::string &name)
{
	std::string all;

	for (const auto &[known, value] : names) {
		if (known == name)
			return value;
		all += (all.empty() ? "" : ", ") + known;
	}
	raise({ ErrorCode::InvalidArgument, compiling, option,
		"is '" + name + "'; there is " + all });
}

/* A copy of an array of Python. */
struct Array {
	std::vector<size_t> shape;
	std::vector<float> numbers;
};

/* The options of compile() in Python. Samples are checked when the model's inputs are known. */
struct Options {
	CompileOptions compiler;
	/* For each example the arrays of the inputs */
	std::vector<std::vector<Array>> samples;
	bool isOneArray = false; /* samples has a single array, with all examples */
	bool isHalf = false;	 /* FP16 was asked for */
};

using Buffers = std::vector<std::vector<py::buffer>>;

/* Arrays are of float32, in C order. */
void calibrate(Options &options, const Buffers &samples, bool isOneArray, const std::string &method,
	       double percentile, const std::string &type, bool keepBias, const std::string &table)
{
	Calibration calibration{ .method = chosen(rangeNames(), "ranges", method),
				 .percentile = percentile,
				 .correctBias = !keepBias,
				 .type = chosen(precisionNames(), "precision", type) };

	for (const auto &sample : samples) {
		auto &inputs = options.samples.emplace_back();
		for (const py::buffer &array : sample) {
			const py::buffer_info info = array.request();
			const auto numbers = floatsOf(info);
			inputs.push_back({ { info.shape.begin(), info.shape.end() },
					   { numbers.begin(), numbers.end() } });
		}
	}
	if (!table.empty())
		calibration.table = take(readCalibrationTable(table));
	options.isOneArray = isOneArray;
	options.compiler.calibration = std::move(calibration);
}

/* Checks that an array is one example of \a input. */
Result<void> checkExample(const Array &array, const ModelInput &input, size_t sample)
{
	auto count = countSamples(input.name, input.signature, array.shape);

	if (count && *count == 1)
		return {};
	if (count)
		count = fail(
			ErrorCode::InvalidArgument, compiling, "tensor " + input.name,
			fmt::format("the array has {} examples: pass an array for each", *count));
	count.error().where = fmt::format("sample {}: {}", sample, count.error().where);
	return forward(count);
}

/* Moves the samples to the compiler's options, if their arrays have the shapes of the inputs. */
Result<void> takeSamples(Options &options, const std::vector<ModelInput> &inputs)
{
	for (size_t i = 0; i < options.samples.size(); i++) {
		std::vector<Array> &arrays = options.samples[i];
		if (arrays.size() != inputs.size())
			return fail(ErrorCode::InvalidArgument, compiling,
				    fmt::format("sample {}", i),
				    fmt::format("has {} array{}, the model has {} input{}",
						arrays.size(), arrays.size() == 1 ? "" : "s",
						inputs.size(), inputs.size() == 1 ? "" : "s"));
		auto &sample = options.compiler.calibration->samples.emplace_back();
		for (size_t j = 0; j < inputs.size(); j++) {
			if (auto checked = checkExample(arrays[j], inputs[j], i); !checked)
				return checked;
			sample.push_back(std::move(arrays[j].numbers));
		}
	}
	return {};
}

/* Like takeSamples(), but all examples of the model's only input are in one array. */
Result<void> divideSamples(Options &options, const std::vector<ModelInput> &inputs)
{
	const Array &array = options.samples.front().front();

	if (inputs.size() != 1)
		return fail(ErrorCode::InvalidArgument, compiling, "samples",
			    fmt::format("is one array, but the model has {} inputs: pass a list, "
					"whose examples are tuples of {} arrays",
					inputs.size(), inputs.size()));
	auto count = countSamples(inputs[0].name, inputs[0].signature, array.shape);
	if (!count)
		return forward(count);
	const auto each = static_cast<ptrdiff_t>(array.numbers.size() / *count);
	for (auto at = array.numbers.begin(); at != array.numbers.end(); at += each)
		options.compiler.calibration->samples.emplace_back().emplace_back(at, at + each);
	return {};
}

Result<CompiledModel> compile(Options &options, std::span<const std::byte> model)
{
	if (!options.samples.empty()) {
		auto set = modelInputs(model, options.compiler.shapes).and_then([&](auto &&inputs) {
			return options.isOneArray ? divideSamples(options, inputs)
						  : takeSamples(options, inputs);
		});
		if (!set)
			return forward(set);
	}
	auto compiled = compileModel(model, options.compiler);
	if (compiled && options.isHalf) {
		if (auto checked = checkComputesHalf(compiled->loadable); !checked)
			return forward(checked);
	}
	return compiled;
}

Result<CompiledModel> compileAt(const std::string &path, Options &options)
{
	auto model = readModelFile(path);
	if (!model)
		return forward(model);
	auto compiled = compile(options, *model);
	if (!compiled)
		compiled.error().where = fmt::format("{}: {}", path, compiled.error().where);
	return compiled;
}

/* Makes the compiler's report, with times predicted for the chip that nvdla-compile assumes if it
 * has no options for a chip. */
Result<std::string> reportAs(const CompiledModel &model, const std::string &name,
			     const std::string &format)
{
	for (const auto &[known, value] : report::reportFormats()) {
		if (known != format)
			continue;
		auto made = report::reportOf(model, {}, name);
		if (!made)
			return forward(made);
		return report::formatted(*made, value);
	}
	return fail(ErrorCode::InvalidArgument, "report", format,
		    "there is text, json, svg and html");
}

} /* namespace */

void addCompiler(py::module_ &module)
{
	py::class_<Options>(module, "CompileOptions")
		.def(py::init<>())
		.def("calibrate", &calibrate)
		.def("set_strategy",
		     [](Options &options, const std::string &text) {
			     options.compiler.strategy = take(parseStrategy(text));
		     })
		.def("set_fold_sums",
		     [](Options &options, const std::string &name) {
			     options.compiler.foldSums = chosen(foldSumsNames(), "fold_sums", name);
		     })
		.def("set_host",
		     [](Options &options, const std::string &name) {
			     options.compiler.host = chosen(hostNames(), "host", name);
		     })
		.def("add_shape",
		     [](Options &options, const std::string &name,
			const std::vector<uint32_t> &sizes) {
			     options.compiler.shapes.push_back({ name, sizes });
		     })
		.def("set_target",
		     [](Options &options, const std::string &name) {
			     options.compiler.core = take(findCoreVariant(name));
		     })
		.def("set_every_tensor",
		     [](Options &options, bool is) { options.compiler.everyTensor = is; })
		.def("set_sram_size",
		     [](Options &options, uint64_t bytes) { options.compiler.sramBytes = bytes; })
		.def("set_half", [](Options &options) { options.isHalf = true; });
	py::class_<CompiledModel>(module, "CompiledModel")
		.def_readonly("loadable", &CompiledModel::loadable)
		.def("report", [](const CompiledModel &model, const std::string &name,
				  const std::string &format) {
			return textOf(
				take(released([&] { return reportAs(model, name, format); })));
		});
	module.def("compile_file", [](const std::string &path, Options &options) {
		return take(released([&] { return compileAt(path, options); }));
	});
	module.def("compile_bytes", [](const py::buffer &file, Options &options) {
		const py::buffer_info info = file.request();
		return take(released([&] { return compile(options, bytesOf(info)); }));
	});
}

} /* namespace nvdla::python */
