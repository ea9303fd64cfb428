/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session_apps.h - for tests in the session harness: a session with rules, applications with
 * points, and the messages that these receive.
 */
#ifndef TESTS_SESSION_APPS_H
#define TESTS_SESSION_APPS_H

#include "ltt/site.h"
#include "session_harness.h"

/** The session of new_session(), in a request. */
#define NAME .session = "s"

/** Open a directory for a session's output. */
int outdir(void);
/** Create a session without rules. */
void new_session(int client);
/** Enable the user events that match @pattern. */
struct answer enable(int client, const char *pattern);
/** Create a session, enable @pattern and start. */
void record(int client, const char *pattern);

/* --- applications ----------------------------------------------------------------- */

/** Connect an application named @name. Return: its end. */
int new_app(const char *name, uint8_t producer);
/**
 * Announce a point with one integer of @bits; @format: it is a marker, NULL: a tracepoint;
 * @complete: the last one of an announcement.
 */
void send_point(int app, uint32_t id, const char *name, const char *format, uint8_t bits,
		bool complete);
void remove_point(int app, uint32_t id);

/** Start the daemon with a client, an application with one point, and a session that has a rule
 *  for it. Return: the application. */
int begin_unstarted(int *ret_client);

/** Messages that an application has received. */
struct told {
	unsigned int nr[32]; /* messages by type */
	unsigned int armings, disarmings;
	uint64_t ring;
	uint8_t exclusive;
	uint32_t point, event;
	uint32_t sync;
	uint8_t ready_part; /* of the last app_ready */
};

/** Add the messages that the application has received since the last time. */
void hear(int app, struct told *told);
/** Run the daemon. Return: the messages that the application has received since the last time. */
struct told heard(int app);
/** Acknowledge the last sync, and run the daemon. */
void confirm(int app, const struct told *told);

#endif
