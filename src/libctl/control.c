/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/str.h"
#include "daemon.h"

/* The numbers of ltt/control.h are those of the messages. */
#define SAME(public, ours) _Static_assert((int)(public) == (int)(ours), #public)
SAME(LTT_CTL_INTERNAL, ERR_INTERNAL);
SAME(LTT_CTL_BAD_MESSAGE, ERR_BAD_MESSAGE);
SAME(LTT_CTL_UNKNOWN_COMMAND, ERR_UNKNOWN_COMMAND);
SAME(LTT_CTL_DENIED, ERR_DENIED);
SAME(LTT_CTL_INVALID, ERR_INVALID);
SAME(LTT_CTL_NO_SESSION, ERR_NO_SESSION);
SAME(LTT_CTL_SESSION_EXISTS, ERR_SESSION_EXISTS);
SAME(LTT_CTL_NO_CHANNEL, ERR_NO_CHANNEL);
SAME(LTT_CTL_CHANNEL_EXISTS, ERR_CHANNEL_EXISTS);
SAME(LTT_CTL_NO_EVENT, ERR_NO_EVENT);
SAME(LTT_CTL_EVENT_EXISTS, ERR_EVENT_EXISTS);
SAME(LTT_CTL_STATE, ERR_STATE);
SAME(LTT_CTL_NO_MEMORY, ERR_NO_MEMORY);
SAME(LTT_CTL_OUTPUT, ERR_OUTPUT);
SAME(LTT_CTL_NO_DAEMON, ERR_NO_DAEMON);
SAME(LTT_CTL_UNSUPPORTED, ERR_UNSUPPORTED);
SAME(LTT_CTL_CONSUMER, ERR_CONSUMER);
SAME(LTT_CTL_BUSY, ERR_BUSY);
SAME(LTT_CTL_LIMIT, ERR_LIMIT);
SAME(LTT_CTL_NO_ANSWER, ERR_NO_ANSWER);
SAME(LTT_CTL_INTERRUPTED, ERR_INTERRUPTED);
SAME(LTT_CTL_KERNEL, DOMAIN_KERNEL);
SAME(LTT_CTL_USER, DOMAIN_USER);
SAME(LTT_CTL_NEW, SESSION_NEW);
SAME(LTT_CTL_STARTING, SESSION_STARTING);
SAME(LTT_CTL_RECORDING, SESSION_RECORDING);
SAME(LTT_CTL_STOPPING, SESSION_STOPPING);
SAME(LTT_CTL_STOPPED, SESSION_STOPPED);
SAME(LTT_CTL_DESTROYING, SESSION_DESTROYING);
SAME(LTT_CTL_OWNER_DEFAULT, OWNERSHIP_DEFAULT);
SAME(LTT_CTL_OWNER_USER, OWNERSHIP_USER);
SAME(LTT_CTL_OWNER_PROCESS, OWNERSHIP_PROCESS);
SAME(LTT_CTL_OWNER_SYSTEM, OWNERSHIP_GLOBAL);
SAME(LTT_CTL_OUTPUT_TYPE_DEFAULT, OUTPUT_TYPE_DEFAULT);
SAME(LTT_CTL_OUTPUT_TYPE_MMAP, OUTPUT_TYPE_MMAP);
SAME(LTT_CTL_OUTPUT_TYPE_SPLICE, OUTPUT_TYPE_SPLICE);
SAME(LTT_CTL_SYNC_NONE, SYNC_NONE);
SAME(LTT_CTL_SYNC_PACKET, SYNC_PACKET);
SAME(LTT_CTL_SYNC_PERIOD, SYNC_PERIOD);
SAME(LTT_CTL_TRACE_FORMAT_DEFAULT, TRACE_FORMAT_DEFAULT);
SAME(LTT_CTL_TRACE_FORMAT_CTF_1_8, TRACE_FORMAT_CTF_1_8);
SAME(LTT_CTL_TRACE_FORMAT_CTF_2, TRACE_FORMAT_CTF_2);
SAME(LTT_CTL_LINK_NONE, LINK_NONE);
SAME(LTT_CTL_LINK_UP, LINK_UP);
SAME(LTT_CTL_LINK_DOWN, LINK_DOWN);
SAME(LTT_CTL_LEVEL_ALL, LOGLEVEL_ALL);
SAME(LTT_CTL_LEVEL_AT_LEAST, LOGLEVEL_AT_LEAST);
SAME(LTT_CTL_LEVEL_ONLY, LOGLEVEL_ONLY);
SAME(LTT_CTL_RULE_EVENTS, RULE_EVENTS);
SAME(LTT_CTL_RULE_PROBE, RULE_PROBE);
SAME(LTT_CTL_RULE_FUNCTION, RULE_FUNCTION);
SAME(LTT_CTL_RULE_USER, RULE_USER);
SAME(LTT_CTL_RULE_COUNT, RULE_COUNT);
SAME(LTT_CTL_RULE_HISTOGRAM, RULE_HISTOGRAM);
SAME(LTT_CTL_KEY_SIGNED, KEY_SIGNED);
SAME(LTT_CTL_KEY_UNSIGNED, KEY_UNSIGNED);
SAME(LTT_CTL_KEY_TEXT, KEY_TEXT);
SAME(LTT_CTL_KEY_CUT, KEY_CUT);
SAME(LTT_CTL_NEWS_STATE, NEWS_STATE);
SAME(LTT_CTL_NEWS_PROBLEM, NEWS_PROBLEM);
SAME(LTT_CTL_NEWS_SOLVED, NEWS_SOLVED);
SAME(LTT_CTL_NEWS_LOSS, NEWS_LOSS);
SAME(LTT_CTL_NEWS_CONSUMER_DIED, NEWS_DIED);
SAME(LTT_CTL_NEWS_CONSUMER_REPLACED, NEWS_REPLACED);
SAME(LTT_CTL_LOSS_FULL, LOSS_FULL);
SAME(LTT_CTL_LOSS_SIZE, LOSS_SIZE);
SAME(LTT_CTL_LOSS_BUSY, LOSS_BUSY);
SAME(LTT_CTL_LOSS_OUTPUT, LOSS_OUTPUT);
SAME(LTT_CTL_LOSS_INVALID, LOSS_INVALID);
SAME(LTT_CTL_TRACK_PID, TRACK_PID);
SAME(LTT_CTL_TRACK_TID, TRACK_TID);
SAME(LTT_CTL_TRACK_VPID, TRACK_VPID);
SAME(LTT_CTL_TRACK_VTID, TRACK_VTID);
SAME(LTT_CTL_TRACK_UID, TRACK_UID);
SAME(LTT_CTL_TRACK_GID, TRACK_GID);
SAME(LTT_CTL_TRACK_VUID, TRACK_VUID);
SAME(LTT_CTL_TRACK_VGID, TRACK_VGID);
SAME(LTT_CTL_TRACK_FOLLOW, TRACK_FOLLOW);
SAME(LTT_CTL_TRACK_CGROUP, TRACK_CGROUP);
SAME(LTT_CTL_TRACK_ALL, TRACK_ALL);
SAME(LTT_CTL_TRACK_NONE, TRACK_NONE);
SAME(LTT_CTL_TRACK_ADD, TRACK_ADD);
SAME(LTT_CTL_TRACK_REMOVE, TRACK_REMOVE);

