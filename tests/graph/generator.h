/* SPDX-License-Identifier: MIT */
/*
 * The generator of random graphs, inside.
 */
#pragma once

#include <algorithm>
#include <optional>
#include <set>

#include <drm/nvdla_descriptors.h>
#include <fmt/format.h>

#include "random_graph.h"

namespace nvdla::test
{

inline constexpr uint32_t maxChannels = 70;
inline constexpr uint32_t maxSide = 12;
inline constexpr size_t maxOperations = 8;

/** \brief A surface that operations can read */
struct Known {
	std::string name;
	DataType type;
	uint32_t c;
	uint32_t h;
	uint32_t w;
	uint32_t n = 1;
	PixelFormat format = PixelFormat::Feature;
	bool approximate = false; /**< the reference knows it within a threshold */
};

/** \brief Makes one random graph */
class Generator
{
public:
	Generator(uint32_t seed, const CoreGeometry &core) : core_(core), dice_(seed) {}

	RandomCase make();

private:
	bool addOperation();
	void addConvolution();
	void addWinograd();
	void addDeconvolution();
	void addSibling();
	void chooseGroups(op::Convolution &conv, GraphWeights &weights);
	void chooseBands(op::Convolution &conv, const Known &in, const Known &stream);
	void finishConvolution(op::Convolution conv, GraphWeights weights, const Known &in);
	GraphWeights weightsFor(const op::Convolution &conv, uint32_t channels);
	void fillWeights(GraphWeights &weights, DataType type);
	void addSdp();
	void addPooling(const Known &in, bool stream);
	void addNormalization();
	void addContract();
	Known newSlice(DataType type, uint32_t c, uint32_t h, uint32_t w);
	Known addParts(DataType type, uint32_t channels, uint32_t parts);
	void addPlanes();
	void addCopy();
	void addCpu();
	op::Unary unaryOf(const std::string &input, const std::string &output, float step);

	Known newInput(DataType type, uint32_t n, uint32_t c, uint32_t h, uint32_t w);
	Known imageInput();
	/* A region of it, from any of its pixels on. */
	Known regionOf(const Known &image);
	Known choose();
	Known chooseOf(DataType type);
	DataType anyType();

	op::Sdp sdpFor(const Known &in, bool stream, bool approximate, int bits);
	op::SdpUnit unitFor(const Known &in, DataType processing, bool isY, bool constantsOnly,
			    int &bits);
	void chooseOperands(op::SdpUnit &unit, const Known &in, DataType processing, bool isY,
			    bool constantsOnly);
	void chooseTwoSurfaces(op::SdpUnit &unit, const Known &in, DataType processing);
	std::string newLut(bool isFloat, int magnitudeBits);
	void finishSdp(op::Sdp sdp, const Known &in, bool poolNext);
	/* Gives it a layout of its own now and then, and makes the surface known. */
	void addSurface(const Known &surface);
	void choosePlaces();
	void strides(Surface &surface, const Known &known);
	void add(op::Any operation, std::string text);
	std::string name(const char *prefix) { return fmt::format("{}{}", prefix, counter_++); }
	bool hasEngine(nvdla_op_type type) const { return core_.engines >> type & 1; }
	size_t room() const { return wanted_ - std::min(wanted_, made_); }

	const CoreGeometry core_;
	Dice dice_;
	RandomCase case_;
	std::vector<Known> known_;
	/* The last convolution, with what it leaves in the convolution buffer. */
	struct LastConvolution {
		op::Convolution conv;
		GraphWeights weights;
		Known in;
	};
	std::optional<LastConvolution> last_;
	std::set<std::string> consumed_;
	std::map<std::string, Surface> surfaces_; /**< described, but for inputs */
	std::set<std::string> offChip_;		  /**< not for on-chip memory */
	size_t wanted_ = 1;
	size_t made_ = 0;
	unsigned counter_ = 0;
	bool anyHalf_ = false;
};

/** \return name, type and shape, for descriptions */
std::string shape(const Known &known);
std::string text(const op::Padding &padding);

} /* namespace nvdla::test */
