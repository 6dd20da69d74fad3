/* SPDX-License-Identifier: MIT */
#ifndef NVDLA_HW_FIELD_H
#define NVDLA_HW_FIELD_H

/*
 * Register fields in user space, C and C++. The kernel has its own: FIELD_PREP() and FIELD_GET()
 * take the same masks.
 *
 * A mask is one contiguous run of bits, as registers.h defines it. These macros are constant
 * expressions if their arguments are. They evaluate the mask more than once: pass a constant.
 */

/** Lowest bit of a field, which is also the weight of one step of its value. */
#define NVDLA_FIELD_UNIT(mask) ((mask) & (~(mask) + 1U))

/** Largest value that a field can hold. */
#define NVDLA_FIELD_MAX(mask) ((mask) / NVDLA_FIELD_UNIT(mask))

/** True if @value, taken as unsigned, fits the field. */
#define NVDLA_FIELD_FITS(mask, value) ((unsigned long long)(value) <= NVDLA_FIELD_MAX(mask))

/**
 * @value shifted into the field, to be ORed into a register. Bits that do not fit are dropped, so
 * that negative values of signed fields can be given directly; check others with
 * NVDLA_FIELD_FITS().
 */
#define NVDLA_FIELD_PREP(mask, value) (((unsigned int)(value) * NVDLA_FIELD_UNIT(mask)) & (mask))

/** Value of a field in the register value @word, unsigned. */
#define NVDLA_FIELD_GET(mask, word) (((word) & (mask)) / NVDLA_FIELD_UNIT(mask))

/** Value of a field in the register value @word, as a two's complement number. */
#define NVDLA_FIELD_GET_SIGNED(mask, word)                                      \
	((int)((NVDLA_FIELD_GET(mask, word) ^ ((NVDLA_FIELD_MAX(mask) >> 1) + 1U)) - \
	       ((NVDLA_FIELD_MAX(mask) >> 1) + 1U)))

/** The register value @word with one field set to @value and the others kept. */
#define NVDLA_FIELD_REPLACE(mask, word, value) \
	(((word) & ~(mask)) | NVDLA_FIELD_PREP(mask, value))

#endif
