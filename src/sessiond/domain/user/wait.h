/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait.h - commands that wait until a change is in force in all applications. Owned by the session;
 * each is completed once.
 */
#ifndef DOMAIN_USER_WAIT_H
#define DOMAIN_USER_WAIT_H

#include "sessiond/domain/domain.h"
#include "base/list.h"
#include "io/loop.h"

struct user_link;
struct user_session;

/** A command that waits until a change is in force everywhere. */
struct user_wait {
	struct list_node node;
	struct user_session *us;
	uint64_t generation;
	uint32_t apps, left;
	bool metadata; /* wait until metadata is written, too */
	bool offers;   /* wait for lost ring sets that may still be offered, too */
	bool stop;     /* skip applications that missed the deadline of an earlier wait */
	struct loop_timer timeout;
	domain_done done;
	void *data;
};

void wait_new(struct user_session *us, domain_done done, void *data);
/** Wait until all metadata is written, for one second at most. */
void wait_metadata(struct user_session *us, domain_done done, void *data);
/** wait_new() for a stop: it does not wait for metadata, nor again for an application that did not
 *  answer in time before. */
void wait_stop(struct user_session *us, domain_done done, void *data);
/** Complete all waits, as the session ends. */
void waits_finish(struct user_session *us);
/** Continue waits for metadata, which is written, or can't be. */
void waits_on_metadata_written(struct user_session *us);
/** Continue waits for lost ring sets, which were offered, or are not waited for any more. */
void waits_on_rings_offered(struct user_session *us);
/** Continue waits for a link that has confirmed all changes up to @generation; UINT64_MAX: it is
 *  being freed. */
void link_confirm(struct user_link *link, uint64_t generation);
/** Send a sync message to the application, when all changes were sent. */
void link_request_confirm(struct user_link *link);

#endif
