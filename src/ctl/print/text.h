/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - numbers, sizes and untrusted strings in readable form. Names from applications and
 * daemons must not control a terminal: all output passes through text_printable() or text_escape().
 */
#ifndef CTL_PRINT_TEXT_H
#define CTL_PRINT_TEXT_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

/** @text as one word of the shell, quoted if it has to be. Return: allocated. */
char *text_shell_word(const char *text);
/** 512 B, 4 MiB, 4.1 MiB */
const char *text_size(char buf[TEXT_BYTES], uint64_t bytes);
/** 340 us, 12.3 s, 3 min 20 s, 5 h 12 min */
const char *text_duration(char buf[TEXT_BYTES], uint64_t ns);
/** 340 ns, 12.345 ms, 200.000 s: to the thousandth, as such times are added and compared. */
const char *text_time(char buf[TEXT_BYTES], uint64_t ns);

/** Read the first @len - 1 bytes of a file as a string. Return: its length; 0: can't be read. */
size_t text_read(const char *path, char *buf, size_t len);

/** A copy in which all strings are escaped. */
struct json_object *text_printable(struct json_object *record);
/** Print JSON as lttctl(1) describes it: harmful characters (base/escape.h) are escaped as \u,
 *  large integers are strings, strings that are no UTF-8 objects. */
void text_json(FILE *out, struct json_object *record);
/** The same in one line. */
void text_json_line(FILE *out, struct json_object *record);
/** Append an element to a file, for lists of any length. */
void text_json_element(FILE *out, struct json_object *record);
/** The array of the elements that were appended to @stored, as a member of a verb's record, which
 *  has one such array at most. */
struct json_object *text_json_stored(FILE *stored);
/** Copy a file that was written to, from its beginning. */
void text_stored(FILE *out, FILE *stored);

/**
 * text_form() - print a text with members of a record.
 * @form: {NAME} is the member, {NAME.NAME} one of a member, {NAME.0} the first element of an array
 *	and {} the record itself. An array is its elements, between commas. {NAME:KIND} is a number
 *	as a count (n), size (b), duration of ns (t) or us (u), time of ns to the thousandth (T),
 *	date (d) or the "s" of a plural (s), or an array as words (w).
 *	[PART|PART...]: the first part that holds is printed. A part holds unless one of these in
 *	it doesn't: {NAME?}, {NAME:KIND?}, and, which print nothing, {?NAME}, {NAME=WORD},
 *	{NAME^BEGIN} and {!NAME}, which holds if {?NAME} doesn't. Nothing, "", 0 and false don't.
 */
void text_form(FILE *out, struct json_object *record, const char *form);
/** The same for each element of the array @key. */
void text_forms(FILE *out, struct json_object *record, const char *key, const char *form);

#endif
