/* SPDX-License-Identifier: MIT */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/** path: of the digits' model. Return: 0, or the line of what is not as it should be */
int c_api_model(const char *path);

#ifdef __cplusplus
}
#endif
