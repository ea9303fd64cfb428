/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cmd.c - calls the handler of a request: the table client.def is expanded to one small function
 * for each command, which decodes the request and encodes the reply.
 */
#include "cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/sock.h"
#include "sessiond/clock_check.h"
#include "proto/counters.h"
#include "sessiond/peers/clients.h"
#include "sessiond/core/orphaned.h"
#include "sessiond/state/state.h"

/* --- answers ------------------------------------------------------------------ */

void command_begin(struct command *cmd, struct encoder *enc, uint16_t type, uint16_t flags)
{
	static uint8_t buf[MSG_MAX_BYTES]; /* one loop: one message at a time */

	encoder_init(enc, buf, sizeof(buf));
	encode_header(enc, type, flags, cmd->serial);
}

static void command_take_answer(struct command *cmd, const struct encoder *enc)
{
	struct msg_header header;
	struct decoder dec;
	const char *text;
	uint32_t code;

	memcpy(&header, enc->buf, sizeof(header));
	if (!(header.flags & MSG_REPLY))
		return;
	decoder_init(&dec, enc->buf + sizeof(header), enc->len - sizeof(header), NULL, 0);
	code = decode_u32(&dec);
	text = decode_str(&dec);
	if (code)
		err_set(&cmd->err, (enum err_code)code, "%s", text);
	else
		cmd->internal->answered(cmd, &dec);
}

void command_send(struct command *cmd, const struct encoder *enc)
{
	struct client *client = client_find(cmd->sd, cmd->client);

	if (client)
		peer_send(&client->peer, enc);
	if (cmd->internal)
		command_take_answer(cmd, enc);
}

bool command_choked(struct command *cmd)
{
	struct client *client = client_find(cmd->sd, cmd->client);

	return client && client->peer.queued_bytes > PEER_QUEUE_BYTES - 2 * MSG_MAX_BYTES;
}

static struct account_id cmd_account_of(const struct command *cmd)
{
	return (struct account_id){ .uid = cmd->caller.uid };
}

void command_free(struct command *cmd)
{
	struct client *client = client_find(cmd->sd, cmd->client);

	if (client)
		client->nr_waiting--;
	if (cmd->body)
		quota_give(&cmd->sd->quotas, cmd_account_of(cmd), QUOTA_BACKLOG, cmd->len);
	for (unsigned int i = 0; i < cmd->nr_fds; i++)
		sock_drop(cmd->fds[i]);
	free(cmd->body);
	if (cmd->internal)
		cmd->internal->ended(cmd);
	free(cmd);
}

void command_fail(struct command *cmd)
{
	struct encoder enc;

	command_begin(cmd, &enc, cmd->type, MSG_REPLY);
	encode_u32(&enc, cmd->err.code ? cmd->err.code : ERR_INTERNAL);
	encode_str(&enc, cmd->err.text);
	command_send(cmd, &enc);
	command_free(cmd);
}

