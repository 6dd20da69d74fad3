/* SPDX-License-Identifier: MIT */
#include "layer.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace nvdla::compiler::caffe
{

LayerReader::LayerReader(const pb::Layer &layer,
			 const google::protobuf::RepeatedPtrField<pb::Blob> *weights,
			 Tensors bottoms, schema::Graph &graph)
	: Rules(reading), layer_(layer), weights_(weights), bottoms_(std::move(bottoms)),
	  graph_(graph)
{
	setPart(fmt::format("layer '{}' ({})", layer.name(), layer.type()));
}

Tensor LayerReader::bottom(size_t index)
{
	if (!need(index < bottoms_.size(), "bottom", fmt::format("{} is missing", index)))
		return {};
	return bottoms_[index];
}

int64_t LayerReader::axis(int64_t axis)
{
	const auto rank = static_cast<int64_t>(bottom().rank);

	need(axis >= -rank && axis < rank, "axis",
	     fmt::format("is {}, the bottom has {} axes", axis, rank));
	return failed() ? 0 : axis < 0 ? axis + rank : axis;
}

const pb::Blob &LayerReader::blob(size_t index)
{
	const int count = weights_ ? weights_->size() : 0;

	if (!need(static_cast<int>(index) < count, "weights",
		  fmt::format("are {} blobs in the .caffemodel, {} or more are needed", count,
			      index + 1)))
		return pb::Blob::default_instance();
	return weights_->Get(static_cast<int>(index));
}

Numbers LayerReader::numbersOf(const pb::Blob &blob)
{
	if (blob.double_data_size())
		return { blob.double_data().begin(), blob.double_data().end() };
	return { blob.data().begin(), blob.data().end() };
}

Tensor LayerReader::constant(const Numbers &numbers, Shape shape)
{
	const auto count = static_cast<int64_t>(numbers.size());
	int64_t known = 1;

	for (const int64_t extent : shape)
		known = std::min(known * std::clamp<int64_t>(std::abs(extent), 0, count + 1),
				 count + 1);
	if (const auto open = std::ranges::find(shape, -1); open != shape.end() && known > 0) {
		*open = count / known;
		known *= *open;
	}
	need(known == count && count > 0, "weights",
	     fmt::format("are {} numbers, which do not fit the layer's sizes", count));
	schema::Tensor &tensor = *graph_.add_initializer();
	tensor.set_name(unusedName());
	tensor.set_data_type(schema::FLOAT);
	tensor.mutable_dims()->Add(shape.begin(), shape.end());
	tensor.set_raw_data(numbers.data(), numbers.size() * sizeof(float));
	return { tensor.name(), shape.size() };
}

Tensor LayerReader::constant(const std::vector<int64_t> &numbers)
{
	schema::Tensor &tensor = *graph_.add_initializer();

	tensor.set_name(unusedName());
	tensor.set_data_type(schema::INT64);
	tensor.add_dims(static_cast<int64_t>(numbers.size()));
	tensor.mutable_int64_data()->Add(numbers.begin(), numbers.end());
	return { tensor.name(), 1 };
}

Tensor LayerReader::add(const std::string &type, const Tensors &operands)
{
	last_ = graph_.add_node();
	last_->set_op_type(type);
	for (const Tensor &operand : operands)
		last_->add_input(operand.name);
	return addOutput();
}

Tensor LayerReader::addOutput()
{
	last_->add_output(unusedName());
	return { *last_->output().rbegin(), bottoms_.empty() ? 0 : bottoms_.front().rank };
}

schema::Attribute &LayerReader::attribute(const std::string &name, int32_t type)
{
	schema::Attribute &attribute = *last_->add_attribute();

	attribute.set_name(name);
	attribute.set_type(type);
	return attribute;
}

LayerReader &LayerReader::set(const std::string &name, int64_t value)
{
	attribute(name, schema::ATTRIBUTE_INT).set_i(value);
	return *this;
}

LayerReader &LayerReader::set(const std::string &name, float value)
{
	attribute(name, schema::ATTRIBUTE_FLOAT).set_f(value);
	return *this;
}

LayerReader &LayerReader::set(const std::string &name, const std::vector<int64_t> &values)
{
	attribute(name, schema::ATTRIBUTE_INTS).mutable_ints()->Add(values.begin(), values.end());
	return *this;
}

} /* namespace nvdla::compiler::caffe */
