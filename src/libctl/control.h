/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control.h - what the files behind ltt/control.h share: the handle of a caller of the
 * library. Owned by the caller; runs in its thread.
 */
#ifndef LIBCTL_CONTROL_H
#define LIBCTL_CONTROL_H

#include <ltt/control.h>

#include "client.h"
#include "pool.h"

#define CONTROL_WARNING_BYTES 4096 /* lines that do not fit are counted */

struct ltt_ctl {
	struct client *client; /* NULL: not connected */
	bool lent;	       /* by lttctl, which frees it */
	struct ltt_ctl_daemon_info daemon;
	bool following; /* a session: nothing else can be asked */
	struct ltt_ctl_news news;
	struct ltt_ctl_totals totals; /* of the news */
	struct err err;
	char warning[CONTROL_WARNING_BYTES];
};

/** Use lttctl's own connection until this is called again; ltt_ctl_daemon() is not to be called.
 *  @client: NULL: none. */
void control_lend(struct ltt_ctl *ctl, struct client *client);
/** Forget the sentences about the last call. */
void control_forget(struct ltt_ctl *ctl);
/** Begin a call: forget the sentences about the last one. Return: 0, or the code in ctl->err:
 *  there is no connection, or it follows a session. */
int control_begin(struct ltt_ctl *ctl) MUST_CHECK;
/** The same for a call whose result is a struct of @size that owns a pool. Return: it, zeroed;
 *  NULL: the code is in ctl->err. */
void *control_begin_result(struct ltt_ctl *ctl, size_t size) MUST_CHECK;
/** After a failed call: a connection that is lost is closed. Return: the code. */
int control_failed(struct ltt_ctl *ctl);
/** The end of a call that made @owner: a struct that owns a pool, or NULL. @code: of the request.
 *  Return: the code, also that memory lacks; @owner is freed then. */
int control_finish(struct ltt_ctl *ctl, int code, void *owner) MUST_CHECK;
/** Add a line to the warning. */
void control_warn(struct ltt_ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Check an argument that has to be given. @what: its name. Return: 0, or the code in ctl->err. */
int control_check_given(struct ltt_ctl *ctl, const char *value, const char *what) MUST_CHECK;
/** Check that all of @flags are @known. Return: 0, or the code in ctl->err. */
int control_check_flags(struct ltt_ctl *ctl, unsigned int flags, unsigned int known) MUST_CHECK;
/**
 * control_take() - copy a struct of the caller's that begins with its size.
 * @ret: of @known bytes, zeroed where the caller's is shorter.
 * Return: 0, or the code in ctl->err: it is longer and has values that this library does not know.
 */
int control_take(struct ltt_ctl *ctl, const void *given, void *ret, size_t known) MUST_CHECK;

/** The program @name that was installed with this library, allocated; its name alone, for PATH to
 *  find, if it is not there. NULL: no memory, which ctl->err says. */
char *control_installed(struct ltt_ctl *ctl, const char *name) MUST_CHECK;

void control_fill_totals(struct ltt_ctl_totals *ret, const struct msg_totals *m);
/** Of a message's list, allocated in @pool; NULL: the list is empty. */
const struct ltt_ctl_totals *control_totals(struct pool *pool, struct list totals);

#endif
