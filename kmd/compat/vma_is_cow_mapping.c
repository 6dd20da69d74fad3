// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <linux/mm.h>

/*
 * Compiles since Linux 7.3; earlier kernels have is_cow_mapping(), which takes the flags instead.
 */
bool probe(const struct vm_area_struct *vma);
bool probe(const struct vm_area_struct *vma)
{
	return vma_is_cow_mapping(vma);
}
