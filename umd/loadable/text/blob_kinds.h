/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <nvdla/loadable.h>

#include "layouts.h"

namespace nvdla::text
{

/** \brief What a blob is: a kind of descriptor list */
struct BlobKind {
	const ListKind *kind = nullptr;
	/** \brief Which of the kind's layouts each entry has */
	std::vector<uint8_t> types;
};

/**
 * \brief Find the blobs of a loadable that are descriptor lists, by name
 *
 * Goes by what the tasks' network descriptors say; what is damaged there is
 * left out.
 */
std::unordered_map<std::string, BlobKind> findBlobKinds(const Loadable &loadable);

} /* namespace nvdla::text */
