/* SPDX-License-Identifier: MIT */
/* Building blocks of the tables of fields. */
#pragma once

#include <cstddef>
#include <type_traits>

#include "layouts.h"

namespace nvdla::text
{

/* Only for decltype: deducing T drops the alignment attributes that some members have. */
template<typename T>
std::integral_constant<Kind, std::is_floating_point_v<T> ? Kind::Float
			     : std::is_signed_v<T>	 ? Kind::Signed
							 : Kind::Unsigned>
	kindOf(T);

#define FIELD_BASE(type, member) .offset = offsetof(type, member), .bytes = sizeof(type::member)

#define FIELD_KIND(type, member) .kind = decltype(::nvdla::text::kindOf(type{}.member))::value

/** \brief A number, always written */
#define FIELD(type, member)                                                                        \
	Field                                                                                      \
	{                                                                                          \
		.name = #member, FIELD_BASE(type, member), FIELD_KIND(type, member)                \
	}

/** \brief A number with a name other than its member's */
#define FIELD_AS(text, type, member)                                                               \
	Field                                                                                      \
	{                                                                                          \
		.name = text, FIELD_BASE(type, member), FIELD_KIND(type, member)                   \
	}

/** \brief A number whose values have names */
#define FIELD_NAMED(type, member, names)                                                           \
	Field                                                                                      \
	{                                                                                          \
		.name = #member, FIELD_BASE(type, member), FIELD_KIND(type, member),               \
		.nameOf = names                                                                    \
	}

/** \brief A number that is left out if it equals \a usually */
#define FIELD_OPTIONAL(type, member, usually)                                                      \
	Field                                                                                      \
	{                                                                                          \
		.name = #member, FIELD_BASE(type, member), FIELD_KIND(type, member),               \
		.usual = usually, .optional = true                                                 \
	}

#define FIELD_OPTIONAL_AS(text, type, member)                                                      \
	Field                                                                                      \
	{                                                                                          \
		.name = text, FIELD_BASE(type, member), FIELD_KIND(type, member), .optional = true \
	}

#define FIELD_NAMED_OPTIONAL(type, member, names)                                                  \
	Field                                                                                      \
	{                                                                                          \
		.name = #member, FIELD_BASE(type, member), FIELD_KIND(type, member),               \
		.nameOf = names, .optional = true                                                  \
	}

#define FIELD_ARRAY(type, member)                                                                  \
	.name = #member, .offset = offsetof(type, member), .bytes = sizeof(type::member[0]),       \
	.count = std::extent_v<decltype(type::member)>

/** \brief An array of numbers; zeros at its end are left out */
#define FIELD_NUMBERS(type, member)                                                                \
	Field                                                                                      \
	{                                                                                          \
		FIELD_ARRAY(type, member), .kind = decltype(kindOf(type{}.member[0]))::value,      \
					   .optional = true                                        \
	}

/** \brief A structure, which is left out if all its members have their usual values */
#define FIELD_STRUCT(type, member, of)                                                             \
	Field                                                                                      \
	{                                                                                          \
		.name = #member, FIELD_BASE(type, member), .kind = Kind::Struct, .layout = &of,    \
		.optional = true                                                                   \
	}

/**
 * \brief An array of structures; those at its end with only usual values are left out. With \a
 * names (of the indices) an object instead of an array, without any structure of usual values.
 */
#define FIELD_STRUCTS(type, member, of, names)                                                     \
	Field                                                                                      \
	{                                                                                          \
		FIELD_ARRAY(type, member), .kind = Kind::Struct, .layout = &of, .nameOf = names,   \
					   .optional = true                                        \
	}

} /* namespace nvdla::text */
