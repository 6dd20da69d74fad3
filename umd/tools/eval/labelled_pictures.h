/* SPDX-License-Identifier: MIT */
/*
 * Pictures of which it is known what they show.
 */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nvdla/error.h>

namespace nvdla::eval
{

/** \brief A picture and its class */
struct LabelledPicture {
	std::string path;
	size_t label = 0; /**< index in the list of labels */
};

/**
 * \brief The class that a name stands for
 *
 * The name is a whole label, the first word of one ("n01440764 tench"), or an index.
 *
 * \return the index; InvalidArgument if no label has that name, or several have it
 */
Result<size_t> findLabel(const std::vector<std::string> &labels, const std::string &name);

/**
 * \brief Find the pictures in the folders below \a folder, each of which has the name of a class
 * \return at least one picture, by name of the folder and of the file
 */
Result<std::vector<LabelledPicture>> picturesInFolders(const std::string &folder,
						       const std::vector<std::string> &labels);

/**
 * \brief Find the pictures that a text file lists, a line each: path below \a folder, space, class
 * \return at least one picture, in the order of the file
 */
Result<std::vector<LabelledPicture>> picturesInList(const std::string &folder,
						    const std::string &list,
						    const std::vector<std::string> &labels);

} /* namespace nvdla::eval */
