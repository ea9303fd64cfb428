/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_text.h - reads a NUL-terminated string from the memory of the current task, without
 * sleeping. Process context only, with preemption on or off.
 */
#ifndef KMOD_USER_TEXT_H
#define KMOD_USER_TEXT_H

#include <linux/types.h>

/**
 * user_text() - copy a string, truncated to @room bytes; the copy is always NUL-terminated.
 * "(null)" if the address is NULL; "(fault)" if the memory is not mapped, or not resident.
 * Return: bytes, the NUL included.
 */
u32 user_text(char *to, u32 room, const char __user *from);

#endif
