/* SPDX-License-Identifier: GPL-2.0-only */
#include "text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/mem.h"
#include "json.h"

const char *text_size(char buf[TEXT_BYTES], uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes / 1024;
	size_t unit = 0;
	bool whole;

	if (bytes < 1024) {
		snprintf(buf, TEXT_BYTES, "%" PRIu64 " B", bytes);
		return buf;
	}
	while (v >= 1023.95 && unit + 1 < ARRAY_SIZE(units)) {
		v /= 1024;
		unit++;
	}
	whole = (bytes & ((UINT64_C(1) << (unit + 1) * 10) - 1)) == 0;
	snprintf(buf, TEXT_BYTES, "%.*f %s", whole ? 0 : 1, v, units[unit]);
	return buf;
}

const char *text_duration(char buf[TEXT_BYTES], uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (ns < 1000000)
		snprintf(buf, TEXT_BYTES, "%" PRIu64 " us", ns / 1000);
	else if (s < 1)
		snprintf(buf, TEXT_BYTES, "%" PRIu64 " ms", ns / 1000000);
	else if (s < 60)
		snprintf(buf, TEXT_BYTES, "%.1f s", (double)(ns / 100000000) / 10);
	else if (s < 3600)
		snprintf(buf, TEXT_BYTES, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(buf, TEXT_BYTES, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
	return buf;
}

const char *text_time(char buf[TEXT_BYTES], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns < units[i].ns)
			continue;
		snprintf(buf, TEXT_BYTES, "%.3f %s", (double)ns / (double)units[i].ns,
			 units[i].name);
		return buf;
	}
	snprintf(buf, TEXT_BYTES, "%u ns", (unsigned int)ns);
	return buf;
}

static struct json_object *printable_array(struct json_object *array)
{
	struct json_object *copy = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(array); i++)
		json_object_array_add(copy, text_printable(json_object_array_get_idx(array, i)));
	return copy;
}

struct json_object *text_printable(struct json_object *record)
{
	struct json_object *copy;

	switch (json_object_get_type(record)) {
	case json_type_array:
		return printable_array(record);
	case json_type_string: {
		char *text AUTO_FREE = text_escape(json_object_get_string(record));

		return json_object_new_string(text);
	}
	case json_type_object:
		copy = json_object_new_object();
		json_object_object_foreach(record, key, value)
			json_object_object_add(copy, key, text_printable(value));
		return copy;
	default:
		return json_object_get(record);
	}
}

/* ---- JSON ---- */

/* {"text": "a\ufffd", "hex": "61ff"} */
static struct json_object *ctl_text_bytes(const char *s)
{
	struct json_object *o = json_object_new_object();
	char *hex AUTO_FREE = xalloc(2 * strlen(s) + 1);

	for (size_t i = 0; s[i]; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)s[i]);
	json_object_object_add(o, "text", json_object_new_string(s));
	json_object_object_add(o, "hex", json_object_new_string(hex));
	return o;
}

static struct json_object *ctl_text_exact_number(struct json_object *number)
{
	int64_t least = json_object_get_int64(number); /* INT64_MAX for one beyond */

	if (least >= -(int64_t)TEXT_JSON_MOST && least <= (int64_t)TEXT_JSON_MOST)
		return json_object_get(number);
	return json_object_new_string(json_object_get_string(number));
}

/* A copy with large integers and bytes that are no text as lttctl(1) describes them. */
static struct json_object *ctl_text_exact(struct json_object *record)
{
	struct json_object *copy;
	const char *s;

	switch (json_object_get_type(record)) {
	case json_type_array:
		if (json_object_get_userdata(record)) /* stored */
			return json_object_get(record);
		copy = json_object_new_array();
		for (size_t i = 0; i < json_object_array_length(record); i++)
			json_object_array_add(copy,
					      ctl_text_exact(json_object_array_get_idx(record, i)));
		return copy;
	case json_type_object:
		copy = json_object_new_object();
		json_object_object_foreach(record, key, value)
			json_object_object_add(copy, key, ctl_text_exact(value));
		return copy;
	case json_type_string:
		s = json_object_get_string(record);
		return text_is_utf8((const uint8_t *)s, strlen(s)) ? json_object_get(record) :
								     ctl_text_bytes(s);
	case json_type_int:
		return ctl_text_exact_number(record);
	default:
		return json_object_get(record);
	}
}

