/* SPDX-License-Identifier: GPL-2.0-only */
#include "rotation.h"

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
#define SCHEDULE                                                                   \
	"[{?rotate_us}after {rotate_us:u}[, or when {rotate_size:b?} are written]" \
	"|when {rotate_size:b} are written]"

/* "; kept: the last 24, for 1 d". */
#define LIMITS                                                                             \
	"[{?keep_archives}; kept: the last {keep_archives}[, for {keep_us:u?}]"            \
	"[, up to {keep_size:b?}]|[; kept: for {keep_us:u?}[, up to {keep_size:b?}]|"      \
	"[; kept: up to {keep_size:b?}]]]\n"

void rotation_text(FILE *out, struct json_object *record)
{
	text_form(out, record,
		  is_scheduled(record) ? "Session {session} is rotated " SCHEDULE LIMITS :
					 "Session {session} is not rotated by itself\n");
}

void rotation_show(FILE *out, struct json_object *session)
{
	if (is_scheduled(session))
		text_form(out, session, "Rotated: " SCHEDULE "\n");
	if (is_scheduled(session) || json_num(session, "archives"))
		text_form(out, session, "Archives: {archives}" LIMITS);
}
