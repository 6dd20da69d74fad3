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

namespace nvdla::report
{

/** \brief Cost of one step or of several */
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
	std::string engines; /**< "CONV+SDP" */
	std::string mode;    /**< "direct 3x3, pad 1; bias per channel" */
	std::string shape;
	std::string types;
	std::vector<std::string> operations; /**< names of the operations */
	/** \brief Task, and index in it, of each operation */
	std::vector<std::pair<uint16_t, size_t>> places;
	Cost cost;
};

struct Layer {
	LayerReport what;
	std::vector<Step> steps; /**< steps whose first operation is of this layer */
	Cost cost;
};

/** \brief A compiled model with its prediction, which the layers point into */
struct ModelReport {
	ModelReport() = default;
	ModelReport(ModelReport &&) = default;
	ModelReport &operator=(ModelReport &&) = default;

	std::string name;
	CompiledModel model;
	chip::Prediction prediction;
	std::vector<Layer> layers; /**< with a last layer for copies without operator */
};

/**
 * \brief Make a report
 *
 * \param[in] name of the model, as the report shows it
 * \return errors of chip::predict()
 */
Result<ModelReport> reportOf(CompiledModel model, const sim::Chip &chip, std::string name);

enum class ReportFormat : uint8_t {
	Text, /**< lines for each layer and its steps, for memories, and for the whole */
	Json, /**< all data of the report; Documentation/compiler.md describes the members */
	Svg,  /**< the model's graph, the network's beside it, and its memory over time */
	Html, /**< a page that needs nothing else: tables, pictures and timeline */
};

/** \return "text", "json", "svg", "html" and their formats */
std::vector<std::pair<std::string, ReportFormat>> reportFormats();

/**
 * \return the report; Unsupported if its format is SVG or HTML and the graph has too many nodes for
 * a picture
 */
Result<std::string> formatted(const ModelReport &report, ReportFormat format);

} /* namespace nvdla::report */
