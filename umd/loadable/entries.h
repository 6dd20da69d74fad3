/* SPDX-License-Identifier: MIT */
/*
 * Entries of a loadable that is put together.
 */
#pragma once

#include <nvdla/loadable.h>

namespace nvdla
{

/** \return the entry that describeTensor() makes \a desc of; without an id, and in no memory */
TensorEntry tensorEntry(const TensorDesc &desc);

/**
 * \brief Add a task behind those that there are
 *
 * It signals its end; the next one waits for that. It gets its id, and is submitted.
 */
void addTask(Loadable &loadable, Task task);

} /* namespace nvdla */