/* Elements of an array that is a member of a verb's record; a record has one such array at most. */
static FILE *stored_elements;
#define STORED 1 /* stands for them in a text of json-c, which has no such byte otherwise */
#define STORED_INDENT 6
#define STORED_END "\n    "

void text_stored(FILE *out, FILE *stored)
{
	char buf[8192];
	size_t n;

	rewind(stored);
	while ((n = fread(buf, 1, sizeof(buf), stored)) > 0)
		fwrite(buf, 1, n, out);
}

/* json-c escapes bytes below a blank, and lets the rest of the bytes pass.
 * Such bytes can only stand inside strings. @indent: blanks that all lines but the first get. */
static void ctl_text_print_json(FILE *out, struct json_object *record, int flags, int indent)
{
	struct json_object *exact AUTO_RECORD = ctl_text_exact(record);
	const unsigned char *s = (const unsigned char *)json_object_to_json_string_ext(
		exact, flags | JSON_C_TO_STRING_NOSLASHESCAPE);
	char escape[TEXT_JSON_ESCAPE];

	while (*s) {
		size_t len = *s == '\n' || *s == STORED ? 1 : text_harmless(s);
		uint32_t c = 0xfffd;

		if (*s == STORED) {
			text_stored(out, stored_elements);
			fputs(ftell(stored_elements) > 0 ? STORED_END : "", out);
		} else if (len) {
			fwrite(s, 1, len, out);
			fprintf(out, "%*s", *s == '\n' ? indent : 0, "");
		} else {
			len = MAX(escape_decode(s, 4, &c), 1);
			fputs(text_json_escape(escape, c), out);
		}
		s += len;
	}
}

#define PRETTY (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED)

void text_json(FILE *out, struct json_object *record)
{
	ctl_text_print_json(out, record, PRETTY, 0);
	fputc('\n', out);
}

void text_json_line(FILE *out, struct json_object *record)
{
	ctl_text_print_json(out, record, 0, 0);
	fputc('\n', out);
}

void text_json_element(FILE *out, struct json_object *record)
{
	fprintf(out, "%s\n%*s", ftell(out) > 0 ? "," : "", STORED_INDENT, "");
	ctl_text_print_json(out, record, PRETTY, STORED_INDENT);
}

static int stored_as_string(struct json_object *array, struct printbuf *buf, int level, int flags)
{
	(void)array, (void)level, (void)flags;
	return sprintbuf(buf, "[%c]", STORED);
}

struct json_object *text_json_stored(FILE *stored)
{
	struct json_object *array = json_object_new_array();

	stored_elements = stored;
	json_object_set_serializer(array, stored_as_string, stored, NULL);
	return array;
}

/* ---- forms ---- */

static bool form_holds(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_null:
		return false;
	case json_type_string:
		return *json_object_get_string(value) != '\0';
	case json_type_array:
		return json_object_array_length(value) > 0;
	default:
		return json_object_get_boolean(value);
	case json_type_object:
		return true;
	}
}

static void form_elements(FILE *out, struct json_object *array, const char *between)
{
	for (size_t i = 0; i < json_object_array_length(array); i++)
		fprintf(out, "%s%s", i ? between : "",
			json_object_get_string(json_object_array_get_idx(array, i)));
}

static void form_date(FILE *out, uint64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	char buf[TEXT_BYTES];
	struct tm tm;

	if (localtime_r(&s, &tm) && strftime(buf, sizeof(buf), "%F %T", &tm))
		fputs(buf, out);
}

