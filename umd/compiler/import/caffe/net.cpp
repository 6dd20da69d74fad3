/* SPDX-License-Identifier: MIT */
#include <filesystem>
#include <memory>

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>

#include "base/io/file.h"
#include "compiler/import/import.h"
#include "net.h"

namespace nvdla::compiler
{

namespace caffe
{

namespace
{

namespace fs = std::filesystem;
namespace protobuf = google::protobuf;

[[noreturn]] void damaged(const std::string &where, const std::string &why)
{
	refuse(ErrorCode::InvalidFile, reading, where, why);
}

/* The descriptor set of caffe.proto, as protoc wrote it. */
constexpr unsigned char netLayout[] = {
#include "caffe_layout.inc"
};

/*
 * Files are read through reflection with a private descriptor pool: generated messages with
 * reflection are registered by name in the whole process, which ends at the second registration.
 */
std::unique_ptr<protobuf::Message> newNet()
{
	static protobuf::DescriptorPool pool;
	static protobuf::DynamicMessageFactory factory(&pool);
	static const protobuf::Message &net = []() -> const protobuf::Message & {
		protobuf::FileDescriptorSet files;
		files.ParseFromArray(netLayout, sizeof(netLayout));
		return *factory.GetPrototype(
			pool.BuildFile(files.file(0))->FindMessageTypeByName("Net"));
	}();

	return std::unique_ptr<protobuf::Message>(net.New());
}

/* Throws the first error in a text. */
struct TextErrors : protobuf::io::ErrorCollector {
	void AddError(int line, protobuf::io::ColumnNumber /*column*/,
		      const std::string &message) override
	{
		damaged(fmt::format("line {}", line + 1), message);
	}
	/*
	 * The parser only warns of an unknown field. In messages named ...Parameter it is an error,
	 * because it may change a layer's results.
	 */
	void AddWarning(int line, protobuf::io::ColumnNumber column,
			const std::string &message) override
	{
		if (message.find("Parameter\"") != std::string::npos)
			AddError(line, column, message);
	}
};

std::unique_ptr<protobuf::Message> readText(std::span<const std::byte> text)
{
	constexpr int mostNested = 16;
	auto net = newNet();
	protobuf::TextFormat::Parser parser;
	TextErrors errors;

	parser.RecordErrorsTo(&errors);
	parser.AllowUnknownField(true);
	parser.SetRecursionLimit(mostNested);
	if (!parser.ParseFromString({ reinterpret_cast<const char *>(text.data()), text.size() },
				    net.get()))
		damaged("file", "is no net");
	if (Fields(*net).has("layers"))
		refuse(ErrorCode::Unsupported, reading, "layers",
		       "is the form of before 2015; Caffe's upgrade_net_proto_text makes today's "
		       "of it");
	return net;
}

/* The weights of the net at a path. */
std::unique_ptr<protobuf::Message> readWeights(const std::string &path)
{
	auto weights = newNet();
	const fs::path same = fs::path(path).replace_extension(".caffemodel");
	std::vector<std::string> found;
	std::error_code error;

	for (const fs::directory_entry &entry :
	     fs::directory_iterator(same.has_parent_path() ? same.parent_path() : ".", error)) {
		if (entry.path().extension() == ".caffemodel")
			found.push_back(entry.path().string());
	}
	if (fs::exists(same, error))
		found = { same.string() };
	if (found.size() != 1)
		damaged("weights",
			fmt::format("there {} .caffemodel beside the net; put them at {}",
				    found.empty() ? "is no" : "are several", same.string()));
	const auto bytes = valueOf(readWholeFile(found[0], maxModelBytes));
	if (!weights->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
		damaged(found[0], "has no weights of a Caffe net");
	return weights;
}

/* Whether a layer takes part in inference, not only in training. */
bool isForInference(const Fields &layer)
{
	const auto hasTest = [&](const char *rules) {
		return std::ranges::any_of(layer.parts(rules), [](const Fields &rule) {
			return !rule.has("phase") || rule.printed("phase") == "TEST";
		});
	};

	return (!layer.has("include") || hasTest("include")) && !hasTest("exclude");
}

std::vector<Shape> shapesOf(const Fields &fields, const char *name)
{
	std::vector<Shape> shapes;

	for (const Fields &shape : fields.parts(name))
		shapes.push_back(shape.list<int64_t>("dim"));
	return shapes;
}

} /* namespace */

void Net::addInputs(const std::vector<std::string> &names, std::vector<Shape> shapes)
{
	if (shapes.size() == 1)
		shapes.resize(names.size(), shapes.front());
	need(shapes.size() == names.size(), "inputs",
	     fmt::format("are {}, with {} shapes", names.size(), shapes.size()));
	for (size_t i = 0; i < names.size(); i++) {
		need(names_.insert(names[i]).second, fmt::format("input '{}'", names[i]),
		     "is there twice");
		schema::ValueInfo &info = *graph_.add_input();
		schema::TensorType &type = *info.mutable_type()->mutable_tensor_type();
		info.set_name(names[i]);
		type.set_elem_type(schema::FLOAT);
		for (const int64_t extent : shapes[i])
			type.mutable_shape()->add_dim()->set_dim_value(extent);
		tensors_[names[i]] = { names[i], shapes[i].size() };
	}
}

void Net::translate(const Fields &layer)
{
	const std::string type = layer.text("type");
	const auto names = layer.list<std::string>("top");

	name_ = layer.text("name");
	setPart(fmt::format("layer '{}' ({})", name_, type));
	if (type == "Input")
		return addInputs(names, shapesOf(layer.part("input_param"), "shape"));
	/* Layers that read a database or compare with labels. */
	need(!type.ends_with("Data") && !type.ends_with("Loss") && type != "Accuracy", "type",
	     "is for training; give the net that is used afterwards, often called deploy.prototxt");
	bottoms.clear();
	for (const std::string &bottom : layer.list<std::string>("bottom")) {
		bottoms.push_back(tensors_[bottom]);
		need(!bottoms.back().name.empty(), "bottom",
		     fmt::format("is '{}', which no layer before it writes", bottom));
	}
	fields = layer;
	tops = bottoms;
	wanted = names.size();
	blobs_ = weights_[name_];
	made_ = 0;
	become(layer, type);
	need(tops.size() == wanted, "top",
	     fmt::format("names {} blobs, the layer makes {}", wanted, tops.size()));
	for (size_t i = 0; i < wanted; i++) {
		const bool isOutput = outputs_.contains(names[i]) && outputs_[names[i]] == name_;
		std::string to = isOutput ? names[i] : name_;
		while (!isOutput && !names_.insert(to).second)
			to += '_';
		for (schema::Node &node : *graph_.mutable_node())
			std::ranges::replace(*node.mutable_output(), tops[i].name, to);
		if (isOutput)
			graph_.add_output()->set_name(to);
		tensors_[names[i]] = { to, tops[i].rank };
	}
}

schema::Model Net::translate(const Fields &net, const Fields &trained)
{
	constexpr int64_t operators = 13, irVersion = 8, axes = 4;
	std::vector<Shape> shapes = shapesOf(net, "input_shape");
	std::vector<Fields> layers;

	std::ranges::copy_if(net.parts("layer"), std::back_inserter(layers), isForInference);
	setPart("net");
	need(!layers.empty(), "layers", "there are no layers of a Caffe net");
	model_.set_ir_version(irVersion);
	model_.add_opset_import()->set_version(operators);
	for (const char *field : { "layer", "layers" })
		for (const Fields &layer : trained.parts(field))
			weights_[layer.text("name")] = layer.parts("blobs");
	for (const Fields &layer : layers) {
		for (const std::string &bottom : layer.list<std::string>("bottom"))
			outputs_.erase(bottom);
		for (const std::string &top : layer.list<std::string>("top"))
			if (layer.text("type") != "Input")
				outputs_[top] = layer.text("name");
	}
	for (const auto &[blob, writer] : outputs_)
		names_.insert(blob);
	/* Files of before 2016 give the input's shape in this field. */
	for (const int64_t extent : net.list<int64_t>("input_dim")) {
		if (shapes.empty() || shapes.back().size() == axes)
			shapes.emplace_back();
		shapes.back().push_back(extent);
	}
	addInputs(net.list<std::string>("input"), shapes);
	for (const Fields &layer : layers)
		translate(layer);
	return std::move(model_);
}

} /* namespace caffe */

Result<std::vector<std::byte>> caffeAsOnnx(const std::string &path, std::span<const std::byte> text)
{
	return resultOf([&] {
		const auto net = caffe::readText(text), weights = caffe::readWeights(path);
		const auto model =
			caffe::Net().translate(caffe::Fields(*net), caffe::Fields(*weights));
		if (model.ByteSizeLong() >= maxModelBytes)
			refuse(ErrorCode::Unsupported, caffe::reading, path,
			       "has 2 GiB of weights, or more");
		std::vector<std::byte> bytes(model.ByteSizeLong());
		model.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()));
		return bytes;
	});
}

} /* namespace nvdla::compiler */
