// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <linux/mm.h>

/* Since 7.3; earlier kernels have a function that takes the flags instead. */
bool probe(const struct vm_area_struct *vma);
bool probe(const struct vm_area_struct *vma)
{
	return vma_is_cow_mapping(vma);
}
