/* SPDX-License-Identifier: GPL-2.0-only */
/* enable_channel.c - lttctl enable-channel: create channels, or enable them again. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"

#define SUBBUF_LEAST 4096u /* a page of the ring */

static struct {
	struct domain_options domain;
	char *session;
	char *subbuf_size, *num_subbuf, *switch_timer, *tracefile_size, *tracefile_count;
	char *ownership, *allocation, *preallocation, *reclaim, *blocking, *output;
	char *read_timer, *monitor_timer, *watchdog_timer;
	int discard, overwrite, remember, per_user, per_process, global;
} opt;

static struct ltt_ctl_channel_options channel;

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_SESSION(&opt.session),
	OPTION_TEXT("subbuf-size", 0, &opt.subbuf_size,
		    "size of a sub-buffer; suffixes: k, M, G, T", "SIZE"),
	OPTION_TEXT("num-subbuf", 0, &opt.num_subbuf, "sub-buffers in a ring", "N"),
	OPTION_TEXT("switch-timer", 0, &opt.switch_timer,
		    "longest time that data stays in a buffer", "US"),
	OPTION_TEXT("tracefile-size", 'C', &opt.tracefile_size, "start a new file at this size",
		    "SIZE"),
	OPTION_TEXT("tracefile-count", 'W', &opt.tracefile_count,
		    "maximum number of files of a stream", "N"),
	OPTION_TEXT("buffer-ownership", 0, &opt.ownership,
		    "share buffers by user (default) or process; of the kernel: system", "OWNER"),
	OPTION_FLAG("buffers-uid", 0, &opt.per_user, "as --buffer-ownership=user"),
	OPTION_FLAG("buffers-pid", 0, &opt.per_process, "as --buffer-ownership=process"),
	OPTION_FLAG("discard", 0, &opt.discard,
		    "drop new events if full (default, but not with create --snapshot)"),
	OPTION_FLAG("overwrite", 0, &opt.overwrite,
		    "drop the oldest if full; only snapshots have its events"),
	OPTION_FLAG("remember", 0, &opt.remember,
		    "keep the first events (of each process) for all snapshots"),
	OPTION_FLAG("buffers-global", 0, &opt.global,
		    "as --buffer-ownership=system, for the kernel"),
	OPTION_TEXT("buffer-allocation", 0, &opt.allocation, "only per-cpu is supported", "POLICY"),
	OPTION_TEXT("buffer-preallocation", 0, &opt.preallocation,
		    "memory of buffers: preallocate (default), on-demand", "POLICY"),
	OPTION_TEXT("auto-reclaim-memory", 0, &opt.reclaim,
		    "give memory back that was written: off (default), consumed, older-than:US", "POLICY"),
	OPTION_TEXT("blocking-timeout", 0, &opt.blocking,
		    "programs that allow it wait so long if the buffer is full", "US|inf"),
	OPTION_TEXT("output", 0, &opt.output, "write and send by: mmap (default), splice", "TYPE"),
	OPTION_TEXT("read-timer", 0, &opt.read_timer, "no effect: readers are woken by data", "US"),
	OPTION_TEXT("monitor-timer", 0, &opt.monitor_timer, "no effect: there is no polling", "US"),
	OPTION_TEXT("watchdog-timer", 0, &opt.watchdog_timer,
		    "no effect: a killed program cannot stall a buffer", "US"),
	POPT_TABLEEND,
};

static int bad_value(struct ctl *ctl, const char *option, const char *text, const char *wanted)
{
	return err_set(&ctl->err, ERR_INVALID, "--%s=%s: this is not %s", option, text, wanted);
}

static int enable_channel_take_size(struct ctl *ctl, const char *option, const char *text,
				    uint64_t *ret)
{
	if (!text)
		return 0;
	if (parse_size(text, ret) != 0)
		return bad_value(ctl, option, text, "a size, such as 65536, 64k or 1M");
	return *ret ? 0 : bad_value(ctl, option, text, "greater than 0");
}

/* "0" is LTTng's default: files of any size. */
static int enable_channel_take_file_size(struct ctl *ctl)
{
	const char *text = opt.tracefile_size;

	return text && strcmp(text, "0") == 0 ?
		       0 :
		       enable_channel_take_size(ctl, "tracefile-size", text,
						&channel.tracefile_size);
}

static int enable_channel_take_number(struct ctl *ctl, const char *option, const char *text,
				      bool zero, uint32_t *ret)
{
	uint64_t n;

	if (!text)
		return 0;
	if (parse_u64(text, &n) != 0 || n > UINT32_MAX)
		return bad_value(ctl, option, text, "a number below 2^32");
	if (n == 0 && !zero)
		return bad_value(ctl, option, text, "greater than 0");
	*ret = (uint32_t)n;
	return 0;
}

