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

/** struct print_task_key - a process and thread. @pid_form, @tid_form: print_integer_form().
 *  @name: ends with a NUL or its @name_size. */
struct print_task_key {
	uint64_t pid, tid;
	uint32_t pid_form, tid_form;
	const uint8_t *name;
	size_t name_size;
};

/** struct print_task - the same, as text; empty: there is none. */
struct print_task {
	uint32_t pid_form, tid_form;
	uint64_t pid, tid;
	uint32_t name_len, text_len, columns;
	char name[PRINT_TASK_NAME];
	char text[80];
};

/**
 * struct printer
 * @last_ns: time of the preceding event; @any: there was one.
 * @task: process and thread of the current event, as text.
 * @task_width: columns of the widest process and thread so far.
 * @tasks: texts of recent ones, by the number of the thread.
 * @molds: of the classes of events so far.
 * @several_hosts: the traces are of more than one.
 * @second_ns, @second_text, @second_len: the last second that was written as a time of day.
 * @seconds, @seconds_len: the same second as digits; 0: it is none of those that JSON has so.
 */
struct printer {
	struct pen pen;
	struct view_style style;
	bool any;
	int64_t last_ns;
	struct pen task;
	uint32_t task_width;
	struct print_task tasks[PRINT_TASKS];
	struct mold *molds;
	bool several_hosts;
	int64_t second_ns;
	char second_text[64];
	uint32_t second_len, seconds_len;
	char seconds[32];
};

void print_text(struct printer *printer, const struct event *event);
void print_brief(struct printer *printer, const struct event *event);
void print_json(struct printer *printer, const struct event *event);
/** Have the text of a packet's context, for all of its events (print_packet_once()). */
void print_text_packet(struct packet *packet);
void print_json_packet(struct packet *packet);
void print_columns_packet(struct packet *packet);
/** One value as JSON. */
void print_json_value(struct pen *pen, const struct value *value);
/** A row of printer->style.table, and its first line before it, unless rows are sorted. */
void print_columns(struct printer *printer, const struct event *event);
/** One cell of it as CSV, by its number; a value that is a cell, or within that of the fields. */
void print_cell(struct printer *printer, const struct event *event, uint32_t number);
/** Whether a cell is the event's time. */
bool print_cell_is_time(const struct printer *printer, uint32_t number);
void print_value_cell(struct printer *printer, const struct value *value, bool is_inner);

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
/** Write name[pid:tid], or the parts of it that the event has, in that column. */
void print_whole_task(struct printer *printer, const struct task *task);
/** The same, if its text is kept. Return: whether it is. */
bool print_kept_task(struct printer *printer, const struct print_task_key *key);
/** How print_integer() writes a type; each class of events has types of its own. */
uint32_t print_integer_form(const struct ctf_type *type);
/** Write the names of the addresses of an event. */
void print_names(struct printer *printer, const struct event *event);

/** Write the time of an event, without brackets. */
void print_time(struct printer *printer, struct pen *pen, int64_t ns);
/** Columns of a terminal that a text takes. */
uint32_t print_width(const char *s, size_t len);
/** A value, and the members of a struct, as in a short line. */
void print_value_brief(struct pen *pen, const struct value *value);
void print_fields_brief(struct pen *pen, const struct value *value);

/** print_second() of another second than before. */
uint32_t print_other_second(struct printer *printer, int64_t ns, const char *format, bool gmt);

/** Format the second of @ns by @format (strftime(3)), always the same one of a printer, to
 *  printer->second_text, which stays for the next event. Return: ns behind that second. */
static inline uint32_t print_second(struct printer *printer, int64_t ns, const char *format,
				    bool gmt)
{
	uint64_t behind = (uint64_t)ns - (uint64_t)printer->second_ns;

	return printer->second_len && behind < 1000000000 ?
		       (uint32_t)behind :
		       print_other_second(printer, ns, format, gmt);
}

/** Store the output of @write as the packet's context in text form, for all of its events. */
void print_packet_once(struct packet *packet,
		       void (*write)(struct pen *pen, const struct packet *packet));

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
