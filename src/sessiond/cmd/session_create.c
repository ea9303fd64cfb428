/* SPDX-License-Identifier: GPL-2.0-only */
/* session_create: a new, stopped session of the caller. */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/realtime.h"
#include "io/relayurl.h"
#include "io/spoolfacts.h"
#include "io/tcp.h"
#include "proto/relay.h"
#include "sessiond/state/state.h"

/* auto-YYYYmmdd-HHMMSS, and -2, -3 ... within one second */
static char *auto_name(struct command *cmd, uint64_t now_ns)
{
	time_t s = (time_t)(now_ns / 1000000000);
	struct session *session;
	char stem[40], *name;
	struct err ignored;
	struct tm tm = { 0 };
	unsigned int n = 1;

	localtime_r(&s, &tm);
	strftime(stem, sizeof(stem), "auto-%Y%m%d-%H%M%S", &tm);
	name = xstrdup(stem);
	for (;;) {
		memset(&ignored, 0, sizeof(ignored));
		if (session_find(&cmd->sd->sessions, &cmd->caller, name, &session, &ignored))
			return name;
		free(name);
		name = xasprintf("%s-%u", stem, ++n);
	}
}

/* Whether there are keys for it shows when it connects. */
bool command_are_addresses(const char *list)
{
	AUTO_FREE char *copy = strlen(list) < RELAY_ADDRS_BYTES ? xstrdup(list) : NULL;
	char *rest = copy, *one = NULL;
	unsigned int nr = 0;
	struct tcp_addr addr;

	while (rest && (one = strsep(&rest, ",")))
		if (++nr > RELAY_ADDRS_MAX || tcp_parse(one, &addr) < 0)
			return false;
	return nr;
}

static bool are_urls(const char *list)
{
	struct relayurl url;
	unsigned int nr = 0;

	for (; list; list = relayurl_next(list))
		if (++nr > RELAYURL_MAX || relayurl_parse(list, &url) < 0)
			return false;
	return true;
}

static enum cmd_now check_relay(struct command *cmd, const struct req_session_create *req)
{
	bool unknown = strcmp(req->relay, RELAY_ADDRS_UNKNOWN) == 0;

	if (unknown ? !req->spool[0] || !are_urls(req->path) : !command_are_addresses(req->relay))
		return command_error(cmd, ERR_INVALID, "'%.60s' is not the address of a relay",
				     req->relay);
	if (req->outdir >= 0 && !req->spool[0])
		return command_error(cmd, ERR_INVALID, "a trace goes to a directory or to a relay");
	if (req->relay_clear > RELAY_LINK_TLS || strlen(req->relay_host) > 255)
		return command_error(cmd, ERR_INVALID, "unknown kind of connection to a relay");
	if ((req->keep_free && !req->spool[0]) || req->max_size)
		return command_error(cmd, ERR_UNSUPPORTED,
				     "limits are for traces in a directory here, not at a relay");
	if (strlen(req->path) >= SPOOLFACTS_URL_BYTES)
		return command_error(cmd, ERR_INVALID, "the URL of the relay is too long");
	if (req->live_us && req->live_us < LIVE_MIN_US)
		return command_error(cmd, ERR_INVALID,
				     "--live: the period is %u us at least",
				     LIVE_MIN_US);
	return CMD_DONE;
}

