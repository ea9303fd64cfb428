/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.h - contexts that libltt can record with each event of an application, and filters of
 * applications' points (rec/filter.h). A channel's contexts are part of its event classes, so they
 * may be added while it records: each event then gets a new class. Runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_CONTEXT_H
#define DOMAIN_USER_CONTEXT_H

#include "sessiond/core/class.h"
#include "trace/layout.h"
#include "sessiond/domain/rec/filter.h"

struct err;
struct user_session;

/** Call @fn for each context. */
void user_each_context(void (*fn)(const struct layout_field *context, void *data), void *data);
/** Check that there is such a context. Return: 0 or the code set in @err. */
int user_check_context(const char *type, struct err *err);

/** The declaration of the contexts of an event class. @names: comma-separated. Return: text, to be
 *  freed; "" for no contexts. */
char *user_context_text(enum metadata_form form, const char *names);

/* Filters of applications' points (rec/filter.h). Runs on the daemon's loop. */

const struct filter_tracer *user_filter_tracer(void);
/** Free filters that no arming refers to, if there are many. Not while there is a plan. */
void user_filters_sweep(struct user_session *us);

#endif
