/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * print.h - prints an event as text, as a short line or as JSON. A printer belongs to one
 * view_print().
 */
#ifndef SHOW_PRINT_H
#define SHOW_PRINT_H

#include "mold.h"

#define PRINT_TASKS 512u
#define PRINT_TASK_NAME 16u
#define PRINT_TASK_TEXT 80u

/** struct print_task_key - a process and thread. @pid_form, @tid_form: print_integer_form().
 *  @name: ends with a NUL or its @name_size. */
struct print_task_key {
	uint64_t pid, tid;
	uint32_t pid_form, tid_form;
	const uint8_t *name;
	size_t name_size;
};

/** struct print_task - the same, as text; empty: there is none. @name: the key's bytes, if it has
 *  at least as many; behind @name_len: not compared, unless all of them are equal. @whole_size: of
 *  keys that are equal if all bytes of @name are; 0: none. */
struct print_task {
	uint64_t pid, tid;
	uint32_t pid_form, tid_form;
	uint8_t name[PRINT_TASK_NAME];
	uint32_t whole_size;
	uint8_t name_len, text_len, columns;
	char text[PRINT_TASK_TEXT];
};

/**
 * struct printer
 * @last_ns: time of the preceding event; @any: there was one.
 * @task: process and thread of the current event, as text.
 * @task_width: columns of the widest process and thread so far.
 * @tasks: texts of recent ones, by the number of the thread, of events that are decoded. @memo: of
 *	others.
 * @molds: of the classes of events so far.
 * @several_hosts: the traces are of more than one. @is_live: traces come and go.
 * @second_ns, @second_text, @second_len: the last second that was written as a time of day.
 * @seconds, @seconds_len: the same second as digits; 0: it is none of those that JSON has so.
 * @tick_ns, @tick_text, @tick_len: the last PRINT_TICK_NS of such a second that was written: its
 *	text, a point and the digits that all times of the tick have; the length is 0: none was.
 */
struct printer {
	struct pen pen;
	struct view_style style;
	bool any;
	int64_t last_ns;
	struct pen task;
	uint32_t task_width;
	struct print_task tasks[PRINT_TASKS];
	struct memo memo;
	struct mold *molds;
	bool several_hosts, is_live;
	int64_t second_ns;
	char second_text[64];
	uint32_t second_len, seconds_len;
	char seconds[32];
	int64_t tick_ns;
	char tick_text[80];
	uint32_t tick_len;
};

void print_text(struct printer *printer, const struct event *event);
void print_brief(struct printer *printer, const struct event *event);
void print_json(struct printer *printer, const struct event *event);
/** Have the text of a packet's source and context, for all of its events (print_packet_once()). */
void print_text_packet(struct packet *packet, const struct source *source);
void print_json_packet(struct packet *packet, const struct source *source);
void print_columns_packet(struct packet *packet, const struct source *source);
/** One value as JSON. */
void print_json_value(struct pen *pen, const struct value *value);
/** A row of printer->style.table, and its first line before it, unless rows are sorted. */
void print_columns(struct printer *printer, const struct event *event);
/** One cell of it as CSV, by its number; a value that is a cell, or within that of the fields. */
void print_cell(struct printer *printer, const struct event *event, uint32_t number);
void print_value_cell(struct printer *printer, const struct value *value, bool is_inner);
/** The cells of an event's procname, pid and tid, which it has. */
void print_task_cells(struct printer *printer, struct pen *pen, const struct task *task);

#define PRINT_DIM "\033[2m"
#define PRINT_GREEN "\033[32m"
#define PRINT_MAGENTA "\033[35m"
#define PRINT_NAME "\033[1m\033[36m" /* of an event */
#define PRINT_RESET "\033[0m"

/** Write the code, if there are colours. */
void print_color(struct printer *printer, const char *code);
/** By the type's base and sign. */
void print_integer(struct pen *pen, const struct ctf_type *type, uint64_t v);
/** Write printer->task, in a column as wide as the widest so far. */
void print_task(struct printer *printer);
/** Write name[pid:tid], or the parts of it that the event has, in that column; in a table
 *  print_task_cells(). */
void print_whole_task(struct printer *printer, const struct task *task);
/** The same, if its text is kept. Return: whether it is. */
bool print_kept_task(struct printer *printer, const struct print_task_key *key);
/** The same, without a kept one: printer->task has its text then. */
void print_new_task(struct printer *printer, const struct task *task);
/** The bytes of a BLOB, as hexadecimal numbers. */
void print_hex(struct pen *pen, const struct value *blob, const char *between);
/** How print_integer() writes a type; each class of events has types of its own. */
uint32_t print_integer_form(const struct ctf_type *type);
/** Write the names of the addresses of an event. */
void print_names(struct printer *printer, const struct event *event);

