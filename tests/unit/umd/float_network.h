/* SPDX-License-Identifier: MIT */
/*
 * A second opinion: small FP16 networks evaluated in float, from the loadable's
 * descriptors and weights alone. Shares no code with the device model.
 */
#pragma once

#include <map>
#include <vector>

#include <nvdla/loadable.h>
#include <nvdla/task.h>

namespace nvdla::test
{

/** \brief Dense C, H, W numbers */
struct FloatCube {
	uint32_t c = 0;
	uint32_t h = 0;
	uint32_t w = 0;
	std::vector<float> data;

	float &at(uint32_t ch, uint32_t y, uint32_t x) { return data[(ch * h + y) * w + x]; }
	float at(uint32_t ch, uint32_t y, uint32_t x) const { return data[(ch * h + y) * w + x]; }
};

/**
 * \brief Evaluates one DLA task of direct FP16 convolutions with dense weights,
 * SDP bias and ReLU through X1, and max pooling
 *
 * Anything else fails the test that uses it.
 */
class FloatNetwork
{
public:
	FloatNetwork(const Loadable &loadable, const DlaTask &task)
		: loadable_(loadable), task_(task)
	{
	}

	/** \return what the last operation writes, given what the first one reads */
	FloatCube run(FloatCube input);

private:
	std::vector<float> constants(const nvdla_data_cube &cube, size_t count) const;
	FloatCube convolve(const nvdla_conv_op_desc &op, const nvdla_conv_surface_desc &surface,
			   const FloatCube &in) const;
	FloatCube point(const nvdla_sdp_op_desc &op, const nvdla_sdp_surface_desc &surface,
			FloatCube in) const;
	FloatCube pool(const nvdla_pdp_op_desc &op, const nvdla_pair_surface_desc &surface,
		       const FloatCube &in) const;

	const Loadable &loadable_;
	const DlaTask &task_;
};

/** \return softmax over the channels of a 1x1 cube */
std::vector<float> softmax(const FloatCube &cube);

} /* namespace nvdla::test */
