/* SPDX-License-Identifier: MIT */
/* Checks whether a network is for the core that a device has. */
#pragma once

#include "runtime/program.h"

namespace nvdla
{

/** \return Unsupported if the loadable, or the layout of its surfaces, is for another core */
Result<void> checkCore(const Device &device, const Loadable &loadable, const Program &program);

/**
 * \brief Explain why a device may have refused a network
 * \return an error that names another core if one would accept the loadable, otherwise \a refusal
 */
Error explainRefusal(const Device &device, const Loadable &loadable, const Program &program,
		     const Error &refusal);

} /* namespace nvdla */
