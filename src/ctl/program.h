/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - --userspace-probe: the requested place, its file, and the offset in it, in the form
 * of the session daemon's messages. Of one run of lttctl, with its user's rights.
 */
#ifndef CTL_PROGRAM_H
#define CTL_PROGRAM_H

#include "base/err.h"

/**
 * struct program_places - allocated; program_places_fini() it.
 * @file: absolute path. @places: as client.def has it.
 * @left_out: arguments of a USDT probe that can't be recorded, a list for messages; or NULL.
 */
struct program_places {
	char *file, *places, *left_out;
};

void program_places_fini(struct program_places *places);

/**
 * program_find() - find the place. @location: PATH:SYMBOL, elf:PATH:SYMBOL,
 * function:PATH:SYMBOL, return:PATH:SYMBOL or sdt:PATH:PROVIDER:NAME; PATH without a slash is
 * searched in the directories of programs, then of libraries; \: is a colon in it.
 * Return: 0 or the code set in @err.
 */
int program_find(const char *location, struct program_places *ret, struct err *err) MUST_CHECK;

#endif
