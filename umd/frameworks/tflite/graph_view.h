/* SPDX-License-Identifier: MIT */
/*
 * The graph that TensorFlow Lite shows to a delegate.
 */
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <nvdla/error.h>
#include <tensorflow/lite/c/common.h>

namespace nvdla::delegate
{

/** \brief Nodes that belong together, with their inputs and outputs */
struct Part {
	/** \brief In the order of execution, including nodes that only compute constants */
	std::vector<int> nodes;
	std::vector<int> inputs; /**< tensors that other nodes or the application give */
	std::vector<int> outputs;
};

/**
 * \brief Nodes and tensors of a TfLiteContext, while a delegate prepares
 *
 * Valid until the delegate replaces nodes.
 */
class GraphView
{
public:
	static Result<GraphView> read(TfLiteContext *context);

	/** \return indices of the nodes in the order of their execution */
	std::span<const int> plan() const { return plan_; }
	const TfLiteNode &node(int index) const { return *nodes_.at(index).node; }
	const TfLiteRegistration &registration(int index) const
	{
		return *nodes_.at(index).registration;
	}
	const TfLiteTensor &tensor(int index) const { return context_->tensors[index]; }

	/** \return true if the model's file has the tensor's elements */
	bool isStored(int tensor) const;
	/** \return true if the tensor is stored, or computed only from stored tensors */
	bool isConstant(int tensor) const;

	/**
	 * \brief Put nodes together with those that compute constants for them
	 *
	 * \param[in] nodes in the order of the plan
	 * \param[in] outputs tensors that these nodes compute and other nodes or the caller use
	 */
	Part part(std::span<const int> nodes, std::vector<int> outputs) const;

	/** \return the name that the node's layer has in the compiler's report: that of the node's
	 * first output */
	std::string layerName(int node) const;

	/** \return the index of the node and the name of its first output, for messages */
	std::string describe(int node) const;

private:
	struct Entry {
		TfLiteNode *node;
		TfLiteRegistration *registration;
	};

	explicit GraphView(TfLiteContext *context) : context_(context) {}

	TfLiteContext *context_;
	std::vector<int> plan_;
	std::unordered_map<int, Entry> nodes_;
	/* Index of the node that computes a tensor, by the index of the tensor. */
	std::unordered_map<int, int> writers_;
};

/** \return the entries of TensorFlow Lite's list of indices; none if the list is nullptr */
inline std::span<const int> indices(const TfLiteIntArray *list)
{
	return list ? std::span<const int>(list->data, static_cast<size_t>(list->size))
		    : std::span<const int>();
}

} /* namespace nvdla::delegate */
