/* SPDX-License-Identifier: GPL-2.0-only */
/* create.c - lttctl create [SESSION]: create a session, which becomes the current one. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/session/create.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "io/relayurl.h"

#define LIVE_DEFAULT_US 1000000u
#define SPOOL_DEFAULT (256u << 20)

static char not_live[] = "";

static struct {
	char *output;
	char *url;
	char *format;
	int no_output;
	char *ctrl_url, *data_url;
	int clear_text;
	int compress;
	int snapshot;
	int own_daemons;
	char *keep_free, *max_size, *sync, *spool;
	char *live; /* not_live, or NULL: without a word behind it */
} opt = { .live = not_live };

static struct ltt_ctl_create_options wanted;

static const struct poptOption options[] = {
	OPTION_TEXT("output", 'o', &opt.output, "directory for the trace", "DIR"),
	OPTION_TEXT("set-url", 'U', &opt.url, "where the trace goes: file:///DIR, net://RELAY",
		    "URL"),
	OPTION_TEXT("ctrl-url", 'C', &opt.ctrl_url, "relay that has the trace: tcp://HOST:PORT",
		    "URL"),
	OPTION_TEXT("data-url", 'D', &opt.data_url, "the same relay, by its other port", "URL"),
	OPTION_FLAG("clear-text", 0, &opt.clear_text,
		    "send it to another machine without TLS: others can read and change it"),
	OPTION_FLAG("compress", 0, &opt.compress, "compress what is sent to the relay"),
	{ .longName = "live",
	  .argInfo = POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL,
	  .arg = &opt.live,
	  .descrip = "let viewers follow it; they see events within this time (default: 1 s)",
	  .argDescrip = "US" },
	OPTION_FLAG("no-output", 0, &opt.no_output, "write no trace, only count, and snapshots"),
	OPTION_TEXT("trace-format", 'F', &opt.format, "ctf-1.8, ctf-2 or default, the daemon's choice", "FORMAT"),
	OPTION_FLAG("own-daemons", 0, &opt.own_daemons,
		    "record the tracer's own daemons with the kernel's events, too"),
	OPTION_TEXT("keep-free", 0, &opt.keep_free, "stop writing before less of the disk is free",
		    "SIZE"),
	OPTION_TEXT("max-size", 0, &opt.max_size, "stop writing at this size of the trace", "SIZE"),
	OPTION_TEXT("spool", 0, &opt.spool,
		    "room on this disk for data that an unreachable relay has not received "
		    "(default: 256M; 0: none)",
		    "SIZE"),
	OPTION_TEXT("sync", 0, &opt.sync, "survive a loss of power: none, packet or every PERIOD",
		    "WHEN"),
	OPTION_FLAG(
		"snapshot", 0, &opt.snapshot,
		"keep the last events in the buffers; only 'lttctl snapshot record' writes them"),
	OPTION_NOT_YET("shm-path", 0, POPT_ARG_STRING, 3,
		       "buffers in files of your choice are not there yet"),
	OPTION_NOT_YET("no-consumer", 0, POPT_ARG_NONE, 4,
		       "every session has its consumer; --no-output writes no trace"),
	POPT_TABLEEND,
};

static const char *snapshot_url; /* of the relay that receives the snapshots; or NULL */

/* The directory of a file:// URL in opt.output. */
static enum status take_url(struct ctl *ctl)
{
	if (strncmp(opt.url, "file://", 7) == 0 && opt.url[7] == '/') {
		opt.output = opt.url + 7;
		return STATUS_OK;
	}
	if (strncmp(opt.url, "file:", 5) == 0) {
		err_set(&ctl->err, ERR_INVALID,
			"'%s': a file URL needs an absolute path, as in file:///tmp/trace",
			opt.url);
		return STATUS_ERROR;
	}
	if (relayurl_is_one(opt.url)) {
		wanted.url = opt.url;
		return STATUS_OK;
	}
	err_set(&ctl->err, ERR_INVALID,
		"'%s' is not a supported URL; use file:///DIR or net://RELAY", opt.url);
	return STATUS_ERROR;
}

