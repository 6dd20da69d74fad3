/* SPDX-License-Identifier: MIT */
/*
 * Pictures with the class that each of them shows.
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
	size_t label = 0; /**< class of the picture: index in the list of labels */
};

/**
 * \brief Find the class with a name
 *
 * The name is a whole label, the first word of a label ("n01440764" of "n01440764 tench"), or an
 * index.
 *
 * \return the index; InvalidArgument if no label has that name, or several have it
 */
Result<size_t> findLabel(const std::vector<std::string> &labels, const std::string &name);

/**
 * \brief Find the pictures in the subfolders of \a folder; the name of each subfolder is the
 * name of a class
 * \return at least one picture, sorted by subfolder and file name
 */
Result<std::vector<LabelledPicture>> picturesInFolders(const std::string &folder,
						       const std::vector<std::string> &labels);

/**
 * \brief Find the pictures that the text file \a list names; a line has the path of a picture below
 * \a folder, a space and the class
 * \return at least one picture, in the order of the file
 */
Result<std::vector<LabelledPicture>> picturesInList(const std::string &folder,
						    const std::string &list,
						    const std::vector<std::string> &labels);

} /* namespace nvdla::eval */
