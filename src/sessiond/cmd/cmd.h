/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cmd.h - interface for the command files: the request, its sender, and functions to answer.
 *
 * Each COMMAND of client.def has one handler, cmd_NAME(), in a separate file.
 * The table states which clients may call it and whether it names a session; both are
 * checked before the handler runs. A handler answers at once (NOW), or may keep
 * the struct command and answer later (LATER), so that no command delays another.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "io/dirid.h"
#include "proto/client.h"
#include "sessiond/sessiond.h"

/** The result of each handler. */
enum cmd_now {
	CMD_DONE = 0,	/* `rep` is the answer */
	CMD_FAILED = 1, /* cmd->err is */
};

/** Further results of LATER handlers, which return int. */
enum cmd_later {
	CMD_WAIT = 2, /* the handler keeps cmd; reply_NAME() or command_fail() ends it */
	CMD_BUSY = 3, /* an operation of the session is in progress: run again after it */
};

struct command;

/** A request of the daemon itself. @answered: its reply, at the OUT fields; @ended: afterwards,
 *  with the outcome in cmd->err; it frees this. */
struct command_internal {
	void (*answered)(struct command *cmd, struct decoder *dec);
	void (*ended)(struct command *cmd);
	struct dirid dir; /* of a snapshot's path, which has no descriptor; zero: any */
};

/** One request of one client, until it is answered. */
struct command {
	struct sessiond *sd;
	uint64_t client; /* id: it may be disconnected before the answer */
	struct command_internal *internal; /* NULL: of a client */
	struct caller caller;
	uint16_t type;
	uint32_t serial;
	struct session *session; /* of SESSION commands, while the handler runs */
	uint64_t session_id;	 /* to find it again later */
	struct err err;
	uint8_t *body; /* of the request, while it is queued, */
	size_t len;
	int fds[MSG_MAX_FDS]; /* and its descriptors */
	unsigned int nr_fds;
};

#define CMD_NOW enum cmd_now
#define CMD_LATER int

/* Every command of the table: a missing handler is a link error, and one that waits though the
 * table has NOW does not compile. */
#define COMMAND(name, number, access, turn, doc)                                                   \
	CMD_##turn cmd_##name(struct command *cmd, struct req_##name *req, struct rep_##name *rep) \
		MUST_CHECK;
#include "proto/client.def"

/** Run or run again a request. */
void command_dispatch(struct command *cmd, struct decoder *dec);

/** Answer with cmd->err and free the command. */
void command_fail(struct command *cmd);
/** Set cmd->err where the error occurs. Return: CMD_FAILED. */
enum cmd_now command_error(struct command *cmd, enum err_code code, const char *fmt, ...)
	PRINTF(3, 4);
/** The same session, looked up later; NULL: it was destroyed. */
struct session *command_session(struct command *cmd);

/* Parts of the functions below: begin a message, send it; reply frees @cmd. */
void command_begin(struct command *cmd, struct encoder *enc, uint16_t type, uint16_t flags);
void command_send(struct command *cmd, const struct encoder *enc);
void command_free(struct command *cmd);
/** Whether the client must read before more of a listing is sent. Unread answers are queued up
 *  to a limit; see peer.h. */
bool command_choked(struct command *cmd);

/* item_NAME(cmd, &msg): an item of the answer. */
#define MESSAGE(name, number, who, doc)                                                   \
	static inline void item_##name(struct command *cmd, const struct msg_##name *msg) \
	{                                                                                 \
		struct encoder enc;                                                       \
                                                                                          \
		command_begin(cmd, &enc, MSG_##name, MSG_ITEM);                           \
		msg_##name##_encode(&enc, msg);                                           \
		command_send(cmd, &enc);                                                  \
	}
#include "proto/client.def"

/* reply_NAME(cmd, &rep): the answer; ends the command. */
#define COMMAND(name, number, access, turn, doc)                                           \
	static inline void reply_##name(struct command *cmd, const struct rep_##name *rep) \
	{                                                                                  \
		struct encoder enc;                                                        \
                                                                                           \
		command_begin(cmd, &enc, MSG_##name, MSG_REPLY);                           \
		encode_u32(&enc, ERR_NONE);                                                \
		encode_str(&enc, "");                                                      \
		rep_##name##_encode(&enc, rep);                                            \
		command_send(cmd, &enc);                                                   \
		command_free(cmd);                                                         \
	}
#include "proto/client.def"

/* --- common to several commands -------------------------------------------- */

/** Check that the domain is available. Otherwise the error names the cause and the remedy. */
enum cmd_now command_domain(struct command *cmd, uint8_t domain);
/** Whether a text is the numeric addresses of a relay, between commas. */
bool command_are_addresses(const char *list);
/** The tracer of a domain that command_domain() has accepted. */
struct domain_tracer *command_tracer(struct command *cmd, uint8_t domain);
/** Whether the caller may name events of the kind: those at places are root's. */
enum cmd_now command_may_probe(struct command *cmd, enum rule_kind kind);
/** The channel that a command names, or the default one (@make: created if missing). NULL:
 *  cmd->err is set. */
struct channel *command_channel(struct command *cmd, uint8_t domain, const char *name, bool make);
/** The same for a rule about events: if none is named, the one that a kernel module has
 *  registered for them. */
struct channel *command_rule_channel(struct command *cmd, uint8_t domain, const char *name,
				     const char *pattern, bool make);
/** Use the attributes that a kernel module has registered for such a channel as defaults. */
void command_channel_preset(struct command *cmd, uint8_t domain, const char *name,
			    struct channel_attr *attr);

/** Sum of the streams of a session, or of one channel (not NULL). */
void stats_totals(const struct stats *stats, const struct domains *domains,
		  const struct session *session, const struct channel *channel,
		  struct msg_totals *ret);
/** The same as a list of one element, in a caller's buffer. */
#define TOTALS_BYTES 160u
struct list totals_list(const struct msg_totals *totals, uint8_t buf[TOTALS_BYTES]);
#define PROBLEM_BYTES 1024u

/** One sentence of two problems, which may be empty. Return: one of them, or @buf. */
const char *join_problems(char buf[PROBLEM_BYTES], const char *first, const char *second);
/** The totals of an operation that has ended, as a list; empty if they are unknown. Return: the
 *  reason why some data could not be written, or ""; NULL: the operation failed, and the client was
 *  answered. */
const char *command_figures(struct command *cmd, const struct run_result *result,
			    uint8_t buf[TOTALS_BYTES], struct list *ret);
/** The result of a handler that has requested an operation, by its @outcome. @otherwise: the state
 *  of the session, for the message if the operation is refused. */
int command_begun(struct command *cmd, enum session_outcome outcome, bool no_wait,
		  const char *otherwise);
/** Send the items of events that can't be recorded or counted, of this channel and rule;
 *  NULL: of all. */
void items_of_refusals(struct command *cmd, const struct session *session,
		       const struct channel *channel, const struct rule *rule);
/** Send the items of markers that are not recorded because of their format. @rule: only of this
 *  rule; NULL: of all. */
void items_of_conflicts(struct command *cmd, struct session *session, struct channel *channel,
			const struct rule *rule);
/** The same of all channels. */
void items_of_all_conflicts(struct command *cmd, struct session *session);
/** Fill in and send the item of a session. */
void item_of_session(struct command *cmd, struct session *session, const struct stats *stats);

#endif