enum cmd_now command_error(struct command *cmd, enum err_code code, const char *fmt, ...)
{
	char text[sizeof(cmd->err.text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	err_set(&cmd->err, code, "%s", text);
	return CMD_FAILED;
}

struct session *command_session(struct command *cmd)
{
	return session_by_id(&cmd->sd->sessions, cmd->session_id);
}

/* --- its turn ------------------------------------------------------------------- */

static void run_again(void *data)
{
	struct command *cmd = data;
	int fds[MSG_MAX_FDS];
	struct decoder dec;

	if (!cmd->internal && !client_find(cmd->sd, cmd->client)) {
		command_free(cmd);
		return;
	}
	memcpy(fds, cmd->fds, sizeof(fds));
	decoder_init(&dec, cmd->body, cmd->len, fds, cmd->nr_fds);
	cmd->nr_fds = 0;
	command_dispatch(cmd, &dec);
}

static void put_off(struct command *cmd, const uint8_t *body, size_t len)
{
	if (!cmd->body) {
		if (quota_take_or_explain(&cmd->sd->quotas, cmd_account_of(cmd), QUOTA_BACKLOG, len,
					  &cmd->err)) {
			command_fail(cmd);
			return;
		}
		cmd->body = xalloc(len + 1);
		memcpy(cmd->body, body, len);
		cmd->len = len;
	}
	run_when_idle(cmd->session->run, run_again, cmd);
}

/* --- rights -------------------------------------------------------------------- */

static int cmd_find_session(struct command *cmd, const char *name)
{
	int code = session_find(&cmd->sd->sessions, &cmd->caller, name, &cmd->session, &cmd->err);

	cmd->session_id = code ? 0 : cmd->session->id;
	if (code == ERR_NO_SESSION)
		orphaned_explain(&cmd->sd->orphaned, &cmd->caller, name, &cmd->err);
	return code;
}

#define ACCESS_ANYONE(cmd, req) ((void)(req), 0)
#define ACCESS_SESSION(cmd, req) cmd_find_session(cmd, (req)->session)

#define ACCESS_CHANGE(cmd, req) ACCESS_SESSION(cmd, req)

#define SAVED_ANYONE false
#define SAVED_SESSION false
#define SAVED_CHANGE true

/* Until the session is saved the client reads no answer. */
static void change_begin(struct sessiond *sd, uint64_t client_id, struct session *session)
{
	struct client *client = client_find(sd, client_id);

	session->saved.series = 0;
	if (client)
		peer_hold(&client->peer, true);
}

/* The handler may have ended the session. */
static void change_end(struct sessiond *sd, uint64_t client_id, uint64_t id)
{
	struct session *session = session_by_id(&sd->sessions, id);
	struct client *client = client_find(sd, client_id);

	if (session && !session->saved.series)
		state_save(sd, session);
	if (client)
		peer_hold(&client->peer, false);
}

/* --- one function a command ------------------------------------------------------- */

#define RELEASE_u8(v) (void)(v)
#define RELEASE_u32(v) (void)(v)
#define RELEASE_u64(v) (void)(v)
#define RELEASE_i64(v) (void)(v)
#define RELEASE_str(v) (void)(v)
#define RELEASE_blob(v) (void)(v)
#define RELEASE_fd(v) sock_drop(v)

#define KEEP_u8(cmd, v) (void)(v)
#define KEEP_u32(cmd, v) (void)(v)
#define KEEP_u64(cmd, v) (void)(v)
#define KEEP_i64(cmd, v) (void)(v)
#define KEEP_str(cmd, v) (void)(v)
#define KEEP_blob(cmd, v) (void)(v)
#define KEEP_fd(cmd, v) ((v) < 0 ? 0 : ((cmd)->fds[(cmd)->nr_fds++] = TAKE_FD(v)))

/* Before a request is put off: the descriptors that came with it are decoded again. */
#define COMMAND(name, number, access, turn, doc)                                      \
	static void keep_##name(struct command *cmd, struct req_##name *req)          \
	{                                                                             \
		(void)cmd, (void)req;
#define IN(type, field, doc) KEEP_##type(cmd, req->field);
#define COMMAND_END(name) }
#include "proto/client.def"

/* descriptors that the handler has not taken are closed */
#define COMMAND(name, number, access, turn, doc)           \
	static void release_##name(struct req_##name *req) \
	{                                                  \
		(void)req;
#define IN(type, field, doc) RELEASE_##type(req->field);
#define COMMAND_END(name) }
#include "proto/client.def"

#define COMMAND(name, number, access, turn, doc)                                          \
	static void dispatch_##name(struct command *cmd, struct decoder *dec)             \
	{                                                                                 \
		const uint8_t *body = dec->p;                                             \
		size_t len = (size_t)(dec->end - dec->p);                                 \
		int result = CMD_FAILED;                                                  \
		struct req_##name req;                                                    \
		struct rep_##name rep;	       /* may be empty: no initializer */         \
		struct sessiond *sd = cmd->sd; /* the handler may have ended cmd */       \
		uint64_t id = 0, client = cmd->client;                                    \
                                                                                          \
		memset(&rep, 0, sizeof(rep));                                             \
		if (req_##name##_decode(dec, &req) < 0) {                                 \
			command_error(cmd, ERR_BAD_MESSAGE,                               \
				      "the request '" #name "' could not be understood"); \
			command_fail(cmd);                                                \
			return;                                                           \
		}                                                                         \
		if (ACCESS_##access(cmd, &req) == 0) {                                    \
			id = cmd->session_id;                                             \
			if (SAVED_##access)                                               \
				change_begin(sd, client, cmd->session);                   \
			result = cmd_##name(cmd, &req, &rep);                             \
		}                                                                         \
		if (SAVED_##access && id)                                                 \
			change_end(sd, client, id);                                       \
		if (result == CMD_DONE)                                                   \
			reply_##name(cmd, &rep);                                          \
		else if (result == CMD_FAILED)                                            \
			command_fail(cmd);                                                \
		else if (result == CMD_BUSY) {                                            \
			keep_##name(cmd, &req);                                           \
			put_off(cmd, body, len);                                          \
		}                                                                         \
		release_##name(&req);                                                     \
	}
#include "proto/client.def"

struct row {
	uint16_t type;
	const char *name;
	void (*dispatch)(struct command *cmd, struct decoder *dec);
};

#define COMMAND(name, number, access, turn, doc) { number, #name, dispatch_##name },
static const struct row rows[] = {
#include "proto/client.def"
};

static const struct row *find_row(uint16_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].type == type)
			return &rows[i];
	return NULL;
}

static void log_command(const struct command *cmd, const char *name)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%s\n", name);

	log_debug("user %u: %s", cmd->caller.uid, name);
	if (cmd->sd->proto_log >= 0 && write(cmd->sd->proto_log, line, (size_t)len) < 0)
		log_debug("can't write LTT_PROTO_LOG");
}

void command_dispatch(struct command *cmd, struct decoder *dec)
{
	const struct row *row = find_row(cmd->type);

	if (!row) {
		command_error(cmd, ERR_UNKNOWN_COMMAND,
			      "this daemon (version %s) does not know command %u", LTT_VERSION,
			      cmd->type);
		command_fail(cmd);
		return;
	}
	if (!cmd->body)
		log_command(cmd, row->name);
	row->dispatch(cmd, dec);
}

/* --- common to several commands ------------------------------------------------- */

enum cmd_now command_domain(struct command *cmd, uint8_t domain)
{
	struct domain_tracer *tracer = domains_find(&cmd->sd->domains, domain);

	if (!tracer)
		return command_error(cmd, ERR_INVALID, "unknown domain %u", domain);
	return tracer->ops->available(tracer, &cmd->err) ? CMD_FAILED : CMD_DONE;
}

struct domain_tracer *command_tracer(struct command *cmd, uint8_t domain)
{
	return cmd->sd->domains.of[domain];
}

/* A breakpoint in a program is in every process that runs the file, of any user; each event of a
 * place in the kernel has its address, and may have any of its memory. */
enum cmd_now command_may_probe(struct command *cmd, enum rule_kind kind)
{
	if (rule_chooses(kind) || cmd->caller.uid == 0)
		return CMD_DONE;
	return command_error(cmd, ERR_DENIED,
			     "only root may place probes in %s: run lttctl as root (`sudo lttctl "
			     "...`)",
			     kind == RULE_USER ? "programs" :
						 "the kernel, which read its memory and record its "
						 "addresses");
}

static void show_refusal(const struct domain_refusal *refusal, void *data)
{
	const struct msg_refusal item = { refusal->domain, refusal->name, refusal->why,
					  refusal->recorded };

	item_refusal(data, &item);
}

void items_of_refusals(struct command *cmd, const struct session *session,
		       const struct channel *channel, const struct rule *rule)
{
	domains_each_refusal(&cmd->sd->domains, session, channel, rule, show_refusal, cmd);
}

static void show_conflict(const struct domain_conflict *conflict, void *data)
{
	const struct msg_conflict item = { conflict->name, conflict->armed, conflict->refused,
					   conflict->pid };

	item_conflict(data, &item);
}

void items_of_conflicts(struct command *cmd, struct session *session, struct channel *channel,
			const struct rule *rule)
{
	struct domain_tracer *tracer = command_tracer(cmd, (uint8_t)channel->domain);

	tracer->ops->each_conflict(tracer, session, channel, rule, show_conflict, cmd);
}

void items_of_all_conflicts(struct command *cmd, struct session *session)
{
	struct channel *channel;

	list_for_each(channel, &session->channels, node)
		items_of_conflicts(cmd, session, channel, NULL);
}

static void cmd_add_stream(struct msg_totals *t, const struct msg_con_stream *s)
{
	COUNTERS_ADD(t, s);
	t->waiting += s->waiting;
}

void stats_totals(const struct stats *stats, const struct domains *domains,
		  const struct session *session, const struct channel *channel,
		  struct msg_totals *ret)
{
	struct domain_ring ring;

	memset(ret, 0, sizeof(*ret));
	ret->unrecorded = channel ? 0 : stats->unrecorded;
	for (size_t i = 0; i < stats->nr; i++) {
		const struct msg_con_stream *s = &stats->streams[i];

		if (channel && (!domains_find_ring(domains, session, s->ring, &ring) ||
				ring.channel != channel))
			continue;
		cmd_add_stream(ret, s);
	}
}

struct list totals_list(const struct msg_totals *totals, uint8_t buf[TOTALS_BYTES])
{
	struct encoder enc;

	encoder_init(&enc, buf, TOTALS_BYTES);
	msg_totals_add(&enc, totals);
	return encoder_list(&enc);
}

const char *join_problems(char buf[PROBLEM_BYTES], const char *first, const char *second)
{
	if (!*first || !*second || strcmp(first, second) == 0)
		return *first ? first : second;
	snprintf(buf, PROBLEM_BYTES, "%s; %s", first, second);
	return buf;
}

const char *command_figures(struct command *cmd, const struct run_result *result,
			    uint8_t buf[TOTALS_BYTES], struct list *ret)
{
	const struct session *session = command_session(cmd);
	struct msg_totals totals;

	if (result->err->code && !result->stats->known) {
		cmd->err = *result->err;
		command_fail(cmd);
		return NULL;
	}
	stats_totals(result->stats, &cmd->sd->domains, NULL, NULL, &totals);
	if (result->stats->known)
		*ret = totals_list(&totals, buf);
	if (!*result->err->text && session)
		return session->troubles[TROUBLE_APPS];
	return result->err->text;
}

int command_begun(struct command *cmd, enum session_outcome outcome, bool no_wait,
		  const char *otherwise)
{
	if (outcome == SESSION_DONE)
		return no_wait ? CMD_DONE : CMD_WAIT;
	if (outcome == SESSION_LATER)
		return CMD_BUSY;
	return command_error(cmd, ERR_STATE, "session '%s' is %s", cmd->session->name, otherwise);
}

void item_of_session(struct command *cmd, struct session *session, const struct stats *stats)
{
	uint8_t buf[TOTALS_BYTES];
	struct msg_totals totals;
	char problem[PROBLEM_BYTES], clock_change[320];
	struct msg_session item = {
		.id = session->id,
		.name = session->name,
		.path = session->path,
		.uid = session->uid,
		.state = session->state,
		.created_ns = session->created_ns,
		.recording_ns = session_recording_ns(session, loop_now_ns()),
		.apps = domains_count_apps(&cmd->sd->domains, session),
		.problem = join_problems(problem, session_problem(session),
					 session->troubles[TROUBLE_PROGRAMS]),
		.scoped = *session->scope != '\0',
#define SHOWN(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))session->name,
#include "model/session.def"
		.link = (uint8_t)session_link(session),
		.spooled = stats ? stats->spooled : 0,
		.undurable = stats ? stats->undurable : 0,
		.clock_offset_ns = stats ? stats->clock_offset_ns : 0,
		.clock_error_ns = stats ? stats->clock_error_ns : 0,
		.live_url = stats ? stats->live_url : "",
		.clock_change = clock_change,
		.chunk = session->chunk.number,
		.archives = session->chunk.archives,
	};

	clock_check_sentence(run_clock(session->run), clock_change, sizeof(clock_change));

	if (stats && stats->known) {
		stats_totals(stats, &cmd->sd->domains, session, NULL, &totals);
		item.totals = totals_list(&totals, buf);
	}
	item_session(cmd, &item);
}
