/* SPDX-License-Identifier: MIT */
#include <nvdla/compiler.h>

#include <fmt/core.h>

#include "compiler/import/import.h"
#include "compiler/lower/lowerer.h"
#include "compiler/passes/passes.h"
#include "io/file.h"

namespace nvdla
{

namespace
{

constexpr const char *what = "compile model";
constexpr uint64_t maxModelBytes = uint64_t{ 1 } << 31;

Result<compiler::Model> importModel(std::span<const std::byte> bytes)
{
	if (compiler::isTflite(bytes))
		return compiler::importTflite(bytes);
	return compiler::importOnnx(bytes);
}

} /* namespace */

Result<CompiledModel> compileModel(std::span<const std::byte> bytes)
{
	auto model = importModel(bytes);
	if (!model)
		return forward(model);
	compiler::runPasses(*model);
	compiler::Lowerer lowerer(*model);
	if (auto lowered = lowerer.run(); !lowered)
		return forward(lowered);
	auto loadable = lowerer.graph.assemble();
	if (!loadable)
		return forward(loadable);
	model->inputOrders.resize(model->inputs.size(), ElementOrder::Nhwc);
	model->outputOrders.resize(model->outputs.size(), ElementOrder::Nhwc);
	return CompiledModel{ std::move(*loadable), std::move(lowerer.report),
			      std::move(model->inputOrders), std::move(model->outputOrders) };
}

Result<CompiledModel> compileFile(const std::string &path)
{
	auto bytes = readWholeFile(path, maxModelBytes);
	if (!bytes)
		return forward(bytes);
	auto compiled = compileModel(*bytes);
	if (!compiled)
		compiled.error().where = fmt::format("{}: {}", path, compiled.error().where);
	return compiled;
}

} /* namespace nvdla */
