/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctl_model.h - the state and the replies of the session daemon of ctl_fake.h: a model of one
 * session. Replies are derived from the requests, so that a test can check these.
 */
#ifndef TESTS_CTL_MODEL_H
#define TESTS_CTL_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "base/mem.h"
#include "proto/client.h"
#include "proto/enums.h"

/** Tests change it between runs of lttctl. */
struct ctl_model {
	char session[300]; /* exists if not empty */
	char path[500];
	uint8_t flag; /* of replies that need no model */
	char requests[4000]; /* a line for each command */
	struct msg_totals totals;
	unsigned int lists_left; /* until one in which all is written; 0: totals stay */
	const char *rule;	 /* pattern of the rule that session_show lists */
	bool kernel;		 /* it is in a channel of the kernel */
	const char *problem;
	const char *start_problem, *stop_problem;
	const char *announced;	/* point that no rule matches; NULL: none */
	unsigned int recording; /* applications that record, half of those that may */
	bool bad_news;		/* one of the news can't be decoded */
	bool matched;
	unsigned int more_points; /* that an application announces, beside the two */
	uid_t uid; /* owner of the session */
	bool conflict;
	bool refusal; /* with the conflict */
	bool tracks;  /* session_show has trackers */
	unsigned int state;
	pid_t pid;  /* process that hello names, and that daemon_end ends; 0: hello names 77 */
	bool stays; /* the process does not end */
	_Atomic bool mute;	/* sends no reply, not even to hello */
	_Atomic bool slow;	/* replies to session_stop after some seconds */
	_Atomic bool interrupt; /* sends SIGINT instead of the reply to session_start */
	_Atomic bool hang_up;	/* closes the connection at any request but hello */
	_Atomic bool nonsense;	/* replies with noise */
	pthread_mutex_t lock;	/* the test holds it whenever lttctl does not run */
	bool serving;
	int listener;
};

/** The only one. */
extern struct ctl_model ctl_model;

/** A connection, its last request, and the reply. */
struct ctl_answer {
	int fd;
	struct msg_header request;
	struct encoder enc;
	uint8_t buf[MSG_MAX_BYTES];
};

/** Reply to one request; @dec is behind its header. */
void ctl_model_command(struct ctl_answer *a, struct decoder *dec);

#endif
