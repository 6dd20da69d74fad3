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

/** \brief Which operators the device may compute, by the type of their numbers */
enum class Precision {
	Any,	 /**< integer operators in integers, others in FP16 */
	Integer, /**< only integer operators; the framework computes the others */
};

/** \brief Options of a plug-in; frameworks give them as text */
struct Options {
	/** \brief Path for Device::open(); empty: the first device that the kernel drives */
	std::string device;
	Precision precision = Precision::Any;
	Priority priority = Priority::Normal;
	/** \brief Folder in which compiled models are kept; empty: they are not kept */
	std::string cacheFolder;
	/** \brief When a partition is destroyed, log how often it ran, and how long */
	bool profile = false;

	/**
	 * \brief Set an option
	 *
	 * "device", "precision" ("any", "integer"), "priority" ("low", "normal", "high"),
	 * "cache_dir", "profile" ("true", "false").
	 *
	 * \return InvalidArgument naming the wrong key or value, and the valid ones
	 */
	Result<void> set(const std::string &key, const std::string &value);
};

} /* namespace nvdla::plugin */