#define PRINT_TASK_WIDTH_MAX 48u /* a longer one is not waited for by the others */

/** The space behind a task of @width columns, in memory for PRINT_TASK_WIDTH_MAX + 1. Return: its
 *  end. */
static inline char *print_pad_task(struct printer *p, char *to, uint32_t width)
{
	static const char spaces[PRINT_TASK_WIDTH_MAX + 1] = "                                "
							     "                 ";
	uint32_t left;

	if (p->style.table)
		return to;
	if (width > p->task_width)
		p->task_width = MIN(width, PRINT_TASK_WIDTH_MAX);
	left = width < p->task_width ? p->task_width - width : 0;
	left += p->task_width > 0;
	memcpy(to, spaces, 16);
	if (left > 16)
		memcpy(to + 16, spaces, sizeof(spaces) - 16);
	return to + left;
}

/** Write the time of an event, without brackets. */
void print_time(struct printer *printer, struct pen *pen, int64_t ns);
/** Columns of a terminal that a text takes. */
uint32_t print_width(const char *s, size_t len);
/** A value, and the members of a struct, as in a short line. */
void print_value_brief(struct pen *pen, const struct value *value);
void print_fields_brief(struct pen *pen, const struct value *value);

#define PRINT_TICK_NS 100000u
#define PRINT_TIME_ROOM (sizeof(((struct printer *)0)->tick_text) + 8)

/** print_clock() in another tick than before. */
void print_other_tick(struct printer *printer, int64_t ns, const char *format, bool gmt);

/** Write the second of @ns by @format (strftime(3)), always the same one of a printer, a point and
 *  nine digits, to memory for PRINT_TIME_ROOM. The text of the tick stays for the next event.
 *  Return: its end. */
static inline char *print_clock(struct printer *printer, char *to, int64_t ns, const char *format,
				bool gmt)
{
	uint64_t behind = (uint64_t)ns - (uint64_t)printer->tick_ns;

	if (!printer->tick_len || behind >= PRINT_TICK_NS) {
		print_other_tick(printer, ns, format, gmt);
		behind = (uint64_t)ns - (uint64_t)printer->tick_ns;
	}
	memcpy(to, printer->tick_text, 32);
	if (printer->tick_len > 32)
		memcpy(to + 32, printer->tick_text + 32, sizeof(printer->tick_text) - 32);
	pen_put_five(to + printer->tick_len, (uint32_t)behind);
	return to + printer->tick_len + 5;
}

/** Store the output of @write as the packet's context in text form, for all of its events, and
 *  that of @head (NULL: none) as its source. */
void print_packet_once(struct packet *packet, const struct source *source,
		       void (*head)(struct pen *pen, const struct source *source),
		       void (*write)(struct pen *pen, const struct packet *packet));

/** Write the first of these texts, the other one. */
static inline void print_packet_source(struct pen *pen, const struct packet *packet)
{
	pen_padded(pen, packet->shown, packet->shown_source);
}

static inline void print_packet_context(struct pen *pen, const struct packet *packet)
{
	pen_padded(pen, packet->shown + packet->shown_source,
		   packet->shown_len - packet->shown_source);
}

/** print_packet_context() of a text of at most PACKET_SHOWN_MORE bytes, to memory for that. Return:
 *  its end. */
static inline bool print_has_short_packet(const struct packet *packet)
{
	return packet->shown_len - packet->shown_source <= PACKET_SHOWN_MORE;
}

static inline char *print_put_short_packet(char *to, const struct packet *packet)
{
	memcpy(to, packet->shown + packet->shown_source, PACKET_SHOWN_MORE);
	return to + packet->shown_len - packet->shown_source;
}

/** Whether a member of a packet context is not shown, as the reader itself uses it. */
static inline bool is_hidden_member(const struct value *value)
{
	return value->field && value->field->role != ROLE_NONE && type_is_scalar(value->type);
}

/** The name of a context that the application provides: PROVIDER:NAME. Older traces have one
 *  underscore for all characters that are no letters or digits; the first one is shown as the
 *  colon. */
static inline void print_provided_name(struct pen *pen, const struct value *value)
{
	const char *name = value_provided_name(value);
	const char *provider = name ? name : value_provider(value->field->shown);
	size_t len = strcspn(provider, name ? ":" : "_");

	pen_name_bytes(pen, (const uint8_t *)provider, len);
	if (provider[len])
		pen_char(pen, ':');
	pen_name(pen, provider + len + (provider[len] != '\0'));
}

/** The first member of a packet context, from @value on, that is shown; else @end. */
static inline const struct value *next_shown(const struct value *value, const struct value *end)
{
	while (value < end && is_hidden_member(value))
		value++;
	return value;
}

#endif
