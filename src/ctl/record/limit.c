/* SPDX-License-Identifier: GPL-2.0-only */
#include "limit.h"

#include <ltt/control.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "run.h"
#include "totals.h"

int limit_take(struct limit *limit, const char *text, struct err *err)
{
	if (parse_u64(text, &limit->events) == 0 && limit->events)
		return 0;
	return err_set(err, ERR_INVALID, "--limit=%s: this is not a number of events, from 1 on",
		       text);
}

/* Return: NULL: unknown. */
static struct json_object *limit_totals(struct ctl *ctl, const struct limit *limit)
{
	struct ltt_ctl_sessions *found;
	struct json_object *totals;
	struct err err = { 0 };

	if (!ctl_is_connected(ctl) ||
	    ctl_done(ctl, ltt_ctl_find(ctl->library, limit->session, &found), &err) != 0)
		return NULL;
	totals = found->nr ? json_totals(found->sessions[0]->totals) : NULL;
	ltt_ctl_sessions_free(found);
	return totals;
}

/* State dumps are in the trace when the buffers have been flushed. */
static bool limit_has_recorded(struct ctl *ctl, struct limit *limit)
{
	struct json_object *totals AUTO_RECORD = limit_totals(ctl, limit);
	struct err ignored = { 0 };

	if (json_num(totals, "recorded") < limit->events + limit->state_dump ||
	    ctl_done(ctl, ltt_ctl_flush(ctl->library, limit->session, NULL), &ignored) != 0)
		return false;
	json_object_put(totals);
	totals = limit_totals(ctl, limit);
	if (!totals)
		return false;
	totals_add_state_dump(totals, limit->output);
	limit->state_dump = MAX(limit->state_dump, json_num(totals, "state_dump"));
	return json_num(totals, "recorded") >= limit->events + limit->state_dump;
}

bool limit_check(struct ctl *ctl, struct limit *limit, uint64_t elapsed_ns)
{
	if (!(limit->after_ns && elapsed_ns >= limit->after_ns) &&
	    !(limit->events && limit_has_recorded(ctl, limit)))
		return false;
	limit->at_ns = run_now_ns();
	return true;
}