static int enable_channel_take_timer(struct ctl *ctl)
{
	uint64_t us;

	if (!opt.switch_timer)
		return 0;
	if (options_parse_period(opt.switch_timer, &us) != 0 || us > UINT32_MAX)
		return bad_value(ctl, "switch-timer", opt.switch_timer,
				 "a period, such as 200000 (microseconds), 200ms or 1s");
	channel.switch_timer_us = (uint32_t)us;
	return 0;
}

static int take_blocking(struct ctl *ctl)
{
	if (opt.blocking && options_parse_blocking(opt.blocking, &channel.blocking_us) != 0)
		return bad_value(ctl, "blocking-timeout", opt.blocking, OPTIONS_BLOCKING);
	if (channel.blocking_us && (opt.overwrite || opt.remember || opt.domain.kernel))
		return err_set(&ctl->err, ERR_INVALID,
			       "--blocking-timeout: %s; omit it",
			       opt.domain.kernel ? "the kernel does not wait" :
			       opt.overwrite     ? "a buffer that is overwritten is never full" :
						   "a buffer that keeps its first events stays full");
	return 0;
}

static int take_ownership(struct ctl *ctl)
{
	const char *text = opt.ownership;

	if (!!text + !!opt.per_user + !!opt.per_process + !!opt.global > 1)
		return err_set(&ctl->err, ERR_INVALID,
			       "buffers have one owner: set it once, with --buffer-ownership");
	if (opt.global || (text && strcmp(text, "system") == 0)) {
		channel.ownership = LTT_CTL_OWNER_SYSTEM;
		return opt.domain.kernel ?
			       0 :
			       err_set(&ctl->err, ERR_INVALID,
				       "user-space buffers belong to a user or to a process, not to the "
				       "system");
	}
	if (opt.per_process || (text && strcmp(text, "process") == 0))
		channel.ownership = LTT_CTL_OWNER_PROCESS;
	else if (opt.per_user || (text && strcmp(text, "user") == 0))
		channel.ownership = LTT_CTL_OWNER_USER;
	else if (text)
		return bad_value(ctl, "buffer-ownership", text,
				 "'user', 'process' or, for the kernel, 'system'");
	return 0;
}

/* An option of LTTng's of which one value can be served. */
static int take_only(struct ctl *ctl, const char *option, const char *text, const char *value,
		     const char *why)
{
	if (!text || strcmp(text, value) == 0)
		return 0;
	return err_set(&ctl->err, ERR_UNSUPPORTED, "--%s=%s is not supported yet: %s; use %s",
		       option, text, why, value);
}

static int take_age(struct ctl *ctl, const char *text)
{
	if (options_parse_period(text, &channel.reclaim_us) != 0 || !channel.reclaim_us)
		return bad_value(ctl, "auto-reclaim-memory", opt.reclaim,
				 "'older-than:' and a period, such as 200000 (microseconds) or 1s");
	return 0;
}

static int take_memory(struct ctl *ctl)
{
	const char *alloc = opt.preallocation, *reclaim = opt.reclaim;

	if (alloc && strcmp(alloc, "on-demand") == 0)
		channel.on_demand = 1;
	else if (alloc && strcmp(alloc, "preallocate") != 0)
		return bad_value(ctl, "buffer-preallocation", alloc,
				 "'preallocate' or 'on-demand'");
	if (reclaim && strcmp(reclaim, "consumed") == 0)
		channel.reclaim = 1;
	else if (reclaim && strncmp(reclaim, "older-than:", 11) == 0)
		return take_age(ctl, reclaim + 11);
	else if (reclaim && strcmp(reclaim, "off") != 0)
		return bad_value(ctl, "auto-reclaim-memory", reclaim,
				 "'off', 'consumed' or 'older-than:AGE'");
	return 0;
}

static int take_limited(struct ctl *ctl)
{
	if (take_only(ctl, "buffer-allocation", opt.allocation, "per-cpu",
		      "each CPU has a buffer of its own") != 0 ||
	    take_memory(ctl) != 0)
		return ctl->err.code;
	return 0;
}

static int take_output(struct ctl *ctl)
{
	if (!opt.output)
		return 0;
	if (strcmp(opt.output, "mmap") == 0)
		channel.output_type = LTT_CTL_OUTPUT_TYPE_MMAP;
	else if (strcmp(opt.output, "splice") == 0)
		channel.output_type = LTT_CTL_OUTPUT_TYPE_SPLICE;
	else
		return bad_value(ctl, "output", opt.output, "'mmap' or 'splice'");
	return 0;
}

static void note_rounding(struct ctl *ctl, const char *what, uint64_t n, uint64_t least)
{
	uint64_t rounded = round_up_pow2(MAX(n, least));

	if (n && rounded != n && rounded)
		print_note(ctl, "the %s (%" PRIu64 ") is rounded up to %s: %" PRIu64, what, n,
			   n < least ? "a page" : "a power of two", rounded);
}

