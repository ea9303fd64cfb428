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
	bool metadata; /* and for data that is being written */
	bool offers;   /* and for lost ring sets that may still be offered */
	bool stop;     /* without those that were late before */
	struct loop_timer late;
	domain_done done;
	void *data;
};

void wait_new(struct user_session *us, domain_done done, void *data);
/** The same for a stop: it does not wait for metadata, nor again for an application that did not
 *  answer before. */
void wait_stop(struct user_session *us, domain_done done, void *data);
/** The session ends: complete all waits. */
void waits_finish(struct user_session *us);
/** Metadata has been written, or can't be. */
void waits_metadata(struct user_session *us);
/** The lost buffers have been offered, or are not waited for any longer. */
void waits_offers(struct user_session *us);
/** The link has confirmed everything up to @generation (or is gone: UINT64_MAX). */
void link_confirm(struct user_link *link, uint64_t generation);
/** Nothing is pending for the link: send a sync to the application. */
void link_request_confirm(struct user_link *link);

#endif
