/* SPDX-License-Identifier: MIT */
#include "node_tests.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvdla/half.h>

#include "compiler/import/onnx/node_reader.h"
#include "onnx.pb.h"
#include "read_file.h"

namespace nvdla::test
{

namespace
{

namespace fs = std::filesystem;

/* Debian's package libonnx-testdata, or where it is unpacked. */
fs::path dataFolder()
{
	const char *other = std::getenv("NVDLA_ONNX_TESTDATA");

	return other ? other : "/usr/share/libonnx-testdata/data";
}

onnx::Model modelOf(const std::vector<std::byte> &file)
{
	onnx::Model model;

	model.ParseFromArray(file.data(), static_cast<int>(file.size()));
	return model;
}

std::vector<std::byte> bytesOf(const std::string &text)
{
	const auto bytes = std::as_bytes(std::span(text));

	return { bytes.begin(), bytes.end() };
}

/* Doubles become floats. */
std::optional<Numbers> numbersOf(const onnx::Tensor &tensor)
{
	auto value = compiler::onnx::readConstant(tensor);

	if (!value)
		return std::nullopt;
	return rawNumbers(*value);
}

std::optional<NodeArray> readArrayFile(const fs::path &path, const std::string &name)
{
	std::vector<std::byte> bytes = readBytes(path);
	onnx::Tensor tensor;

	if (!tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
		return std::nullopt;
	auto numbers = numbersOf(tensor);
	if (!numbers)
		return std::nullopt;
	return NodeArray{ .name = name,
			  .type = tensor.data_type(),
			  .shape = { tensor.dims().begin(), tensor.dims().end() },
			  .numbers = std::move(*numbers),
			  .file = std::move(bytes) };
}

using Infos = google::protobuf::RepeatedPtrField<onnx::ValueInfo>;

/* \return false if one of the arrays cannot be read */
bool readArrays(const fs::path &folder, const char *kind, const Infos &infos,
		std::vector<NodeArray> &arrays)
{
	for (const onnx::ValueInfo &info : infos) {
		const fs::path path =
			folder / "test_data_set_0" / fmt::format("{}_{}.pb", kind, arrays.size());
		/* Old files list constants as inputs, behind the others. */
		if (!fs::exists(path))
			break;
		auto array = info.type().has_tensor_type() ? readArrayFile(path, info.name())
							   : std::nullopt;
		if (!array)
			return false;
		arrays.push_back(std::move(*array));
	}
	return true;
}

bool leavesOpen(const onnx::ValueInfo &info)
{
	const onnx::TensorType &type = info.type().tensor_type();

	return !type.has_shape() ||
	       std::ranges::any_of(type.shape().dim(),
				   [](const onnx::Dimension &dim) { return !dim.has_dim_value(); });
}

bool isReal(int32_t type)
{
	return type == onnx::FLOAT || type == onnx::FLOAT16 || type == onnx::DOUBLE;
}

/*
 * The core has integers of 8 and 16 bits: uint8 elements from -128 on, indices as int16, and
 * constants that are outputs as whole numbers in FP16. The tensor's description says so, and
 * applications convert them as it is done here.
 */
bool isOfCore(DataType type)
{
	return type == DataType::Int8 || type == DataType::Int16 || type == DataType::Half;
}

double offsetOnCore(int32_t type)
{
	constexpr double middle = 128;

	return type == onnx::UINT8 ? middle : 0;
}

std::optional<size_t> placeOf(const std::vector<TensorDesc> &tensors, const std::string &name)
{
	const auto found = std::ranges::find(tensors, name, &TensorDesc::name);

	return found == tensors.end() ? std::nullopt : std::optional(found - tensors.begin());
}

std::vector<float> floatsOf(const NodeArray &array, double offset = 0)
{
	std::vector<float> floats;

	for (const double number : array.numbers)
		floats.push_back(static_cast<float>(number - offset));
	return floats;
}

Result<void> setInput(Network &network, size_t index, const NodeArray &array)
{
	const TensorDesc &desc = network.inputs()[index];

	if (onnxType(desc.type) == array.type)
		return network.setInputElements(index, nodeElements(array), desc.order());
	if (isReal(array.type))
		return network.setInputFloat(index, floatsOf(array), desc.order());
	if (isOfCore(desc.type))
		return network.setInputElements(
			index,
			elementsFromFloat(desc.type, floatsOf(array, offsetOnCore(array.type))),
			desc.order());
	return fail(ErrorCode::InvalidArgument, "run", fmt::format("input '{}'", desc.name),
		    fmt::format("has elements of {}", dataTypeName(desc.type)));
}

Result<NodeArray> takeOutput(const Network &network, size_t index, int32_t wantedType)
{
	auto described = network.outputDesc(index);
	if (!described)
		return forward(described);
	const TensorDesc &desc = *described;
	NodeArray array{ desc.name, wantedType, {}, {}, {} };

	if (desc.signature)
		array.shape.assign(desc.signature->shape.begin(), desc.signature->shape.end());
	/* Real numbers may be halves, or integers with a scale. */
	if (isReal(wantedType)) {
		auto floats = network.outputFloat(index, desc.order());
		if (!floats)
			return forward(floats);
		array.numbers.assign(floats->begin(), floats->end());
		return array;
	}
	auto elements = network.outputElements(index, desc.order());
	if (!elements)
		return forward(elements);
	const int32_t type = onnxType(desc.type);
	array.numbers = nodeArrayOf({ desc.name, type, array.shape }, *elements).numbers;
	if (type == wantedType)
		return array;
	if (!isOfCore(desc.type))
		array.type = type;
	for (double &number : array.numbers)
		number += offsetOnCore(wantedType);
	return array;
}

/*
 * The document on precision bounds an element of a convolution in FP16 by 2^-20 of its largest
 * product for each element of the kernel, and by a unit in the last place of the result, and those
 * of PDP and CDP by 0.001 of the largest number of a window. A test may be several of these
 * operations, one after the other, and its inputs and constants are rounded as well.
 */
constexpr double ofLargest = 1.0 / 256;

double allowedOf(double wanted, double largest, NodeTolerance tolerance)
{
	return tolerance == NodeTolerance::Half ? ofLargest * largest
						: 1e-3 * std::fabs(wanted) + 1e-7;
}

std::string numbersShortfall(const NodeArray &wanted, const NodeArray &got, NodeTolerance tolerance)
{
	double largest = 0;

	for (const double number : wanted.numbers)
		if (std::isfinite(number))
			largest = std::max(largest, std::fabs(number));
	for (size_t i = 0; i < wanted.numbers.size(); i++) {
		const double a = got.numbers[i], b = wanted.numbers[i];
		const double allowed = isReal(wanted.type) ? allowedOf(b, largest, tolerance) : 0;
		/* Written so that a NaN counts. */
		const bool same = a == b || (std::isnan(a) && std::isnan(b));
		if (!same && !(std::fabs(a - b) <= allowed))
			return fmt::format(
				"'{}': element {} is {} instead of {}, of numbers up to {}",
				wanted.name, i, a, b, largest);
	}
	return {};
}

} /* namespace */

std::vector<std::byte> nodeElements(const NodeArray &array)
{
	onnx::Tensor tensor;

	tensor.ParseFromArray(array.file.data(), static_cast<int>(array.file.size()));
	if (tensor.has_raw_data())
		return bytesOf(tensor.raw_data());
	if (tensor.data_type() == onnx::DOUBLE) {
		const auto bytes =
			std::as_bytes(std::span(tensor.double_data().data(),
						static_cast<size_t>(tensor.double_data_size())));
		return { bytes.begin(), bytes.end() };
	}
	auto value = compiler::onnx::readConstant(tensor);
	return value ? std::vector(value->data.begin(), value->data.end())
		     : std::vector<std::byte>{};
}

NodeArray nodeArrayOf(const HostValue &what, const std::vector<std::byte> &elements)
{
	onnx::Tensor tensor;

	tensor.set_data_type(what.type);
	tensor.mutable_dims()->Add(what.shape.begin(), what.shape.end());
	tensor.set_raw_data(elements.data(), elements.size());
	return { what.name, what.type, what.shape, numbersOf(tensor).value_or(Numbers{}), {} };
}

std::vector<fs::path> nodeTestFolders()
{
	std::vector<fs::path> folders;

	for (const char *kind : { "node", "pytorch-converted", "pytorch-operator", "simple" }) {
		if (!fs::exists(dataFolder() / kind))
			continue;
		for (const auto &entry : fs::directory_iterator(dataFolder() / kind))
			folders.push_back(entry.path());
	}
	std::ranges::sort(folders, {}, [](const fs::path &path) { return path.filename(); });
	return folders;
}

NodeTest readNodeTest(const fs::path &folder)
{
	NodeTest test;

	test.name = folder.filename();
	test.file = readBytes(folder / "model.onnx");
	const onnx::Model model = modelOf(test.file);
	test.hasArrays = readArrays(folder, "input", model.graph().input(), test.inputs) &&
			 readArrays(folder, "output", model.graph().output(), test.outputs) &&
			 test.outputs.size() == static_cast<size_t>(model.graph().output_size());
	for (size_t i = 0; i < test.inputs.size(); i++) {
		const NodeArray &input = test.inputs[i];
		if (leavesOpen(model.graph().input(static_cast<int>(i))))
			test.shapes.push_back(
				{ input.name, { input.shape.begin(), input.shape.end() } });
	}
	const auto isNamed = [&](const char *part) {
		return test.name.find(part) != test.name.npos;
	};
	test.isRandom =
		isNamed("bernoulli") || (isNamed("training_dropout") && !isNamed("zero_ratio"));
	return test;
}

NodeTest NodeTest::withConstants() const
{
	NodeTest fixed = *this;
	onnx::Model model = modelOf(file);
	onnx::Graph &graph = *model.mutable_graph();

	for (size_t i = 1; i < inputs.size(); i++) {
		onnx::Tensor &constant = *graph.add_initializer();
		constant.ParseFromArray(inputs[i].file.data(),
					static_cast<int>(inputs[i].file.size()));
		constant.set_name(inputs[i].name);
	}
	while (graph.input_size() > 1)
		graph.mutable_input()->RemoveLast();
	fixed.inputs.resize(std::min<size_t>(inputs.size(), 1));
	std::erase_if(fixed.shapes, [&](const InputShape &shape) {
		return fixed.inputs.empty() || shape.name != fixed.inputs.front().name;
	});
	fixed.file = bytesOf(model.SerializeAsString());
	return fixed;
}

NodeTest NodeTest::withHalves() const
{
	NodeTest rounded = *this;

	for (NodeArray &input : rounded.inputs) {
		if (input.type != onnx::FLOAT)
			continue;
		onnx::Tensor tensor;
		tensor.set_data_type(input.type);
		tensor.mutable_dims()->Add(input.shape.begin(), input.shape.end());
		for (double &number : input.numbers) {
			number = halfToFloat(floatToHalf(static_cast<float>(number)));
			tensor.add_float_data(static_cast<float>(number));
		}
		input.file = bytesOf(tensor.SerializeAsString());
	}
	return rounded;
}

std::string nodeShortfall(const NodeTest &test, const std::vector<NodeArray> &got,
			  NodeTolerance tolerance)
{
	for (size_t i = 0; i < test.outputs.size(); i++) {
		const NodeArray &wanted = test.outputs[i];
		if (got[i].type != wanted.type)
			return fmt::format("'{}': has type {} instead of {}", wanted.name,
					   got[i].type, wanted.type);
		if (got[i].shape != wanted.shape || got[i].numbers.size() != wanted.numbers.size())
			return fmt::format("'{}': has shape {} instead of {}", wanted.name,
					   got[i].shape, wanted.shape);
		if (test.isRandom)
			continue;
		if (std::string why = numbersShortfall(wanted, got[i], tolerance); !why.empty())
			return why;
	}
	return {};
}

Result<std::vector<NodeArray>> runNodeTest(const CompiledModel &compiled, const NodeTest &test)
{
	const auto unbound = [](const std::string &name) {
		return fail(ErrorCode::NotFound, "run", fmt::format("'{}'", name),
			    "is in the model, and not in the network");
	};
	std::vector<NodeArray> outputs;
	auto device = Device::open(Device::embeddedPath);
	if (!device)
		return forward(device);
	auto network = Network::load(*device, compiled.loadable);

	if (!network)
		return forward(network);
	for (const NodeArray &input : test.inputs) {
		const auto index = placeOf(network->inputs(), input.name);
		if (!index)
			return unbound(input.name);
		if (auto set = setInput(*network, *index, input); !set)
			return forward(set);
	}
	if (auto ran = network->run(); !ran)
		return forward(ran);
	for (const NodeArray &wanted : test.outputs) {
		const auto index = placeOf(network->outputs(), wanted.name);
		if (!index)
			return unbound(wanted.name);
		auto output = takeOutput(*network, *index, wanted.type);
		if (!output)
			return forward(output);
		outputs.push_back(std::move(*output));
	}
	return outputs;
}

Result<std::vector<NodeArray>> runByHost(const NodeTest &test)
{
	std::deque<std::vector<std::byte>> bytes;
	std::vector<HostArray> inputs, outputs;
	std::vector<NodeArray> arrays;
	const auto hold = [&](const NodeArray &array) {
		bytes.push_back(nodeElements(array));
		return HostArray{ { array.name, array.type, array.shape }, bytes.back() };
	};
	auto model = HostModel::open(test.file);

	if (!model)
		return forward(model);
	std::ranges::transform(test.inputs, std::back_inserter(inputs), hold);
	std::ranges::transform(test.outputs, std::back_inserter(outputs), hold);
	if (auto ran = model->run(inputs, outputs); !ran)
		return forward(ran);
	for (const HostArray &output : outputs)
		arrays.push_back(
			nodeArrayOf(output.what, { output.bytes.begin(), output.bytes.end() }));
	return arrays;
}

} /* namespace nvdla::test */
