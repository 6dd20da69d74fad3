/* SPDX-License-Identifier: MIT */
/* Parts of surfaces that may begin at any channel, even in the middle of an atom. */
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowering.h"

namespace nvdla::assembly
{

/** \brief Adjacent channels that are copied from one surface to another */
struct ChannelRun {
	uint32_t from = 0; /**< first channel in the source */
	uint32_t to = 0;   /**< first channel in the destination */
	uint32_t count = 0;
};

/** \brief Properties of the channels that Expansion::addSelection() copies */
struct Channels {
	DataType type = DataType::Unknown;
	uint32_t count = 0;
	Place place = Place::Memory;
};

/**
 * \return alignment, in channels, of parts of a scratch surface: one atom, or two for INT16,
 * because SDP writes two atoms at a time when it widens INT8 to INT16
 */
uint32_t channelUnit(DataType type, const CoreGeometry &core);

/** \brief Make 1x1 kernels that copy \a runs from a surface of \a c channels */
GraphWeights selection(const std::string &name, DataType type, uint32_t c,
		       const std::vector<ChannelRun> &runs);

/**
 * \brief A surface that is written in parts that begin at any channel
 *
 * The parts are written to a scratch surface, where each begins at a whole atom; a convolution
 * then packs their channels into the surface itself.
 */
struct Join {
	std::string apart; /**< name of the scratch surface */
	uint32_t c = 0;	   /**< channels of the scratch surface */
	std::vector<ChannelRun> runs;
	std::set<std::string> parts; /**< names of the parts that operations write */
	bool done = false;	     /**< the packing convolution was added */
};

/**
 * \brief Find the surfaces that need a Join, by name
 *
 * Changes the declarations in \a symbols: the parts become parts of Join::apart.
 */
std::map<std::string, Join> findJoins(const std::vector<op::Any> &operations, Symbols &symbols);

} /* namespace nvdla::assembly */
