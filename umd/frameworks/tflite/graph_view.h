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

/** \brief Some nodes of a graph, with the inputs and outputs of these nodes together */
struct Part {
	/** \brief Nodes in the order of execution, including those that only compute constants for
	 * the others */
	std::vector<int> nodes;
	std::vector<int> inputs; /**< tensors that other nodes compute or the application sets */
	std::vector<int> outputs;
};

/**
 * \brief Nodes and tensors of a TfLiteContext during a delegate's Prepare()
 *
 * Valid until the delegate replaces nodes of the graph.
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
	 * \brief Make a Part of nodes and of the nodes that compute constants for them
	 *
	 * \param[in] nodes in the order of the plan
	 * \param[in] outputs those tensors computed by \a nodes that other nodes or the application
	 * use
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
	/* Index of a tensor -> index of the node that computes it. */
	std::unordered_map<int, int> writers_;
};

/** \return the entries of TensorFlow Lite's list of indices; none if the list is nullptr */
inline std::span<const int> indices(const TfLiteIntArray *list)
{
	return list ? std::span<const int>(list->data, static_cast<size_t>(list->size))
		    : std::span<const int>();
}

} /* namespace nvdla::delegate */