static enum status create_take_relay(struct ctl *ctl)
{
	if (opt.data_url && !opt.ctrl_url) {
		err_set(&ctl->err, ERR_INVALID, "--data-url goes with --ctrl-url");
		return STATUS_ERROR;
	}
	wanted.url = opt.ctrl_url;
	wanted.data_url = opt.data_url;
	return STATUS_OK;
}

static int create_take_size(struct ctl *ctl, const char *option, const char *text, uint64_t *ret)
{
	if (!text || (parse_size(text, ret) == 0 && *ret))
		return 0;
	return err_set(&ctl->err, ERR_INVALID,
		       "--%s=%s: this is not a size, such as 67108864, 64M or 1G", option, text);
}

static int take_spool(struct ctl *ctl)
{
	wanted.spool_size = SPOOL_DEFAULT;
	if (opt.spool && parse_size(opt.spool, &wanted.spool_size) != 0)
		return err_set(&ctl->err, ERR_INVALID,
			       "--spool=%s: this is not a size, such as 67108864, 64M or 1G",
			       opt.spool);
	return 0;
}

static int create_take_sync(struct ctl *ctl)
{
	uint64_t us;

	if (!opt.sync || strcmp(opt.sync, "none") == 0)
		return 0;
	if (strcmp(opt.sync, "packet") == 0) {
		wanted.sync = LTT_CTL_SYNC_PACKET;
		return 0;
	}
	if (parse_u64(opt.sync, &us) == 0 && us)
		return err_set(&ctl->err, ERR_INVALID,
			       "--sync=%s: the unit is missing; use %sms or %ss, for example", opt.sync,
			       opt.sync, opt.sync);
	if (parse_period(opt.sync, &us) != 0 || us == 0 || us > UINT32_MAX)
		return err_set(&ctl->err, ERR_INVALID,
			       "--sync=%s: this is not 'none', 'packet' or a period, such as 500ms "
			       "or 5s",
			       opt.sync);
	wanted.sync = LTT_CTL_SYNC_PERIOD;
	wanted.sync_us = (uint32_t)us;
	return 0;
}

/* popt takes the word behind --live for its period, unless "=" joins both: a word that does not begin
 * as one is the session's name. */
static int take_live(struct ctl *ctl)
{
	uint64_t us = LIVE_DEFAULT_US;

	if (opt.live == not_live)
		return 0;
	if (opt.live && !strchr("0123456789", *opt.live) && !operand(ctl, 0) &&
	    !options_has_joined(ctl, "live")) {
		wanted.name = opt.live;
	} else if (opt.live &&
		   (options_parse_period(opt.live, &us) != 0 || !us || us > UINT32_MAX)) {
		return err_set(&ctl->err, ERR_INVALID,
			       "--live=%s: this is not a period, such as 200000 (microseconds), "
			       "200ms or 1s",
			       opt.live);
	}
	if (us < LIVE_MIN_US)
		return err_set(&ctl->err, ERR_INVALID,
			       "--live=%s: %" PRIu64 " us is too short a period; the shortest is %u us",
			       opt.live, us, LIVE_MIN_US);
	if (opt.output || opt.no_output || (opt.url && !relayurl_is_one(opt.url)))
		return err_set(&ctl->err, ERR_INVALID,
			       "--live: viewers follow a session at a relay; --output and "
			       "--no-output have none");
	wanted.live_us = (uint32_t)us;
	return 0;
}

static bool is_tls(const char *url)
{
	return url && strstr(url, "tls://");
}

static enum status create_check(struct ctl *ctl)
{
	enum status status;

