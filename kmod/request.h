/* SPDX-License-Identifier: GPL-2.0-only */
/* request.h - copies size-prefixed structures from and to user space (abi/ltt_kmod.h). */
#ifndef KMOD_REQUEST_H
#define KMOD_REQUEST_H

#include <linux/uaccess.h>

/** Return: 0 or -errno; members that an older caller's structure lacks are zero. */
static inline int request_get(void *request, size_t size, const void __user *from)
{
	u32 theirs;

	if (get_user(theirs, (const u32 __user *)from))
		return -EFAULT;
	if (theirs < sizeof(u32) || theirs > PAGE_SIZE)
		return -EINVAL;
	return copy_struct_from_user(request, size, from, theirs);
}

/** Copy the output to the caller. @request begins with the caller's size, from request_get(). */
static inline int request_put(void __user *to, const void *request, size_t size)
{
	u32 theirs = *(const u32 *)request;

	return copy_to_user(to, request, min_t(size_t, theirs, size)) ? -EFAULT : 0;
}

/** Whether a caller's text in @size bytes is terminated. */
static inline bool request_text_ends(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

#endif
