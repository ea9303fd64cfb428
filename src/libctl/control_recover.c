/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_recover.c - ltt_ctl_recover() of ltt/control.h: the wait for data in buffers that
 * outlived the daemons. New daemons write it when they receive any request. */
#include <poll.h>

#include "base/macros.h"
#include "control.h"

#define CONTROL_RECOVER_MS 10000u
#define CONTROL_RECOVER_POLL_MS 20

static void control_cleanup_sessions(struct ltt_ctl_sessions **sessions)
{
	ltt_ctl_sessions_free(*sessions);
}

/* Has all that was recorded then been written, or counted as lost? */
static bool control_is_written(const struct ltt_ctl_session *now,
			       const struct ltt_ctl_session *then)
{
	if (!then->totals || !now->totals || !*then->output)
		return true;
	return now->totals->written + now->totals->lost_output >= then->totals->recorded;
}

static const struct ltt_ctl_session *control_find(const struct ltt_ctl_sessions *list, uint64_t id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->sessions[i]->id == id)
			return list->sessions[i];
	return NULL;
}

/* A session that is gone has been written. */
static bool control_all_written(const struct ltt_ctl_sessions *now,
				const struct ltt_ctl_sessions *then)
{
	for (size_t i = 0; i < then->nr; i++) {
		const struct ltt_ctl_session *is = control_find(now, then->sessions[i]->id);

		if (is && !control_is_written(is, then->sessions[i]))
			return false;
	}
	return true;
}

/* Return: 0, or the code in ctl->err: the caller does not want to wait. */
static int control_pause(struct ltt_ctl *ctl)
{
	struct pollfd pfd = { .fd = client_interrupt(ctl->client), .events = POLLIN };

	if (poll(&pfd, 1, CONTROL_RECOVER_POLL_MS) <= 0)
		return 0;
	err_set(&ctl->err, ERR_INTERRUPTED, "interrupted while data in the buffers was written");
	return control_failed(ctl);
}

int ltt_ctl_recover(struct ltt_ctl *ctl, struct ltt_ctl_sessions **ret_sessions)
{
	struct ltt_ctl_sessions *then CLEANUP(control_cleanup_sessions) = NULL;
	struct ltt_ctl_sessions *now CLEANUP(control_cleanup_sessions) = NULL;

	if (control_list(ctl, true, "", &then) != 0)
		return ctl->err.code;
	for (unsigned int waited = 0;; waited += CONTROL_RECOVER_POLL_MS) {
		if (control_list(ctl, false, "", &now) != 0)
			return ctl->err.code;
		if (control_all_written(now, then))
			break;
		if (waited >= CONTROL_RECOVER_MS) {
			control_warn(ctl, "some data in the buffers can't be written; `lttctl "
					  "status` shows why");
			break;
		}
		ltt_ctl_sessions_free(TAKE(now));
		if (control_pause(ctl) != 0)
			return ctl->err.code;
	}
	if (ret_sessions)
		*ret_sessions = TAKE(now);
	return 0;
}
