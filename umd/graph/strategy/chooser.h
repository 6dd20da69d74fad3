/* SPDX-License-Identifier: MIT */
/* Candidates for each layer of a graph, and the choice among them. */
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nvdla/graph.h>

#include "timing/parameters.h"
#include "trial.h"

namespace nvdla::assembly
{

/**
 * \brief Makes a strategy's choices for one graph, such as Winograd, layer by layer in its order
 *
 * A layer is a convolution with the SDP operation that takes its stream, and the pooling that reads
 * that operation's output. A pixel format of an input is tried in one trial with all layers that
 * read the input. Each candidate of a layer differs in one choice from the best so far, so the
 * number of trials grows with the number of choices, not of combinations. If the core cannot run a
 * candidate, lowering refuses it, and the trial fails.
 */
class Chooser
{
public:
	Chooser(Graph graph, const Strategy &strategy, const CoreGeometry &core)
		: strategy_(strategy), core_(core), chosen_{ std::move(graph), {} }
	{
	}

	Result<ChosenGraph> run();

private:
	/** \brief Indices of a layer's operations in the graph */
	struct Layer {
		size_t conv;
		size_t sdp;
		std::optional<size_t> pooling;

		std::vector<size_t> members() const;
	};
	/** \brief Alternative for a layer: its name, and a function that changes the graph */
	struct Candidate {
		std::string what;
		std::function<void(Graph &)> apply;
		/**
		 * \brief Checks that the trial really used the candidate; empty: each trial that
		 * succeeds uses it
		 */
		std::function<bool(const TrialResult &)> became = {};
	};
	/** \brief Parts of a graph that candidates change, to be restored after a trial */
	struct Snapshot {
		Snapshot(const Graph &graph, const std::vector<size_t> &members);
		void restore(Graph &graph) const;

		std::vector<std::pair<size_t, op::Any>> operations;
		std::vector<std::pair<Place, PixelFormat>> surfaces;
		std::vector<bool> compressed; /**< of each set of weights of the graph */
	};
	/** \brief Something to choose, such as bands; if the user demands it but no layer can have
	 * it, the error message ends with \a remedy */
	struct Subject {
		const char *name;
		Choice choice;
		const char *remedy;
		bool taken = false;
	};

	/** \return the only operation that reads a surface, if the surface has no other use */
	std::optional<size_t> onlyReader(const std::string &name) const;
	/** \return true if the user has set that the convolution or the next one reuses data or
	 * weights in the convolution buffer */
	bool sharesBuffer(size_t conv) const;
	std::optional<Layer> layerOf(size_t conv) const;
	/** \return true if assembly adds a convolution between the operations: their input, or the
	 * part they wrote last, begins within an atom of channels */
	bool movesChannels(size_t first, size_t last) const;
	/** \return true if all convolutions with the weights of \a conv have its parameters, and
	 * inputs of the same shape */
	bool areWeightsUsedAlike(const op::Convolution &conv) const;
	/**
	 * \brief Operations of the layer and of the earlier layers whose data or weights it reuses
	 * in the convolution buffer, also indirectly
	 */
	std::vector<size_t> chainOf(const Layer &layer) const;

	void chooseFor(const Layer &layer);
	/** \brief Take the fastest candidate if it is faster than the best so far, or if the user
	 * demands the choice */
	void consider(Subject &subject, const std::vector<size_t> &members,
		      const std::vector<Candidate> &candidates);
	/**
	 * \brief Predict the time of the operations before any change
	 * \return true if that is possible
	 */
	bool begin(const std::vector<size_t> &members);
	void keepReport();
	void winograd(const Layer &layer);
	void compression(const Layer &layer);
	/** \return names of a surface and its parts; nothing unless each part has all channels */
	std::optional<std::set<std::string>> withParts(const Surface &whole) const;
	/** \return indices of the operations of all layers that read the surfaces; nothing if an
	 * operation outside of layers reads one */
	std::optional<std::vector<size_t>> layersReading(const std::set<std::string> &names) const;
	void pixels(const Layer &layer);
	void postExtension(const Layer &layer);
	void bands(const Layer &layer);
	void fusedPooling(const Layer &layer);
	void reuse(const Layer &layer);
	/** \brief Move each fused pooling behind its SDP operation: streams connect neighbours */
	void movePoolings();

	const Strategy &strategy_;
	const CoreGeometry &core_;
	ChosenGraph chosen_;
	sim::TimingParameters parameters_;
	std::map<std::string, Surface> shapes_;
	std::unordered_map<std::string, size_t> readers_;
	/* Choices for the current layer, for the report. */
	LayerChoice report_;
	std::optional<TrialResult> best_;

	Subject winograd_{ "winograd", strategy_.winograd,
			   "it takes FP16, kernels of 3 x 3 (times the stride), and outputs whose "
			   "lines and columns "
			   "are divisible by 4, 8 or more" };
	Subject compression_{ "compression", strategy_.compression,
			      "it takes weights that all who use them use alike" };
	Subject pixels_{ "pixels", strategy_.pixels,
			 "it takes an input of one to four channels that convolutions alone read, "
			 "without dilation; kernels and lines that the convolution buffer has "
			 "room for" };
	Subject postExtension_{ "post-extension", strategy_.postExtension,
				"it takes pictures, and kernels with few columns" };
	Subject bands_{ "bands", strategy_.bands,
			"it takes an input beyond the convolution buffer" };
	Subject fusedPooling_{
		"fused-pooling", strategy_.fusedPooling,
		"it takes a pooling that alone reads what SDP makes of a convolution"
	};
	Subject reuse_{ "reuse", strategy_.reuse,
			"it takes two convolutions one after the other of one input" };
};

} /* namespace nvdla::assembly */
