/* SPDX-License-Identifier: MIT */
/* Bound tensors: tensors in buffers of the application. */
#pragma once

#include <nvdla/loadable.h>
#include <nvdla/request.h>

#include "runtime/program.h"
#include "runtime/request_state.h"
#include "runtime/resident_memory.h"

namespace nvdla
{

/**
 * \brief Check that \a place, a buffer of the application, may take the place of a tensor's memory
 * \param[in] where description of the tensor, for messages
 */
Result<void> checkBinding(const Program &program, const Loadable &loadable, const Device &device,
			  const TensorDesc &tensor, const TensorPlace &place,
			  const std::string &where);

/**
 * \brief Check that no tensor that the network writes shares bytes of a bound buffer with another
 * tensor
 */
Result<void> checkOverlaps(const RequestState &request, const Program &program,
			   const Loadable &loadable, uint32_t atomBytes);

/**
 * \return the bytes of a bound buffer that operations may access: as many as the memory has,
 * rounded up to whole atoms
 */
MemoryPlace memoryPlace(const TensorPlace &bound, const Memory &memory, uint32_t atomBytes);

} /* namespace nvdla */
