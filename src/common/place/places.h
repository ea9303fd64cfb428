/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * places.h - a place in a program by its name, and the text of its offsets in a file that rules of
 * the session daemon have. The file is untrusted. Runs with the rights of the reader of the file.
 */
#ifndef PLACE_PLACES_H
#define PLACE_PLACES_H

#include "elf_place.h"

/** struct location - the requested place; texts are of one allocation. @provider: of a USDT probe;
 *  else NULL. */
struct location {
	char *text, *path, *provider, *symbol;
};

/** Parse [elf:|return:]PATH:SYMBOL or sdt:PATH:PROVIDER:NAME. Return: 0 or the code in @err. */
int location_parse(const char *text, struct location *ret, struct err *err) MUST_CHECK;
void location_fini(struct location *location);

/** struct places - @text: device, inode, size, time and all places. @left_out: arguments that are
 *  not available everywhere, comma-separated; part of @text's memory. Owned by the caller;
 *  places_fini() it also after a failure. */
struct places {
	struct elf_places found;
	char *text;
	const char *left_out;
};

/** Find the place in a file. @file: its path, for messages. Return: 0 or the code in @err. */
int places_find(int fd, const char *file, const struct location *location, struct places *ret,
		struct err *err) MUST_CHECK;
void places_fini(struct places *places);

#endif
