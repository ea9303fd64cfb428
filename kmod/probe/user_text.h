/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_text.h - a text in the memory of the current task, read in atomic context.
 * Tasks only, preemption off or not.
 */
#ifndef KMOD_USER_TEXT_H
#define KMOD_USER_TEXT_H

#include <linux/types.h>

/**
 * user_text() - copies a text and its NUL, or as much of it as there is @room for.
 * "(null)" for no address; "(fault)" where the memory isn't there, or is not resident.
 * Return: bytes, the NUL included.
 */
u32 user_text(char *to, u32 room, const char __user *from);

#endif
