/* SPDX-License-Identifier: MIT */
/*
 * The report of nvdla-compile: the operations of each operator and their predicted time, as text,
 * JSON, SVG and HTML.
 */
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nvdla/compiler.h>

#include "graph/chip/prediction.h"
#include "tools/report/node_names.h"

namespace nvdla::report
{

/** \brief Cost of one step, or the sum over several steps */
struct Cost {
	uint64_t macs = 0;
	uint64_t cycles = 0; /**< sum over the steps, which may overlap */
	double macUse = 0;   /**< utilisation of the multipliers, 0 to 1 */
	sim::MemoryTraffic traffic;
};

/** \brief Fused operations of the core, or one operation of the CPU */
struct Step {
	/**
	 * \brief Prediction for a step of the core, owned by ModelReport; null for the CPU, whose
	 * time is not known
	 */
	const chip::PredictedOperation *predicted = nullptr;
	std::string engines; /**< names of the engines, such as "CONV+SDP" */
	std::string mode;    /**< such as "direct 3x3, pad 1; bias per channel" */
	std::string shape;
	std::string types;
	std::vector<std::string> operations; /**< names of the operations */
	/** \brief Id of the task and index in the task, for each of \a operations */
	std::vector<std::pair<uint16_t, size_t>> places;
	Cost cost;
};

struct Layer {
	LayerReport what;
	std::vector<Step> steps; /**< steps whose first operation belongs to this layer */
	Cost cost;
};

/** \brief A compiled model and its prediction, into which Step::predicted points */
struct ModelReport {
	ModelReport() = default;
	ModelReport(ModelReport &&) = default;
	ModelReport &operator=(ModelReport &&) = default;

	std::string name;
	CompiledModel model;
	chip::Prediction prediction;
	std::vector<Layer> layers; /**< one for each operator; a last one, "(copies)", may have
				      operations that belong to no operator */
	NodeNames nodes;	   /**< names of the nodes in the model's file */
};

/**
 * \brief Make a report
 *
 * \param[in] name name of the model, as the report shows it
 * \param[in] nodes names of the nodes of the model's file
 * \return the report; the error of chip::predict() if that fails
 */
Result<ModelReport> reportOf(CompiledModel model, const sim::Chip &chip, std::string name,
			     NodeNames nodes = {});

enum class ReportFormat : uint8_t {
	Text, /**< lines for each layer and its steps, for memories, and for the network */
	Json, /**< all data of the report; Documentation/compiler.md describes the members */
	Svg,  /**< graphs of the model and of its operations, and memory over time */
	Html, /**< one file that needs no other file: tables, pictures and timeline */
};

/** \return all formats, each with the name that --report has for it, such as "text" */
std::vector<std::pair<std::string, ReportFormat>> reportFormats();

/**
 * \return the report; Unsupported if its format is SVG or HTML and the graph has too many nodes for
 * a picture
 */
Result<std::string> formatted(const ModelReport &report, ReportFormat format);

} /* namespace nvdla::report */
