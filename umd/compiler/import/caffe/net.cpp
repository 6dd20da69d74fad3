/* SPDX-License-Identifier: MIT */
#include "net.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <nvdla/compiler.h>

#include "base/io/file.h"
#include "layer.h"

namespace nvdla::compiler::caffe
{

namespace
{

namespace fs = std::filesystem;
using Weights = google::protobuf::RepeatedPtrField<pb::Blob>;

tl::unexpected<Error> damaged(const std::string &where, const std::string &why)
{
	return fail(ErrorCode::InvalidFile, reading, where, why);
}

/* The first thing that is wrong with a text. */
class FirstError : public google::protobuf::io::ErrorCollector
{
public:
	void AddError(int line, google::protobuf::io::ColumnNumber /*column*/,
		      const std::string &message) override
	{
		if (why.empty())
			why = message, where = fmt::format("line {}", line + 1);
	}
	/* Fields that are not known; see caffe.proto. */
	void AddWarning(int line, google::protobuf::io::ColumnNumber column,
			const std::string &message) override
	{
		if (message.find("Parameter\"") != std::string::npos)
			AddError(line, column, message);
	}

	std::string where;
	std::string why;
};

/* The layout of caffe.proto, which protoc wrote. */
constexpr unsigned char netLayout[] = {
#include "caffe_layout.inc"
};

/*
 * Text is read through reflection, with a layout that is this function's alone: those of generated
 * messages are registered by name in the whole process, of which there may be one only.
 */
Result<pb::Net> parseText(std::span<const std::byte> text)
{
	constexpr int mostNested = 16;
	google::protobuf::FileDescriptorSet files;
	google::protobuf::DescriptorPool pool;
	google::protobuf::TextFormat::Parser parser;
	FirstError error;
	pb::Net net;

	files.ParseFromArray(netLayout, sizeof(netLayout));
	google::protobuf::DynamicMessageFactory factory(&pool);
	const std::unique_ptr<google::protobuf::Message> read(
		factory.GetPrototype(pool.BuildFile(files.file(0))->FindMessageTypeByName("Net"))
			->New());
	parser.RecordErrorsTo(&error);
	parser.AllowUnknownField(true);
	parser.SetRecursionLimit(mostNested);
	if (!parser.ParseFromString({ reinterpret_cast<const char *>(text.data()), text.size() },
				    read.get()) ||
	    !error.why.empty())
		return damaged(error.where, error.why);
	if (!net.ParseFromString(read->SerializeAsString()))
		return damaged("file", "cannot be read");
	if (net.layers_size())
		return fail(ErrorCode::Unsupported, reading, "layers",
			    "is the form of before 2015; Caffe's upgrade_net_proto_text makes "
			    "today's of it");
	return net;
}

Result<std::string> weightsBeside(const std::string &path)
{
	const fs::path same = fs::path(path).replace_extension(".caffemodel");
	std::vector<std::string> found;
	std::error_code error;

	if (fs::exists(same, error))
		return same.string();
	for (const fs::directory_entry &entry :
	     fs::directory_iterator(same.has_parent_path() ? same.parent_path() : ".", error)) {
		if (entry.path().extension() == ".caffemodel")
			found.push_back(entry.path().string());
	}
	if (found.size() == 1)
		return found.front();
	return damaged("weights",
		       fmt::format("there {} .caffemodel beside the net; put them at {}",
				   found.empty() ? "is no" : "are several", same.string()));
}

/* A layer that is there when the net is used, not trained. */
bool isForInference(const pb::Layer &layer)
{
	const auto isFor = [](pb::Phase phase) {
		return [phase](const pb::RuleParameter &rule) {
			return !rule.has_phase() || rule.phase() == phase;
		};
	};

	return (layer.include().empty() || std::ranges::any_of(layer.include(), isFor(pb::TEST))) &&
	       std::ranges::none_of(layer.exclude(), isFor(pb::TEST));
}

/* Layers that read a database or compare with labels. */
bool isOfTraining(const std::string &type)
{
	return type.ends_with("Data") || type.ends_with("Loss") || type == "Accuracy";
}

class Reader
{
public:
	explicit Reader(const pb::Net &net) : net_(net) {}

