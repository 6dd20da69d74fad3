/* SPDX-License-Identifier: MIT */
/* Code shared by the modules of host_interface.h, which run models with libraries of the host. */
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/host/host_interface.h"

namespace nvdla::host
{

/** \brief Exception with the reason why a function of the module fails; said() reports it */
struct Failure : std::exception {
	explicit Failure(std::string text) : message(std::move(text)) {}
	const char *what() const noexcept override { return message.c_str(); }

	std::string message;
};

/*
 * Calls \a call. Exceptions do not leave the module: their text is reported by \a say. \return 0,
 * or 1 after an exception
 */
template<typename Call>
int said(void *context, nvdla_host_say say, const Call &call) noexcept
{
	try {
		call();
		return 0;
	} catch (const std::exception &error) {
		say(context, error.what());
	}
	return 1;
}

/** \return a shape as text for messages, such as "1 x 8 x 8" */
template<typename Extent>
std::string shapeText(const Extent *shape, size_t rank)
{
	std::string text;

	for (size_t i = 0; i < rank; i++)
		text += (i ? " x " : "") + std::to_string(shape[i]);
	return text;
}

/**
 * \brief The caller's function (and its context) that gives memory for outputs whose shape is known
 * only after the run
 */
struct Room {
	void *context;
	nvdla_host_room give;
};

/**
 * \brief Find the memory for an output of the library
 *
 * The memory is that of the network's tensor \a to, or comes from \a room if \a to has unknown
 * extents (below 0). Throws Failure if type, shape or size of the output differ from those of
 * \a to, or if \a room has no memory.
 *
 * \param[in] index number of the output, for \a room
 * \param[in] type,shape,rank,size the library's output; \a size in bytes
 * \return memory for the output's elements
 */
inline void *placeOf(const nvdla_host_array &to, size_t index, int32_t type, const int64_t *shape,
		     size_t rank, size_t size, const Room &room)
{
	const auto fits = [](int64_t extent, int64_t wanted) {
		return extent == wanted || wanted < 0;
	};
	void *data = to.data;

	if (type != to.type || !std::equal(shape, shape + rank, to.shape, to.shape + to.rank, fits))
		throw Failure(std::string("'") + to.name + "' is " + shapeText(shape, rank) +
			      " of type " + std::to_string(type) + ", the network has " +
			      shapeText(to.shape, to.rank) + " of type " + std::to_string(to.type) +
			      ": its size depends on the inputs' numbers");
	if (std::any_of(to.shape, to.shape + to.rank, [](int64_t extent) { return extent < 0; })) {
		if (room.give(room.context, index, shape, rank, &data))
			throw Failure(std::string("'") + to.name + "' is " +
				      shapeText(shape, rank) +
				      ": it has 4 GiB or more, or there is no memory for it");
		return data;
	}
	if (size != to.size)
		throw Failure(std::string("'") + to.name + "' has " + std::to_string(size) +
			      " bytes, not " + std::to_string(to.size));
	return data;
}

} /* namespace nvdla::host */
