/* SPDX-License-Identifier: MIT */
/*
 * Options of a plug-in, which an application sets.
 */
#pragma once

#include <string>

#include <nvdla/device.h>
#include <nvdla/error.h>

namespace nvdla::plugin
{

/** \brief Operators that the device may compute, by the type of their numbers */
enum class Precision {
	Any,	 /**< all: integer operators in integers, others in FP16 */
	Integer, /**< only integer operators; the framework computes the others */
};

/** \brief Options of a plug-in */
struct Options {
	/** \brief Path for Device::open(); empty: the first device that the kernel drives */
	std::string device;
	Precision precision = Precision::Any;
	Priority priority = Priority::Normal;
	/** \brief Folder in which compiled models are kept; empty: they are not kept */
	std::string cacheFolder;
	/** \brief When a partition is destroyed, log the number and the times of its runs */
	bool profile = false;

	/**
	 * \brief Set an option from text
	 *
	 * The keys and their values: "device" (a path), "precision" ("any", "integer"), "priority"
	 * ("low", "normal", "high"), "cache_dir" (a folder), "profile" ("true", "false").
	 *
	 * \return InvalidArgument naming the wrong key or value, and the valid ones
	 */
	Result<void> set(const std::string &key, const std::string &value);
};

} /* namespace nvdla::plugin */
