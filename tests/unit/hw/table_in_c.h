/* SPDX-License-Identifier: MIT */
#ifndef TABLE_IN_C_H
#define TABLE_IN_C_H

#ifdef __cplusplus
extern "C" {
#endif

/* Number of registers in all units, counted by C code over its own copy of the table. */
unsigned int registers_seen_by_c(void);

/* SDP.D_DATA_FORMAT for INT16 arithmetic and FP16 output, built by C code. */
unsigned int data_format_built_by_c(void);

#ifdef __cplusplus
}
#endif

#endif
