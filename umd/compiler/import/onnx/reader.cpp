/* SPDX-License-Identifier: MIT */
#include <set>

#include <fmt/core.h>

#include "loadable/file_kind.h"
#include "node_reader.h"

namespace nvdla::compiler
{

namespace onnx
{

namespace
{

using legalize::asInFile;
using legalize::AxisOrder;

[[noreturn]] void damaged(const std::string &where, const std::string &why)
{
	refuse(ErrorCode::InvalidFile, reading, where, why);
}

class Reader
{
public:
	explicit Reader(pb::Model &source) : source_(source), graph_(*source.mutable_graph()) {}

	Model read();

private:
	void readConstants();
	void readInputs();
	/* Adds a value of the file's shape and type; lastAlready: the file has channels last. */
	Tensor describe(const pb::ValueInfo &info, const std::string &where, bool lastAlready);
	void readNode(const pb::Node &node);
	void addUnknown(const pb::Node &node, const Unknown &why);
	/* The file's description of a result; if there is none, an empty description. */
	const pb::ValueInfo &infoOf(const std::string &name) const;
	void readOutputs();
	[[noreturn]] void missing(const std::string &output, const std::string &where) const;
	/* Whether all readers of an input transpose it from N, H, W, C; the model's input then has
	 * that order. */
	bool comesWithChannelsLast(const std::string &input) const;
	/* Replaces an output's tensor by the result of \a make, which may add operators. */
	template<typename Make>
	void change(Tensor &tensor, const std::string &name, const char *type, Make make)
	{
		pb::Node node;

		node.set_op_type(type);
		node.add_output(name);
		import_.tensors.erase(name);
		NodeReader reader(import_, node);
		tensor = make(reader);
		reader.write(tensor, 0);
	}

