/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - finds the places in a program that the option --userspace-probe names: the file, and
 * offsets in it, in the format of messages to the session daemon. Runs with the user's rights.
 */
#ifndef CTL_PROGRAM_H
#define CTL_PROGRAM_H

#include "base/err.h"

/**
 * struct program_places - allocated; program_places_fini() it.
 * @file: absolute path. @places: in the format of the field `places` in client.def.
 * @left_out: arguments of a USDT probe that can't be recorded, a list for messages; or NULL.
 */
struct program_places {
	char *file, *places, *left_out;
};

void program_places_fini(struct program_places *places);

/**
 * program_find() - find the place. @location: PATH:SYMBOL, elf:PATH:SYMBOL,
 * function:PATH:SYMBOL, return:PATH:SYMBOL or sdt:PATH:PROVIDER:NAME; PATH without a slash is
 * searched in the directories of programs, then of libraries; "\:" in PATH is a colon.
 * Return: 0 or the code set in @err.
 */
int program_find(const char *location, struct program_places *ret, struct err *err) MUST_CHECK;

#endif
