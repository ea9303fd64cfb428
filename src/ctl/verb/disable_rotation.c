/* SPDX-License-Identifier: GPL-2.0-only */
/* disable_rotation.c - lttctl disable-rotation: have a session rotated no more. */
#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/session/rotation.h"
#include "ctl/session/target.h"

static struct {
	char *session;
	int timer, size;
} opt;

static const struct poptOption options[] = {
	OPTION_SESSION(&opt.session),
	OPTION_FLAG("timer", 0, &opt.timer, "not after a time"),
	OPTION_FLAG("size", 0, &opt.size, "not at a size"),
	POPT_TABLEEND,
};

static enum status disable_rotation_check(struct ctl *ctl)
{
	if (opt.session && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "a session and --session exclude each other");
	else if (!opt.timer && !opt.size)
		err_set(&ctl->err, ERR_INVALID, "missing option: --timer, --size or both");
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status disable_rotation_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session ? opt.session : operand(ctl, 0));
	unsigned int which = (opt.timer ? LTT_CTL_ROTATION_TIMER : 0u) |
			     (opt.size ? LTT_CTL_ROTATION_SIZE : 0u);
	int code;

	if (!session)
		return STATUS_ERROR;
	code = ltt_ctl_disable_rotation(ctl->library, session, which);
	if (ctl_done(ctl, code, &ctl->err) != 0)
		return target_failed(ctl, session);
	return rotation_record(ctl, session);
}

const struct verb verb_disable_rotation = {
	.name = "disable-rotation",
	.operands = "[SESSION]",
	.help = "Rotate a session no more by itself",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = disable_rotation_check,
	.run = disable_rotation_run,
	.text = rotation_text,
};