static int take_attributes(struct ctl *ctl)
{
	ltt_ctl_channel_options_init(&channel);
	if (enable_channel_take_size(ctl, "subbuf-size", opt.subbuf_size, &channel.subbuf_size) !=
		    0 ||
	    enable_channel_take_number(ctl, "num-subbuf", opt.num_subbuf, false,
				       &channel.num_subbuf) != 0 ||
	    enable_channel_take_timer(ctl) != 0 ||
	    enable_channel_take_file_size(ctl) != 0 ||
	    enable_channel_take_number(ctl, "tracefile-count", opt.tracefile_count, true,
				       &channel.tracefile_count) != 0 ||
	    take_ownership(ctl) != 0 || take_blocking(ctl) != 0 || take_limited(ctl) != 0 ||
	    take_output(ctl) != 0)
		return ctl->err.code;
	if (opt.discard && opt.overwrite)
		return err_set(&ctl->err, ERR_INVALID,
			       "--discard and --overwrite exclude each other");
	if (channel.tracefile_count && !channel.tracefile_size)
		return err_set(&ctl->err, ERR_INVALID,
			       "--tracefile-count needs --tracefile-size: files without a size "
			       "are never full");
	channel.overwrite = !!opt.overwrite;
	channel.discard = !!opt.discard;
	channel.remember = !!opt.remember;
	note_rounding(ctl, "sub-buffer size", channel.subbuf_size, SUBBUF_LEAST);
	note_rounding(ctl, "number of sub-buffers", channel.num_subbuf, 1);
	return 0;
}

static enum status enable_channel_one(struct ctl *ctl)
{
	struct ltt_ctl *lib = ctl->library;

	if (ctl_done(ctl, ltt_ctl_enable_channel(lib, &channel), &ctl->err) == 0) {
		json_append(ctl->record, "channel_names", json_object_new_string(channel.name));
		if (*ltt_ctl_warning(lib))
			print_note(ctl, "%s", ltt_ctl_warning(lib));
		return STATUS_OK;
	}
	if (ctl->err.code != ERR_CHANNEL_EXISTS) {
		target_suggest(ctl, channel.session, NULL, NULL);
		return STATUS_ERROR;
	}
	print_warning(ctl, "%s", ctl->err.text);
	ctl->err = (struct err){ 0 };
	return STATUS_WARNING;
}

static enum status enable_channel_enable_all(struct ctl *ctl)
{
	struct names names CLEANUP(names_fini) = { 0 };
	enum status worst = STATUS_OK;

	names_split(operand(ctl, 0), &names);
	for (size_t i = 0; i < names.nr && !ctl->err.code; i++) {
		channel.name = names.names[i];
		worst = target_worse(worst, enable_channel_one(ctl));
	}
	return worst;
}

static int enable_channel_check_names(struct ctl *ctl)
{
	struct names names CLEANUP(names_fini) = { 0 };

	if (!operand(ctl, 0))
		return err_set(&ctl->err, ERR_INVALID, "missing argument: name the channels");
	names_split(operand(ctl, 0), &names);
	for (size_t i = 0; i < names.nr; i++) {
		const char *wrong = name_check_channel(names.names[i]);

		if (wrong)
			return err_set(&ctl->err, ERR_INVALID, "the channel name '%s' %s",
				       names.names[i], wrong);
	}
	return 0;
}

static enum status enable_channel_check(struct ctl *ctl)
{
	enum status status = domain_check(ctl, &opt.domain);

	if (status == STATUS_OK &&
	    (enable_channel_check_names(ctl) != 0 || take_attributes(ctl) != 0))
		return STATUS_ERROR;
	return status;
}

static enum status enable_channel_run(struct ctl *ctl)
{
	enum ltt_ctl_domain domain = (enum ltt_ctl_domain)domain_named(&opt.domain);
	char *session AUTO_FREE = target_begin(ctl, opt.session, domain, "channel_names");

	if (!session)
		return STATUS_ERROR;
	channel.session = session;
	channel.domain = domain;
	return enable_channel_enable_all(ctl);
}

static void enable_channel_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "channel_names"); i++)
		fprintf(out, "%s channel %s enabled for session %s\n", domain_title(record),
			json_object_get_string(json_at(record, "channel_names", i)),
			json_str(record, "session"));
}

const struct verb verb_enable_channel = {
	.name = "enable-channel",
	.operands = "(-u | -k) NAME[,NAME]...",
	.help = "Make channels (sets of buffers), or enable them again",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = enable_channel_check,
	.run = enable_channel_run,
	.text = enable_channel_text,
};
