// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <linux/module.h>

/* A string since 6.13; before, one would compile as well, but name another namespace. */
MODULE_IMPORT_NS(DMA_BUF);
