/* SPDX-License-Identifier: MIT */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "task_builder.h"

namespace nvdla::test
{

/** \brief A violation of a rule */
struct RuleCase {
	std::string rule;			   /**< name in drm/nvdla_rules.h */
	std::string field;			   /**< field that the error names */
	std::function<void(TaskBuilder &)> build;  /**< makes a valid task */
	std::function<void(TaskBuilder &)> change; /**< breaks the rule */
};

std::vector<RuleCase> taskRuleCases();
std::vector<RuleCase> convRuleCases();
/** \brief Those of convRuleCases() that are about two convolutions */
std::vector<RuleCase> convReuseRuleCases();
std::vector<RuleCase> sdpRuleCases();
std::vector<RuleCase> lutRuleCases();
std::vector<RuleCase> otherRuleCases();

} /* namespace nvdla::test */
