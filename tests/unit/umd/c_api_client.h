/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** With c_api_model() of tests/compiler they use everything in nvdla.h. Return: 0, or the line of
 * what is not as it should be */
int c_api_client(const void *loadable, size_t size, const char *path);
int c_api_runs(const void *loadable, size_t size);
/** loadable: as of c_api_runs(), but of a model whose arrays are 1 x 4 x 3, channels last */
int c_api_model_order(const void *loadable, size_t size);

#ifdef __cplusplus
}
#endif