	Result<void> readWeights(const std::string &path);
	Result<schema::Model> read();

private:
	Result<void> addInputs(const google::protobuf::RepeatedPtrField<std::string> &names,
			       std::vector<pb::Shape> shapes);
	Result<void> readOldInputs();
	Result<void> read(const pb::Layer &layer);
	void findOutputs();
	/* Give the results of a layer their names, and its tops their tensors. */
	Result<void> writeTops(const LayerReader &reader, const Tensors &made);
	std::string unusedName(const std::string &layer, int top);

	const pb::Net &net_;
	pb::Net trained_;
	std::map<std::string, const Weights *> weights_;
	std::map<std::string, Tensor> tensors_;	     /* by their blobs */
	std::map<std::string, std::string> writers_; /* of blobs: the last layer */
	std::vector<std::string> outputs_;
	std::set<std::string> names_;
	schema::Model model_;
	schema::Graph &graph_ = *model_.mutable_graph();
};

Result<void> Reader::readWeights(const std::string &path)
{
	auto bytes = readWholeFile(path, maxModelBytes);

	if (!bytes)
		return forward(bytes);
	if (!trained_.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())))
		return damaged(path, "has no weights of a Caffe net");
	for (const pb::Layer &layer : trained_.layer())
		weights_[layer.name()] = &layer.blobs();
	for (const pb::OldLayer &layer : trained_.layers())
		weights_[layer.name()] = &layer.blobs();
	return {};
}

Result<void> Reader::addInputs(const google::protobuf::RepeatedPtrField<std::string> &names,
			       std::vector<pb::Shape> shapes)
{
	if (shapes.size() == 1)
		shapes.resize(static_cast<size_t>(names.size()), shapes.front());
	if (shapes.size() != static_cast<size_t>(names.size()))
		return damaged("inputs",
			       fmt::format("are {}, with {} shapes", names.size(), shapes.size()));
	for (size_t i = 0; i < shapes.size(); i++) {
		const std::string &name = names.Get(static_cast<int>(i));
		if (!names_.insert(name).second)
			return damaged(fmt::format("input '{}'", name), "is there twice");
		schema::ValueInfo &info = *graph_.add_input();
		schema::TensorType &type = *info.mutable_type()->mutable_tensor_type();
		info.set_name(name);
		type.set_elem_type(schema::FLOAT);
		for (const int64_t extent : shapes[i].dim())
			type.mutable_shape()->add_dim()->set_dim_value(extent);
		tensors_[name] = { name, static_cast<size_t>(shapes[i].dim_size()) };
	}
	return {};
}

/* As files of before 2016 say it. */
Result<void> Reader::readOldInputs()
{
	std::vector<pb::Shape> shapes(net_.input_shape().begin(), net_.input_shape().end());

	for (int i = 0; i < net_.input_dim_size(); i++) {
		if (i % 4 == 0)
			shapes.emplace_back();
		shapes.back().add_dim(net_.input_dim(i));
	}
	return addInputs(net_.input(), shapes);
}

/* Blobs that no layer reads after they are written for the last time, in the order of the file. */
void Reader::findOutputs()
{
	for (const pb::Layer &layer : net_.layer()) {
		if (!isForInference(layer) || layer.type() == "Input")
			continue;
		for (const std::string &bottom : layer.bottom())
			std::erase(outputs_, bottom);
		for (const std::string &top : layer.top()) {
			std::erase(outputs_, top);
			outputs_.push_back(top);
			writers_[top] = layer.name();
		}
	}
	names_.insert(outputs_.begin(), outputs_.end());
}

std::string Reader::unusedName(const std::string &layer, int top)
{
	std::string name = top ? fmt::format("{}:{}", layer, top) : layer;

	while (!names_.insert(name).second)
		name += '_';
	return name;
}

