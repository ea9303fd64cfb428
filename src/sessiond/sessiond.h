/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sessiond.h - the daemon: one loop and everything that it owns. One thread.
 */
#ifndef SESSIOND_SESSIOND_H
#define SESSIOND_SESSIOND_H

#include <stdbool.h>
#include <stdint.h>

#include "io/loop.h"
#include "sessiond/core/session.h"
#include "sessiond/core/trigger.h"
#include "sessiond/domain/domains.h"
#include "sessiond/domain/kernel/kmod.h"
#include "sessiond/domain/rec/recorder.h"
#include "sessiond/peers/admission.h"
#include "sessiond/peers/consumers.h"
#include "sessiond/run/run.h"
#include "sessiond/trigger/conditions.h"
#include "sessiond/trigger/exec.h"
#include "trace/clock.h"
#include "trace/clock_watch.h"

struct sessiond {
	struct loop *loop;
	struct consumers consumers;
	struct keeper keeper;
	struct fdstore *store; /* owned by main(); NULL: no service manager (tests) */
	char *state_dir;       /* NULL: nothing is saved (tests) */
	size_t state_bytes;
	bool loading; /* saved sessions are being loaded (autoload.h) */
	uint64_t saved_sessions; /* ids below this one are not used again by a later daemon */
	struct list_node orphaned; /* struct orphaned */
	struct sessions sessions;
	struct recorder recorder;
	struct kmod kmod;
	struct domains domains;
	struct trace_clock clock;
	struct clock_watch watch;
	struct loop_timer clock_check; /* the next reading; see clock_check.h */
	struct run_config run;	       /* arguments for the run of each session */
	struct channel_limits limits;
	struct quotas quotas;
	uint64_t instance; /* number of this instance of the state */
	bool continued;	   /* the state is that of an earlier daemon */
	enum trace_format trace_format; /* of sessions whose creation names none */
	char hostname[65];

	struct list_node clients; /* struct client */
	struct list_node apps;	  /* struct app_conn */
	struct list_node followers;
	struct triggers triggers;
	struct list_node watchers; /* of triggers */
	struct exec exec;	   /* runs their commands */
	struct conditions conditions;
	struct loop_timer save_sessions; /* those that could not be saved */
	struct loop_timer save_triggers;
	int triggers_error; /* errno of the last attempt to save them; 0: none */
	uint64_t next_client;
	unsigned int nr_sending; /* number of spools that are being sent */
	unsigned int nr_refused; /* number of refused clients that are still connected */
	struct admission admission;
	struct loop_fd time_set; /* a timer that ends when the time of day is set; owned */
	int proto_log; /* names of commands that were handled; -1: no log */

	void (*quit)(struct sessiond *sd); /* ends the program, like SIGTERM; NULL: tests */
	bool ending;
	struct loop_timer end; /* ends the loop after a timeout */
};

/** Initialise the state and the loop, without sockets and consumer. Return: 0 or negative errno. */
int sessiond_init(struct sessiond *sd) MUST_CHECK;
void sessiond_fini(struct sessiond *sd);
/**
 * sessiond_set_up() - continue the state of an earlier daemon, if there was one: keeper, sessions,
 * consumer.
 * @consumer, @keeper: programs (copied).
 * Return: 0 or negative errno: no consumer can be started.
 */
int sessiond_set_up(struct sessiond *sd, const char *rundir, const char *consumer,
		    const char *keeper) MUST_CHECK;
/** Account for queued messages to a user's peers; @bytes may be negative. Return: 0, or
 *  -ENOBUFS: too many. */
int sessiond_backlog(struct sessiond *sd, uid_t uid, ssize_t bytes) MUST_CHECK;
/** Stop recording, write all data, and end the loop within 2 s. */
void sessiond_end(struct sessiond *sd);

#endif