/* The directory at @path. */
static enum cmd_now check_dir(struct command *cmd, const struct req_session_create *req,
			      const char *path)
{
	struct statx st = { 0 };

	if (req->outdir < 0 && *path)
		return command_error(cmd, ERR_INVALID,
				     "'%s' was sent without its directory descriptor", path);
	if (req->outdir < 0)
		return CMD_DONE;
	/* only known facts: its file system may belong to a program that never answers */
	if (statx(req->outdir, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0 ||
	    !S_ISDIR(st.stx_mode))
		return command_error(cmd, ERR_OUTPUT, "'%s' is not a directory", path);
	if (*path != '/')
		return command_error(cmd, ERR_INVALID, "the output path must be absolute");
	if (!admission_has_room(req->outdir, ADMISSION_KEPT))
		return command_error(cmd, ERR_LIMIT,
				     "the session daemon has nearly reached its limit of %u open "
				     "files; destroy sessions, or start it with a higher limit "
				     "(ulimit -n)",
				     admission_fd_limit());
	if (strlen(path) >= 4096)
		return command_error(cmd, ERR_INVALID, "the output path is too long");
	return CMD_DONE;
}

static enum cmd_now check_spool(struct command *cmd, const struct req_session_create *req)
{
	if (req->spool[0] && req->spool_size < SESSION_LEAST_SIZE)
		return command_error(cmd, ERR_INVALID,
				     "--spool-size: a spool of %llu bytes has no room for data; "
				     "give it %u or more, or no spool",
				     (unsigned long long)req->spool_size, SESSION_LEAST_SIZE);
	return check_dir(cmd, req, req->spool);
}

static enum cmd_now session_create_check_output(struct command *cmd,
						const struct req_session_create *req)
{
	if (req->snapshots && req->relay[0])
		return command_error(cmd, ERR_UNSUPPORTED,
				     "the relay of snapshots is set by snapshot_output: omit the "
				     "URL");
	if (req->relay[0])
		return check_relay(cmd, req) == CMD_DONE ? check_spool(cmd, req) : CMD_FAILED;
	if (req->live_us)
		return command_error(cmd, ERR_INVALID, "a live session needs a relay");
	if (req->spool[0])
		return command_error(cmd, ERR_INVALID, "a spool is for a session at a relay");
	if (req->compress)
		return command_error(cmd, ERR_INVALID,
				     "only data for a relay is compressed: name a relay "
				     "(--set-url), or omit --compress");
	return check_dir(cmd, req, req->path);
}

static enum cmd_now check_scope(struct command *cmd, const char *scope)
{
	if (strlen(scope) > SESSION_MAX_SCOPE || strchr(scope, ':'))
		return command_error(cmd, ERR_INVALID,
				     "a scope is a word of at most %u bytes without a colon",
				     SESSION_MAX_SCOPE);
	return CMD_DONE;
}

enum cmd_now cmd_session_create(struct command *cmd, struct req_session_create *req,
				struct rep_session_create *rep)
{
	AUTO_FREE char *made = NULL;
	struct session *session;
	struct session_settings settings = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)req->name,
#include "model/session.def"
	};
	uint8_t relay_id[16];
	uint64_t now_ns = realtime_ns();
	int ret;

	if (req->trace_format > TRACE_FORMAT_CTF_2)
		return command_error(cmd, ERR_INVALID, "unknown trace format %u", req->trace_format);
	if (settings.trace_format == TRACE_FORMAT_DEFAULT)
		settings.trace_format = cmd->sd->trace_format;
	if (session_create_check_output(cmd, req) != CMD_DONE ||
	    check_scope(cmd, req->scope) != CMD_DONE ||
	    session_check_disk(&settings, req->outdir >= 0 || req->relay[0], &cmd->err))
		return CMD_FAILED;
	if (getrandom(relay_id, sizeof(relay_id), 0) != (ssize_t)sizeof(relay_id))
		return command_error(cmd, ERR_INTERNAL, "can't generate random bytes");
	if (!req->name[0])
		made = auto_name(cmd, now_ns);
	if (session_create(&cmd->sd->sessions, &cmd->caller, made ? made : req->name, req->path,
			   now_ns, &session, &cmd->err))
		return CMD_FAILED;
	session_set(session, &settings);
	memcpy(session->relay_id, relay_id, sizeof(session->relay_id));
	session->user_consumer = consumers_has_own_user(&cmd->sd->consumers, session);
	session->kernel_consumer = consumers_has_kernel(&cmd->sd->consumers, session);
	run_new(&cmd->sd->run, consumers_get(&cmd->sd->consumers, session), &cmd->sd->sessions,
		session, TAKE_FD(req->outdir));
	ret = state_save(cmd->sd, session);
	if (ret < 0) {
		run_free(session->run);
		return command_error(cmd, ERR_OUTPUT,
				     "%s: can't be written (%s), so the session would not survive "
				     "the session daemon; make room there",
				     cmd->sd->state_dir, strerror(-ret));
	}
	run_keep(session->run);
	rep->id = session->id;
	rep->name = session->name;
	return CMD_DONE;
}