struct ltt_ctl *ltt_ctl_new(void)
{
	struct ltt_ctl *ctl = calloc(1, sizeof(*ctl));

	if (ctl)
		*ctl = (struct ltt_ctl){ .made = OUTDIR_NONE };
	return ctl;
}

static void control_close(struct ltt_ctl *ctl)
{
	ctl->client = client_free(ctl->client);
	ctl->following = ctl->watching = false;
	ctl->daemon = (struct ltt_ctl_daemon_info){ 0 };
}

static void control_fill_daemon(struct ltt_ctl *ctl)
{
	const struct client_daemon *daemon = client_daemon(ctl->client);

	ctl->daemon = (struct ltt_ctl_daemon_info){
		.version = daemon->version,
		.rundir = daemon->rundir,
		.pid = daemon->pid,
		.consumer_pid = daemon->consumer_pid,
		.consumer_silent_ms = daemon->consumer_silent_ms,
		.clock_hz = daemon->clock_hz,
		.clock_why = daemon->clock_why,
	};
}

void ltt_ctl_free(struct ltt_ctl *ctl)
{
	if (!ctl)
		return;
	control_close(ctl);
	control_forget(ctl);
	outdir_fini(&ctl->made);
	free(ctl);
}

const char *ltt_ctl_error(const struct ltt_ctl *ctl)
{
	return ctl->err.text;
}

const char *ltt_ctl_warning(const struct ltt_ctl *ctl)
{
	return ctl->warning;
}

const struct ltt_ctl_daemon_info *ltt_ctl_daemon(const struct ltt_ctl *ctl)
{
	return ctl->client ? &ctl->daemon : NULL;
}

void control_forget(struct ltt_ctl *ctl)
{
	ctl->err = (struct err){ 0 };
	ctl->warning[0] = '\0';
	pool_owner_free(ctl->outcome);
	ctl->outcome = NULL;
}

