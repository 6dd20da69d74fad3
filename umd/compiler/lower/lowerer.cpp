/* SPDX-License-Identifier: MIT */
#include "lowerer.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "base/number/half_range.h"
#include "graph/graph_parts.h"

namespace nvdla::compiler
{

Cube naturalCube(const Extents &shape)
{
	const size_t rank = shape.size();

	return { .c = rank > 0 ? shape[rank - 1] : 1,
		 .h = rank > 2 ? shape[rank - 3] : 1,
		 .w = rank > 1 ? shape[rank - 2] : 1 };
}

bool isAlone(const Cube &part, const Cube &whole)
{
	return part.h == 1 && part.w == 1 && (whole.h > 1 || whole.w > 1);
}

Cube countingCube(const Extents &shape)
{
	Cube cube = naturalCube(shape);

	for (size_t axis = 0; axis + 3 < shape.size(); axis++)
		cube.h *= shape[axis];
	return cube;
}

Lowerer::Lowerer(const Model &model, const CompileOptions &options)
	: Rules(compiling), model_(model),
	  foldSums_(options.foldSums == FoldSums::Floats && options.calibration ? FoldSums::Always
										: options.foldSums),
	  core_(options.core), storage_(model.values.size()), cubes_(model.values.size()),
	  surfaces_(model.values.size())
{
	for (ValueId id = 0; id < model.values.size(); id++)
		cubes_[id] = naturalCube(model.values[id].cubeShape());
	for (size_t i = 0; i < model.outputsInFile.size(); i++) {
		if (model.outputsInFile[i].order == ElementOrder::Nchw)
			pictures_.insert(model.beforeReshapes(model.outputs[i]));
	}
	for (const State &state : model.states)
		pictures_.insert({ model.inputs[state.input], model.outputs[state.output] });
	chooseStorage();
}

void Lowerer::needRoom(uint64_t elements) const
{
	constexpr uint64_t most = uint64_t{ 1 } << 25;

	support(elements <= most, "size",
		fmt::format("would take {} constants, more than {}", elements, most));
}

Quantization Lowerer::quantization(ValueId id) const
{
	return storage(id) == DataType::Half ? Quantization{} : value(id).quantization.channel(0);
}

void Lowerer::needSize(ValueId id, const Cube &cube) const
{
	support(value(id).isConstant || std::max({ cube.c, cube.h, cube.w }) <= mostOfSurface,
		inQuotes(value(id).name),
		fmt::format("is {}; {} channels, lines and columns are possible",
			    toString(value(id).cubeShape()), mostOfSurface));
}

void Lowerer::needSurface(ValueId id, const std::string &where, const Cube &cube) const
{
	support(cube.elements() == elementCount(value(id).cubeShape()), where,
		fmt::format("is {}; batches of 1 and three more axes are what there can be",
			    toString(value(id).cubeShape())));
	support(storage(id) != DataType::Unknown, where,
		fmt::format("is {}; the core works on int8, int16 and float",
			    elementTypeName(value(id).type)));
}

void Lowerer::makeNatural(ValueId id)
{
	const Cube natural = naturalCube(value(id).cubeShape());

	if (cube(id) == natural)
		return;
	needSize(id, natural);
	const std::string reshaped =
		intermediate(value(id).name + " reshaped", storage(id), natural);
	onCpu("the core cannot move elements between channels, lines and columns");
	add(op::Reshape{ .name = step("reshape"), .input = surface(id), .output = reshaped });
	cubes_[id] = natural;
	surfaces_[id] = reshaped;
}

std::string Lowerer::unique(const std::string &name)
{
	std::string chosen = name.empty() ? "unnamed" : name;

	for (int copy = 2; !names_.insert(chosen).second; copy++)
		chosen = fmt::format("{} ({})", name, copy);
	return chosen;
}

std::string Lowerer::step(const std::string &step)
{
	return unique(fmt::format("{} {}", current_->name, step));
}

std::string Lowerer::intermediate(const std::string &name, DataType type, const Cube &cube,
				  const Value &like)
{
	const std::string surface = unique(name);

	graph.surface({ .name = surface,
			.type = type,
			.c = cube.c,
			.h = cube.h,
			.w = cube.w,
			.n = like.batch,
			.place = Place::Auto,
			.quantization = like.quantization });
	return surface;
}

std::string Lowerer::part(const PartOf &part, const Cube &cube)
{
	const std::string surface = unique(part.surface + " part");

	graph.surface({ .name = surface,
			.c = cube.c,
			.h = cube.h,
			.w = cube.w,
			.within = part.surface,
			.atChannel = part.channel,
			.atLine = part.line,
			.atColumn = part.column,
			.atBatch = part.sample,
			.turned = part.turned });
	return surface;
}

std::string Lowerer::write(ValueId id, const Cube &cube)
{
	const auto placed = places_.find(id);
	std::string &surface = surfaces_[id];

	cubes_[id] = cube;
	if (placed != places_.end())
		return surface = part(placed->second, cubes_[id]);
	/* placeConcatenations() has described the surfaces of concatenations already. */
	if (!surface.empty())
		return surface;
	return surface = intermediate(value(id).name, storage(id), cube, value(id));
}

PartOf Lowerer::placeOf(ValueId id) const
{
	const auto placed = places_.find(id);

	return placed != places_.end() ? placed->second : PartOf{ surfaces_[id] };
}

void Lowerer::alias(ValueId id, ValueId same)
{
	surfaces_[id] = surfaces_[same];
	cubes_[id] = cubes_[same];
	if (views_.contains(same))
		views_.insert(id);
}

void Lowerer::view(ValueId id, const PartOf &place, const Cube &cube)
{
	surfaces_[id] = part(place, cube);
	cubes_[id] = cube;
	views_.insert(id);
}

void Lowerer::add(op::Any operation)
{
	if (!layers.empty())
		layers.back().operations.push_back(operationName(operation));
	graph.add(std::move(operation));
}

std::string Lowerer::addWeights(GraphWeights weights)
{
	for (const GraphWeights &known : assembly::GraphParts::weights(graph)) {
		if (known.packed == weights.packed && known.k == weights.k &&
		    known.c == weights.c && known.r == weights.r && known.s == weights.s &&
		    known.elements.type == weights.elements.type &&
		    known.elements.bytes == weights.elements.bytes)
			return known.name;
	}
	std::string name = weights.name = unique(weights.name);
	graph.weights(std::move(weights));
	return name;
}

std::string &Lowerer::tableName(const Table &table)
{
	for (auto &[known, name] : tables_)
		if (known == table)
			return name;
	return tables_.emplace_back(table, "").second;
}

Elements Lowerer::halves(const std::vector<double> &numbers)
{
	std::vector<float> rounded;
	double largest = 0;

	for (const double number : numbers) {
		rounded.push_back(static_cast<float>(asHalf(number)));
		if (std::fabs(number) > std::fabs(largest))
			largest = number;
	}
	if (!fitsHalf(largest) && !layers.empty()) {
		std::string changed =
			fmt::format("{:.4g} is {:.4g} in FP16", largest, asHalf(largest));
		std::vector<std::string> &inexact = layers.back().inexact;
		if (std::ranges::count(inexact, changed) == 0)
			inexact.push_back(std::move(changed));
	}
	return Elements::half(rounded);
}

uint16_t Lowerer::half(double number)
{
	halves({ number });
	return floatToHalf(static_cast<float>(asHalf(number)));
}

void Lowerer::lowerOne(const Operator &operation)
{
	current_ = &operation;
	setPart(fmt::format("{} {}", operation.type, inQuotes(operation.name)));
	layers.push_back({ operation.name, operation.type, {}, {} });
	if (const auto fused = fused_.find(&operation); fused != fused_.end()) {
		layers.back().operations.push_back(fused->second);
		return;
	}
	for (const ValueId id : operation.inputs)
		needSize(id, cubes_[id]);
	/* If the first input is in another cube than its natural one (behind a reshape), so is the
	 * result: the result's own axes may then be longer than those of a surface. */
	const ValueId first = operation.inputs.empty() ? 0 : operation.inputs.front();
	const bool isReshaped = isAny<Reshape>(operation.kind) ||
				cubes_[first] != naturalCube(value(first).cubeShape());
	for (const ValueId id : operation.outputs) {
		if (!isReshaped || elementCount(value(id).cubeShape()) != cubes_[first].elements())
			needSize(id, naturalCube(value(id).cubeShape()));
	}
	const bool countsElements = traitsOf(operation.kind).countsElements;
	for (const auto &ids : { operation.inputs, operation.outputs }) {
		for (const ValueId id : ids) {
			const std::string where = inQuotes(value(id).name);
			if (value(id).isConstant)
				continue;
			needSurface(id, where,
				    countsElements ? countingCube(value(id).cubeShape())
						   : naturalCube(value(id).cubeShape()));
			support(isFloat(value(id).type) || quantization(id).scale > 0, where,
				"has a scale of 0; elements of such a tensor stand for nothing");
		}
	}
	std::visit([&](const auto &kind) { lower(*this, operation, kind); }, operation.kind);
	for (const ValueId id : operation.outputs) {
		/* New line lengths keep the elements' order; a new number of channels does not. */
		if (pictures_.contains(id) && cube(id).c != naturalCube(value(id).cubeShape()).c)
			makeNatural(id);
	}
	if (layers.back().cpu.empty())
		needTypes(operation);
}

/* Checks that the core can compute with the tensors' types. Operators on the CPU are not checked,
 * because CPU steps have more types. */
void Lowerer::needTypes(const Operator &operation)
{
	for (const auto &ids : { operation.inputs, operation.outputs }) {
		for (const ValueId id : ids) {
			const bool isWide =
				storage(id) == DataType::Int16 && range(id) == DataType::Int8;
			support(value(id).isConstant || core_.has(storage(id)),
				inQuotes(value(id).name),
				fmt::format("is {}, and {} computes with {}; {}",
					    isWide ? "8 bits held in 16"
						   : dataTypeName(storage(id)),
					    core_.name, core_.typeNames(),
					    isWide ? "quantize the kernels symmetrically"
						   : "calibrate the float model (--calibrate)"));
		}
	}
}

/* Called only if an operator is compiled alone: refuseUnknown() refuses whole models earlier. */
void lower(Lowerer &, const Operator &, const Unknown &unknown)
{
	throw BrokenRule{ unknown.why };
}

void Lowerer::lowerOperators(Refusals &refusals)
{
	for (size_t i = 0; i < model_.inputs.size(); i++) {
		if (!refusals.passes([&] { placeInput(i); }))
			missing_.insert(model_.inputs[i]);
	}
	placeConcatenations();
	for (const Operator &operation : model_.operators) {
		for (const ValueId id : operation.inputs) {
			if (!value(id).isConstant && surfaces_[id].empty() &&
			    !missing_.contains(id) && !model_.writer(id))
				pretend(id); /* the result of an unknown operator */
		}
		const bool lacks = std::ranges::any_of(
			operation.inputs, [&](ValueId id) { return missing_.contains(id); });
		if (lacks) {
			missing_.insert(operation.outputs.begin(), operation.outputs.end());
			continue;
		}
		if (refusals.passes([&] { lowerOne(operation); }))
			continue;
		for (const ValueId id : operation.outputs)
			pretend(id);
	}
}

Result<void> Lowerer::run()
{
	Refusals refusals;

	lowerOperators(refusals);
	if (refusals.none())
		nameOutputs();
	return refusals.result();
}

} /* namespace nvdla::compiler */
