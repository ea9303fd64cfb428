/* SPDX-License-Identifier: GPL-2.0-only */
#include "totals.h"

#include <fcntl.h>

#include "base/dir.h"
#include "base/mem.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "read/view.h"

/* A larger trace takes too long to be read for a number, and one with more archives. */
#define EXAMINED_BYTES (4u << 20)
#define EXAMINED_ARCHIVES 64u

static bool is_worth_reading(struct json_object *totals, const char *path)
{
	AUTO_FREE char *archives = xasprintf("%s/archives", path);
	AUTO_DIR DIR *dir = NULL;
	unsigned int nr = 0;

	/* events that wait in the buffers are not in the trace yet */
	if (json_num(totals, "waiting") || !json_num(totals, "bytes") ||
	    json_num(totals, "bytes") > EXAMINED_BYTES)
		return false;
	dir = dir_open(AT_FDCWD, archives);
	while (dir_next(dir) && nr <= EXAMINED_ARCHIVES)
		nr++;
	return nr <= EXAMINED_ARCHIVES;
}

uint64_t totals_events(struct json_object *totals)
{
	return json_num(totals, "recorded") - json_num(totals, "state_dump");
}

void totals_add_state_dump(struct json_object *totals, const char *path)
{
	const struct view_select select = { .names = VIEW_STATEDUMP };
	const struct view_summary *summary;
	struct view *view;

	if (!json_num(totals, "recorded"))
		return;
	json_set_bool(totals, "with_state_dump", true);
	if (!path || *path != '/' || !is_worth_reading(totals, path) ||
	    view_open(path, NULL, NULL, &view) < 0)
		return;
	if (view_scan(view, &select) == 0 && view_summary(view, &summary) == 0 &&
	    summary->events <= json_num(totals, "recorded")) {
		json_set_num(totals, "state_dump", summary->events);
		json_set_bool(totals, "with_state_dump", false);
	}
	view_free(view);
}

void totals_text(FILE *out, struct json_object *totals)
{
	uint64_t recorded = totals_events(totals);
	bool unknown = json_num(totals, "lost_buffers") || json_num(totals, "unrecorded");
	char buf[TEXT_BYTES];

	if (!totals)
		return;
	fprintf(out, "%s event%s recorded", text_count(buf, recorded), text_plural(recorded));
	if (unknown && !json_num(totals, "lost"))
		fputs(", an unknown number lost", out);
	else
		fprintf(out, ", %s%s lost", unknown ? "at least " : "",
			text_count(buf, json_num(totals, "lost")));
	text_form(out, totals,
		  "[{?with_state_dump}, state dumps included][, {state_dump:n?} of state dumps]"
		  "[, {not_sampled:n?} not sampled][, {overwritten:n?} overwritten]"
		  "[, {cleared:n?} cleared]"
		  ", {bytes:b} written[, {waiting:n?} events still in the buffers]");
}

void totals_end(FILE *out, struct json_object *totals)
{
	if (totals)
		fputs(": ", out);
	totals_text(out, totals);
	fputc('\n', out);
}
