/* SPDX-License-Identifier: MIT */
/*
 * A submit's arguments, and what is wrong with them.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nvdla_args.h>
#include <nvdla_task.h>

namespace nvdla::test
{

/** \brief Arguments of a small submit with one buffer; nothing is behind its pointers */
struct SubmitArgs {
	SubmitArgs();

	/** \return 0 or -EINVAL and \a error, as a driver that looks at all of them */
	int check();

	drm_nvdla_submit submit = {};
	drm_nvdla_task task = {};
	drm_nvdla_address address = {};
	nvdla_task_extent buffer = {};
	bool hasBuffer = true;
	nvdla_task_extent extent = {};
	drm_nvdla_error error = {};
};

/** \brief A violation of a rule */
struct ArgsCase {
	std::string rule;			  /**< name in drm/nvdla_rules.h */
	std::string field;			  /**< field that the error names */
	std::function<void(SubmitArgs &)> change; /**< breaks the rule */
};

std::vector<ArgsCase> argsCases();

} /* namespace nvdla::test */