int control_begin(struct ltt_ctl *ctl)
{
	control_forget(ctl);
	if (ctl->following)
		return err_set(&ctl->err, ERR_BUSY,
			       "the connection follows a session; use another one");
	if (ctl->client)
		return 0;
	return err_set(&ctl->err, ERR_NO_DAEMON,
		       "there is no connection with a session daemon; call ltt_ctl_connect()");
}

/* After these the next message could be the answer to this call, or there is none. */
int control_failed(struct ltt_ctl *ctl)
{
	switch (ctl->err.code) {
	case ERR_NO_DAEMON:
	case ERR_NO_ANSWER:
	case ERR_INTERRUPTED:
		control_close(ctl);
		break;
	default:
		break;
	}
	return ctl->err.code;
}

void *control_begin_result(struct ltt_ctl *ctl, size_t size)
{
	void *owner = control_begin(ctl) == 0 ? pool_owner_new(size) : NULL;

	if (!owner && !ctl->err.code)
		err_memory(&ctl->err);
	return owner;
}

int control_finish(struct ltt_ctl *ctl, int code, void *owner)
{
	if (code)
		control_failed(ctl);
	else if (pool_of(owner)->failed)
		err_memory(&ctl->err);
	if (ctl->err.code)
		pool_owner_free(owner);
	return ctl->err.code;
}

void control_warn(struct ltt_ctl *ctl, const char *fmt, ...)
{
	size_t len = strlen(ctl->warning), left = sizeof(ctl->warning) - len;
	va_list args;
	int n;

	if (len && left > 1) {
		ctl->warning[len++] = '\n';
		ctl->warning[len] = '\0';
		left--;
	}
	va_start(args, fmt);
	n = vsnprintf(ctl->warning + len, left, fmt, args);
	va_end(args);
	/* whole lines only */
	if (n < 0 || (size_t)n >= left)
		ctl->warning[len ? len - 1 : 0] = '\0';
}

int control_check_given(struct ltt_ctl *ctl, const char *value, const char *what)
{
	if (value)
		return 0;
	return err_set(&ctl->err, ERR_INVALID, "%s is missing", what);
}

static const struct {
	const char *what;
	const char *name;
	unsigned int first, last;
} control_enums[] = {
	[CONTROL_DOMAIN] = { "domain", "ltt_ctl_domain", LTT_CTL_KERNEL, LTT_CTL_USER },
	[CONTROL_OWNER] = { "owner of buffers", "ltt_ctl_owner", LTT_CTL_OWNER_DEFAULT,
			    LTT_CTL_OWNER_SYSTEM },
	[CONTROL_OUTPUT_TYPE] = { "output type", "ltt_ctl_output_type", LTT_CTL_OUTPUT_TYPE_DEFAULT,
				  LTT_CTL_OUTPUT_TYPE_SPLICE },
	[CONTROL_SYNC] = { "sync", "ltt_ctl_sync", LTT_CTL_SYNC_NONE, LTT_CTL_SYNC_PERIOD },
	[CONTROL_TRACE_FORMAT] = { "trace format", "ltt_ctl_trace_format",
				   LTT_CTL_TRACE_FORMAT_DEFAULT, LTT_CTL_TRACE_FORMAT_CTF_2 },
	[CONTROL_LEVEL_TYPE] = { "type of log levels", "ltt_ctl_level_type", LTT_CTL_LEVEL_ALL,
				 LTT_CTL_LEVEL_ONLY },
	[CONTROL_RULE_KIND] = { "kind of event rule", "ltt_ctl_rule_kind", LTT_CTL_RULE_EVENTS,
				LTT_CTL_RULE_HISTOGRAM },
	[CONTROL_TRACK_KIND] = { "kind of ids", "ltt_ctl_track_kind", LTT_CTL_TRACK_PID,
				 LTT_CTL_TRACK_CGROUP },
	[CONTROL_TRACK_OP] = { "operation on ids", "ltt_ctl_track_op", LTT_CTL_TRACK_ALL,
			       LTT_CTL_TRACK_REMOVE },
	[CONTROL_MAP_TYPE] = { "type of values", "ltt_ctl_map_type", LTT_CTL_MAP_DEFAULT,
			       LTT_CTL_MAP_INT_MAX },
	[CONTROL_MAP_UPDATE] = { "update policy", "ltt_ctl_map_update", LTT_CTL_MAP_UPDATE_DEFAULT,
				 LTT_CTL_MAP_PER_RULE_MATCH },
	[CONTROL_MAP_DEAD] = { "dead process policy", "ltt_ctl_map_dead", LTT_CTL_MAP_DEAD_DEFAULT,
			       LTT_CTL_MAP_SUM_INTO_SHARED },
};