Result<void> Reader::writeTops(const LayerReader &reader, const Tensors &made)
{
	const pb::Layer &layer = reader.layer();
	auto &nodes = *graph_.mutable_node();

	if (made.size() != static_cast<size_t>(layer.top_size()))
		return damaged(fmt::format("layer '{}'", layer.name()),
			       fmt::format("has {} tops and makes {} blobs", layer.top_size(),
					   made.size()));
	for (int i = 0; i < layer.top_size(); i++) {
		const std::string &top = layer.top(i);
		const bool isOutput =
			std::ranges::count(outputs_, top) && writers_[top] == layer.name();
		Tensor tensor = made[static_cast<size_t>(i)];
		if (isOutput && !reader.isNew(tensor)) {
			nodes.Add()->set_op_type("Identity");
			nodes.rbegin()->add_input(tensor.name);
			nodes.rbegin()->add_output(top);
			tensor.name = top;
		} else if (reader.isNew(tensor)) {
			const std::string name = isOutput ? top : unusedName(layer.name(), i);
			for (schema::Node &node : nodes)
				std::ranges::replace(*node.mutable_output(), tensor.name, name);
			tensor.name = name;
		}
		tensors_[top] = tensor;
	}
	return {};
}

Result<void> Reader::read(const pb::Layer &layer)
{
	const std::string where = fmt::format("layer '{}'", layer.name());
	const auto weights = weights_.find(layer.name());
	Tensors bottoms;

	if (layer.type() == "Input")
		return addInputs(layer.top(), { layer.input_param().shape().begin(),
						layer.input_param().shape().end() });
	if (isOfTraining(layer.type()))
		return damaged(where, fmt::format("of type {} is for training; give the net that "
						  "is used afterwards, often called "
						  "deploy.prototxt",
						  layer.type()));
	for (const std::string &bottom : layer.bottom()) {
		const auto tensor = tensors_.find(bottom);
		if (tensor == tensors_.end())
			return damaged(
				where,
				fmt::format("reads '{}', which no layer before it writes", bottom));
		bottoms.push_back(tensor->second);
	}
	LayerReader reader(layer, weights == weights_.end() ? nullptr : weights->second,
			   std::move(bottoms), graph_);
	const Tensors made = readLayer(reader);
	if (auto done = reader.result(); !done)
		return done;
	return writeTops(reader, made);
}

Result<schema::Model> Reader::read()
{
	constexpr int64_t operators = 13, irVersion = 8;

	if (net_.layer().empty())
		return damaged("file", "has no layers of a Caffe net");
	model_.set_ir_version(irVersion);
	model_.add_opset_import()->set_version(operators);
	findOutputs();
	if (auto done = readOldInputs(); !done)
		return forward(done);
	for (const pb::Layer &layer : net_.layer()) {
		if (!isForInference(layer))
			continue;
		if (auto done = read(layer); !done)
			return forward(done);
	}
	for (const std::string &name : outputs_) {
		schema::ValueInfo &info = *graph_.add_output();
		info.set_name(name);
		info.mutable_type()->mutable_tensor_type()->set_elem_type(schema::FLOAT);
	}
	return std::move(model_);
}

} /* namespace */

Result<std::vector<std::byte>> asOnnx(const std::string &path, std::span<const std::byte> text)
{
	auto net = parseText(text);
	if (!net)
		return forward(net);
	Reader reader(*net);
	auto model = weightsBeside(path)
			     .and_then([&](auto &&weights) { return reader.readWeights(weights); })
			     .and_then([&] { return reader.read(); });
	if (!model)
		return forward(model);
	if (model->ByteSizeLong() >= maxModelBytes)
		return fail(ErrorCode::Unsupported, reading, path, "has 2 GiB of weights, or more");
	std::vector<std::byte> bytes(model->ByteSizeLong());
	model->SerializeToArray(bytes.data(), static_cast<int>(bytes.size()));
	return bytes;
}

} /* namespace nvdla::compiler::caffe */
