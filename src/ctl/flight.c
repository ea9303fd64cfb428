/* SPDX-License-Identifier: GPL-2.0-only */
#include "flight.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "connect.h"
#include "print.h"
#include "record.h"
#include "text.h"
#include "view/view.h"

#define SUBBUFS 8u
#define SUBBUF_LEAST 4096u
#define LINES 10u /* that are shown */

int flight_take_size(const char *text, struct ltt_ctl_channel_options *ret, struct err *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t size, subbuf;

	if (parse_size(text, &size) != 0 || !size)
		return err_set(err, ERR_INVALID,
			       "--flight=%s: this is not a size, such as 67108864, 64M or 1G",
			       text);
	subbuf = round_up_pow2(size / (uint64_t)MAX(cpus, 1l) / SUBBUFS + 1) / 2;
	if (subbuf < SUBBUF_LEAST)
		return err_set(err, ERR_INVALID,
			       "--flight=%s: the buffers of %ld CPUs need %ld KiB at least", text,
			       cpus, cpus * (long)(SUBBUFS * SUBBUF_LEAST) / 1024);
	ret->subbuf_size = subbuf;
	ret->num_subbuf = SUBBUFS;
	return 0;
}

struct json_object *flight_save(struct ctl *ctl, const char *session)
{
	struct ltt_ctl_snapshot_options wanted;
	struct ltt_ctl_snapshot *snapshot = NULL;
	struct json_object *saved = NULL;
	struct err err = { 0 };

	ltt_ctl_snapshot_options_init(&wanted);
	wanted.session = session;
	wanted.name = "flight";
	if (ctl_done(ctl, ltt_ctl_snapshot_record(ctl->library, &wanted, &snapshot), &err) == 0)
		saved = record_snapshot(session, snapshot);
	else
		print_warning(ctl, "the last events are not saved: %s", err.text);
	ltt_ctl_snapshot_free(snapshot);
	return saved;
}

/* --- the last events --------------------------------------------------------------- */

/** The last LINES lines of a text that is written to a stream. */
struct last_lines {
	char *lines[LINES]; /* the oldest is number @nr modulo LINES */
	size_t nr;
	char *rest; /* the beginning of a line */
	size_t len;
};

static void flight_add_line(struct last_lines *last, const char *text, size_t len)
{
	char **line = &last->lines[last->nr++ % LINES];

	free(*line);
	*line = xasprintf("%.*s%.*s", (int)last->len, last->rest ? last->rest : "", (int)len, text);
	last->len = 0;
}

static ssize_t flight_write(void *cookie, const char *data, size_t size)
{
	struct last_lines *last = cookie;
	const char *end = data + size, *newline;

	while ((newline = memchr(data, '\n', (size_t)(end - data)))) {
		flight_add_line(last, data, (size_t)(newline - data));
		data = newline + 1;
	}
	last->rest = xrealloc(last->rest, last->len + (size_t)(end - data) + 1);
	memcpy(last->rest + last->len, data, (size_t)(end - data));
	last->len += (size_t)(end - data);
	return (ssize_t)size;
}

/* @select: also hides state dumps. Return: false: there is none of these events. */
static bool flight_read(const char *directory, struct view_select select, struct last_lines *ret)
{
	const struct view_style style = { .format = VIEW_TEXT, .tasks = true };
	FILE *to = fopencookie(ret, "w", (cookie_io_functions_t){ .write = flight_write });
	struct view *view = NULL;
	bool read;

	select.hidden = VIEW_STATEDUMP;
	read = to && view_open(directory, NULL, NULL, &view) >= 0 &&
	       view_print(view, &select, &style, to) == 0;
	view_free(view);
	if (to)
		fclose(to);
	return read && ret->nr;
}

static bool flight_read_thread(const char *directory, struct json_object *crash,
			       struct last_lines *ret)
{
	char process[24], thread[24];

	if (!record_num(crash, "tid"))
		return false;
	snprintf(process, sizeof(process), "%" PRIu64, record_num(crash, "pid"));
	snprintf(thread, sizeof(thread), "%" PRIu64, record_num(crash, "tid"));
	return flight_read(directory,
			   (struct view_select){ .processes = process, .threads = thread }, ret);
}

struct json_object *flight_last(const char *directory, struct json_object *crash)
{
	struct json_object *o = json_object_new_object();
	struct last_lines last = { .nr = 0 };
	bool of_thread = flight_read_thread(directory, crash, &last);

	if (!of_thread)
		(void)!flight_read(directory, (struct view_select){ 0 }, &last);
	record_set_bool(o, "of_thread", of_thread);
	record_set(o, "lines", json_object_new_array());
	for (size_t i = 0; i < LINES; i++)
		if (last.lines[(last.nr + i) % LINES])
			record_append(o, "lines",
				      json_object_new_string(last.lines[(last.nr + i) % LINES]));
	for (size_t i = 0; i < LINES; i++)
		free(last.lines[i]);
	free(last.rest);
	return o;
}

void flight_show(FILE *out, struct json_object *last, struct json_object *crash)
{
	if (!record_len(last, "lines"))
		return;
	if (record_bool(last, "of_thread"))
		fprintf(out,
			"The last events of thread %" PRIu64 " of process %" PRIu64
			", which crashed:\n",
			record_num(crash, "tid"), record_num(crash, "pid"));
	else
		fputs("The last events of all threads:\n", out);
	for (size_t i = 0; i < record_len(last, "lines"); i++)
		fprintf(out, "  %s\n", json_object_get_string(record_at(last, "lines", i)));
}