	if (!!opt.output + !!opt.url + !!opt.no_output + (opt.ctrl_url || opt.data_url) > 1) {
		err_set(&ctl->err, ERR_INVALID,
			"--output, --set-url, --ctrl-url and --no-output exclude each other");
		return STATUS_ERROR;
	}
	ltt_ctl_create_options_init(&wanted);
	if (create_take_format(ctl, opt.format, &wanted) != 0)
		return STATUS_ERROR;
	if (create_take_size(ctl, "keep-free", opt.keep_free, &wanted.keep_free) != 0 ||
	    create_take_size(ctl, "max-size", opt.max_size, &wanted.max_size) != 0 ||
	    create_take_sync(ctl) != 0 || take_live(ctl) != 0 || take_spool(ctl) != 0)
		return STATUS_ERROR;
	wanted.relay_clear = opt.clear_text;
	wanted.compress = opt.compress;
	wanted.own_daemons = opt.own_daemons;
	wanted.snapshots = opt.snapshot;
	if (opt.clear_text && (is_tls(opt.url) || is_tls(opt.ctrl_url))) {
		err_set(&ctl->err, ERR_INVALID, "--clear-text and a tls:// URL exclude each other");
		return STATUS_ERROR;
	}
	status = opt.url ? take_url(ctl) : create_take_relay(ctl);
	if (status == STATUS_OK && opt.snapshot && wanted.live_us) {
		err_set(&ctl->err, ERR_INVALID,
			"viewers can't follow snapshots: omit --snapshot, or --live");
		return STATUS_ERROR;
	}
	if (opt.snapshot && wanted.url) {
		snapshot_url = wanted.url;
		wanted.url = NULL;
		opt.no_output = 1;
	}
	if (status == STATUS_OK && opt.compress && !wanted.url && !wanted.live_us) {
		err_set(&ctl->err, ERR_INVALID,
			"only data for a relay is compressed: name a relay (--set-url), or omit "
			"--compress");
		return STATUS_ERROR;
	}
	return status;
}

/* As `snapshot add-output` does. */
static int create_add_output(struct ctl *ctl, struct created *created)
{
	struct ltt_ctl_snapshot_options output;

	ltt_ctl_snapshot_options_init(&output);
	output.session = created->session;
	output.output = snapshot_url;
	output.data_url = wanted.data_url;
	if (ctl_done(ctl, ltt_ctl_set_snapshot_output(ctl->library, &output), &ctl->err) == 0) {
		free(created->output);
		created->output = xstrdup(snapshot_url);
		return 0;
	}
	(void)!ltt_ctl_destroy(ctl->library, created->session, 0, NULL);
	return ctl->err.code;
}

static enum status create_run(struct ctl *ctl)
{
	struct created created CLEANUP(created_fini) = { 0 };

	if (!wanted.name)
		wanted.name = operand(ctl, 0);
	wanted.output = opt.output;
	wanted.no_output = opt.no_output;
	if (!wanted.url && !wanted.live_us) { /* options about a relay have no effect then */
		wanted.spool_size = 0;
		wanted.relay_clear = 0;
	}
	if (create_session(ctl, &wanted, &created) != 0)
		return STATUS_ERROR;
	if (snapshot_url && create_add_output(ctl, &created) != 0)
		return STATUS_ERROR;
	create_remember(ctl, &created);
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", created.session);
	json_set_str(ctl->record, "output", created.output);
	return STATUS_OK;
}

static void create_text(FILE *out, struct json_object *record)
{
	fprintf(out, "Session %s created.\n", json_str(record, "session"));
	if (opt.snapshot && *json_str(record, "output"))
		fprintf(out, "Snapshots will be output to %s\n", json_str(record, "output"));
	else if (*json_str(record, "output"))
		fprintf(out, "Traces will be output to %s\n", json_str(record, "output"));
	else if (opt.snapshot)
		fputs("Snapshots have no output yet: lttctl snapshot add-output\n", out);
	else
		fputs("No trace will be written.\n", out);
}

const struct verb verb_create = {
	.name = "create",
	.operands = "[SESSION]",
	.help = "Make a session, the current one from now on",
	.options = options,
	.daemon = DAEMON_STARTED,
	.max_operands = 1,
	.check = create_check,
	.run = create_run,
	.text = create_text,
};
