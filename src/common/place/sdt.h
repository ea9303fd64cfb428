/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sdt.h - a note about a USDT probe, as a program's section .note.stapsdt has it, and the
 * descriptions of its arguments: their locations at the probe. The program is untrusted. Pure.
 */
#ifndef PLACE_SDT_H
#define PLACE_SDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define SDT_NAME "stapsdt" /* name of the notes */
#define SDT_TYPE 3u
#define SDT_MAX_ARGS 16u

/** struct sdt_note - texts point into the note. @base: address of .stapsdt.base that the note's
 *  addresses assume. */
struct sdt_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *args;
};

/** Parse a note. @desc: its data, after the name. Return: false: it is malformed. */
bool sdt_note_parse(const void *desc, size_t len, bool is_64, struct sdt_note *ret) MUST_CHECK;

/**
 * struct sdt_arg - one argument.
 * @value: in the language of --fetch; empty: not available.
 */
struct sdt_arg {
	char value[80];
	uint8_t bytes;
	bool is_signed;
};

/** Find the address of a symbol in the program. Return: false: unknown. */
typedef bool (*sdt_resolve)(void *data, const char *symbol, uint64_t *ret);

/** Parse the arguments of a probe. @text: from the note. @pc: address of the probe in the program.
 *  Return: number of arguments. */
unsigned int sdt_args_parse(const char *text, uint64_t pc, sdt_resolve resolve, void *data,
			    struct sdt_arg ret[SDT_MAX_ARGS]) MUST_CHECK;

#endif
