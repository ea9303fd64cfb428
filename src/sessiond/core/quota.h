/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quota.h - limits of the resources that each user may use: an account for each uid, and a limit
 * for each kind of resource. Part of the model of ltt-sessiond; pure; its loop's thread only.
 *
 * A user is charged before a resource is allocated, and the request is rejected if the quota is
 * used up; rejections are counted. Root and the daemon's own user are charged, but never rejected.
 *
 * Memory that applications of a user use in root's sessions has a separate account: so users can
 * neither avoid being recorded by root, nor lose their own quota to root's sessions.
 */
#ifndef CORE_QUOTA_H
#define CORE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/macros.h"

/* name (also for the option), and text for messages */
#define QUOTAS(X)                                                            \
	X(APPS, "applications", "connected applications")                    \
	X(CLIENTS, "clients", "connections of lttctl and the like")          \
	X(SESSIONS, "sessions", "sessions")                                  \
	X(CHANNELS, "channels", "channels")                                  \
	X(PRESETS, "registered-channels", "channels that applications register") \
	X(RULES, "rules", "event rules")                                     \
	X(POINTS, "points", "instrumentation points")                        \
	X(TEXT, "text", "bytes of descriptions and rules")                   \
	X(MEMORY, "memory", "bytes of buffers")                              \
	X(DESCRIPTORS, "descriptors", "descriptors of sessions and buffers") \
	X(BACKLOG, "backlog", "bytes of messages that wait")

enum quota {
#define X(id, name, what) QUOTA_##id,
	QUOTAS(X)
#undef X
		NR_QUOTAS
};

enum { QUOTA_FULL = 1 }; /* rejected, and counted */

/** Identifies an account. */
struct account_id {
	uid_t uid;
	bool guest; /* for resources of the user's applications in sessions of root */
};

struct quota_use {
	uint64_t used, refused;
};

struct quota_account {
	struct account_id id;
	struct quota_use use[NR_QUOTAS];
};

struct quotas {
	uint64_t limits[NR_QUOTAS]; /* 0: none */
	uid_t self;		    /* the daemon's */
	bool lenient;		    /* no limits, while an earlier daemon's state is restored */
	void *accounts;		    /* tsearch by id */
};

void quotas_init(struct quotas *quotas, uid_t self);
void quotas_fini(struct quotas *quotas);

/** quota_take() - Return: 0, or QUOTA_FULL. @quotas may be NULL: no limits. */
int quota_take(struct quotas *quotas, struct account_id id, enum quota kind,
	       uint64_t amount) MUST_CHECK;
/** Return: the remaining quota; UINT64_MAX: no limit. */
uint64_t quota_left(const struct quotas *quotas, struct account_id id, enum quota kind);
/** Release resources that quota_take() has charged. */
void quota_give(struct quotas *quotas, struct account_id id, enum quota kind, uint64_t amount);
/** quota_take() with an error message. Return: 0 or the code in @err. */
int quota_take_or_explain(struct quotas *quotas, struct account_id id, enum quota kind,
			  uint64_t amount, struct err *err) MUST_CHECK;

const char *quota_name(enum quota kind);
/** Return: the kind, or NR_QUOTAS. */
enum quota quota_by_name(const char *name);

/** All accounts with a charge, by uid. */
void quotas_each(const struct quotas *quotas,
		 void (*fn)(const struct quota_account *account, void *data), void *data);

#endif