int control_check_enum(struct ltt_ctl *ctl, enum control_enum type, unsigned int value)
{
	if (value >= control_enums[type].first && value <= control_enums[type].last)
		return 0;
	return err_set(&ctl->err, ERR_INVALID, "unknown %s %u; use a value of enum %s",
		       control_enums[type].what, value, control_enums[type].name);
}

int control_check_flags(struct ltt_ctl *ctl, unsigned int flags, unsigned int known)
{
	if (flags & ~known)
		return err_set(&ctl->err, ERR_UNSUPPORTED,
			       "this libltt-ctl does not know all of the flags 0x%x", flags);
	return 0;
}

int control_take(struct ltt_ctl *ctl, const void *given, void *ret, size_t known)
{
	const unsigned char *bytes = given;
	size_t size;

	memcpy(&size, given, sizeof(size));
	if (size < sizeof(size))
		return err_set(&ctl->err, ERR_INVALID,
			       "the size of a struct is not set; call its ..._init() first");
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return err_set(&ctl->err, ERR_UNSUPPORTED,
				       "the program asks for something that this libltt-ctl is too "
				       "old for; install version " LTT_VERSION " or later");
	memset(ret, 0, known);
	memcpy(ret, given, MIN(size, known));
	return 0;
}

/* --- which daemon ----------------------------------------------------------------------- */

char *control_installed(struct ltt_ctl *ctl, const char *name)
{
	char *file AUTO_FREE = NULL, *path = NULL;
	Dl_info info;
	char *slash;

	errno = 0;
	if (dladdr((const void *)&control_begin, &info) && info.dli_fname)
		file = realpath(info.dli_fname, NULL);
	if (!file && errno == ENOMEM) {
		err_memory(&ctl->err);
		return NULL;
	}
	slash = file ? strrchr(file, '/') : NULL;
	if (slash)
		*slash = '\0';
	path = slash ? str_printf("%s/" LTT_WAY_FROM_LIB "/%s", file, name) : strdup(name);
	if (path && slash && access(path, X_OK) != 0) {
		free(path);
		path = strdup(name);
	}
	if (!path)
		err_memory(&ctl->err);
	return path;
}

static int control_open_rundir(struct ltt_ctl *ctl, const struct ltt_ctl_connect_options *o)
{
	if (o->start_daemon)
		return err_set(&ctl->err, ERR_INVALID,
			       "a daemon is not started in a runtime directory that is given; set "
			       "LTT_RUNDIR instead");
	return client_open(o->rundir, o->cancel_fd, &ctl->client, &ctl->err);
}

static int control_open(struct ltt_ctl *ctl, const struct ltt_ctl_connect_options *o)
{
	char *installed AUTO_FREE = NULL;
	struct daemon_request request = {
		.spawn = o->start_daemon,
		.never_spawn = o->never_start,
		.path = o->daemon_path,
		.group = o->group,
		.interrupt = &o->cancel_fd,
	};

	if (o->start_daemon && o->never_start)
		return err_set(&ctl->err, ERR_INVALID,
			       "start_daemon and never_start exclude each other");
	if (o->rundir)
		return control_open_rundir(ctl, o);
	if (!o->daemon_path) {
		installed = control_installed(ctl, "ltt-sessiond");
		if (!installed)
			return ctl->err.code;
		request.installed = installed;
	}
	return daemon_open(&request, &ctl->client, &ctl->err);
}

int ltt_ctl_connect(struct ltt_ctl *ctl, const struct ltt_ctl_connect_options *options)
{
	struct ltt_ctl_connect_options o;

	control_forget(ctl);
	control_close(ctl);
	ltt_ctl_connect_options_init(&o);
	if (options && control_take(ctl, options, &o, sizeof(o)) != 0)
		return ctl->err.code;
	if (control_open(ctl, &o) != 0)
		return ctl->err.code;
	client_on_waiting(ctl->client, ctl->waiting, ctl->waiting_priv);
	control_fill_daemon(ctl);
	return 0;
}

void ltt_ctl_on_waiting(struct ltt_ctl *ctl, void (*fn)(void *priv, unsigned int waited_ms),
			void *priv)
{
	ctl->waiting = fn;
	ctl->waiting_priv = priv;
	if (ctl->client)
		client_on_waiting(ctl->client, fn, priv);
}

int ltt_ctl_shutdown(struct ltt_ctl *ctl, unsigned int flags, uint32_t *ret_sessions)
{
	uint32_t sessions;

	if (control_begin(ctl) != 0 || control_check_flags(ctl, flags, LTT_CTL_FORCE) != 0)
		return ctl->err.code;
	if (daemon_shutdown(ctl->client, flags & LTT_CTL_FORCE, &sessions, &ctl->err) != 0)
		return control_failed(ctl);
	control_close(ctl);
	if (ret_sessions)
		*ret_sessions = sessions;
	return 0;
}
