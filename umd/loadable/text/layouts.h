/* SPDX-License-Identifier: MIT */
/*
 * Descriptors as tables of fields: the single description that writing and reading of the text form
 * use.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "names.h"

namespace nvdla::text
{

struct Layout;

enum class Kind : uint8_t {
	Unsigned,
	Signed,
	Float,
	Struct,
};

/** \brief Member of a descriptor */
struct Field {
	const char *name;
	size_t offset;
	size_t bytes;	  /**< bytes of one element */
	size_t count = 1; /**< number of elements; above 1: an array */
	Kind kind = Kind::Unsigned;
	const Layout *layout = nullptr; /**< layout of a Struct */
	NameOf nameOf = nullptr; /**< names of values, or of indices of an array of structs */
	int usual = 0;		 /**< value of the field if the text omits it */
	bool optional = false;	 /**< left out when it has its usual value */
};

/** \brief Structure in memory; little endian, any alignment */
struct Layout {
	const char *name;
	size_t bytes;
	std::span<const Field> fields;
};

/**
 * \brief Kind of a descriptor list: type of the entries of a blob
 *
 * Kinds may share a layout and differ in their stride. An entry of an older kind is shorter: it has
 * only those fields of the layout that end within its stride.
 */
struct ListKind {
	const char *name; /**< name in the text form */
	size_t stride;	  /**< bytes of an entry */
	/** \brief Layouts of an entry; one, or one for each type of operation */
	std::span<const Layout *const> entries;
};

extern const ListKind dlaNetworkList;
extern const ListKind dlaGraphList;
extern const ListKind dlaOperationList;
extern const ListKind dlaExtendedOperationList;
extern const ListKind dlaSurfaceList;
extern const ListKind dlaLegacySurfaceList;
extern const ListKind dlaLutList;
extern const ListKind emuNetworkList;
extern const ListKind emuOperationList;
extern const ListKind emuLegacyOperationList;
extern const ListKind emuBufferList;
extern const ListKind emuLegacyBufferList;

/** \return the kind with the given name; nullptr if there is none */
const ListKind *findListKind(std::string_view name);

/** \return names of all kinds, for error messages */
std::string allListKinds();

} /* namespace nvdla::text */
