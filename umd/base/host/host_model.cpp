/* SPDX-License-Identifier: MIT */
#include "host_model.h"

#include <algorithm>
#include <utility>

#include <dlfcn.h>
#include <fmt/core.h>

#include "host_interface.h"

namespace nvdla
{

namespace
{

constexpr const char *moduleName = "libnvdla-host-onnx.so";

constexpr std::pair<DataType, int32_t> types[] = {
	{ DataType::Float, 1 }, { DataType::UInt8, 2 }, { DataType::Int8, 3 },
	{ DataType::Int16, 5 }, { DataType::Int32, 6 }, { DataType::Int64, 7 },
	{ DataType::Bool, 9 },	{ DataType::Half, 10 },
};

/* It stays for the life of the process: the library has threads. */
Result<const nvdla_host_functions *> openModule()
{
	void *module = dlopen(moduleName, RTLD_NOW | RTLD_LOCAL);
	if (!module)
		return fail(ErrorCode::Unsupported, "use ONNX Runtime", moduleName,
			    fmt::format("{}; ONNX Runtime has to be installed (Debian 13 and "
					"newer: libonnxruntime-dev), and this project's module "
					"that is built with it",
					dlerror()));
	const auto entry = reinterpret_cast<nvdla_host_entry>(dlsym(module, NVDLA_HOST_ENTRY));
	const nvdla_host_functions *functions = entry ? entry() : nullptr;
	if (!functions || functions->version != NVDLA_HOST_INTERFACE)
		return fail(ErrorCode::Unsupported, "use ONNX Runtime", moduleName,
			    "is of another release than this program; install both of one");
	return functions;
}

/* Takes what the module's callbacks report: the message of a failure, and tensors. */
struct Said {
	std::string message;
	std::vector<HostValue> values;

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
	tl::unexpected<Error> error(const char *what) const
	{
		return fail(ErrorCode::Unsupported, what, "ONNX Runtime", message);
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

HostModel::HostModel(const nvdla_host_functions *library, void *model)
	: library_(library), model_(model, library->close)
{
}

Result<HostModel> HostModel::open(std::span<const std::byte> model)
{
	static const Result<const nvdla_host_functions *> module = openModule();
	Said said;

	if (!module)
		return tl::unexpected<Error>(module.error());
	void *opened = (*module)->open(model.data(), model.size(), &said, Said::say);
	if (!opened)
		return said.error("open model");
	return HostModel(*module, opened);
}

Result<std::vector<HostValue>> HostModel::outputs() const
{
	Said said;

	if (library_->outputs(model_.get(), &said, Said::found, Said::say))
		return said.error("read model");
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
	if (library_->run(model_.get(), from.data(), from.size(), to.data(), to.size(), &said,
			  Said::found, Said::say))
		return said.error("run model");
	return std::move(said.values);
}

Result<void> HostModel::run(std::span<const HostArray> inputs,
			    std::span<const HostArray> outputs) const
{
	const auto from = arraysOf(inputs), to = arraysOf(outputs);
	Said said;

	if (library_->run(model_.get(), from.data(), from.size(), to.data(), to.size(), &said,
			  nullptr, Said::say))
		return said.error("run model");
	return {};
}

} /* namespace nvdla */
