/* SPDX-License-Identifier: MIT */
/*
 * Python's classes and functions for the compiler.
 */
#include <nvdla/compiler.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "compiler/option_names.h"
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

/* Examples for calibration: for each example a list of float32 arrays, one for each input. */
using Samples = std::vector<std::vector<py::buffer>>;

void calibrate(CompileOptions &options, const Samples &samples, const std::string &method,
	       double percentile, const std::string &type, bool keepBias, const std::string &table)
{
	Calibration calibration{ .method = chosen(rangeNames(), "ranges", method),
				 .percentile = percentile,
				 .correctBias = !keepBias,
				 .type = chosen(precisionNames(), "precision", type) };

	for (const auto &sample : samples) {
		auto &inputs = calibration.samples.emplace_back();
		for (const py::buffer &array : sample) {
			const py::buffer_info info = array.request();
			const auto *numbers = static_cast<const float *>(info.ptr);
			inputs.emplace_back(numbers, numbers + info.size);
		}
	}
	if (!table.empty())
		calibration.table = take(readCalibrationTable(table));
	options.calibration = std::move(calibration);
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
	py::class_<CompileOptions>(module, "CompileOptions")
		.def(py::init<>())
		.def("calibrate", &calibrate)
		.def("set_strategy",
		     [](CompileOptions &options, const std::string &text) {
			     options.strategy = take(parseStrategy(text));
		     })
		.def("set_fold_sums",
		     [](CompileOptions &options, const std::string &name) {
			     options.foldSums = chosen(foldSumsNames(), "fold_sums", name);
		     })
		.def("set_host",
		     [](CompileOptions &options, const std::string &name) {
			     options.host = chosen(hostNames(), "host", name);
		     })
		.def("add_shape",
		     [](CompileOptions &options, const std::string &name,
			const std::vector<uint32_t> &sizes) {
			     options.shapes.push_back({ name, sizes });
		     })
		.def("set_target",
		     [](CompileOptions &options, const std::string &name) {
			     options.core = take(findCoreVariant(name));
		     })
		.def_readwrite("every_tensor", &CompileOptions::everyTensor)
		.def_readwrite("sram_size", &CompileOptions::sramBytes);
	py::class_<CompiledModel>(module, "CompiledModel")
		.def_readonly("loadable", &CompiledModel::loadable)
		.def("report", [](const CompiledModel &model, const std::string &name,
				  const std::string &format) {
			return take(released([&] { return reportAs(model, name, format); }));
		});
	module.def("compile_file", [](const std::string &path, const CompileOptions &options) {
		return take(released([&] { return compileFile(path, options); }));
	});
	module.def("compile_bytes", [](const py::buffer &file, const CompileOptions &options) {
		const py::buffer_info info = file.request();
		return take(released([&] { return compileModel(bytesOf(info), options); }));
	});
}

} /* namespace nvdla::python */