static void form_value(FILE *out, struct json_object *value, char kind)
{
	uint64_t n = json_object_get_uint64(value);
	const char *text = json_object_get_string(value);
	char buf[TEXT_BYTES];

	if (json_object_is_type(value, json_type_array)) {
		form_elements(out, value, kind == 'w' ? " " : ", ");
		return;
	}
	if (kind == 'n')
		text = text_count(buf, n);
	else if (kind == 'b')
		text = text_size(buf, n);
	else if (kind == 't' || kind == 'u')
		text = text_duration(buf, kind == 'u' ? n * 1000 : n);
	else if (kind == 'T')
		text = text_time(buf, n);
	else if (kind == 's')
		text = text_plural(n);
	if (kind == 'd')
		form_date(out, n);
	else
		fputs(text ? text : "", out);
}

static struct json_object *form_get(struct json_object *record, char *path)
{
	char *key;

	while ((key = strsep(&path, ".")) && *key)
		record = json_object_is_type(record, json_type_array) ?
				 json_object_array_get_idx(record, strtoul(key, NULL, 10)) :
				 json_get(record, key);
	return record;
}

/* A field without its braces. Return: whether it holds; one that is only printed always does. */
static bool form_field(FILE *out, struct json_object *record, char *field)
{
	bool only = *field == '?' || *field == '!', tested = only;
	char *key = field + only, *end = key + strcspn(key, ":=^?"), mark = *end;
	const char *word = end + 1, *text;
	struct json_object *value;

	*end = '\0';
	value = form_get(record, key);
	if (mark == '=' || mark == '^') {
		text = value ? json_object_get_string(value) : "";
		return strncmp(text, word, strlen(word) + (mark == '=')) == 0;
	}
	if (!only)
		form_value(out, value, mark == ':' ? *word : '\0');
	tested |= mark == '?' || (mark == ':' && word[1] == '?');
	return !tested || form_holds(value) == (*field != '!');
}

static const char *form_part(FILE *out, struct json_object *record, const char *form,
			     bool *ret_holds);

/* Print the first part that holds. Return: the rest of the form. */
static const char *form_choice(FILE *out, struct json_object *record, const char *form)
{
	bool printed = false, holds;

	do {
		char *part = NULL;
		size_t len;
		FILE *to = open_memstream(&part, &len);

		form = form_part(to, record, form + 1, &holds);
		fclose(to);
		fputs(holds && !printed ? part : "", out);
		printed |= holds;
		free(part);
	} while (*form == '|');
	return form + 1;
}

/* Print a part. Return: the rest of the form, from its end. */
static const char *form_part(FILE *out, struct json_object *record, const char *form,
			     bool *ret_holds)
{
	char field[64];

	*ret_holds = true;
	while (*form && *form != '|' && *form != ']') {
		size_t len = strcspn(form + 1, "}");

		if (*form == '[') {
			form = form_choice(out, record, form);
		} else if (*form == '{') {
			snprintf(field, sizeof(field), "%.*s", (int)len, form + 1);
			*ret_holds &= form_field(out, record, field);
			form += len + 2;
		} else {
			fputc(*form++, out);
		}
	}
	return form;
}

void text_form(FILE *out, struct json_object *record, const char *form)
{
	bool holds;

	form_part(out, record, form, &holds);
}

void text_forms(FILE *out, struct json_object *record, const char *key, const char *form)
{
	for (size_t i = 0; i < json_len(record, key); i++)
		text_form(out, json_at(record, key, i), form);
}

size_t text_read(const char *path, char *buf, size_t len)
{
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a FIFO */
	size_t got = 0;
	ssize_t n = 0;

	while (fd >= 0 && got < len - 1 && (n = read(fd, buf + got, len - 1 - got)) > 0)
		got += (size_t)n;
	buf[got] = '\0';
	return got;
}

char *text_shell_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:,+=@%";
	char *word, *to;

	if (*text && text[strspn(text, plain)] == '\0')
		return xstrdup(text);
	to = word = xalloc(4 * strlen(text) + 3);
	*to++ = '\'';
	for (; *text; text++)
		to = *text == '\'' ? stpcpy(to, "'\\''") : (*to = *text, to + 1);
	*to = '\'';
	return word;
}
