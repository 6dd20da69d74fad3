/* SPDX-License-Identifier: MIT */
/*
 * An ONNX file that is divided: what its tensors are is known, and nothing of it is constant that
 * could be computed.
 */
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nvdla/compiler.h>

#include "base/host/host_model.h"
#include "compiler/partition/model_graph.h"
#include "onnx.pb.h"

namespace nvdla::compiler
{

/**
 * \brief An ONNX file's graph
 *
 * ONNX Runtime says what each tensor is, and computes what does not depend on inputs. It runs the
 * model for that with different numbers: a tensor that has another shape then is not known.
 */
class OnnxGraph : public ModelGraph
{
public:
	/**
	 * \param[in] shapes as CompileOptions::shapes
	 * \return an error if there is no ONNX Runtime, or it cannot run the model
	 */
	static Result<OnnxGraph> read(std::span<const std::byte> file,
				      std::span<const InputShape> shapes);

	Result<TensorDesc> tensorOf(const std::string &name) const override;
	Result<ModelPart> part(std::span<const size_t> nodes) const override;
	bool isComputed(const std::string &name) const override
	{
		return !constants_.contains(name);
	}
	/* As the standard defines these operators. */
	uint64_t macsOf(size_t node) const override;

private:
	OnnxGraph() = default;
	Result<void> readInputs(std::span<const InputShape> shapes);
	Result<void> askHost();
	/* number: with which the model can run */
	Result<void> fold(const HostModel &model, std::optional<float> number);
	bool isFoldable(const nvdla::onnx::Node &node,
			const std::set<std::string> &constants) const;
	/* Numbers for the inputs: something between 0 and 1, or if given that number. */
	std::vector<HostArray> numbers(std::optional<float> number);
	std::set<std::string> divisors() const;
	const HostValue *find(const std::string &name) const;
	void fill(const std::string &name, nvdla::onnx::ValueInfo &to) const;

	nvdla::onnx::Model header_; /* without its graph */
	nvdla::onnx::Graph graph_;
	std::map<std::string, HostValue> known_;
	std::map<std::string, int> constants_;	      /* indices of initializers */
	std::vector<std::vector<std::byte>> numbers_; /* that inputs are given */
};

} /* namespace nvdla::compiler */
