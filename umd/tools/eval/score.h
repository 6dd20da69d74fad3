/* SPDX-License-Identifier: MIT */
/*
 * Counts the pictures that a network recognizes.
 */
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace nvdla::eval
{

/** \brief The answers of one network to a set of pictures */
struct Score {
	std::string network;
	size_t pictures = 0;
	size_t first = 0;	 /**< pictures whose class had the largest output */
	size_t firstFive = 0;	 /**< pictures whose class had one of the five largest outputs */
	double milliseconds = 0; /**< total time of all runs */
	std::vector<size_t> answers; /**< class with the largest output, for each picture */

	/**
	 * \brief Count a picture of class \a label, whose run took \a took ms
	 * \param[in] best classes with the largest outputs, largest first
	 */
	void add(size_t label, std::span<const size_t> best, double took);
};

/** \return share of the pictures for which both networks give the same class the largest output, 0
 * to 1 */
double agreement(const Score &one, const Score &other);

/** \return a table with a line for each network. With several networks, each line also has the
 * agreement() with the first network. A last line names the device
 * \param[in] device where the networks ran, and whose time the times are */
std::string scoreTable(const std::vector<Score> &scores, const std::string &device);

/** \return the figures of scoreTable() as a JSON object */
std::string scoreJson(const std::vector<Score> &scores, const std::string &device);

} /* namespace nvdla::eval */
