// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <linux/uaccess.h>

/* Compiles if the kernel has copy_struct_to_user(): since Linux 6.13. */
int probe(void __user *to, size_t user_size, const void *from, size_t size);
int probe(void __user *to, size_t user_size, const void *from, size_t size)
{
	return copy_struct_to_user(to, user_size, from, size, NULL);
}
