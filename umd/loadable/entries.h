/* SPDX-License-Identifier: MIT */
/* Construction of a loadable, entry by entry. */
#pragma once

#include <span>

#include <nvdla/loadable.h>

namespace nvdla
{

/** \return the tensor entry from which describeTensor() derives \a desc; its id and memory are not
 * set */
TensorEntry tensorEntry(const TensorDesc &desc);

/** \brief Do Loadable::check() without limiting the sizes of addresses */
Result<void> checkLoadable(const Loadable &loadable);

/**
 * \brief Make an input and an output of the same layout the tensors of a state
 * \param[in] input, output their bind ids
 * \param[in] first numbers that the first run reads, in the order of the input's signature
 * \return Unsupported naming the tensors if their layouts differ
 */
Result<void> addState(Loadable &loadable, size_t input, size_t output,
		      std::span<const float> first);

/**
 * \brief Add a task after the existing ones
 *
 * The task gets an id and is added to the submit list. It signals its end, for which the next task
 * waits.
 */
void addTask(Loadable &loadable, Task task);

} /* namespace nvdla */
