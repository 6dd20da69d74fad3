/* SPDX-License-Identifier: MIT */
#include <nvdla/compiler.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/io/file.h"
#include "base/io/guarded.h"
#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "compiler/lower/lowerer.h"
#include "compiler/passes/passes.h"
#include "compiler/rules.h"
#include "graph/graph_parts.h"
#include "loadable/entries.h"
#include "loadable/file_kind.h"

namespace nvdla
{

namespace compiler
{

namespace
{

/* Throws an error that names all unknown operators, and all others that cannot be lowered. */
void refuseUnknown(const Model &model, const CompileOptions &options)
{
	Refusals refusals;

	for (const Operator &operation : model.operators) {
		/* Skip operators that are unknown only because an input's shape is unknown. */
		if (const auto *unknown = std::get_if<Unknown>(&operation.kind);
		    unknown && !unknown->follows)
			refusals.add(unknown->why);
	}
	if (refusals.none())
		return;
	Model known = model;
	std::erase_if(known.operators,
		      [](const Operator &operation) { return isAny<Unknown>(operation.kind); });
	if (refusals.passes([&] { valueOf(runPasses(known, options.core)); }))
		Lowerer(known, options).lowerOperators(refusals);
	valueOf(refusals.result());
}

/* Describe the model as it was read, for the report. */
void describeModel(const Model &model, CompileReport &report)
{
	std::map<ValueId, size_t> indices;
	auto describe = [&](const std::vector<ValueId> &ids, std::vector<size_t> &to) {
		for (const ValueId id : ids) {
			const Value &value = model.values[id];
			if (value.isConstant)
				continue;
			const auto [known, isNew] = indices.try_emplace(id, report.tensors.size());
			if (isNew)
				report.tensors.push_back({ value.name, toString(value.inFile()),
							   elementTypeName(value.type) });
			to.push_back(known->second);
		}
	};

	describe(model.inputs, report.inputs);
	for (const Operator &operation : model.operators) {
		ModelOperator shown = { operation.name, operation.type, {}, {} };
		describe(operation.inputs, shown.inputs);
		describe(operation.outputs, shown.outputs);
		report.operators.push_back(std::move(shown));
	}
	describe(model.outputs, report.outputs);
}

/* Completes descriptions that the importer left out, before passes change values. */
void completeSignatures(Model &model)
{
	const auto complete = [&](const std::vector<ValueId> &ids, std::vector<TensorInFile> &all) {
		for (size_t i = all.size(); i < ids.size(); i++)
			all.push_back({ model.values[ids[i]].name, model.values[ids[i]].shape });
	};

	complete(model.inputs, model.inputsInFile);
	complete(model.outputs, model.outputsInFile);
}

TensorSignature signatureOf(const Model &model, ValueId id, const TensorInFile &inFile)
{
	return { inFile.shape, inFile.order, model.values[id].type == ElementType::Int8 };
}

/* Adds the signatures and names of the model's inputs and outputs to the loadable's tensors, which
 * are in the same order. */
void sign(const Model &model, Loadable &loadable)
{
	size_t input = 0, output = 0;

	for (TensorEntry &entry : loadable.tensors) {
		const uint16_t flags = loadable.memory(entry.memId)->flags;
		const bool isInput = flags & MemoryInput;
		if (!isInput && !(flags & MemoryOutput))
			continue;
		const size_t index = isInput ? input++ : output++;
		const TensorInFile &inFile =
			(isInput ? model.inputsInFile : model.outputsInFile)[index];
		entry.signature =
			signatureOf(model, (isInput ? model.inputs : model.outputs)[index], inFile);
		/* If the file gives no name, keep the name that the graph made. */
		if (!inFile.name.empty())
			entry.name = inFile.name;
	}
}

/* Describes the inputs that the application provides, which are all but those of states. */
std::vector<ModelInput> inputsOf(Model model)
{
	std::vector<ModelInput> inputs;

	completeSignatures(model);
	for (size_t i = 0; i < model.givenInputs(); i++) {
		const ValueId id = model.inputs[i];
		const Value &value = model.values[id];
		const Cube cube = naturalCube(value.shape);
		inputs.push_back({ value.name, cube.c, cube.h, cube.w,
				   signatureOf(model, id, model.inputsInFile[i]) });
	}
	return inputs;
}

/* Make every computed tensor an output, behind the model's own outputs. */
void nameEveryTensor(Model &model)
{
	for (const Operator &operation : model.operators) {
		const ValueId id = operation.outputs.front();
		if (!model.isOutput(id))
			model.outputs.push_back(id);
	}
	completeSignatures(model);
}

void describeChoices(std::vector<LayerChoice> choices, std::vector<LayerReport> &layers)
{
	for (LayerChoice &choice : choices) {
		const auto layer = std::ranges::find_if(layers, [&](const LayerReport &one) {
			return std::ranges::count(one.operations, choice.name) > 0;
		});
		if (layer != layers.end())
			layer->choices.push_back(std::move(choice));
	}
}

/* Replace operations' names in tasks by their layers' names; operations of no layer keep theirs. */
void nameLayers(const CompileReport &report, Loadable &loadable)
{
	std::map<std::string, std::string> layers;

	for (const LayerReport &layer : report.layers) {
		for (const std::string &operation : layer.operations)
			layers.emplace(operation, layer.name);
	}
	for (Task &task : loadable.tasks) {
		for (std::string &name : task.layers) {
			if (const auto layer = layers.find(name); layer != layers.end())
				name = layer->second;
		}
	}
}

/* Runs the passes; with a calibration, quantizes the float model. */
LayerErrors transform(Model &model, const CompileOptions &options, const SampleReader &samples)
{
	valueOf(runPasses(model, options.core));
	if (!options.calibration)
		return {};
	if (!samples && !options.calibration->samples.empty() && options.host == HostUse::Auto) {
		/* Running samples takes long. So first find out with arbitrary ranges whether the
		 * core can compute all operators; if not, this throws, and the model is divided. */
		Model trial = model;
		valueOf(calibrate(trial, { .type = options.calibration->type }, {}, options.core));
		valueOf(Lowerer(trial, options).run());
	}
	return valueOf(calibrate(model, *options.calibration, samples, options.core));
}

/* Like compileInMemory(), but throws the errors. */
CompiledModel compile(Model model, const CompileOptions &options, const SampleReader &samples)
{
	if (options.foldSums == FoldSums::Always && !options.core.has(Capability::SdpY))
		refuse(ErrorCode::InvalidArgument, compiling, "sums of integers",
		       fmt::format("are folded by SDP's unit Y, which {} has not",
				   options.core.name));
	removeUnused(model);
	completeSignatures(model);
	refuseUnknown(model, options);
	CompileReport report;
	describeModel(model, report);
	const LayerErrors errors = transform(model, options, samples);
	expandEach(model, poolParts);
	if (options.everyTensor)
		nameEveryTensor(model);
	removeUnused(model);
	Lowerer lowerer(model, options);
	valueOf(lowerer.run());
	/* Free the constants: the graph has copies. */
	for (Value &value : model.values)
		value.data = {};
	auto assembled =
		assembly::assemble(std::move(lowerer.graph), { .strategy = options.strategy,
							       .sramBytes = options.sramBytes,
							       .core = options.core });
	/* The caller did not build the graph: if it is invalid, the model is not supported. */
	if (!assembled && assembled.error().code == ErrorCode::InvalidArgument)
		assembled.error().code = ErrorCode::Unsupported;
	Assembly assembly = valueOf(std::move(assembled));
	describeChoices(std::move(assembly.choices), lowerer.layers);
	for (size_t i = 0; i < lowerer.layers.size(); i++) {
		const auto error = errors.find(model.operators[i].outputs.front());
		if (error != errors.end())
			lowerer.layers[i].error = error->second;
	}
	report.layers = std::move(lowerer.layers);
	report.steps = std::move(assembly.steps);
	report.ranges = std::move(assembly.ranges);
	nameLayers(report, assembly.loadable);
	sign(model, assembly.loadable);
	for (const auto &[input, output, first] : model.states)
		valueOf(addState(assembly.loadable, input, output, first));
	return { std::move(assembly.loadable), std::move(report) };
}

Result<CompiledModel> compileWhole(std::span<const std::byte> bytes,
				   std::span<const InputShape> shapes,
				   const CompileOptions &options)
{
	return resultOf([&] {
		if (options.calibration)
			valueOf(checkCalibration(*options.calibration));
		Model model = valueOf(importModel(bytes, shapes));
		/* Fail for a model that is quantized already, instead of dividing the model. */
		const auto checked = options.calibration ? checkFloat(model) : Result<void>();
		if (!checked && checked.error().code == ErrorCode::InvalidArgument)
			valueOf(checked);
		return compile(std::move(model), options, {});
	});
}

} /* namespace */

Result<CompiledModel> compileInMemory(Model model, const CompileOptions &options,
				      const SampleReader &samples)
{
	return resultOf([&] { return compile(std::move(model), options, samples); });
}

std::vector<OperatorSupport> supportedOperators(const Model &model, const CompileOptions &options)
{
	std::vector<OperatorSupport> all;

	for (const Operator &operation : model.operators) {
		const auto *unknown = std::get_if<Unknown>(&operation.kind);
		if (unknown && unknown->isFolded)
			continue;
		OperatorSupport &support = all.emplace_back(
			OperatorSupport{ operation.index, operation.name, operation.type, {}, {} });
		const auto compiled = resultOf([&] {
			if (unknown)
				throw BrokenRule{ unknown->why };
			/* Support does not depend on the strategy, so none is tried. */
			return compile(model.alone(operation),
				       { .calibration = options.calibration,
					 .strategy = {},
					 .core = options.core },
				       {});
		});
		if (!compiled)
			support.reason =
				fmt::format("{}: {}", compiled.error().where, compiled.error().why);
		else if (!compiled->report.layers.empty())
			support.cpu = compiled->report.layers.front().cpu;
	}
	return all;
}

} /* namespace compiler */

Result<CompiledModel> compileModel(std::span<const std::byte> bytes, const CompileOptions &options)
{
	return guarded("compile model", [&]() -> Result<CompiledModel> {
		auto compiled = compiler::compileWhole(bytes, options.shapes, options);
		if (compiled || compiled.error().code != ErrorCode::Unsupported ||
		    options.host == HostUse::Never || (options.everyTensor && isTfliteFile(bytes)))
			return compiled;
		/* With everyTensor the host only computes constants, and no part of the network. */
		auto parts =
			!options.everyTensor
				? compiler::compileParts(bytes, options)
				: compiler::computeConstants(bytes, options.shapes)
					  .and_then([&](auto &&file) {
						  return compiler::compileWhole(file, {}, options);
					  });
		/* Errors in samples and options may be found only when the model is divided. */
		if (parts || parts.error().code == ErrorCode::InvalidArgument)
			return parts;
		std::string &why = compiled.error().why;
		/* If the error recommends calibration, name no further reason. */
		if (why.find(parts.error().why) == why.npos && why.find("--calibrate") == why.npos)
			why += "; the host does not compute it either: " + parts.error().message();
		return compiled;
	});
}

Result<std::vector<ModelInput>> modelInputs(std::span<const std::byte> bytes,
					    std::span<const InputShape> shapes)
{
	return guarded("read model", [&]() -> Result<std::vector<ModelInput>> {
		return compiler::importModel(bytes, shapes).map(compiler::inputsOf);
	});
}

Result<std::vector<OperatorSupport>> supportedOperators(std::span<const std::byte> bytes,
							const CoreGeometry &core)
{
	return guarded("read model", [&] {
		return compiler::importModel(bytes).map([&](const compiler::Model &model) {
			return compiler::supportedOperators(model, { .core = core });
		});
	});
}

Result<std::vector<std::byte>> readModelFile(const std::string &path)
{
	return guarded("read model", [&]() -> Result<std::vector<std::byte>> {
		auto bytes = readWholeFile(path, maxModelBytes);
		if (!bytes)
			return bytes;
		if (auto checked = checkIsModel(path, *bytes); !checked)
			return forward(checked);
		if (isTfliteFile(*bytes))
			return bytes;
		auto whole = isCaffeNet(path)
				     ? compiler::caffeAsOnnx(path, *bytes)
				     : compiler::withExternalData(
					       std::move(*bytes),
					       std::filesystem::path(path).parent_path().string());
		if (!whole)
			whole.error().where = fmt::format("{}: {}", path, whole.error().where);
		return whole;
	});
}

Result<CompiledModel> compileFile(const std::string &path, const CompileOptions &options)
{
	return guarded("compile model", [&]() -> Result<CompiledModel> {
		auto bytes = readModelFile(path);
		if (!bytes)
			return forward(bytes);
		auto compiled = compileModel(*bytes, options);
		if (!compiled)
			compiled.error().where =
				fmt::format("{}: {}", path, compiled.error().where);
		return compiled;
	});
}

} /* namespace nvdla */
