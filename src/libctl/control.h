/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control.h - internal functions of the implementation of ltt/control.h, and struct ltt_ctl, the
 * handle. Owned by the caller of the library; runs in the caller's thread.
 */
#ifndef LIBCTL_CONTROL_H
#define LIBCTL_CONTROL_H

#include <ltt/control.h>

#include "client.h"
#include "outdir.h"
#include "pool.h"
#include "url.h"

#define CONTROL_WARNING_BYTES 4096 /* lines that do not fit are counted */

struct ltt_ctl {
	struct client *client;	   /* NULL: not connected */
	client_waiting_fn waiting; /* NULL: nothing is called */
	void *waiting_priv;
	struct ltt_ctl_daemon_info daemon;
	struct outdir made; /* directory of the last session that was created */
	bool following;	    /* the connection follows a session: no other request is possible */
	bool watching;	    /* likewise: it watches triggers */
	struct ltt_ctl_news news;
	struct ltt_ctl_notification notification;
	struct ltt_ctl_totals totals; /* of the news */
	struct err err;
	struct ltt_ctl_outcome *outcome; /* owns a pool; NULL: nothing is known */
	char warning[CONTROL_WARNING_BYTES];
};

/** Clear the error, warnings and facts of the last call. */
void control_forget(struct ltt_ctl *ctl);
/** Begin a call: clear the error and warnings of the last one. Return: 0, or the code in ctl->err:
 *  there is no connection, or it follows a session. */
int control_begin(struct ltt_ctl *ctl) MUST_CHECK;
/** The same for a call whose result is a struct of @size that owns a pool. Return: that struct,
 *  zeroed; NULL: the code is in ctl->err. */
void *control_begin_result(struct ltt_ctl *ctl, size_t size) MUST_CHECK;
/** The same for a call with facts for ltt_ctl_last_outcome(). Return: 0, or the code in
 *  ctl->err. */
int control_begin_outcome(struct ltt_ctl *ctl) MUST_CHECK;
/** Handle an item of the answer to such a call: an event that matches and is not recorded. It
 *  becomes a fact and a warning. @priv: the struct ltt_ctl. */
int control_outcome_item(void *priv, unsigned int type, struct decoder *dec);
/** Handle the problem in the reply to such a call; "": there is none. */
void control_outcome_problem(struct ltt_ctl *ctl, const char *problem);
/** End a failed call: close the connection if it is lost. Return: the code. */
int control_failed(struct ltt_ctl *ctl);
/** End a call that made @owner: a struct that owns a pool, or NULL. @code: of the request.
 *  Return: the code, or that of missing memory; @owner is freed unless it is 0. */
int control_finish(struct ltt_ctl *ctl, int code, void *owner) MUST_CHECK;
/** Add a line to the warning. */
void control_warn(struct ltt_ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Check that the argument named @what is given. Return: 0, or the code in
 *  ctl->err. */
int control_check_given(struct ltt_ctl *ctl, const char *value, const char *what) MUST_CHECK;
/** Enumerations of ltt/control.h whose values a caller passes. */
enum control_enum {
	CONTROL_DOMAIN,
	CONTROL_OWNER,
	CONTROL_OUTPUT_TYPE,
	CONTROL_SYNC,
	CONTROL_TRACE_FORMAT,
	CONTROL_LEVEL_TYPE,
	CONTROL_RULE_KIND,
	CONTROL_TRACK_KIND,
	CONTROL_TRACK_OP,
	CONTROL_MAP_TYPE,
	CONTROL_MAP_UPDATE,
	CONTROL_MAP_DEAD,
};
/** Check that @value is a value of @type, as it is truncated to a byte in messages. Return: 0, or
 *  the code in ctl->err. */
int control_check_enum(struct ltt_ctl *ctl, enum control_enum type, unsigned int value) MUST_CHECK;
/** Check that all of @flags are @known. Return: 0, or the code in ctl->err. */
int control_check_flags(struct ltt_ctl *ctl, unsigned int flags, unsigned int known) MUST_CHECK;
/**
 * control_take() - copy a struct of the caller that begins with its size.
 * @ret: of @known bytes; members that the caller's struct lacks are zero.
 * Return: 0, or the code in ctl->err: members that this library does not know are not zero.
 */
int control_take(struct ltt_ctl *ctl, const void *given, void *ret, size_t known) MUST_CHECK;

/** The path of the program @name that was installed with this library, allocated; if it does not
 *  exist, only the name, to be searched in PATH. NULL: no memory, as in ctl->err. */
char *control_installed(struct ltt_ctl *ctl, const char *name) MUST_CHECK;

/** ltt_ctl_list(); @settled, @name: as in session_list. */
int control_list(struct ltt_ctl *ctl, bool settled, const char *name,
		 struct ltt_ctl_sessions **ret_sessions) MUST_CHECK;

/** Where a snapshot goes: a directory, or a relay. */
struct snapshot_place {
	struct outdir dir;
	struct relay_url relay;
};

/** Find it. @output: NULL: the session's. @later: a relay may be unreachable now. Return: 0, or the
 *  code in ctl->err. */
int control_snapshot_place(struct ltt_ctl *ctl, const char *output, const char *data_url,
			   bool later, struct snapshot_place *ret) MUST_CHECK;

/** Strings are the message's. @totals: filled in if the message has them. */
void control_fill_session(struct ltt_ctl_session *ret, struct ltt_ctl_totals *totals,
			  const struct msg_session *m);
void control_fill_totals(struct ltt_ctl_totals *ret, const struct msg_totals *m);
/** Append the contents of the message to a list in @pool. */
void control_add_refusal(struct pool *pool, const struct msg_refusal *m,
			 const struct ltt_ctl_refusal *const **list, size_t *nr);
void control_add_conflict(struct pool *pool, const struct msg_conflict *m,
			  const struct ltt_ctl_conflict *const **list, size_t *nr);
/** Convert the totals in a message's list, allocated in @pool; NULL: the list is empty. */
const struct ltt_ctl_totals *control_totals(struct pool *pool, struct list totals);

#endif
