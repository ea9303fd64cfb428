/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * enums.h - words that several programs share and that travel in messages.
 * Numbers are wire format: only append. Includes nothing, so any module may
 * include it (the model of ltt-sessiond, which knows no protocol, too).
 */
#ifndef PROTO_ENUMS_H
#define PROTO_ENUMS_H

enum domain_id {
	DOMAIN_KERNEL = 1,
	DOMAIN_USER = 2,
};

/** States of a session; sessiond/core/session.c has the transitions. */
enum session_state {
	SESSION_NEW = 0,      /* never started */
	SESSION_STARTING = 1, /* applications are being armed */
	SESSION_RECORDING = 2,
	SESSION_STOPPING = 3,	/* data is being written */
	SESSION_STOPPED = 4,	/* was started at least once */
	SESSION_DESTROYING = 5, /* it accepts no commands any more */
};

/** Owner of a channel's buffers. */
enum ownership {
	OWNERSHIP_DEFAULT = 0, /* in requests: the daemon's default (user) */
	OWNERSHIP_USER = 1,
	OWNERSHIP_PROCESS = 2,
	OWNERSHIP_GLOBAL = 3, /* of the kernel: one set for all users */
};

/** When written data of a session is synced to the disk. */
enum sync_mode {
	SYNC_NONE = 0,	 /* never explicitly: by the kernel's write-back */
	SYNC_PACKET = 1, /* each packet, before its space in the buffer is used again */
	SYNC_PERIOD = 2, /* a period after it was written at the latest */
};

/** Transport of a connection to a relay. */
enum relay_link {
	RELAY_LINK_DEFAULT = 0, /* TLS, but unencrypted on this machine */
	RELAY_LINK_CLEAR = 1,	/* unencrypted, also over a network */
	RELAY_LINK_TLS = 2,	/* by TLS, also on this machine */
};

/** State of the connection between a session and its relay. */
enum link_state {
	LINK_NONE = 0, /* the trace is not sent to a relay */
	LINK_UP = 1,   /* presumably: it is not checked while there is nothing to send */
	LINK_DOWN = 2, /* recorded data stays in the buffers */
};

enum loglevel_type {
	LOGLEVEL_ALL = 0,
	LOGLEVEL_AT_LEAST = 1, /* as severe as the level or more */
	LOGLEVEL_ONLY = 2,
};

/** Kinds of events that a rule selects. */
enum rule_kind {
	RULE_EVENTS = 0,    /* instrumentation points, by their names */
	RULE_PROBE = 1,	    /* a place in the kernel; the rule names its event */
	RULE_FUNCTION = 2,  /* entry and exit of a function of it, likewise */
	RULE_USER = 3,	    /* places in a program, likewise */
	RULE_COUNT = 4,	    /* as RULE_EVENTS, but they are counted and not recorded */
	RULE_HISTOGRAM = 5, /* the same, with a histogram of the field in `location` */
	RULE_NR_KINDS,
};

/** Kinds of task ids to track; the kernel module's numbers. */
enum track_kind {
	TRACK_PID = 0,
	TRACK_TID = 1,
	TRACK_VPID = 2, /* these: in the task's own namespace */
	TRACK_VTID = 3,
	TRACK_UID = 4,
	TRACK_GID = 5,
	TRACK_VUID = 6,
	TRACK_VGID = 7,
	TRACK_NR_KINDS,
};

enum track_op {
	TRACK_ALL = 0,	  /* initially: the kind is not tracked */
	TRACK_NONE = 1,	  /* record no task, until ids are added */
	TRACK_ADD = 2,	  /* the first ones leave out all others */
	TRACK_REMOVE = 3, /* of those that were added */
	TRACK_NR_OPS,
};

/** Changes that are sent to a client that follows a session. */
enum news_kind {
	NEWS_STATE = 1,	   /* the state has changed: new, recording or stopped */
	NEWS_PROBLEM = 2,  /* there is a problem, or another one; the text describes it */
	NEWS_SOLVED = 3,   /* there is no problem, or no longer one */
	NEWS_LOSS = 4,	   /* the first events of a channel that were lost to this cause */
	NEWS_DIED = 5,	   /* the consumer daemon; recorded data stays in the buffers */
	NEWS_REPLACED = 6, /* its successor has taken over */
};

/** Why events were lost. */
enum loss_cause {
	LOSS_FULL = 1,	  /* the buffer was full */
	LOSS_SIZE = 2,	  /* too large for the buffer */
	LOSS_BUSY = 3,	  /* no buffer could be written */
	LOSS_OUTPUT = 4,  /* could not be written to the output */
	LOSS_INVALID = 5, /* bytes, which an application damaged */
	LOSS_NR_CAUSES,
};

/** Least period of a live session: beacons are sent 10 ms late. */
#define LIVE_MIN_US 20000u

#endif
