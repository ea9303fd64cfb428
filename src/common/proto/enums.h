/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * enums.h - enumerations that several programs use and that messages contain.
 * Numbers are part of the protocols: only append. Includes nothing, so any module may
 * include it (sessiond/core, too, which does not depend on the protocols).
 */
#ifndef PROTO_ENUMS_H
#define PROTO_ENUMS_H

enum domain_id {
	DOMAIN_KERNEL = 1,
	DOMAIN_USER = 2,
};

/** The events that a channel drops if a buffer is full. */
enum channel_mode {
	CHANNEL_DEFAULT = 0, /* as the session */
	CHANNEL_OVERWRITE = 1,
	CHANNEL_DISCARD = 2,
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

/** Whether the events of a ring set are written: RING_KEPT: only to snapshots; RING_REMEMBERED: the
 *  same, and a clear leaves them. */
enum ring_kept {
	RING_WRITTEN,
	RING_KEPT,
	RING_REMEMBERED,
};

/** Whose remembered events are copied: a sum of these. */
enum remembered_domain {
	REMEMBERED_USER = 1,
	REMEMBERED_KERNEL = 2,
};

/** The way in which the packets of a channel get from its buffers to the output. */
enum output_type {
	OUTPUT_TYPE_DEFAULT = 0, /* in requests: mmap */
	OUTPUT_TYPE_MMAP = 1,	 /* written and sent from a mapping */
	OUTPUT_TYPE_SPLICE = 2,	 /* by splice(), where the output permits it */
};

/** When written data of a session is synced to the disk. */
enum sync_mode {
	SYNC_NONE = 0,	 /* never explicitly: by the kernel's write-back */
	SYNC_PACKET = 1, /* each packet, before its space in the buffer is used again */
	SYNC_PERIOD = 2, /* a period after it was written at the latest */
};

/** The form of the metadata of a session's traces. */
enum trace_format {
	TRACE_FORMAT_DEFAULT = 0, /* in requests; of a session of an earlier daemon: CTF 1.8 */
	TRACE_FORMAT_CTF_1_8 = 1,
	TRACE_FORMAT_CTF_2 = 2,
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
	RULE_FUNCTION = 2,  /* entry and exit of a kernel function; the rule names the events */
	RULE_USER = 3,	    /* places in a program; the rule names the event */
	RULE_COUNT = 4,	    /* as RULE_EVENTS, but the events are counted and not recorded */
	RULE_HISTOGRAM = 5, /* as RULE_COUNT, with a histogram of the field in `location` */
	RULE_NR_KINDS,
};

/** Type of the values of a map channel, which wrap. */
enum map_value {
	MAP_VALUE_DEFAULT = 0,
	MAP_VALUE_INT_32 = 1,
	MAP_VALUE_INT_64 = 2,
	MAP_VALUE_INT_MAX = 3, /* the largest that all domains have: 64 bits */
	MAP_VALUE_NR_KINDS,
};

/** Increments of a key by one event that several rules match. */
enum map_update {
	MAP_UPDATE_DEFAULT = 0,
	MAP_UPDATE_PER_EVENT = 1,
	MAP_UPDATE_PER_RULE_MATCH = 2,
	MAP_UPDATE_NR_KINDS,
};

/** Values of a process that has ended. */
enum map_dead {
	MAP_DEAD_DEFAULT = 0,
	MAP_DEAD_DROP = 1,
	MAP_DEAD_SUM = 2, /* they are added to the values that all processes share */
	MAP_DEAD_NR_KINDS,
};

/** When a trigger fires. */
enum condition {
	CONDITION_EVENT = 0,	/* an event that matches */
	CONDITION_PAIR = 1,	/* more time than the threshold between begin and end */
	CONDITION_RATE = 2,	/* more matching events in a second than the threshold */
	CONDITION_SILENCE = 3,	/* no matching event for the time of the threshold */
	CONDITION_LOSSES = 4,	/* the session has lost that many further events */
	CONDITION_QUANTILE = 5, /* quantile of a histogram above the threshold */
	CONDITION_USAGE_HIGH = 6, /* a buffer of the channel is fuller than the threshold */
	CONDITION_USAGE_LOW = 7,  /* all buffers of the channel are emptier again */
	CONDITION_CONSUMED = 8,	  /* the session has written more bytes than the threshold */
	CONDITION_ROTATION_BEGUN = 9,
	CONDITION_ROTATION_ENDED = 10,
	CONDITION_SIGNAL = 11, /* an application was ended by a signal */
	CONDITION_NR_KINDS,
};

enum action_kind {
	ACTION_NOTIFY = 0,
	ACTION_START = 1,
	ACTION_STOP = 2,
	ACTION_ROTATE = 3,
	ACTION_SNAPSHOT = 4,
	ACTION_EXEC = 5,
	ACTION_INCR_MAP = 6, /* in the program itself */
	ACTION_NR_KINDS,
};

enum notification_kind {
	NOTIFICATION_FIRED = 1,
	NOTIFICATION_DONE = 2,	 /* an action has ended */
	NOTIFICATION_FAILED = 3, /* an action could not be done */
	NOTIFICATION_MISSED = 4,
};

/** Kinds of captured values. */
enum captured_kind {
	CAPTURED_NONE = 0, /* the event has no such field */
	CAPTURED_SIGNED = 1,
	CAPTURED_UNSIGNED = 2,
	CAPTURED_DOUBLE = 3,
	CAPTURED_TEXT = 4,
	CAPTURED_CUT = 5, /* the first bytes of a text that was longer */
};

/** Kinds of values in keys of counters; the numbers of abi/ltt_counts.h. */
enum key_kind {
	KEY_SIGNED = 1,
	KEY_UNSIGNED = 2,
	KEY_TEXT = 3,
	KEY_CUT = 4, /* the first bytes of a text that was longer */
};

/** Kinds of task ids to track; the kernel module's numbers. */
enum track_kind {
	TRACK_PID = 0,
	TRACK_TID = 1,
	TRACK_VPID = 2, /* V: the id in the task's own namespace */
	TRACK_VTID = 3,
	TRACK_UID = 4,
	TRACK_GID = 5,
	TRACK_VUID = 6,
	TRACK_VGID = 7,
	TRACK_FOLLOW = 8, /* processes, and all that come of them */
	TRACK_CGROUP = 9, /* by the inode of its folder; those below it, too */
	TRACK_NR_KINDS,
};

enum track_op {
	TRACK_ALL = 0,	  /* initially: the kind is not tracked */
	TRACK_NONE = 1,	  /* record no task, until ids are added */
	TRACK_ADD = 2,	  /* add ids; the first ones exclude all others */
	TRACK_REMOVE = 3, /* remove ids that were added */
	TRACK_NR_OPS,
};

/** Changes that are sent to a client that follows a session. */
enum news_kind {
	NEWS_STATE = 1,	   /* the state has changed: new, recording or stopped */
	NEWS_PROBLEM = 2,  /* there is a problem, or another one; the text describes it */
	NEWS_SOLVED = 3,   /* there is no problem, or no longer one */
	NEWS_LOSS = 4,	   /* events of a channel were lost for a cause for the first time */
	NEWS_DIED = 5,	   /* the consumer daemon died; recorded data stays in the buffers */
	NEWS_REPLACED = 6, /* the next consumer daemon has taken over */
};

/** Causes of losses. */
enum loss_cause {
	LOSS_FULL = 1,	  /* the buffer was full */
	LOSS_SIZE = 2,	  /* too large for the buffer */
	LOSS_BUSY = 3,	  /* no buffer could be written */
	LOSS_OUTPUT = 4,  /* could not be written to the output */
	LOSS_INVALID = 5, /* bytes, which an application damaged */
	LOSS_NR_CAUSES,
};

/** Shortest period of a live session, as beacons are sent up to 10 ms late. */
#define LIVE_MIN_US 20000u

#endif
