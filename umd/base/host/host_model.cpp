/* SPDX-License-Identifier: MIT */
#include "host_model.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <fmt/core.h>

#include "base/host/module_dir.h"
#include "base/io/guarded.h"
#include "host_interface.h"

namespace nvdla
{

/** \brief A library, and this project's module that links to it */
struct HostLibrary {
	const char *name;
	const char *package; /**< Debian package of the library */
	const char *module;
	const nvdla_host_functions *functions = nullptr;
};

namespace
{

constexpr HostLibrary onnxRuntime{ "ONNX Runtime", "Debian 13 and newer: libonnxruntime-dev",
				   "libnvdla-host-onnx.so" };
constexpr HostLibrary tensorflowLite{ "TensorFlow Lite",
				      "newer than Debian 13: libtensorflow-lite-dev",
				      "libnvdla-host-tflite.so" };

/* Loads a library's module. Modules are never unloaded, because the library's threads go on. */
Result<HostLibrary> openModule(HostLibrary library)
{
	const std::string use = fmt::format("use {}", library.name);
	const std::string installed = fmt::format("{}/{}", NVDLA_MODULE_DIR, library.module);
	void *module = nullptr;
	std::string error;

	for (const char *file : { library.module, installed.c_str() }) {
		module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		if (module)
			break;
		const char *why = dlerror();
		/* If the module exists but lacks a library, the error about the library helps more
		 * than the error that the module is missing. */
		if (error.empty() || error.starts_with(library.module))
			error = why;
	}
	if (!module)
		return fail(ErrorCode::Unsupported, use, library.module,
			    fmt::format("does not load ({}); install {} ({}), then build this "
					"project anew: meson setup --reconfigure build && ninja -C "
					"build programs; or, on Debian 12 too, run the model with "
					"scripts/run --model of this project, which fetches the "
					"library",
					error, library.name, library.package));
	const auto entry = reinterpret_cast<nvdla_host_entry>(dlsym(module, NVDLA_HOST_ENTRY));
	library.functions = entry ? entry() : nullptr;
	if (!library.functions || library.functions->version != NVDLA_HOST_INTERFACE)
		return fail(ErrorCode::Unsupported, use, library.module,
			    "is of another release than this program; install both of one");
	return library;
}

Result<const HostLibrary *> pointTo(const Result<HostLibrary> &library)
{
	if (!library)
		return tl::unexpected<Error>(library.error());
	return &*library;
}

Result<const HostLibrary *> libraryOf(std::span<const std::byte> model)
{
	if (isTfliteFile(model)) {
		static const Result<HostLibrary> tflite = openModule(tensorflowLite);
		return pointTo(tflite);
	}
	static const Result<HostLibrary> onnx = openModule(onnxRuntime);
	return pointTo(onnx);
}

constexpr std::pair<DataType, int32_t> types[] = {
	{ DataType::Float, 1 }, { DataType::UInt8, 2 }, { DataType::Int8, 3 },
	{ DataType::Int16, 5 }, { DataType::Int32, 6 }, { DataType::Int64, 7 },
	{ DataType::Bool, 9 },	{ DataType::Half, 10 },
};

/* Allocates memory for an output whose shape became known in the run; fails for 4 GiB or more. */
Result<void> makeRoom(const HostArray &output, std::span<const int64_t> shape)
{
	std::vector<uint32_t> lengths(shape.begin(), shape.end());
	uint64_t bytes = elementBytes(typeOfOnnx(output.what.type).value_or(DataType::Int64));

	if (std::ranges::count(shape, 0))
		bytes = 0;
	for (const int64_t extent : shape) {
		if (extent < 0 || extent > INT32_MAX ||
		    bytes * static_cast<uint64_t>(extent) > UINT32_MAX)
			return fail(ErrorCode::NoMemory, "make room", output.what.name,
				    "is too large");
		bytes *= static_cast<uint64_t>(extent);
	}
	output.result->bytes.resize(bytes);
	output.result->shape = std::move(lengths);
	return {};
}

/* Collects the results of the module's callbacks: an error message, tensors, a file. */
struct Said {
	std::string message;
	std::vector<HostValue> values;
	std::vector<std::byte> file;
	/* The run's outputs, in which room() allocates memory. */
	std::span<const HostArray> outputs;

