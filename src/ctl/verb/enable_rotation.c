/* SPDX-License-Identifier: GPL-2.0-only */
/* enable_rotation.c - lttctl enable-rotation: have a session rotated after a time or at a size. */
#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/session/rotation.h"
#include "ctl/session/target.h"

static struct {
	char *session, *timer, *size, *keep, *keep_for, *keep_size;
} opt;

static struct ltt_ctl_rotation_options rotation;

static const struct poptOption options[] = {
	OPTION_SESSION(&opt.session),
	OPTION_TEXT("timer", 0, &opt.timer, "rotate after this time: 90s, 60m, 1h; without unit: us",
		    "PERIOD"),
	OPTION_TEXT("size", 0, &opt.size, "rotate when this size is written; suffixes: k, M, G, T",
		    "SIZE"),
	OPTION_TEXT("keep", 0, &opt.keep, "keep the last N archives, and remove older ones", "N"),
	OPTION_TEXT("keep-for", 0, &opt.keep_for, "remove archives that are older", "PERIOD"),
	OPTION_TEXT("keep-size", 0, &opt.keep_size,
		    "remove the oldest archives when all are larger", "SIZE"),
	POPT_TABLEEND,
};

static int rotation_bad(struct ctl *ctl, const char *option, const char *text, const char *wanted)
{
	return err_set(&ctl->err, ERR_INVALID, "--%s=%s: this is not %s", option, text, wanted);
}

static int rotation_take_period(struct ctl *ctl, const char *option, const char *text,
				uint64_t *ret_us)
{
	if (!text || (options_parse_period(text, ret_us) == 0 && *ret_us))
		return 0;
	return rotation_bad(ctl, option, text, "a period, such as 90s, 60m or 1h");
}

static int rotation_take_size(struct ctl *ctl, const char *option, const char *text,
			      uint64_t *ret_bytes)
{
	if (!text || (parse_size(text, ret_bytes) == 0 && *ret_bytes))
		return 0;
	return rotation_bad(ctl, option, text, "a size greater than 0, such as 64M or 1G");
}

static int rotation_take_number(struct ctl *ctl)
{
	uint64_t n;

	if (!opt.keep)
		return 0;
	if (parse_u64(opt.keep, &n) != 0 || !n || n > UINT32_MAX)
		return rotation_bad(ctl, "keep", opt.keep, "a number of archives, at least 1");
	rotation.keep_archives = (uint32_t)n;
	return 0;
}

static enum status enable_rotation_check(struct ctl *ctl)
{
	ltt_ctl_rotation_options_init(&rotation);
	if (opt.session && operand(ctl, 0)) {
		err_set(&ctl->err, ERR_INVALID, "a session and --session exclude each other");
		return STATUS_ERROR;
	}
	if (!opt.timer && !opt.size && !opt.keep && !opt.keep_for && !opt.keep_size) {
		err_set(&ctl->err, ERR_INVALID, "missing option: --timer=PERIOD or --size=SIZE");
		return STATUS_ERROR;
	}
	if (rotation_take_period(ctl, "timer", opt.timer, &rotation.rotate_us) != 0 ||
	    rotation_take_size(ctl, "size", opt.size, &rotation.rotate_size) != 0 ||
	    rotation_take_number(ctl) != 0 ||
	    rotation_take_period(ctl, "keep-for", opt.keep_for, &rotation.keep_us) != 0 ||
	    rotation_take_size(ctl, "keep-size", opt.keep_size, &rotation.keep_size) != 0)
		return STATUS_ERROR;
	return STATUS_OK;
}

static enum status enable_rotation_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session ? opt.session : operand(ctl, 0));

	if (!session)
		return STATUS_ERROR;
	rotation.session = session;
	if (ctl_done(ctl, ltt_ctl_enable_rotation(ctl->library, &rotation), &ctl->err) != 0)
		return target_failed(ctl, session);
	return rotation_record(ctl, session);
}

const struct verb verb_enable_rotation = {
	.name = "enable-rotation",
	.operands = "[SESSION]",
	.help = "Rotate a session after a time or at a size",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = enable_rotation_check,
	.run = enable_rotation_run,
	.text = rotation_text,
};
