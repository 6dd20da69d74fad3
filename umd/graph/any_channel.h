/* SPDX-License-Identifier: MIT */
/* Parts of surfaces that begin at any channel, also within an atom. */
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowering.h"

namespace nvdla::assembly
{

/** \brief Adjacent channels that are moved from one surface to another */
struct ChannelRun {
	uint32_t from = 0;
	uint32_t to = 0;
	uint32_t count = 0;
};

/** \brief Properties of a surface that the selection of its channels depends on */
struct Channels {
	DataType type = DataType::Unknown;
	uint32_t count = 0;
	Place place = Place::Memory;
};

/**
 * \return the multiple of channels at which parts of a scratch surface begin: an atom, or two if
 * SDP may write two at a time, since it widens INT8
 */
uint32_t channelUnit(DataType type, const CoreGeometry &core);

/** \brief Make 1x1 kernels that copy the channels given by \a runs */
GraphWeights selection(const std::string &name, DataType type, uint32_t c,
		       const std::vector<ChannelRun> &runs);

/**
 * \brief A surface that is written in parts that begin at any channel
 *
 * The parts are written to another surface, where each begins at a whole atom; a convolution then
 * packs their channels.
 */
struct Join {
	std::string apart; /**< name of the other surface */
	uint32_t c = 0;	   /**< channels of the other surface */
	std::vector<ChannelRun> runs;
	std::set<std::string> parts; /**< parts that operations write */
	bool done = false;
};

/**
 * \brief Find the concatenations of a graph, by the surfaces that they form
 *
 * In \a symbols, the parts become parts of Join::apart.
 */
std::map<std::string, Join> findJoins(const std::vector<op::Any> &operations, Symbols &symbols);

} /* namespace nvdla::assembly */