	static void say(void *context, const char *message)
	{
		static_cast<Said *>(context)->message = message;
	}
	static void found(void *context, const char *name, int32_t type, const int64_t *shape,
			  size_t rank)
	{
		static_cast<Said *>(context)->values.push_back(
			{ name, type, { shape, shape + rank } });
	}
	static int room(void *context, size_t index, const int64_t *shape, size_t rank, void **data)
	{
		const HostArray &output = static_cast<Said *>(context)->outputs[index];
		const auto made = guarded("make room", [&] {
			return makeRoom(output, { shape, rank });
		});

		*data = output.result->bytes.data();
		return made ? 0 : 1;
	}
	static void take(void *context, const void *file, size_t size)
	{
		const auto *bytes = static_cast<const std::byte *>(file);
		static_cast<Said *>(context)->file.assign(bytes, bytes + size);
	}
	tl::unexpected<Error> error(const char *what, const HostLibrary &library) const
	{
		return fail(ErrorCode::Unsupported, what, library.name, message);
	}
};

std::vector<nvdla_host_array> arraysOf(std::span<const HostArray> arrays)
{
	std::vector<nvdla_host_array> all;

	for (const HostArray &array : arrays)
		all.push_back({ array.what.name.c_str(), array.what.type, array.what.shape.data(),
				array.what.shape.size(), array.bytes.data(), array.bytes.size() });
	return all;
}

} /* namespace */

int32_t onnxType(DataType type)
{
	const auto found = std::ranges::find(types, type, &std::pair<DataType, int32_t>::first);

	return found == std::end(types) ? 0 : found->second;
}

std::optional<DataType> typeOfOnnx(int32_t type)
{
	const auto found = std::ranges::find(types, type, &std::pair<DataType, int32_t>::second);

	if (found == std::end(types))
		return std::nullopt;
	return found->first;
}

bool isTfliteFile(std::span<const std::byte> bytes)
{
	constexpr std::string_view identifier = "TFL3";
	constexpr size_t offset = 4;
	const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());

	return text.size() >= offset + identifier.size() &&
	       text.substr(offset, identifier.size()) == identifier;
}

Result<std::vector<std::byte>> selectOperators(std::span<const std::byte> tflite,
					       const TfliteSelection &selection)
{
	const nvdla_host_selection what{
		selection.operators.data(), selection.operators.size(), selection.inputs.data(),
		selection.inputs.size(),    selection.outputs.data(),	selection.outputs.size(),
	};
	auto library = libraryOf(tflite);
	Said said;

	if (!library)
		return forward(library);
	if ((*library)->functions->select(tflite.data(), tflite.size(), &what, &said, Said::take,
					  Said::say))
		return said.error("divide model", **library);
	return std::move(said.file);
}

Result<std::vector<std::byte>> resizeTensors(std::span<const std::byte> tflite,
					     std::span<const TfliteShape> shapes)
{
	auto library = libraryOf(tflite);
	std::vector<nvdla_host_shape> what;
	Said said;

	if (!library)
		return forward(library);
	for (const TfliteShape &shape : shapes)
		what.push_back({ shape.input, shape.extents.data(), shape.extents.size() });
	if ((*library)->functions->resize(tflite.data(), tflite.size(), what.data(), what.size(),
					  &said, Said::take, Said::say))
		return said.error("change sizes", **library);
	return std::move(said.file);
}

HostModel::HostModel(const HostLibrary &library, void *model)
	: library_(&library), model_(model, library.functions->close)
{
}

Result<HostModel> HostModel::open(std::span<const std::byte> model)
{
	auto library = libraryOf(model);
	Said said;

	if (!library)
		return forward(library);
	void *opened = (*library)->functions->open(model.data(), model.size(), &said, Said::say);
	if (!opened)
		return said.error("open model", **library);
	return HostModel(**library, opened);
}

Result<std::vector<HostValue>> HostModel::outputs() const
{
	Said said;

	if (library_->functions->outputs(model_.get(), &said, Said::found, Said::say))
		return said.error("read model", *library_);
	return std::move(said.values);
}

Result<std::vector<HostValue>> HostModel::shapes(std::span<const HostArray> inputs,
						 std::span<const std::string> names) const
{
	std::vector<HostArray> outputs;
	Said said;

	for (const std::string &name : names)
		outputs.push_back({ { .name = name }, {} });
	const auto from = arraysOf(inputs), to = arraysOf(outputs);
	if (library_->functions->run(model_.get(), from.data(), from.size(), to.data(), to.size(),
				     &said, Said::found, nullptr, Said::say))
		return said.error("run model", *library_);
	return std::move(said.values);
}

Result<void> HostModel::run(std::span<const HostArray> inputs,
			    std::span<const HostArray> outputs) const
{
	const auto from = arraysOf(inputs), to = arraysOf(outputs);
	Said said{ .outputs = outputs };

	if (library_->functions->run(model_.get(), from.data(), from.size(), to.data(), to.size(),
				     &said, nullptr, Said::room, Said::say))
		return said.error("run model", *library_);
	return {};
}

} /* namespace nvdla */
