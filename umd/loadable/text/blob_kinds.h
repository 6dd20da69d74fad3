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

/** \brief Kind of the descriptor list in a blob */
struct BlobKind {
	const ListKind *kind = nullptr;
	/** \brief For each entry, the index of its layout in kind->entries */
	std::vector<uint8_t> types;
};

/**
 * \brief Find the blobs of a loadable that are descriptor lists, by name
 *
 * The kinds follow from the tasks' network descriptors; damaged descriptors are
 * left out.
 */
std::unordered_map<std::string, BlobKind> findBlobKinds(const Loadable &loadable);

} /* namespace nvdla::text */
