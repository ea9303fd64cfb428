/* SPDX-License-Identifier: GPL-2.0-only */
#include "rotation.h"

#include <inttypes.h>

#include "base/macros.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "target.h"

/* Attributes of a session that the schedule has. */
static const char *const rotation_keys[] = { "rotate_us", "rotate_size", "keep_archives", "keep_us",
					     "keep_size" };

enum status rotation_record(struct ctl *ctl, const char *session)
{
	struct json_object *o AUTO_RECORD = NULL;

	if (target_find_session(ctl, session, &o, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	for (size_t i = 0; i < ARRAY_SIZE(rotation_keys); i++)
		json_set_num(ctl->record, rotation_keys[i],
			       o ? json_num(o, rotation_keys[i]) : 0);
	return STATUS_OK;
}

static bool is_scheduled(struct json_object *session)
{
	return json_num(session, "rotate_us") || json_num(session, "rotate_size");
}

/* "after 1 h, or when 1.0 GiB are written". */
static void print_schedule(FILE *out, struct json_object *session)
{
	uint64_t us = json_num(session, "rotate_us"), size = json_num(session, "rotate_size");
	char buf[TEXT_BYTES];

	if (us)
		fprintf(out, "after %s", text_duration(buf, us * 1000));
	if (size)
		fprintf(out, "%swhen %s are written", us ? ", or " : "", text_size(buf, size));
}

/* "; kept: the last 24, for 1 d". */
static void print_limits(FILE *out, struct json_object *session)
{
	uint64_t most = json_num(session, "keep_archives"), us = json_num(session, "keep_us"),
		 size = json_num(session, "keep_size");
	char buf[TEXT_BYTES];

	if (most || us || size)
		fputs("; kept: ", out);
	if (most)
		fprintf(out, "the last %" PRIu64, most);
	if (us)
		fprintf(out, "%sfor %s", most ? ", " : "", text_duration(buf, us * 1000));
	if (size)
		fprintf(out, "%sup to %s", most || us ? ", " : "", text_size(buf, size));
}

void rotation_text(FILE *out, struct json_object *record)
{
	const char *session = json_str(record, "session");

	if (!is_scheduled(record)) {
		fprintf(out, "Session %s is not rotated by itself\n", session);
		return;
	}
	fprintf(out, "Session %s is rotated ", session);
	print_schedule(out, record);
	print_limits(out, record);
	fputc('\n', out);
}

void rotation_show(FILE *out, struct json_object *session)
{
	uint64_t archives = json_num(session, "archives");

	if (is_scheduled(session)) {
		fputs("Rotated: ", out);
		print_schedule(out, session);
		fputc('\n', out);
	}
	if (!archives && !is_scheduled(session))
		return;
	fprintf(out, "Archives: %" PRIu64, archives);
	print_limits(out, session);
	fputc('\n', out);
}
