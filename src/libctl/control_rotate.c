/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_rotate.c - calls of ltt/control.h that rotate or clear sessions. */
#include "base/macros.h"
#include "calls.h"
#include "control.h"

int ltt_ctl_rotate(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		   struct ltt_ctl_archive **ret_archive)
{
	struct ltt_ctl_archive *archive = control_begin_result(ctl, sizeof(*archive));
	const struct req_session_rotate req = { .session = session,
						.no_wait = flags & LTT_CTL_NO_WAIT };
	struct rep_session_rotate rep = { 0 };
	int code;

	if (!archive)
		return ctl->err.code;
	code = control_check_flags(ctl, flags, LTT_CTL_NO_WAIT);
	if (code == 0)
		code = control_check_given(ctl, session, "the session to rotate");
	if (code == 0)
		code = call_session_rotate(ctl->client, &req, NULL, NULL, &rep, &ctl->err);
	archive->path = pool_str(pool_of(archive), code == 0 ? rep.path : "");
	archive->number = rep.number;
	archive->bytes = rep.bytes;
	archive->waits = rep.waits;
	if (control_finish(ctl, code, archive) != 0)
		return ctl->err.code;
	if (ret_archive)
		*ret_archive = archive;
	else
		ltt_ctl_archive_free(archive);
	return 0;
}

void ltt_ctl_archive_free(struct ltt_ctl_archive *archive)
{
	pool_owner_free(archive);
}

int ltt_ctl_clear(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		  uint64_t *ret_cleared)
{
	const struct req_session_clear req = { .session = session,
					       .no_wait = flags & LTT_CTL_NO_WAIT };
	struct rep_session_clear rep;

	if (control_begin(ctl) != 0 || control_check_flags(ctl, flags, LTT_CTL_NO_WAIT) != 0 ||
	    control_check_given(ctl, session, "the session to clear") != 0)
		return ctl->err.code;
	if (call_session_clear(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (ret_cleared)
		*ret_cleared = rep.cleared;
	return 0;
}

int ltt_ctl_enable_rotation(struct ltt_ctl *ctl, const struct ltt_ctl_rotation_options *rotation)
{
	struct ltt_ctl_rotation_options o;
	struct req_rotation_enable req;

	if (control_begin(ctl) != 0 || control_take(ctl, rotation, &o, sizeof(o)) != 0 ||
	    control_check_given(ctl, o.session, "the session to rotate") != 0)
		return ctl->err.code;
	req = (struct req_rotation_enable){
		.session = o.session,
		.rotate_us = o.rotate_us,
		.rotate_size = o.rotate_size,
		.keep_archives = o.keep_archives,
		.keep_us = o.keep_us,
		.keep_size = o.keep_size,
	};
	if (call_rotation_enable(ctl->client, &req, NULL, NULL, NULL, &ctl->err) != 0)
		return control_failed(ctl);
	return 0;
}

int ltt_ctl_disable_rotation(struct ltt_ctl *ctl, const char *session, unsigned int which)
{
	const struct req_rotation_disable req = {
		.session = session,
		.timer = (which & LTT_CTL_ROTATION_TIMER) != 0,
		.size = (which & LTT_CTL_ROTATION_SIZE) != 0,
	};

	if (control_begin(ctl) != 0 ||
	    control_check_flags(ctl, which, LTT_CTL_ROTATION_TIMER | LTT_CTL_ROTATION_SIZE) != 0 ||
	    control_check_given(ctl, session, "the session to rotate no more") != 0)
		return ctl->err.code;
	if (!which)
		return err_set(&ctl->err, ERR_INVALID, "no schedule to disable is named");
	if (call_rotation_disable(ctl->client, &req, NULL, NULL, NULL, &ctl->err) != 0)
		return control_failed(ctl);
	return 0;
}