	const pb::Model &source_;
	pb::Graph &graph_;
	Import import_;
};

void Reader::readConstants()
{
	for (pb::Tensor &tensor : *graph_.mutable_initializer()) {
		Value value = valueOf(readConstant(tensor));
		std::string().swap(*tensor.mutable_raw_data()); /* may be most of the memory */
		const Extents shape = value.shape;
		const ValueId id = import_.model.add(std::move(value));
		import_.tensors[tensor.name()] = { id, shape, asInFile(shape.size()), {} };
	}
}

bool Reader::comesWithChannelsLast(const std::string &input) const
{
	constexpr int64_t perm[] = { 0, 3, 1, 2 };
	bool turned = false;

	for (const pb::Node &node : graph_.node()) {
		if (!std::ranges::count(node.input(), input))
			continue;
		if (node.op_type() != "Transpose" || node.attribute_size() != 1 ||
		    !std::ranges::equal(node.attribute(0).ints(), perm))
			return false;
		turned = true;
	}
	return turned;
}

Tensor Reader::describe(const pb::ValueInfo &info, const std::string &where, bool lastAlready)
{
	const int32_t number = info.type().tensor_type().elem_type();
	const auto type = elementTypeOf(number);
	Value value;

	/* Integers of 32 bits and more pass: operators that read them are refused by name later. */
	if (!type)
		refuse(ErrorCode::Unsupported, reading, where,
		       fmt::format("element type {} is no type that tensors of the core have; "
				   "use integers of 8 or 16 bits, or float",
				   number));
	std::vector<int64_t> sizes;
	for (const pb::Dimension &axis : info.type().tensor_type().shape().dim())
		sizes.push_back(axis.dim_value() > 0 ? axis.dim_value() : sizes.empty() ? 1 : -1);
	const auto known = shapeFrom(sizes);
	if (!known || !info.type().tensor_type().has_shape())
		damaged(where, "has no shape, or more elements than a tensor can");
	const Extents &shape = *known;
	const AxisOrder order = lastAlready || shape.size() != channelsLast.size()
					? asInFile(shape.size())
					: channelsLast;
	value.name = info.name();
	value.type = *type;
	for (const uint32_t axis : order)
		value.shape.push_back(shape[axis]);
	return { import_.model.add(std::move(value)), shape, order };
}

void Reader::readInputs()
{
	std::set<std::string> known;

	for (const pb::Node &node : graph_.node())
		known.insert(node.output().begin(), node.output().end());
	for (const pb::ValueInfo &info : graph_.input()) {
		if (!known.insert(info.name()).second)
			continue;
		const Tensor tensor = describe(info, fmt::format("input '{}'", info.name()),
					       comesWithChannelsLast(info.name()));
		import_.tensors[info.name()] = tensor;
		import_.model.inputs.push_back(tensor.id);
		import_.model.inputsInFile.push_back({ info.name(), tensor.shape,
						       tensor.order == asInFile(tensor.shape.size())
							       ? ElementOrder::Nhwc
							       : ElementOrder::Nchw });
	}
	if (import_.model.inputs.empty())
		refuse(ErrorCode::Unsupported, reading, "inputs", "the model has none");
}

const pb::ValueInfo &Reader::infoOf(const std::string &name) const
{
	for (const auto *infos : { &graph_.value_info(), &graph_.output() }) {
		for (const pb::ValueInfo &info : *infos) {
			if (info.name() == name && info.type().tensor_type().has_shape())
				return info;
		}
	}
	return pb::ValueInfo::default_instance();
}

/*
 * An unknown operator is an error only if its result is used; supportedOperators() reports it, too.
 * Operators that read its results are known if the file states the results' shapes.
 */
void Reader::addUnknown(const pb::Node &node, const Unknown &why)
{
	Operator unknown{ node.output_size() ? node.output(0) : "", node.op_type(), why, {}, {} };

	for (const std::string &name : node.input()) {
		const auto found = import_.tensors.find(name);
		if (found != import_.tensors.end())
			unknown.inputs.push_back(found->second.id);
	}
	for (const std::string &name : node.output()) {
		if (name.empty())
			continue;
		if (import_.tensors.contains(name))
			throw BrokenRule{ why.why };
		auto described = resultOf([&] { return describe(infoOf(name), name, false); });
		if (!described)
			described = Tensor{ .id = import_.model.add({ .name = name }),
					    .shape = {},
					    .order = {},
					    .isKnown = false };
		unknown.outputs.push_back(described->id);
		import_.tensors[name] = std::move(*described);
	}
	import_.model.operators.push_back(std::move(unknown));
}

void Reader::readNode(const pb::Node &node)
{
	NodeReader reader(import_, node);
	const size_t before = import_.model.operators.size();
	std::set<std::string> written;

	for (const std::string &name : node.output())
		if (!import_.tensors.contains(name))
			written.insert(name);
	/* In another domain, a name may mean another function, or another order of axes. */
	static const std::set<std::string> domains = { "", "ai.onnx", "com.microsoft" };
	const std::string type = domains.contains(node.domain()) ? node.op_type() : "";
	const auto done = resultOf([&] {
		reader.need(node.output_size() > 0, "output", "is missing");
		reader.finish(compiler::onnx::readNode(reader, type));
	});
	if (done)
		return;
	import_.model.operators.resize(before);
	for (const std::string &name : written)
		import_.tensors.erase(name);
	addUnknown(node, { done.error(), reader.follows() });
}

/* Refuses an output that is missing: no node writes it, or the node's reader left it out. */
void Reader::missing(const std::string &output, const std::string &where) const
{
	for (const pb::Node &node : graph_.node())
		if (std::ranges::count(node.output(), output))
			refuse(ErrorCode::Unsupported, reading, where,
			       fmt::format("is a result of {} that is not known to this compiler",
					   node.op_type()));
	damaged(where, "is written by nothing");
}

void Reader::readOutputs()
{
	for (const pb::ValueInfo &info : graph_.output()) {
		const std::string where = fmt::format("output '{}'", info.name());
		const auto found = import_.tensors.find(info.name());
		if (found == import_.tensors.end())
			missing(info.name(), where);
		Tensor tensor = found->second;
		import_.model.outputsInFile.push_back({ info.name(), tensor.shape });
		if (!tensor.isKnown || import_.model.values[tensor.id].isConstant) {
			import_.model.outputs.push_back(tensor.id);
			continue;
		}
		ElementOrder &order = import_.model.outputsInFile.back().order;
		change(tensor, info.name(), "Transpose", [&](NodeReader &reader) {
			return legalize::asOutput(reader, import_.model, tensor, order);
		});
		const int32_t wanted = info.type().tensor_type().elem_type();
		if (!isFloat(import_.model.values[tensor.id].type) &&
		    (wanted == pb::FLOAT || wanted == pb::FLOAT16))
			/* The pass takeOffEnds() removes this operator again. */
			change(tensor, info.name(), "DequantizeLinear", [&](NodeReader &reader) {
				return reader.make(Unary{}, { tensor.id }, {}, tensor);
			});
		import_.model.outputs.push_back(tensor.id);
	}
	if (import_.model.outputs.empty())
		damaged("outputs", "the model has none");
}

Model Reader::read()
{
	import_.model.roundingOf8Bits = ScaleRounding::Once;
	for (const pb::OperatorSet &set : source_.opset_import()) {
		if (set.domain().empty() || set.domain() == "ai.onnx")
			import_.version = set.version();
	}
	readConstants();
	readInputs();
	for (int i = 0; i < graph_.node_size(); i++) {
		const size_t before = import_.model.operators.size();
		readNode(graph_.node(i));
		for (size_t made = before; made < import_.model.operators.size(); made++)
			import_.model.operators[made].index = static_cast<size_t>(i);
	}
	for (const auto &[name, tensor] : import_.tensors) {
		if (Value &value = import_.model.values[tensor.id]; value.name == name)
			value.shapeInFile = tensor.shape;
	}
	readOutputs();
	valueOf(import_.model.setAsideInvalid());
	return std::move(import_.model);
}

} /* namespace */

} /* namespace onnx */

Result<Model> importOnnx(std::span<const std::byte> bytes, std::span<const InputShape> shapes)
{
	return resultOf([&] {
		valueOf(checkIsModel("file", bytes));
		onnx::pb::Model source;
		if (bytes.size() > INT32_MAX ||
		    !source.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
		    !source.has_graph() || !source.graph().node_size())
			onnx::damaged("file", "is no model: neither TensorFlow Lite's identifier "
					      "is in it, nor a graph of ONNX; it may be truncated");
		onnx::closeShapes(*source.mutable_graph(), shapes);
		return onnx::Reader(source).read();
	});
}

} /* namespace nvdla::compiler */
