/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt/control.h - control of tracing sessions from C: libltt-ctl. See libltt-ctl(3).
 *
 *   cc ... $(pkg-config --cflags --libs libltt-ctl)
 *
 * Return values. A function that returns int returns LTT_CTL_OK (0) or another enum ltt_ctl_code;
 * ltt_ctl_error() then returns a sentence for the user. Results (ret_...) are not changed on
 * failure.
 *
 * Ownership. Strings and structs that are passed in are the caller's, and are not kept. A result
 * is the caller's, and is freed as the description of its function states, with all memory that it
 * points to.
 *
 * Threads. A struct ltt_ctl is used by one thread at a time; different ones are independent.
 * A call blocks until the session daemon has answered, except the calls that follow changes of
 * sessions. If the daemon does not answer, the call returns LTT_CTL_NO_ANSWER after some seconds;
 * if the descriptor cancel_fd becomes readable, it returns LTT_CTL_INTERRUPTED within a second.
 * No call ends the process, changes the handling of a signal, prints, or leaves a thread behind.
 * The environment (LTT_RUNDIR, HOME, PATH and so on) is read by ltt_ctl_connect(),
 * ltt_ctl_create(), ltt_ctl_find_places() and the calls about spools.
 *
 * Units. Sizes are bytes; names that end in _us are microseconds, in _ns nanoseconds.
 *
 * Compatibility. Structs that a caller fills in begin with their size, which the ..._init()
 * functions set, and grow at their end. Structs that the library returns grow at their end, too:
 * they are accessed through the pointers that the library returns, never copied or allocated.
 */
#ifndef LTT_CONTROL_H
#define LTT_CONTROL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum ltt_ctl_code - why a call failed. More codes may follow. */
enum ltt_ctl_code {
	LTT_CTL_OK = 0,
	LTT_CTL_INTERNAL = 1,	     /* a cause that has no code of its own */
	LTT_CTL_BAD_MESSAGE = 2,     /* the server's messages are not those of a session daemon */
	LTT_CTL_UNKNOWN_COMMAND = 3, /* the daemon is older than the function */
	LTT_CTL_DENIED = 4,	     /* the caller lacks the right */
	LTT_CTL_INVALID = 5,	     /* an argument has no meaning, or an enum no such value */
	LTT_CTL_NO_SESSION = 6,
	LTT_CTL_SESSION_EXISTS = 7,
	LTT_CTL_NO_CHANNEL = 8,
	LTT_CTL_CHANNEL_EXISTS = 9,
	LTT_CTL_NO_EVENT = 10,
	LTT_CTL_EVENT_EXISTS = 11,
	LTT_CTL_STATE = 12, /* for example: the session records already */
	LTT_CTL_NO_MEMORY = 13,
	LTT_CTL_OUTPUT = 14,	/* the directory, the disk or the relay */
	LTT_CTL_NO_DAEMON = 15, /* none runs, or the connection is lost: connect again */
	LTT_CTL_UNSUPPORTED = 16,
	LTT_CTL_CONSUMER = 17, /* the consumer daemon is gone or refused */
	LTT_CTL_BUSY = 18,
	LTT_CTL_LIMIT = 19,	  /* a quota is used up */
	LTT_CTL_NO_ANSWER = 20,	  /* a daemon runs but does not answer */
	LTT_CTL_INTERRUPTED = 21, /* by cancel_fd */
};

/** enum ltt_ctl_domain - where events come from. */
enum ltt_ctl_domain {
	LTT_CTL_KERNEL = 1,
	LTT_CTL_USER = 2, /* applications */
};

/** enum ltt_ctl_state - of a session. */
enum ltt_ctl_state {
	LTT_CTL_NEW = 0, /* never started */
	LTT_CTL_STARTING = 1,
	LTT_CTL_RECORDING = 2,
	LTT_CTL_STOPPING = 3, /* data is being written */
	LTT_CTL_STOPPED = 4,
	LTT_CTL_DESTROYING = 5,
};

#define LTT_CTL_BLOCKING_FOREVER UINT32_MAX /* of @blocking_us */

/** enum ltt_ctl_output_type - the way in which data gets from a buffer to the trace. */
enum ltt_ctl_output_type {
	LTT_CTL_OUTPUT_TYPE_DEFAULT = 0, /* LTT_CTL_OUTPUT_TYPE_MMAP */
	LTT_CTL_OUTPUT_TYPE_MMAP = 1,	 /* it is written and sent from a mapping */
	LTT_CTL_OUTPUT_TYPE_SPLICE = 2,	 /* by splice(2) */
};

/** enum ltt_ctl_owner - which programs share a buffer. */
enum ltt_ctl_owner {
	LTT_CTL_OWNER_DEFAULT = 0, /* in a request: that of the domain */
	LTT_CTL_OWNER_USER = 1,	   /* the programs of a user */
	LTT_CTL_OWNER_PROCESS = 2, /* each process has its own */
	LTT_CTL_OWNER_SYSTEM = 3,  /* the kernel's */
};

/** enum ltt_ctl_sync - when the trace survives a loss of power. */
enum ltt_ctl_sync {
	LTT_CTL_SYNC_NONE = 0,	 /* when the kernel writes it */
	LTT_CTL_SYNC_PACKET = 1, /* each packet, before its space in the buffer is used again */
	LTT_CTL_SYNC_PERIOD = 2, /* a period after it was written at the latest */
};

/** enum ltt_ctl_trace_format - the format of a session's traces. */
enum ltt_ctl_trace_format {
	LTT_CTL_TRACE_FORMAT_DEFAULT = 0, /* in a request: that of the daemon */
	LTT_CTL_TRACE_FORMAT_CTF_1_8 = 1,
	LTT_CTL_TRACE_FORMAT_CTF_2 = 2,
};

/** enum ltt_ctl_link - the connection of a session with its relay. */
enum ltt_ctl_link {
	LTT_CTL_LINK_NONE = 0, /* the trace does not go to a relay */
	LTT_CTL_LINK_UP = 1,
	LTT_CTL_LINK_DOWN = 2,
};

/** enum ltt_ctl_level_type - which log levels a rule matches. */
enum ltt_ctl_level_type {
	LTT_CTL_LEVEL_ALL = 0,
	LTT_CTL_LEVEL_AT_LEAST = 1, /* as severe as the level, or more */
	LTT_CTL_LEVEL_ONLY = 2,
};

/** enum ltt_ctl_rule_kind - the purpose of an event rule. */
enum ltt_ctl_rule_kind {
	LTT_CTL_RULE_EVENTS = 0,    /* records events by their names */
	LTT_CTL_RULE_PROBE = 1,	    /* records an event at a place in the kernel */
	LTT_CTL_RULE_FUNCTION = 2,  /* records entry and exit of a function of the kernel */
	LTT_CTL_RULE_USER = 3,	    /* records an event at a place in a program */
	LTT_CTL_RULE_COUNT = 4,	    /* counts events instead */
	LTT_CTL_RULE_HISTOGRAM = 5, /* counts them by the size of a field */
};

/** enum ltt_ctl_track_kind - kinds of ids by which a session chooses tasks. Those with a V are as
 *  the task's own namespace numbers them. */
enum ltt_ctl_track_kind {
	LTT_CTL_TRACK_PID = 0, /* processes */
	LTT_CTL_TRACK_TID = 1, /* threads */
	LTT_CTL_TRACK_VPID = 2,
	LTT_CTL_TRACK_VTID = 3,
	LTT_CTL_TRACK_UID = 4, /* users */
	LTT_CTL_TRACK_GID = 5, /* groups */
	LTT_CTL_TRACK_VUID = 6,
	LTT_CTL_TRACK_VGID = 7,
	LTT_CTL_TRACK_FOLLOW = 8, /* processes, and all that come of them; of the kernel only */
	LTT_CTL_TRACK_CGROUP = 9, /* by the inode, with those below it; of the kernel only */
};

/** enum ltt_ctl_track_op - how a session chooses tasks by a kind of ids. */
enum ltt_ctl_track_op {
	LTT_CTL_TRACK_ALL = 0,	/* tasks with any id, as initially; ids that were added are gone */
	LTT_CTL_TRACK_NONE = 1, /* no task, until ids are added */
	LTT_CTL_TRACK_ADD = 2,	/* tasks with these ids, too; initially: only these */
	LTT_CTL_TRACK_REMOVE = 3, /* tasks with these ids no longer */
};

/* --- a connection ------------------------------------------------------------------- */

/** A connection with a session daemon, and the sentences about its last call. */
struct ltt_ctl;

/** Return: a handle that is not connected, to be freed with ltt_ctl_free(); NULL: no memory. */
struct ltt_ctl *ltt_ctl_new(void);
/** Close the connection and free the handle; its results stay. Sessions go on. NULL is allowed. */
void ltt_ctl_free(struct ltt_ctl *ctl);

/** The reason why the last call failed: one line, never NULL, empty after a success. Valid until
 *  the next call with @ctl. */
const char *ltt_ctl_error(const struct ltt_ctl *ctl);
/** Facts that the user should know although the last call succeeded, for example an event that
 *  can't be recorded: lines separated by \n, never NULL, empty if there are none. Valid until the
 *  next call with @ctl. */
const char *ltt_ctl_warning(const struct ltt_ctl *ctl);

/**
 * struct ltt_ctl_connect_options - which daemon to connect to.
 * @size: set by ltt_ctl_connect_options_init(), as in each such struct.
 * @cancel_fd: a descriptor of the caller, valid as long as the connection: when it is readable,
 *	a call that waits returns LTT_CTL_INTERRUPTED within a second, and the connection can't
 *	be used any more; -1: none.
 * @start_daemon: not 0: start ltt-sessiond if none runs, as a child that detaches itself (the
 *	caller gets one SIGCHLD, which may be ignored). It ends when it has had no session for
 *	five minutes. The successor of a daemon that was killed with sessions is started in any
 *	case.
 * @rundir: the daemon's runtime directory; with it no daemon is started. NULL: $LTT_RUNDIR; else
 *	/run/ltt, if the caller may use its daemon; else the user's own.
 * @daemon_path: program of the daemon to start; NULL: $LTT_SESSIOND_PATH, else the one that was
 *	installed with this library, else that in $PATH.
 * @group: group whose members may control a daemon that is started; NULL: its default.
 * @never_start: not 0: start no daemon, not even the successor of one that was killed.
 */
struct ltt_ctl_connect_options {
	size_t size;
	int cancel_fd;
	int start_daemon;
	const char *rundir;
	const char *daemon_path;
	const char *group;
	int never_start;
};

static inline void ltt_ctl_connect_options_init(struct ltt_ctl_connect_options *options)
{
	memset(options, 0, sizeof(*options));
	options->size = sizeof(*options);
	options->cancel_fd = -1;
}

/**
 * ltt_ctl_connect() - connect to a session daemon; a connection that @ctl has is closed first.
 * @options: NULL: the defaults.
 *
 * Errors: LTT_CTL_NO_DAEMON, LTT_CTL_NO_ANSWER, LTT_CTL_DENIED, LTT_CTL_INTERRUPTED.
 */
int ltt_ctl_connect(struct ltt_ctl *ctl, const struct ltt_ctl_connect_options *options);
/** Call @fn about once a second while a call waits for the session daemon's answer, in the thread
 *  of that call; also after the next ltt_ctl_connect(), but not during it. @fn: NULL: call nothing;
 *  it makes no call with @ctl. @waited_ms: milliseconds of waiting until now. */
void ltt_ctl_on_waiting(struct ltt_ctl *ctl, void (*fn)(void *priv, unsigned int waited_ms),
			void *priv);

/** struct ltt_ctl_daemon_info - the session daemon of a connection. */
struct ltt_ctl_daemon_info {
	const char *version;
	const char *rundir;
	uint32_t pid;
	uint32_t consumer_pid;	     /* of its ltt-consumerd at the time of connecting; 0: none */
	uint32_t consumer_silent_ms; /* time for which that had not replied; 0: it replies */
	uint64_t clock_hz;	     /* frequency of the trace clock; 1000000000: CLOCK_MONOTONIC */
	const char *clock_why;	     /* reason for the choice of that clock; "": not known */
};

/** Return: the daemon, valid as long as the connection; NULL: there is no connection. */
const struct ltt_ctl_daemon_info *ltt_ctl_daemon(const struct ltt_ctl *ctl);

/** enum ltt_ctl_shutdown_flag - of ltt_ctl_shutdown(). */
enum ltt_ctl_shutdown_flag {
	LTT_CTL_FORCE = 1, /* also if the daemon has sessions, which end with it */
};

/**
 * ltt_ctl_shutdown() - end the session daemon, wait until its process has ended, 5 s at most, and
 * close the connection.
 * @flags: 0, or LTT_CTL_FORCE.
 * @ret_sessions: how many sessions ended with it, or NULL. Their traces stay.
 *
 * Errors: LTT_CTL_BUSY: the daemon has sessions and goes on, or it has not ended in time;
 * LTT_CTL_DENIED: it belongs to another user, and the caller is not root; LTT_CTL_INTERRUPTED:
 * also while the daemon ends.
 */
int ltt_ctl_shutdown(struct ltt_ctl *ctl, unsigned int flags, uint32_t *ret_sessions);

/* --- state of sessions --------------------------------------------------------------- */

/**
 * struct ltt_ctl_totals - counts of events since the session was created.
 * @recorded: events in the trace or in buffers.
 * @written: of these, in the files, or at the relay.
 * @waiting: of these, in the buffers.
 * @lost: events that were lost, for one of the causes:
 * @lost_full: a buffer was full; @lost_size: too large for the buffer; @lost_busy: no buffer
 *	could be written; @lost_output: the trace could not be written.
 * @invalid_bytes: bytes that were dropped because an application damaged its buffer.
 * @lost_buffers: buffers that were lost as all processes that held them ended, or that a consumer
 *	daemon could not continue; the number of events in them is unknown.
 * @bytes, @packets: amount of data that was written.
 * @not_sampled: events that the sampling of rules left out, neither recorded nor lost.
 * @unrecorded: programs that could not be recorded because of a problem; the number of their events
 *	is unknown.
 * @overwritten: of @recorded: overwritten by newer events, in sessions for snapshots, before a
 *	snapshot had them; not a loss. @written are in snapshots then.
 * @slow_ns, @slow_bytes: time of writing packets that needed 0.1 s or more each, and
 *	their bytes: a slow disk leaves buffers full.
 * @cleared: of @recorded: removed by ltt_ctl_clear(); not a loss.
 */
struct ltt_ctl_totals {
	uint64_t recorded;
	uint64_t written;
	uint64_t waiting;
	uint64_t lost;
	uint64_t lost_full;
	uint64_t lost_size;
	uint64_t lost_busy;
	uint64_t lost_output;
	uint64_t invalid_bytes;
	uint64_t lost_buffers;
	uint64_t bytes;
	uint64_t packets;
	uint64_t not_sampled;
	uint64_t unrecorded;
	uint64_t overwritten;
	uint64_t slow_ns;
	uint64_t slow_bytes;
	uint64_t cleared;
};

/**
 * struct ltt_ctl_session - a session. No string is NULL.
 * @output: directory of the trace, or the relay's URL; empty: no trace is written.
 * @problem: the reason why the output fails now; empty: it works.
 * @spool: directory for data that the relay does not have; empty: there is none.
 * @created_ns: CLOCK_REALTIME. @recording_ns: time spent recording.
 * @applications: number of applications that can record into it.
 * @scoped: not 0: only programs that were started with its scope record into it.
 * @keep_free, @max_size, @sync, @sync_us, @live_us, @compress, @spool_size, @snapshots, @scope,
 *	@relay_clear, @own_daemons, @trace_format: as in struct ltt_ctl_create_options.
 * @spooled: bytes in the spool.
 * @undurable: bytes in the spool of data that the relay has, until its store has it, too.
 * @clock_offset_ns: the relay's CLOCK_REALTIME minus this host's.
 * @clock_error_ns: uncertainty of @clock_offset_ns; 0: the offset is unknown.
 * @live_url: at which viewers see it, as the relay has it since the last connection began; "": it is not known.
 * @clock_change: the last jump of the traces' clock, or change of its rate; "": none.
 * @snapshot_path, @snapshot_name, @snapshot_max_size: as set by ltt_ctl_set_snapshot_output(); "", "",
 *	0: none.
 * @snapshot_elsewhere: not 0: @output was removed as the output of snapshots.
 * @rotate_us, @rotate_size, @keep_archives, @keep_us, @keep_size: as set by
 *	ltt_ctl_enable_rotation(); 0: none.
 * @chunk: number of its next archive. @archives: number of archives that it has, as far as known.
 * @totals: NULL: the consumer daemon has not answered in time.
 */
struct ltt_ctl_session {
	uint64_t id; /* never used again */
	const char *name;
	const char *output;
	const char *problem;
	const char *spool;
	uint32_t uid; /* owner */
	enum ltt_ctl_state state;
	uint64_t created_ns;
	uint64_t recording_ns;
	uint32_t applications;
	int scoped;
	uint64_t keep_free;
	uint64_t max_size;
	enum ltt_ctl_sync sync;
	uint32_t sync_us;
	enum ltt_ctl_link link;
	uint32_t live_us;
	int compress;
	uint64_t spool_size;
	uint64_t spooled;
	int64_t clock_offset_ns;
	uint64_t clock_error_ns;
	const struct ltt_ctl_totals *totals;
	int snapshots;
	const char *clock_change;
	const char *snapshot_name;
	const char *snapshot_path;
	uint64_t snapshot_max_size;
	const char *scope; /* "": none */
	int relay_clear;
	int snapshot_elsewhere;
	uint64_t rotate_us, rotate_size;
	uint32_t keep_archives;
	uint64_t keep_us, keep_size;
	uint32_t chunk, archives;
	int own_daemons;
	uint64_t undurable;
	const char *live_url;
	enum ltt_ctl_trace_format trace_format;
};

/** struct ltt_ctl_sessions - @nr of them, in the order of their creation. @loading: not 0: the
 *  daemon has just started, and is loading saved sessions. */
struct ltt_ctl_sessions {
	size_t nr;
	const struct ltt_ctl_session *const *sessions;
	int loading;
};

/** The sessions that the caller may use: its own; for root those of all users.
 *  @ret_sessions: to be freed with ltt_ctl_sessions_free(). */
int ltt_ctl_list(struct ltt_ctl *ctl, struct ltt_ctl_sessions **ret_sessions);
/** The session @name, or an empty list if there is none; NULL: all sessions. Unlike ltt_ctl_list()
 *  this does not wait for the buffers of programs after a restart of the daemon. */
int ltt_ctl_find(struct ltt_ctl *ctl, const char *name, struct ltt_ctl_sessions **ret_sessions);
void ltt_ctl_sessions_free(struct ltt_ctl_sessions *sessions);

/**
 * ltt_ctl_recover() - after daemons were killed: wait until all events that were recorded before
 * the call are written, 10 s at most. ltt_ctl_connect() starts the successor of a killed session
 * daemon; programs may return the buffers that they hold within one second of its start. If no
 * daemon was killed, only the wait remains.
 * @ret_sessions: the sessions after the wait, to be freed with ltt_ctl_sessions_free(), or NULL;
 *	lost_buffers of their totals are buffers that could not be recovered.
 *
 * Data that is not written in time is a warning. Errors: LTT_CTL_INTERRUPTED: also between two
 * requests to the daemon.
 */
int ltt_ctl_recover(struct ltt_ctl *ctl, struct ltt_ctl_sessions **ret_sessions);

/** struct ltt_ctl_rule - an event rule. @points: number of instrumentation points that match now.
 *  @loglevel: unless @loglevel_type is LTT_CTL_LEVEL_ALL, 0 (EMERG) to 14 (DEBUG).
 *  @location: of a probe or function; of a histogram: the field. @fetch: values that are
 *  recorded there. @file_device, @file_inode: of the file of a place in a program, as of stat(2);
 *  else 0. */
struct ltt_ctl_rule {
	const char *pattern;
	const char *exclude; /* patterns, separated by commas */
	const char *location;
	const char *fetch;
	enum ltt_ctl_rule_kind kind;
	enum ltt_ctl_level_type loglevel_type;
	int loglevel;
	int enabled;
	uint32_t points;
	const char *filter;    /* "": none */
	uint32_t points_never; /* number of @points for which the filter can never hold */
	const char *sampling;  /* "": each event is recorded */
	const char *by;	       /* fields of the key of a counter, separated by commas; "": none */
	uint64_t file_device, file_inode;
	const char *earlier_files; /* that programs may still run: MAJOR:MINOR:INODE,...; "": none */
	const char *logger; /* "": it is not for messages of loggers; see ltt_ctl_event_options */
};

/** struct ltt_ctl_refusal - an event that a rule matches and that can't be recorded or, if
 *  @counted, counted. @why: the reason, a phrase without a subject. */
struct ltt_ctl_refusal {
	const char *event;
	const char *why;
	enum ltt_ctl_domain domain;
	int counted;
};

/** struct ltt_ctl_conflict - an event of application @pid that is not recorded: its format
 *  @refused differs from @recorded, which another application has for the same name. */
struct ltt_ctl_conflict {
	const char *event;
	const char *recorded;
	const char *refused;
	uint32_t pid;
};

/** struct ltt_ctl_ring - the buffer of CPU @cpu in the set @buffer. @bytes: recorded in it since it
 *  was made, modulo LTT_CTL_RING_BYTES. */
struct ltt_ctl_ring {
	uint64_t buffer;
	uint32_t cpu;
	uint64_t bytes;
};
#define LTT_CTL_RING_BYTES (UINT64_C(1) << 39)

/**
 * struct ltt_ctl_channel - a channel, which is a set of buffers.
 * @contexts: recorded with each event, separated by commas.
 * @used, @size: bytes of data in the fullest buffer set, and its size. @memory: bytes of all
 *	buffers.
 * @totals: NULL: not known.
 * @preset: not 0: created with the attributes of a struct ltt_ctl_preset.
 * @remember: not 0: it keeps the first events of each process, or of the kernel.
 * @rings: of a session for snapshots: its buffers, 1024 at most; else none.
 * @blocking_us, @on_demand, @reclaim, @reclaim_us: as in struct ltt_ctl_channel_options.
 */
struct ltt_ctl_channel {
	const char *name;
	const char *contexts;
	enum ltt_ctl_domain domain;
	int enabled;
	int overwrite;
	enum ltt_ctl_owner ownership;
	uint64_t subbuf_size;
	uint32_t num_subbuf;
	uint32_t switch_timer_us;
	uint64_t tracefile_size;
	uint32_t tracefile_count;
	uint64_t used;
	uint64_t size;
	uint64_t memory;
	const struct ltt_ctl_totals *totals;
	size_t nr_rules;
	const struct ltt_ctl_rule *const *rules;
	size_t nr_refusals;
	const struct ltt_ctl_refusal *const *refusals;
	size_t nr_conflicts;
	const struct ltt_ctl_conflict *const *conflicts;
	int preset;
	enum ltt_ctl_output_type output_type;
	int remember;
	size_t nr_rings;
	const struct ltt_ctl_ring *const *rings;
	uint32_t blocking_us;
	int on_demand;
	int reclaim;
	uint64_t reclaim_us;
};

/** struct ltt_ctl_tracker - a kind of ids by which a session selects tasks: those with one of the
 *  @nr_ids @ids; if @nr_ids is 0, no task. */
struct ltt_ctl_tracker {
	enum ltt_ctl_domain domain;
	enum ltt_ctl_track_kind kind;
	size_t nr_ids;
	const uint32_t *ids;
};

/** struct ltt_ctl_session_status - a session, its channels, and its trackers. Events of a task are
 *  recorded if all trackers select it. */
struct ltt_ctl_session_status {
	const struct ltt_ctl_session *session;
	size_t nr_channels;
	const struct ltt_ctl_channel *const *channels;
	size_t nr_trackers;
	const struct ltt_ctl_tracker *const *trackers;
};

/** Return in @ret_status the state of @session; to be freed with ltt_ctl_status_free().
 *  Errors: LTT_CTL_NO_SESSION. */
int ltt_ctl_status(struct ltt_ctl *ctl, const char *session,
		   struct ltt_ctl_session_status **ret_status);
void ltt_ctl_status_free(struct ltt_ctl_session_status *status);

/** struct ltt_ctl_bucket - @count values from @first to @last. */
struct ltt_ctl_bucket {
	uint64_t first;
	uint64_t last;
	uint64_t count;
};

/** enum ltt_ctl_key_kind - kinds of values in keys. */
enum ltt_ctl_key_kind {
	LTT_CTL_KEY_SIGNED = 1,
	LTT_CTL_KEY_UNSIGNED = 2,
	LTT_CTL_KEY_TEXT = 3,
	LTT_CTL_KEY_CUT = 4, /* the first bytes of a text that was longer */
};

/** struct ltt_ctl_key_value - one value of a key. @number: of an integer; with
 *  LTT_CTL_KEY_UNSIGNED, convert it to uint64_t. @text: the text, of any bytes; for an integer its
 *  label, "": none. */
struct ltt_ctl_key_value {
	enum ltt_ctl_key_kind kind;
	int64_t number;
	const char *text;
};

/** struct ltt_ctl_key - the counts of one key. @values: one for each field of the key. The other
 *  members are as in struct ltt_ctl_counted. */
struct ltt_ctl_key {
	size_t nr_values;
	const struct ltt_ctl_key_value *const *values;
	uint64_t count;
	uint64_t sum;
	uint64_t negative;
	size_t nr_buckets;
	const struct ltt_ctl_bucket *const *buckets;
};

/**
 * struct ltt_ctl_counted - an event that a rule counts (LTT_CTL_RULE_COUNT,
 * LTT_CTL_RULE_HISTOGRAM).
 * @field: field of the histogram; empty: none, and the members from @sum to @buckets are 0.
 * @counting: 0: counting has ended.
 * @since_ns: CLOCK_REALTIME at which counting began.
 * @count: number of events.
 * @sum: sum of the field's values, modulo 2^64. @negative: values below 0, which are in no bucket.
 * @missed: values that could not be read.
 * @buckets: buckets that are not empty, in ascending order.
 * @by: fields of the key, separated by commas; "": the event is not counted by keys, and the
 *	members up to @keys are 0.
 * @keys: in no order. @overflow: number of events whose key found no room in the table.
 * @at_least: not 0: events that were counted under an earlier session daemon are missing.
 */
struct ltt_ctl_counted {
	const char *channel;
	const char *event;
	const char *field;
	enum ltt_ctl_domain domain;
	int counting;
	uint64_t since_ns;
	uint64_t count;
	uint64_t sum;
	uint64_t negative;
	uint64_t missed;
	size_t nr_buckets;
	const struct ltt_ctl_bucket *const *buckets;
	const char *by;
	uint64_t overflow;
	size_t nr_keys;
	const struct ltt_ctl_key *const *keys;
	int at_least;
};

/** struct ltt_ctl_stats - @at_least: not 0: counts of an earlier session daemon are missing, also
 *  of events that are not in @counted. */
struct ltt_ctl_stats {
	size_t nr;
	const struct ltt_ctl_counted *const *counted;
	int at_least;
};

/** The events that @session counts. @ret_stats: to be freed with ltt_ctl_stats_free().
 *  Errors: LTT_CTL_NO_SESSION. */
int ltt_ctl_list_stats(struct ltt_ctl *ctl, const char *session, struct ltt_ctl_stats **ret_stats);
void ltt_ctl_stats_free(struct ltt_ctl_stats *stats);

/** enum ltt_ctl_map_type - types of the values of map channels, which wrap. */
enum ltt_ctl_map_type {
	LTT_CTL_MAP_DEFAULT = 0, /* LTT_CTL_MAP_INT_MAX */
	LTT_CTL_MAP_INT_32 = 1,
	LTT_CTL_MAP_INT_64 = 2,
	LTT_CTL_MAP_INT_MAX = 3, /* the largest: 64 bits */
};

/** enum ltt_ctl_map_update - increments of a key by an event that several triggers match. */
enum ltt_ctl_map_update {
	LTT_CTL_MAP_UPDATE_DEFAULT = 0, /* LTT_CTL_MAP_PER_EVENT */
	LTT_CTL_MAP_PER_EVENT = 1,	/* one */
	LTT_CTL_MAP_PER_RULE_MATCH = 2, /* one for each of them */
};

/** enum ltt_ctl_map_dead - values of processes that have ended. */
enum ltt_ctl_map_dead {
	LTT_CTL_MAP_DEAD_DEFAULT = 0, /* LTT_CTL_MAP_SUM_INTO_SHARED */
	LTT_CTL_MAP_DROP = 1,
	LTT_CTL_MAP_SUM_INTO_SHARED = 2,
};

/**
 * struct ltt_ctl_map_options - a map channel to be added: keys, each with a value that events
 * increment (LTT_CTL_DO_INCR_MAP) while the session records. Zero: the default.
 * @session, @domain: must be given. @name: NULL: "channel0".
 * @max_keys: 4096; the increments of further keys are counted together.
 * @ownership: of the values: LTT_CTL_OWNER_USER or LTT_CTL_OWNER_PROCESS.
 * @dead: for LTT_CTL_OWNER_PROCESS.
 */
struct ltt_ctl_map_options {
	size_t size;
	const char *session;
	const char *name;
	enum ltt_ctl_domain domain;
	enum ltt_ctl_map_type value_type;
	uint32_t max_keys;
	enum ltt_ctl_owner ownership;
	enum ltt_ctl_map_update update;
	enum ltt_ctl_map_dead dead;
};

static inline void ltt_ctl_map_options_init(struct ltt_ctl_map_options *map)
{
	memset(map, 0, sizeof(*map));
	map->size = sizeof(*map);
}

/** Add a map channel, also while the session records. @ret_name: its name, to be freed with
 *  free(3); may be NULL. Errors: LTT_CTL_NO_SESSION; LTT_CTL_CHANNEL_EXISTS; LTT_CTL_INVALID;
 *  LTT_CTL_UNSUPPORTED: the domain has no map channels. */
int ltt_ctl_add_map(struct ltt_ctl *ctl, const struct ltt_ctl_map_options *map, char **ret_name);

/** struct ltt_ctl_map_part - the value of a part of an owner's memory. @number: of its CPU; the
 *  last part has the increments that no CPU's part has. @value: modulo 2^64. */
struct ltt_ctl_map_part {
	uint32_t number;
	uint64_t value;
};

/** struct ltt_ctl_map_value - the values of a key, of one owner. @pid: not 0: it is a process.
 *  @shared: not 0: sum of the values of processes that have ended. @parts: those that are not 0. */
struct ltt_ctl_map_value {
	const char *key;
	uint32_t uid;
	uint32_t pid;
	int shared;
	size_t nr_parts;
	const struct ltt_ctl_map_part *const *parts;
};

/** struct ltt_ctl_map - a map channel. @keys: number of them. @overflow: increments of keys for
 *  which there was no room. @rules: triggers' actions that increment its values. @values: of the
 *  same key there may be several, also of one owner: add them up. */
struct ltt_ctl_map {
	const char *name;
	enum ltt_ctl_domain domain;
	enum ltt_ctl_map_type value_type;
	uint32_t max_keys;
	enum ltt_ctl_owner ownership;
	enum ltt_ctl_map_update update;
	enum ltt_ctl_map_dead dead;
	uint32_t keys;
	uint64_t overflow;
	uint32_t rules;
	size_t nr_values;
	const struct ltt_ctl_map_value *const *values;
};

struct ltt_ctl_maps {
	size_t nr;
	const struct ltt_ctl_map *const *maps;
};

/** The map channels of @session, with their values. @ret_maps: to be freed with
 *  ltt_ctl_maps_free(). Errors: LTT_CTL_NO_SESSION. */
int ltt_ctl_list_maps(struct ltt_ctl *ctl, const char *session, struct ltt_ctl_maps **ret_maps);
void ltt_ctl_maps_free(struct ltt_ctl_maps *maps);

/** struct ltt_ctl_quota - use of the resource @name by user @uid. @in_roots: not 0: use by the
 *  user's applications in sessions of root. @limit: 0: none. @refused: number of rejected
 *  requests. */
struct ltt_ctl_quota {
	const char *name;
	uint32_t uid;
	int in_roots;
	uint64_t used;
	uint64_t limit;
	uint64_t refused;
};

struct ltt_ctl_quotas {
	size_t nr;
	const struct ltt_ctl_quota *const *quotas;
};

/** Quotas of the caller and their use; for root those of all users.
 *  @ret_quotas: to be freed with ltt_ctl_quotas_free(). */
int ltt_ctl_list_quotas(struct ltt_ctl *ctl, struct ltt_ctl_quotas **ret_quotas);
void ltt_ctl_quotas_free(struct ltt_ctl_quotas *quotas);

/** struct ltt_ctl_consumer - a consumer daemon (ltt-consumerd(8)). @uid: the user whose sessions it
 *  writes; the first of the list is the session daemon's own, which writes root's. @pid: 0: it is
 *  not running. @silent_ms: time for which it has not replied; 0: it replies. @nr_sessions: those
 *  that it writes. @kernel: 1: of these it writes the kernel's events, for all users; else 0. */
struct ltt_ctl_consumer {
	uint32_t uid;
	uint32_t pid;
	uint32_t silent_ms;
	uint32_t nr_sessions;
	uint32_t kernel;
};

struct ltt_ctl_consumers {
	size_t nr;
	const struct ltt_ctl_consumer *const *consumers;
};

/** The session daemon's consumers: its own and the caller's; for root: of all users.
 *  @ret_consumers: to be freed with ltt_ctl_consumers_free(). */
int ltt_ctl_list_consumers(struct ltt_ctl *ctl, struct ltt_ctl_consumers **ret_consumers);
void ltt_ctl_consumers_free(struct ltt_ctl_consumers *consumers);

/**
 * struct ltt_ctl_outcome - facts about the last call, if that was ltt_ctl_enable_event(),
 * ltt_ctl_start(), ltt_ctl_stop() or ltt_ctl_destroy(); zero and empty otherwise. The warnings
 * contain the same in sentences.
 * @problem: after a start: a problem of the session, for example that its output can't be written;
 *	after ltt_ctl_enable_event(): events of the kernel that are not recorded yet; after the
 *	other calls: the reason why some data could not be written, or some programs not be
 *	recorded; empty: none.
 * @late: after a start: number of applications that did not answer within a second.
 * @incomplete: not 0: @problem, @refusals or @conflicts are incomplete, for lack of memory.
 * @refusals, @conflicts: events that the rule, or the rules of the session, match and that are not
 *	recorded or counted.
 * @nearest: the name that was searched for with @nearest of struct ltt_ctl_event_options; empty:
 *	none is similar.
 */
struct ltt_ctl_outcome {
	const char *problem;
	uint32_t late;
	int incomplete;
	size_t nr_refusals;
	const struct ltt_ctl_refusal *const *refusals;
	size_t nr_conflicts;
	const struct ltt_ctl_conflict *const *conflicts;
	const char *nearest;
};

/** Return: facts about the last call, never NULL. Valid until the next call with @ctl. */
const struct ltt_ctl_outcome *ltt_ctl_last_outcome(const struct ltt_ctl *ctl);

/* --- contexts and instrumentation points -------------------------------------------------- */

/** struct ltt_ctl_context - a type of contexts. @type: the type of its value, to be displayed. */
struct ltt_ctl_context {
	const char *name;
	const char *type;
	enum ltt_ctl_domain domain;
};

struct ltt_ctl_contexts {
	size_t nr;
	const struct ltt_ctl_context *const *contexts;
};

/** The types of contexts that ltt_ctl_add_context() knows.
 *  @ret_contexts: to be freed with ltt_ctl_contexts_free().
 *  Errors: LTT_CTL_UNSUPPORTED: the kernel can't be traced; LTT_CTL_INVALID: the domain. */
int ltt_ctl_list_contexts(struct ltt_ctl *ctl, enum ltt_ctl_domain domain,
			  struct ltt_ctl_contexts **ret_contexts);
void ltt_ctl_contexts_free(struct ltt_ctl_contexts *contexts);

/** enum ltt_ctl_point_kind - of an instrumentation point. */
enum ltt_ctl_point_kind {
	LTT_CTL_POINT_TRACEPOINT = 1, /* of an application */
	LTT_CTL_POINT_MARKER = 2,     /* likewise */
	LTT_CTL_POINT_KERNEL = 3,
};

/** enum ltt_ctl_way - how an event of the kernel is recorded. */
enum ltt_ctl_way {
	LTT_CTL_WAY_NATIVE = 1,	 /* by a probe of the kernel module */
	LTT_CTL_WAY_PERF = 2,	 /* through perf, which takes some three times as long */
	LTT_CTL_WAY_SYSCALL = 3, /* by the probe that all system calls share */
	LTT_CTL_WAY_STATE = 4,	 /* by reading the kernel's state, when recording begins */
};

/** struct ltt_ctl_field - a field of an event. @type: to be displayed, for example "integer".
 *  @recorded: 0: for filters only. */
struct ltt_ctl_field {
	const char *name;
	const char *type;
	int recorded;
};

/**
 * struct ltt_ctl_point - an instrumentation point. No string is NULL.
 * @process: name of the application; of the kernel's points: the subsystem.
 * @format: format string of a marker. @refused: the reason why the point can't be recorded, a
 *	phrase without a subject; empty: it can.
 * @file, @line: in the program's source; empty and 0: not known.
 * @loglevel: 0 (EMERG) to 14 (DEBUG), of an application's points.
 * @pid, @uid: of the application.
 * @active: number of sessions that record it now.
 * @way: of the kernel's points; 0: of others, or not known to an older session daemon.
 */
struct ltt_ctl_point {
	const char *name;
	const char *process;
	const char *format;
	const char *file;
	const char *refused;
	enum ltt_ctl_domain domain;
	enum ltt_ctl_point_kind kind;
	int loglevel;
	uint32_t line;
	uint32_t pid;
	uint32_t uid;
	uint32_t active;
	size_t nr_fields;
	const struct ltt_ctl_field *const *fields;
	enum ltt_ctl_way way;
};

/** struct ltt_ctl_preset - a channel that a module of the kernel, or a library in applications of
 *  user @uid, has registered for its events, which @events matches. @subbuf_size, @num_subbuf: of
 *  its buffers; 0: the default. @unused: why it is not used, without a full stop; empty: it is. */
struct ltt_ctl_preset {
	const char *name;
	const char *events;
	uint64_t subbuf_size;
	uint32_t num_subbuf;
	uint32_t uid;
	const char *unused;
};

/** struct ltt_ctl_points - points, by application (of the kernel: by subsystem), then by name; and
 *  presets, in no order. */
struct ltt_ctl_points {
	size_t nr;
	const struct ltt_ctl_point *const *points;
	size_t nr_presets;
	const struct ltt_ctl_preset *const *presets;
};

/** enum ltt_ctl_points_flag - of ltt_ctl_list_points(). */
enum ltt_ctl_points_flag {
	LTT_CTL_FIELDS = 1, /* with their fields */
};

/**
 * ltt_ctl_list_points() - the instrumentation points of the caller's applications that run, for
 * root those of all users; or of the kernel.
 * @flags: 0, or LTT_CTL_FIELDS.
 * @ret_points: to be freed with ltt_ctl_points_free().
 *
 * Errors: LTT_CTL_UNSUPPORTED: the kernel can't be traced.
 */
int ltt_ctl_list_points(struct ltt_ctl *ctl, enum ltt_ctl_domain domain, unsigned int flags,
			struct ltt_ctl_points **ret_points);
void ltt_ctl_points_free(struct ltt_ctl_points *points);

/**
 * ltt_ctl_each_point() - the same, in the memory of one point however many there are.
 * @fn: receives each point, in the same order, before the call returns, also if that fails later.
 *	It does not use @ctl; the point is valid until it returns.
 * @ret_points: has the presets alone, to be freed with ltt_ctl_points_free().
 */
int ltt_ctl_each_point(struct ltt_ctl *ctl, enum ltt_ctl_domain domain, unsigned int flags,
		       void (*fn)(const struct ltt_ctl_point *point, void *data), void *data,
		       struct ltt_ctl_points **ret_points);

/** struct ltt_ctl_verdict - whether a filter can hold for an event; points of one name and the same
 *  fields share a verdict. @column: column of the expression, from 1, that can't hold; 0: the
 *  filter can hold, and @why is empty. */
struct ltt_ctl_verdict {
	const char *event;
	const char *why;
	uint32_t column;
};

struct ltt_ctl_verdicts {
	size_t nr;
	const struct ltt_ctl_verdict *const *verdicts;
};

/**
 * struct ltt_ctl_filter_options - a filter to check.
 * @expression: must be given; see lttctl-filter(1).
 * @pattern: only for events with such names; NULL: all. Of the kernel: also with the system before
 *           the name.
 * @domain: 0: LTT_CTL_USER.
 */
struct ltt_ctl_filter_options {
	size_t size;
	const char *expression;
	const char *pattern;
	enum ltt_ctl_domain domain;
};

static inline void ltt_ctl_filter_options_init(struct ltt_ctl_filter_options *filter)
{
	memset(filter, 0, sizeof(*filter));
	filter->size = sizeof(*filter);
}

/**
 * ltt_ctl_check_filter() - check an expression against the events of the caller's applications that
 * run, or of the kernel. @ret_verdicts: to be freed with ltt_ctl_verdicts_free(); empty if there is
 * no such event.
 *
 * Errors: LTT_CTL_INVALID: the expression is malformed, or the domain; LTT_CTL_UNSUPPORTED: the
 * kernel can't be traced.
 */
int ltt_ctl_check_filter(struct ltt_ctl *ctl, const struct ltt_ctl_filter_options *filter,
			 struct ltt_ctl_verdicts **ret_verdicts);
void ltt_ctl_verdicts_free(struct ltt_ctl_verdicts *verdicts);

/**
 * struct ltt_ctl_programs - the applications of a session.
 * @recording: number of applications that record into it, or are about to. @applications: number of
 *	those that may record into it.
 * @matched: not 0: a rule matched a point of an application, which may have ended since.
 * @points: if @matched is 0, names of points that its applications have announced. @more: not 0:
 *	there are more of these.
 */
struct ltt_ctl_programs {
	uint32_t recording;
	uint32_t applications;
	int matched;
	int more;
	size_t nr_points;
	const char *const *points;
};

/** Return in @ret_programs the applications of @session now; to be freed with
 *  ltt_ctl_programs_free(). Errors: LTT_CTL_NO_SESSION. */
int ltt_ctl_list_programs(struct ltt_ctl *ctl, const char *session,
			  struct ltt_ctl_programs **ret_programs);
void ltt_ctl_programs_free(struct ltt_ctl_programs *programs);

/* --- changes of sessions ---------------------------------------------------------------- */

#define LTT_CTL_NAME_BYTES 255 /* of a session's or channel's name, with the final NUL */

/**
 * struct ltt_ctl_create_options - a session to create. Zero or NULL: the default.
 * @name: NULL: a name with the date is generated.
 * @output: directory of the trace, which is created; it must not contain a trace. NULL:
 *	$HOME/ltt-traces/NAME-DATE.
 * @no_output: not 0: no trace is written (events are counted, or read by probes).
 * @url: URL of a relay, or of up to eight separated by commas, in place of @output; see
 *	lttctl-create(1).
 * @relay_clear: not 0: the connection to the relay is not encrypted.
 * @compress: not 0: data is compressed when it is sent to the relay.
 * @spool_size: size limit of a directory for data that the relay does not have, beneath
 *	$HOME/ltt-traces/spool; 0: no such directory, and the relay must be reachable now.
 * @scope: only programs that are started with this word in LTT_SCOPE are recorded; NULL: all
 *	programs of the caller, for root of all users.
 * @keep_free: space that the trace leaves free in its file system; 0: none.
 * @max_size: size limit of all files of the trace; 0: unlimited.
 * @sync, @sync_us: when data is written to the disk; @sync_us is the period of LTT_CTL_SYNC_PERIOD.
 * @live_us: not 0: viewers can follow the trace at the relay, and see events after this time at the
 *	latest; without @url, the relay of this host is used, or started.
 * @data_url: with @url, the URL of the same relay's data port, for compatibility; not used.
 * @prefix: prefix of a generated name; NULL or "": "auto".
 * @relayd_path: program of the relay to start; NULL: the one that was installed with this
 *	library, else that in $PATH.
 * @snapshots: not 0: the buffers keep the last events, and nothing is written but snapshots, see
 *	ltt_ctl_snapshot_record(); excludes @url and @live_us.
 * @own_daemons: not 0: events of the kernel that this tracer's daemons cause are recorded, too.
 * @trace_format: the form of the metadata.
 */
struct ltt_ctl_create_options {
	size_t size;
	const char *name;
	const char *output;
	const char *url;
	const char *scope;
	int no_output;
	int relay_clear;
	int compress;
	enum ltt_ctl_sync sync;
	uint32_t sync_us;
	uint32_t live_us;
	uint64_t spool_size;
	uint64_t keep_free;
	uint64_t max_size;
	const char *data_url;
	const char *prefix;
	const char *relayd_path;
	int snapshots;
	int own_daemons;
	enum ltt_ctl_trace_format trace_format;
};

static inline void ltt_ctl_create_options_init(struct ltt_ctl_create_options *create)
{
	memset(create, 0, sizeof(*create));
	create->size = sizeof(*create);
}

/**
 * ltt_ctl_create() - create a session, which does not record yet.
 * @create: NULL: the defaults.
 * @ret_name, @ret_output: the session's name and the trace's directory or URL ("" if there is
 *	none), to be freed with free(3); either may be NULL.
 *
 * Errors: LTT_CTL_SESSION_EXISTS, LTT_CTL_INVALID, LTT_CTL_OUTPUT, LTT_CTL_LIMIT. Neither a session
 * nor a directory is left behind then. With a spool, an unreachable relay causes a warning only.
 */
int ltt_ctl_create(struct ltt_ctl *ctl, const struct ltt_ctl_create_options *create,
		   char **ret_name, char **ret_output);
/** Remove the directory that the last ltt_ctl_create() of @ctl created for the trace, with its
 *  contents; a directory that existed before stays. Destroy the session first. Needs no
 *  connection. */
void ltt_ctl_discard(struct ltt_ctl *ctl);

/**
 * struct ltt_ctl_channel_options - a channel to create, or to enable again. Zero: the default, or
 * as the channel was created.
 * @session, @name, @domain: must be given.
 * @ownership: which programs share its buffers.
 * @subbuf_size, @num_subbuf: size and number of the sub-buffers of a buffer; rounded up to powers
 *	of two.
 * @switch_timer_us: longest time that an event stays in a buffer.
 * @tracefile_size, @tracefile_count: size at which a file of a stream is closed, and number of
 *	files above which the oldest is removed. A size smaller than a sub-buffer is raised, which
 *	causes a warning; @tracefile_count needs a size.
 * @overwrite: not 0: the oldest events are dropped if a buffer is full: only snapshots have the
 *	channel's events. It is the default in sessions for snapshots. @discard: not 0: the newest.
 * @roomy: not 0: if neither @subbuf_size nor @num_subbuf is given, the buffers are as large as the
 *	machine's free memory permits, up to 64 MiB for each CPU.
 * @output_type: the way in which data is written and sent. LTT_CTL_OUTPUT_TYPE_SPLICE has no effect
 *	in sessions whose data is encrypted, compressed or overwritten, which causes a warning.
 * @remember: not 0: the first events of each process, or of the kernel, are kept, of 256 kB, and
 *	are in each snapshot; later ones are lost. Only for sessions that write no trace.
 * @blocking_us: longest time in microseconds that a program waits in an event while the buffer is
 *	full, before the event is lost; LTT_CTL_BLOCKING_FOREVER: no limit. Only programs with
 *	LTT_ALLOW_BLOCKING in their environment wait. Not for channels that overwrite or remember.
 * @on_demand: not 0: the memory of a buffer is allocated as programs write to it, not from the
 *	beginning. @reclaim: not 0: memory of a buffer is given back when its events are written.
 *	@reclaim_us: not 0: it is given back when they were written so many microseconds ago.
 *	Only for channels of programs that neither overwrite nor remember.
 */
struct ltt_ctl_channel_options {
	size_t size;
	const char *session;
	const char *name;
	enum ltt_ctl_domain domain;
	enum ltt_ctl_owner ownership;
	uint64_t subbuf_size;
	uint32_t num_subbuf;
	uint32_t switch_timer_us;
	uint64_t tracefile_size;
	uint32_t tracefile_count;
	int overwrite;
	int roomy;
	int discard;
	enum ltt_ctl_output_type output_type;
	int remember;
	uint32_t blocking_us;
	int on_demand;
	int reclaim;
	uint64_t reclaim_us;
};

static inline void ltt_ctl_channel_options_init(struct ltt_ctl_channel_options *channel)
{
	memset(channel, 0, sizeof(*channel));
	channel->size = sizeof(*channel);
}

/**
 * ltt_ctl_enable_channel() - create a channel, or enable one that was disabled; also while the
 * session records.
 *
 * Errors: LTT_CTL_CHANNEL_EXISTS: it exists and is enabled; LTT_CTL_NO_SESSION; LTT_CTL_INVALID:
 * also a channel that exists with other attributes; LTT_CTL_LIMIT: the buffers are too large;
 * LTT_CTL_UNSUPPORTED: the kernel can't be traced, or not with these attributes.
 */
int ltt_ctl_enable_channel(struct ltt_ctl *ctl, const struct ltt_ctl_channel_options *channel);
/** Disable a channel: no event is recorded into it until it is enabled again. Errors:
 *  LTT_CTL_NO_CHANNEL. */
int ltt_ctl_disable_channel(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			    const char *channel);

/**
 * struct ltt_ctl_place - an instruction in the file of a program or library. @offset: from the
 * beginning of the file, in bytes. @semaphore: offset of a USDT probe's counter, which is not 0 in
 * processes while the probe is recorded; 0: it has none.
 */
struct ltt_ctl_place {
	uint64_t offset;
	uint64_t semaphore;
};

/**
 * struct ltt_ctl_places - the places of a function or a USDT probe: one or more. No string is NULL.
 * @file: absolute path of the program or library, without symbolic links.
 * @text: DEVICE,INODE,SIZE,MTIME_NS;OFFSET[@SEMAPHORE][ FETCH...];...: the file's identity as
 *	stat(2) has it, and the places with the values to be recorded there.
 * @left_out: arguments of a USDT probe that can't be recorded, as their location is unknown, or
 *	their type is not an integer: names of fields, separated by ", "; empty: there are none.
 */
struct ltt_ctl_places {
	const char *file;
	const char *text;
	const char *left_out;
	size_t nr;
	const struct ltt_ctl_place *const *places;
};

/**
 * ltt_ctl_find_places() - the places of a function or a USDT probe, for a rule of
 * LTT_CTL_RULE_USER. Reads the symbols or notes of the file with the caller's rights; the session
 * daemon does not read it. Needs no connection.
 * @location: [elf:]PATH:SYMBOL or function:PATH:SYMBOL: all functions of this name;
 *	return:PATH:SYMBOL: the same, to be recorded at their return; sdt:PATH:PROVIDER:NAME: all
 *	places of a USDT probe. PATH without a slash is searched in $PATH, in $LD_LIBRARY_PATH and
 *	among the system's libraries; "\:" is a colon in it.
 * @ret_places: to be freed with ltt_ctl_places_free().
 *
 * Errors: LTT_CTL_NO_EVENT: no such file, function or probe; LTT_CTL_INVALID: also a file that is
 * not a program or library for this architecture, and more than 256 places; LTT_CTL_NO_MEMORY.
 */
int ltt_ctl_find_places(struct ltt_ctl *ctl, const char *location,
			struct ltt_ctl_places **ret_places);
void ltt_ctl_places_free(struct ltt_ctl_places *places);

/**
 * struct ltt_ctl_event_options - an event rule to add, or to enable again.
 * @session, @pattern, @domain: must be given. @pattern: an event's name, with * for any part of
 *	it; for a probe or function: the name of the events that it records.
 * @channel: NULL: the session's only channel, or channel0, which is created.
 * @exclude: patterns that are not recorded, separated by commas; NULL: none.
 * @loglevel_type, @loglevel: log levels that match; @loglevel is 0 (EMERG) to 14 (DEBUG).
 * @location: of a probe or function: SYMBOL, SYMBOL+OFFSET or 0xADDRESS; of a histogram: the field;
 *	of LTT_CTL_RULE_USER: that of ltt_ctl_find_places().
 * @fetch: values that a probe records: [NAME=]VALUE[:TYPE]..., separated by blanks; NULL: none.
 * @filter: record only events for which this expression of lttctl-filter(1) holds; NULL: all. It
 *	replaces the filter of a rule that is enabled again.
 * @file, @places: with LTT_CTL_RULE_USER, which is permitted to root: @file and @text of struct
 *	ltt_ctl_places. Places of another file, which has replaced it, are rejected.
 * @sampling: record only some of the events for which the filter holds, see
 *	lttctl-enable-event(1): "1/N" or "1/N by FIELD", "N/s", "first N", separated by ", "; NULL:
 *	all. It replaces the sampling of a rule that is enabled again. LTT_CTL_USER only.
 * @by: with LTT_CTL_RULE_COUNT and LTT_CTL_RULE_HISTOGRAM: keep one count for each value of this
 *	field, or of two fields, separated by a comma: integers, enumerations or texts; NULL: one
 *	count for all events. LTT_CTL_USER only.
 * @more: not 0: further changes of the session follow. The session daemon saves them all with the
 *	last one, which has 0 here, or when @ctl is closed: if the daemon is killed before, its
 *	successor may lack them. Thousands of rules are added in a fraction of the time.
 * @nearest: not 0: if no point matches, search for one with a similar name: @nearest of struct
 *	ltt_ctl_outcome. LTT_CTL_USER only.
 * @logger: of a rule for messages of a logging library: the name of a logger, with * for any part
 *	of it. Rules with different ones coexist, and each is disabled by it. The caller gives the
 *	@pattern (lttng_python:event, lttng_jul:event, lttng_log4j:event or lttng_log4j2:event) and
 *	a @filter that selects the logger's messages; NULL: a rule for events.
 */
struct ltt_ctl_event_options {
	size_t size;
	const char *session;
	const char *channel;
	const char *pattern;
	const char *exclude;
	const char *location;
	const char *fetch;
	enum ltt_ctl_domain domain;
	enum ltt_ctl_rule_kind kind;
	enum ltt_ctl_level_type loglevel_type;
	int loglevel;
	const char *filter;
	const char *file;
	const char *places;
	const char *sampling;
	const char *by;
	int more;
	int nearest;
	const char *logger;
};

static inline void ltt_ctl_event_options_init(struct ltt_ctl_event_options *event)
{
	memset(event, 0, sizeof(*event));
	event->size = sizeof(*event);
}

/**
 * ltt_ctl_enable_event() - add a rule, also while the session records.
 * @ret_channel: name of the channel that has the rule; at least LTT_CTL_NAME_BYTES, or NULL.
 * @ret_points: how many instrumentation points match now, or NULL. There may be none: programs
 *	that start later are recorded, too.
 *
 * Errors: LTT_CTL_EVENT_EXISTS, LTT_CTL_NO_SESSION, LTT_CTL_NO_CHANNEL, LTT_CTL_INVALID. Events
 * that match and can't be recorded are warnings; ltt_ctl_last_outcome() has them one by one.
 */
int ltt_ctl_enable_event(struct ltt_ctl *ctl, const struct ltt_ctl_event_options *event,
			 char *ret_channel, uint32_t *ret_points);
/**
 * ltt_ctl_disable_event() - disable a rule: it neither records nor counts until it is enabled
 * again. Also while the session records.
 * @channel: NULL: the session's only channel, or channel0.
 * @pattern: the pattern with which the rule was enabled, or its logger; NULL or "*": all rules of the channel,
 *	and it is no error then that there is none.
 *
 * Errors: LTT_CTL_NO_SESSION, LTT_CTL_NO_CHANNEL, LTT_CTL_NO_EVENT; LTT_CTL_UNSUPPORTED: the kernel
 * can't be traced.
 */
int ltt_ctl_disable_event(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			  const char *channel, const char *pattern);

/**
 * ltt_ctl_add_context() - record facts about the task or thread with each event of a channel.
 * A channel of LTT_CTL_KERNEL must not have recorded yet.
 * @channel: NULL: all channels of the domain; if there is none, channel0, which is created.
 * @type: names of ltt_ctl_list_contexts(), separated by commas. All are added, or none.
 * @ret_channels: how many channels did not have all of them before, or NULL.
 *
 * Errors: LTT_CTL_NO_SESSION, LTT_CTL_NO_CHANNEL; LTT_CTL_INVALID: also a channel of the
 * kernel that has recorded already; LTT_CTL_UNSUPPORTED: the domain.
 */
int ltt_ctl_add_context(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			const char *channel, const char *type, uint32_t *ret_channels);

/**
 * struct ltt_ctl_track_options - selection of the tasks whose events a session records.
 * @session, @domain: must be given. LTT_CTL_USER selects applications as a whole: all kinds but
 * LTT_CTL_TRACK_TID and LTT_CTL_TRACK_VTID.
 * @ids, @nr_ids: with LTT_CTL_TRACK_ADD and LTT_CTL_TRACK_REMOVE; an id that is repeated counts
 *	once.
 */
struct ltt_ctl_track_options {
	size_t size;
	const char *session;
	enum ltt_ctl_domain domain;
	enum ltt_ctl_track_kind kind;
	enum ltt_ctl_track_op op;
	const uint32_t *ids;
	size_t nr_ids;
};

static inline void ltt_ctl_track_options_init(struct ltt_ctl_track_options *track)
{
	memset(track, 0, sizeof(*track));
	track->size = sizeof(*track);
}

/**
 * ltt_ctl_track() - select tasks by a kind of ids, also while the session records. struct
 * ltt_ctl_session_status has the current selection.
 * @ret_changed: number of ids that were added or removed; the other ids were tracked, or not
 *	tracked, already. NULL is allowed.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_INVALID: also removal of ids of a kind that is not tracked;
 * LTT_CTL_UNSUPPORTED: the domain; LTT_CTL_LIMIT: too many ids; the first ones may have been added.
 */
int ltt_ctl_track(struct ltt_ctl *ctl, const struct ltt_ctl_track_options *track,
		  uint32_t *ret_changed);

/**
 * ltt_ctl_start() - start recording. Programs that do not answer within a second record as soon as
 * they do, which causes a warning.
 * @ret_applications: number of applications that the session can record, or NULL.
 *
 * Errors: LTT_CTL_NO_SESSION, LTT_CTL_STATE, LTT_CTL_OUTPUT.
 */
int ltt_ctl_start(struct ltt_ctl *ctl, const char *session, uint32_t *ret_applications);

/**
 * ltt_ctl_regenerate() - record the state dump again that is recorded at each start: the kernel's
 * state, in channels that have events of state dumps, and that of the applications.
 * @ret_channels: number of kernel channels that record it, or NULL.
 * @ret_applications: number of applications that were requested to dump their state, or NULL.
 * @ret_late: number of these that did not do so within a second, or NULL. They do so later, which
 *	causes a warning.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_INVALID: also a session that does not record;
 * LTT_CTL_NO_EVENT: neither an application nor a channel of the kernel has a state to record.
 */
int ltt_ctl_regenerate(struct ltt_ctl *ctl, const char *session, uint32_t *ret_channels,
		       uint32_t *ret_applications, uint32_t *ret_late);

/**
 * ltt_ctl_flush() - write the events that the buffers of a session have now. Recording goes on, and
 * the call returns when all events that were recorded before it are in the files of the trace, or,
 * of a session that records to a relay, when the relay has acknowledged them. In a session that is
 * stopped nothing is left to write.
 * @ret_spooled: bytes that wait in the spool of the session, as the relay can't be reached (a
 *	warning) or is slower than the events; or NULL.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_STATE: the session was never started; LTT_CTL_INVALID: it has
 * no output; LTT_CTL_UNSUPPORTED: it writes only snapshots; LTT_CTL_OUTPUT: not all could be
 * written: the events stay in the buffers as long as there is room, and are written as soon as
 * possible.
 */
int ltt_ctl_flush(struct ltt_ctl *ctl, const char *session, uint64_t *ret_spooled);

/**
 * ltt_ctl_reclaim_memory() - give memory of a session's buffers back to the system: of the parts
 * whose events are written. They get it again when programs use them. No event is lost for it.
 * @channel: of applications; NULL: all.
 * @age_us: only of parts whose events were written so many microseconds ago; 0: of all, and the
 *	events that the buffers have now are written before.
 * @flags: 0 or LTT_CTL_NO_WAIT: return before it is done.
 * @ret_bytes: that were given back, or NULL; 0 with LTT_CTL_NO_WAIT.
 *
 * Buffers keep their memory, with a warning, if they are of a program without restartable
 * sequences, or of a CPU on which the consumer can't run.
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_NO_CHANNEL; LTT_CTL_STATE: there is no channel of
 * applications; LTT_CTL_UNSUPPORTED: the channel overwrites its events, or snapshots have them.
 */
int ltt_ctl_reclaim_memory(struct ltt_ctl *ctl, const char *session, const char *channel,
			   uint64_t age_us, unsigned int flags, uint64_t *ret_bytes);

/**
 * struct ltt_ctl_archive - an archive of a session.
 * @path: its directory. @number: the last part of its name.
 * @bytes: of its files; 0 with LTT_CTL_NO_WAIT.
 * @waits: 1: its relay is away, and the archive is in the spool: it is complete when the relay has
 * received all of it.
 */
struct ltt_ctl_archive {
	const char *path;
	uint32_t number;
	uint64_t bytes;
	uint32_t waits;
};

/**
 * ltt_ctl_rotate() - move all that a session has recorded since its start, or since the last
 * rotation, to an archive: the directory archives/BEGIN-END-NUMBER in its output, a trace of its
 * own. Recording goes on in new files, and no event is lost or in both. The archive is complete
 * when the call returns, unless it waits for its relay (@waits).
 * @flags: 0 or LTT_CTL_NO_WAIT: return before the archive is complete.
 * @ret_archive: freed by ltt_ctl_archive_free(); or NULL.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_STATE: the session was never started, or is stopped and
 * nothing was recorded since the last rotation; LTT_CTL_INVALID: it has no output;
 * LTT_CTL_UNSUPPORTED: it writes only snapshots, or records to a relay; LTT_CTL_OUTPUT: the files
 * could not be moved: the next rotation moves them; LTT_CTL_NO_MEMORY.
 */
int ltt_ctl_rotate(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		   struct ltt_ctl_archive **ret_archive);
void ltt_ctl_archive_free(struct ltt_ctl_archive *archive);

/**
 * ltt_ctl_clear() - remove all that a session has recorded since its start, or since the last
 * rotation, from its output and its buffers. Archives and snapshots stay, and recording goes on.
 * @flags: 0 or LTT_CTL_NO_WAIT: return before it is done.
 * @ret_cleared: number of events that were removed, or NULL; 0 with LTT_CTL_NO_WAIT.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_UNSUPPORTED: the session records to a relay;
 * LTT_CTL_OUTPUT: the files could not be removed.
 */
int ltt_ctl_clear(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		  uint64_t *ret_cleared);

/**
 * struct ltt_ctl_rotation_options - the schedule of a session's rotations. 0: unchanged.
 * @rotate_us: the session is rotated when this time has passed since the last rotation.
 * @rotate_size: it is rotated when this number of bytes was written since then.
 * @keep_archives: the oldest archives are removed while there are more.
 * @keep_us: archives that ended longer ago are removed.
 * @keep_size: the oldest archives are removed while all have more bytes.
 *
 * It is rotated only while it records, and archives are removed after each rotation. The newest one
 * stays.
 */
struct ltt_ctl_rotation_options {
	size_t size;
	const char *session;
	uint64_t rotate_us, rotate_size;
	uint32_t keep_archives;
	uint64_t keep_us, keep_size;
};

static inline void ltt_ctl_rotation_options_init(struct ltt_ctl_rotation_options *rotation)
{
	memset(rotation, 0, sizeof(*rotation));
	rotation->size = sizeof(*rotation);
}

/** Schedules that ltt_ctl_disable_rotation() ends. */
enum ltt_ctl_rotation {
	LTT_CTL_ROTATION_TIMER = 1, /* after a time */
	LTT_CTL_ROTATION_SIZE = 2,  /* at a size */
};

/**
 * ltt_ctl_enable_rotation() - have the session daemon rotate a session, see ltt_ctl_rotate().
 * struct ltt_ctl_session shows the schedule.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_INVALID: also archives are limited without a schedule;
 * LTT_CTL_UNSUPPORTED: the session can't be rotated.
 */
int ltt_ctl_enable_rotation(struct ltt_ctl *ctl, const struct ltt_ctl_rotation_options *rotation);

/**
 * ltt_ctl_disable_rotation() - end schedules of a session; with the last one, the limits of its
 * archives end as well.
 * @which: one or more of enum ltt_ctl_rotation.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_INVALID; LTT_CTL_STATE: it has no such schedule.
 */
int ltt_ctl_disable_rotation(struct ltt_ctl *ctl, const char *session, unsigned int which);

/**
 * struct ltt_ctl_snapshot_options - a snapshot to write.
 * @name: beginning of the directory's name, before the time and a number; NULL: snapshot-1.
 * @output: directory in which it is made; it is created if it is missing, and must not contain a
 *	trace itself. Or the URL of a relay, to which the snapshot is sent, as for
 *	ltt_ctl_create(). NULL: the output of the session.
 * @max_size: bytes that the stream files may have together: the newest events of each CPU, from the
 *	beginning of a sub-buffer. 0: no limit.
 * @data_url: with the URL of a relay: that of its data port, for compatibility; not used.
 * @last_us: only sub-buffers that ended in this time before now, to 0.2 s; not stored with the
 *	session. 0: all.
 */
struct ltt_ctl_snapshot_options {
	size_t size;
	const char *session;
	const char *name;
	const char *output;
	uint64_t max_size;
	const char *data_url;
	uint64_t last_us;
};

static inline void ltt_ctl_snapshot_options_init(struct ltt_ctl_snapshot_options *snapshot)
{
	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->size = sizeof(*snapshot);
}

/**
 * struct ltt_ctl_snapshot_ring - the part of a snapshot that one CPU's buffer has.
 * @ring: number of the buffer, which all CPUs of a channel of a user or process share.
 * @records: events in the snapshot. @before: earlier ones, which the buffer no longer had.
 * @lost: events that the buffer had lost before the snapshot was taken.
 * @bytes: of the stream file.
 * @begin_ns, @end_ns: the snapshot has all events of the buffer between these times;
 *	CLOCK_REALTIME.
 */
struct ltt_ctl_snapshot_ring {
	const char *channel;
	uint64_t ring;
	uint32_t cpu;
	uint64_t records, before, lost, bytes;
	int64_t begin_ns, end_ns;
};

/**
 * struct ltt_ctl_snapshot - a snapshot that was written.
 * @directory: contains a trace, or several.
 * @records, @before, @lost, @bytes: sums of the buffers.
 * @begin_ns, @end_ns: time of which all buffers have all events; there is none if @end_ns is less
 *	than @begin_ns.
 * @copy_ns: time for which the buffers were copied, one behind the other.
 * @remembered: events besides, in directories of their own in @directory, that other sessions of
 *	the owner remember. @problem: why those of a session could not be copied; empty: they were.
 */
struct ltt_ctl_snapshot {
	const char *directory;
	uint64_t records, before, lost, bytes;
	int64_t begin_ns, end_ns;
	size_t nr;
	const struct ltt_ctl_snapshot_ring *const *rings;
	uint64_t copy_ns;
	uint64_t remembered;
	const char *problem;
};

/**
 * ltt_ctl_snapshot_record() - write the events that the buffers of a session have now to a new
 * directory in its output, as a trace of its own. Recording goes on meanwhile.
 * @ret_snapshot: freed by ltt_ctl_snapshot_free().
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_INVALID; LTT_CTL_STATE: the session was never started, or is
 * being destroyed; LTT_CTL_NO_EVENT: the buffers are empty; LTT_CTL_BUSY: another snapshot of the
 * session is being written; LTT_CTL_OUTPUT: no file of it is left; LTT_CTL_NO_MEMORY;
 * LTT_CTL_UNSUPPORTED: a session at a relay without a spool, or one that writes all events of the
 * kernel.
 */
int ltt_ctl_snapshot_record(struct ltt_ctl *ctl, const struct ltt_ctl_snapshot_options *snapshot,
			    struct ltt_ctl_snapshot **ret_snapshot);
/**
 * ltt_ctl_set_snapshot_output() - store the output, name and greatest size of later snapshots with
 * the session; the output is created if it is missing. struct ltt_ctl_session shows them; a
 * request for a snapshot must name them.
 * @snapshot: @output NULL: remove those that are stored.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_INVALID; LTT_CTL_OUTPUT; LTT_CTL_STATE: an output is stored
 * already, or there is none to remove.
 */
int ltt_ctl_set_snapshot_output(struct ltt_ctl *ctl,
				const struct ltt_ctl_snapshot_options *snapshot);
void ltt_ctl_snapshot_free(struct ltt_ctl_snapshot *snapshot);

/** enum ltt_ctl_end - flags of ltt_ctl_stop() and ltt_ctl_destroy(). */
enum ltt_ctl_end {
	LTT_CTL_NO_WAIT = 1, /* return before the data is written, without totals */
};

/**
 * ltt_ctl_stop() - stop recording, and wait until all data is written.
 * @flags: 0, or LTT_CTL_NO_WAIT.
 * @ret_totals: counts of recorded and lost events, to be freed with ltt_ctl_totals_free(); set to
 *	NULL if they are not known. NULL is allowed.
 *
 * Errors: LTT_CTL_NO_SESSION, LTT_CTL_STATE. Warnings: data that could not be written, and events
 * that were not recorded because of their format.
 */
int ltt_ctl_stop(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		 struct ltt_ctl_totals **ret_totals);
/** Stop a session that records, wait until all data is written, and delete the session; its trace
 *  stays.
 *  Arguments and errors are those of ltt_ctl_stop(). */
int ltt_ctl_destroy(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		    struct ltt_ctl_totals **ret_totals);
void ltt_ctl_totals_free(struct ltt_ctl_totals *totals);

/* --- spools -------------------------------------------------------------------------------- */

/**
 * struct ltt_ctl_spool - a spool: a directory on this host with data that the relay of a session
 * may not have. The session may have ended. No string is NULL.
 * @name, @path: of the directory, which is in $HOME/ltt-traces/spool unless a path was given.
 * @session, @created, @relay: the session's name, the date in its trace's name, and its relay's
 *	URL; empty: not known, and the spool can't be sent.
 * @problem: the reason why the spool can't be read; empty: it can. With a problem, all other
 *	members but @name are empty.
 * @bytes, @packets: amount of data in the spool; the relay may have the first part of it.
 * @since_ns: CLOCK_REALTIME of the oldest data; 0: there is none.
 * @in_use: not 0: a session uses the spool, or it is being sent.
 * @sendable: not 0: the spool names its session and relay.
 */
struct ltt_ctl_spool {
	const char *name;
	const char *path;
	const char *session;
	const char *created;
	const char *relay;
	const char *problem;
	uint64_t bytes;
	uint64_t packets;
	uint64_t since_ns;
	int in_use;
	int sendable;
};

/** struct ltt_ctl_spools - @nr of them, in the order of their names. */
struct ltt_ctl_spools {
	size_t nr;
	const struct ltt_ctl_spool *const *spools;
};

/**
 * ltt_ctl_list_spools() - the spools of the caller. Needs no connection, but without one @in_use
 * is set only for spools that a consumer daemon has open: connect first if a daemon may run.
 * @spool: name or path of one of them; NULL: all.
 * @ret_spools: to be freed with ltt_ctl_spools_free().
 *
 * Errors: LTT_CTL_OUTPUT: @spool can't be read.
 */
int ltt_ctl_list_spools(struct ltt_ctl *ctl, const char *spool, struct ltt_ctl_spools **ret_spools);
void ltt_ctl_spools_free(struct ltt_ctl_spools *spools);
/**
 * ltt_ctl_send_spool() - send a spool to its relay, for some seconds. Data that the relay has
 * stored is removed from the spool.
 * @spool: name or path.
 * @ret_left: bytes that are still in the spool, or NULL. ltt_ctl_warning() has the reason; without
 *	a warning all data was sent, and ltt_ctl_remove_spool() may remove the spool. As long as
 *	@ret_left decreases, another call sends more.
 *
 * Errors: LTT_CTL_STATE: it is in use; LTT_CTL_OUTPUT: it can't be read, or does not name its
 * session and relay; LTT_CTL_LIMIT: the daemon sends others.
 */
int ltt_ctl_send_spool(struct ltt_ctl *ctl, const char *spool, uint64_t *ret_left);
/** Remove a spool with its data. Needs no connection, but see ltt_ctl_list_spools(). @spool: name
 *  or path. Errors: LTT_CTL_STATE: it is in use; LTT_CTL_INVALID: it is not a spool;
 *  LTT_CTL_OUTPUT. */
int ltt_ctl_remove_spool(struct ltt_ctl *ctl, const char *spool);

/* --- notifications of changes -------------------------------------------------------------- */

/** enum ltt_ctl_news_kind - a change of a session. More kinds may follow: ignore unknown ones. */
enum ltt_ctl_news_kind {
	LTT_CTL_NEWS_STATE = 1,	  /* its state has changed; also sent at the beginning */
	LTT_CTL_NEWS_PROBLEM = 2, /* the output fails, for the reason in the text */
	LTT_CTL_NEWS_SOLVED = 3,  /* the problem is solved */
	LTT_CTL_NEWS_LOSS = 4,	  /* events of a channel were lost for a cause for the first time */
	LTT_CTL_NEWS_CONSUMER_DIED = 5,	    /* recorded data stays in the buffers */
	LTT_CTL_NEWS_CONSUMER_REPLACED = 6, /* a new consumer daemon continues */
	LTT_CTL_NEWS_DESTROYED = 1000,	    /* the last news */
};

/** enum ltt_ctl_loss - why events were lost, see struct ltt_ctl_totals. */
enum ltt_ctl_loss {
	LTT_CTL_LOSS_FULL = 1,
	LTT_CTL_LOSS_SIZE = 2,
	LTT_CTL_LOSS_BUSY = 3,
	LTT_CTL_LOSS_OUTPUT = 4,
	LTT_CTL_LOSS_INVALID = 5, /* bytes */
};

/**
 * struct ltt_ctl_news - a change of a session. No string is NULL.
 * @at_ns: CLOCK_REALTIME; 0 with LTT_CTL_NEWS_DESTROYED.
 * @state: with LTT_CTL_NEWS_STATE.
 * @text: the problem; the end of the consumer daemon; the reason why data could not be written.
 * @channel, @cause, @count: with LTT_CTL_NEWS_LOSS; @count is the number of events lost until then.
 * @totals: with LTT_CTL_NEWS_DESTROYED; NULL: not known.
 */
struct ltt_ctl_news {
	enum ltt_ctl_news_kind kind;
	enum ltt_ctl_state state;
	uint64_t at_ns;
	const char *text;
	const char *channel;
	enum ltt_ctl_loss cause;
	uint64_t count;
	const struct ltt_ctl_totals *totals;
};

/**
 * ltt_ctl_follow() - request that changes of a session are sent to this connection, its current
 * state first. Until the session is destroyed, or @ctl is connected anew, other calls with @ctl
 * return LTT_CTL_BUSY: use another handle for them. Does not wait for the answer: if there is no
 * such session, ltt_ctl_next_news() returns LTT_CTL_NO_SESSION.
 */
int ltt_ctl_follow(struct ltt_ctl *ctl, const char *session);
/** The connection's descriptor, for poll(2): it is readable when ltt_ctl_next_news() has
 *  something to return. Not to be read, changed or closed. Return: -1: there is no connection. */
int ltt_ctl_fd(const struct ltt_ctl *ctl);
/**
 * ltt_ctl_next_news() - the next change, without waiting for one.
 * @ret_news: valid until the next call with @ctl; set to NULL if there is none now.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_NO_DAEMON: the connection is lost: connect (which starts the
 * successor of a daemon that was killed) and follow again; changes that were sent before may be
 * sent again. LTT_CTL_BAD_MESSAGE: also a malformed change; the next ones can still be read.
 */
int ltt_ctl_next_news(struct ltt_ctl *ctl, const struct ltt_ctl_news **ret_news);
/** Wait for the next change. Errors as above, and: LTT_CTL_NO_ANSWER: the daemon does not answer;
 *  LTT_CTL_INTERRUPTED. */
int ltt_ctl_await_news(struct ltt_ctl *ctl, const struct ltt_ctl_news **ret_news);

/** enum ltt_ctl_condition - when a trigger fires. More may follow. */
enum ltt_ctl_condition {
	LTT_CTL_IF_EVENT = 0,	 /* an event that matches */
	LTT_CTL_IF_PAIR = 1,	 /* more time than the threshold, ns, between begin and end */
	LTT_CTL_IF_RATE = 2,	 /* more matching events in a second than the threshold */
	LTT_CTL_IF_SILENCE = 3,	 /* no matching event for the time of the threshold, ns */
	LTT_CTL_IF_LOSSES = 4,	 /* the session lost that many further events */
	LTT_CTL_IF_QUANTILE = 5, /* of a histogram (LTT_CTL_RULE_HISTOGRAM), above the threshold */
	LTT_CTL_IF_USAGE_HIGH = 6, /* a buffer of the channel is that full: parts of a million */
	LTT_CTL_IF_USAGE_LOW = 7,  /* all buffers of the channel are that empty again */
	LTT_CTL_IF_CONSUMED = 8,   /* the session has written that many bytes */
	LTT_CTL_IF_ROTATION_BEGUN = 9,
	LTT_CTL_IF_ROTATION_ENDED = 10,
	LTT_CTL_IF_SIGNAL = 11, /* an application was ended by a signal; Linux 6.15 */
};

/** enum ltt_ctl_action_kind - actions of triggers. More may follow. */
enum ltt_ctl_action_kind {
	LTT_CTL_DO_NOTIFY = 0, /* connections that watch it, see ltt_ctl_watch() */
	LTT_CTL_DO_START = 1,  /* the session */
	LTT_CTL_DO_STOP = 2,
	LTT_CTL_DO_ROTATE = 3,
	LTT_CTL_DO_SNAPSHOT = 4, /* into the session's output */
	LTT_CTL_DO_EXEC = 5,	 /* run a command as the trigger's owner, for at most 30 s */
	LTT_CTL_DO_INCR_MAP = 6, /* increment a value of a map channel, in the program */
};

/**
 * struct ltt_ctl_action - an action of a trigger. Texts may be NULL where they are not used.
 * @session: of actions on sessions.
 * @text: the command, for /bin/sh; or the beginning of the snapshot's name, "": its default.
 * @last_us: of a snapshot: only events of this time before it; 0: all.
 * @max_size: of a snapshot, bytes; 0: unlimited.
 * @every: only for each firing whose number is a multiple of it; 0 or 1: each.
 * @once_after: only for the firing with this number, from 1; 0: each. Excludes @every.
 * @output, @data_url: of a snapshot: as in struct ltt_ctl_snapshot_options. A directory is opened,
 *	and made if it is missing, with the rights of the trigger's owner when the trigger is added;
 *	the snapshots are written with those of the session's owner, if it is the same directory
 *	still. "": the output of the session's snapshots, if it has one, or its own.
 * @channel, @key: of LTT_CTL_DO_INCR_MAP, a map channel of @session, which may be added later, and
 *	the template of the key: {event_name}, {provider_name} and other text; a brace is written
 *	twice. The condition is LTT_CTL_IF_EVENT.
 */
struct ltt_ctl_action {
	enum ltt_ctl_action_kind kind;
	const char *session;
	const char *text;
	uint64_t last_us;
	uint64_t max_size;
	uint64_t every;
	uint64_t once_after;
	const char *output;
	const char *data_url;
	const char *channel;
	const char *key;
};

#define LTT_CTL_ACTIONS_MAX 9
#define LTT_CTL_CAPTURES_MAX 16

/**
 * struct ltt_ctl_trigger_options - a trigger to be added. Texts may be NULL: empty.
 * @name: "": the first free one of trigger0, trigger1 and so on.
 * @domain: of conditions on events and on buffers; 0: LTT_CTL_USER.
 * @pattern: of conditions on events: name or glob; of a pair, the begin; of a quantile, the event;
 *	of LTT_CTL_IF_SIGNAL: the program.
 * @exclude: globs, separated by commas.
 * @loglevel_type, @loglevel, @filter: as for ltt_ctl_enable_event().
 * @end: of a pair: name of its end. Begin and end happen in one process.
 * @key: of a pair: the field whose value both have in common (a number of up to 8 bytes, or a text
 *	of up to 64); "": the thread. Of a quantile: the field. Of LTT_CTL_IF_SIGNAL: signals,
 *	separated by commas ("SEGV,ABRT"), or "any".
 * @session, @channel: of conditions on sessions and their buffers.
 * @threshold: see enum ltt_ctl_condition.
 * @quantile: parts of a million.
 * @captures: fields ("id"), elements ("arr[3]") and contexts ("$ctx.vpid", "$app.web:user"),
 *	separated by commas, at most LTT_CTL_CAPTURES_MAX: the notification has their values; of a
 *	pair, those at its end.
 * @at_most, @period_us: the actions run at most that many times in each period; 0: any number.
 * @actions: in the order in which they run; @nr_actions: 1 to LTT_CTL_ACTIONS_MAX.
 * @kind, @location, @fetch, @file, @places: of an event of LTT_CTL_KERNEL at a place, whose name is
 *	@pattern: as for ltt_ctl_enable_event(). LTT_CTL_RULE_EVENTS: it is at none.
 * @other_owner: the trigger is of user @uid with the group @gid, not of the caller, which is root.
 */
struct ltt_ctl_trigger_options {
	size_t size;
	const char *name;
	enum ltt_ctl_condition condition;
	enum ltt_ctl_domain domain;
	const char *pattern;
	const char *exclude;
	enum ltt_ctl_level_type loglevel_type;
	int loglevel;
	const char *filter;
	const char *end;
	const char *key;
	const char *session;
	const char *channel;
	uint64_t threshold;
	uint32_t quantile;
	const char *captures;
	uint64_t at_most;
	uint64_t period_us;
	const struct ltt_ctl_action *actions;
	size_t nr_actions;
	enum ltt_ctl_rule_kind kind;
	const char *location;
	const char *fetch;
	const char *file;
	const char *places;
	int other_owner;
	uint32_t uid;
	uint32_t gid;
};

static inline void ltt_ctl_trigger_options_init(struct ltt_ctl_trigger_options *trigger)
{
	memset(trigger, 0, sizeof(*trigger));
	trigger->size = sizeof(*trigger);
}

/** struct ltt_ctl_added - a trigger that was added. @points: points of running applications that
 *  match; 0: it waits for one. */
struct ltt_ctl_added {
	const char *name;
	uint32_t points;
};

/** ltt_ctl_add_trigger() - @ret_added: to be freed with ltt_ctl_added_free(); may be NULL. Errors:
 *  LTT_CTL_EVENT_EXISTS: the caller has a trigger of this name. */
int ltt_ctl_add_trigger(struct ltt_ctl *ctl, const struct ltt_ctl_trigger_options *trigger,
			struct ltt_ctl_added **ret_added);
void ltt_ctl_added_free(struct ltt_ctl_added *added);
/** Remove a trigger of user @uid. Errors: LTT_CTL_NO_EVENT: there is none; LTT_CTL_DENIED. */
int ltt_ctl_remove_trigger(struct ltt_ctl *ctl, const char *name, uint32_t uid);

/** struct ltt_ctl_listed_action - an action, and how it went. @ran, @failed: times. @joined:
 *  firings while it was running already. @problem: of the last one that failed; "": it ended well. */
struct ltt_ctl_listed_action {
	struct ltt_ctl_action action;
	uint64_t ran;
	uint64_t failed;
	uint64_t joined;
	const char *problem;
};

/**
 * struct ltt_ctl_trigger - a trigger and its counts. No text is NULL.
 * @options: without a name, actions and size.
 * @uid: of its owner. @created_ns, @last_ns: CLOCK_REALTIME; the last firing, 0: none.
 * @points: points of running applications that match.
 * @fired: times that the condition held; the sum of @delivered, for which actions ran, and
 *	@suppressed, for which none did. @unrecorded: of @fired, those whose captures are not known.
 * @problem: why it can't fire now; "": it can.
 * @evicted, @unread: of LTT_CTL_IF_PAIR: begins that were dropped, as too many had no end, and
 *	events without a readable key.
 */
struct ltt_ctl_trigger {
	const char *name;
	uint32_t uid;
	uint32_t points;
	uint64_t created_ns;
	uint64_t last_ns;
	uint64_t fired;
	uint64_t delivered;
	uint64_t suppressed;
	uint64_t unrecorded;
	const char *problem;
	struct ltt_ctl_trigger_options options;
	size_t nr_actions;
	const struct ltt_ctl_listed_action *const *actions;
	uint64_t evicted;
	uint64_t unread;
};

struct ltt_ctl_triggers {
	size_t nr;
	const struct ltt_ctl_trigger *const *triggers;
};

/** The caller's triggers; for root those of all users. @ret_triggers: to be freed with
 *  ltt_ctl_triggers_free(). */
int ltt_ctl_list_triggers(struct ltt_ctl *ctl, struct ltt_ctl_triggers **ret_triggers);
void ltt_ctl_triggers_free(struct ltt_ctl_triggers *triggers);

/** enum ltt_ctl_notification_kind - more may follow: ignore unknown ones. */
enum ltt_ctl_notification_kind {
	LTT_CTL_FIRED = 1,
	LTT_CTL_ACTION_DONE = 2,   /* @text: the path of the snapshot or archive, if it made one */
	LTT_CTL_ACTION_FAILED = 3, /* @text: the problem */
	LTT_CTL_MISSED = 4, /* @count were not sent, as this connection was not read */
};

/** enum ltt_ctl_captured_kind - of a captured value. */
enum ltt_ctl_captured_kind {
	LTT_CTL_CAPTURED_NONE = 0, /* the event has no such field */
	LTT_CTL_CAPTURED_SIGNED = 1,
	LTT_CTL_CAPTURED_UNSIGNED = 2,
	LTT_CTL_CAPTURED_DOUBLE = 3,
	LTT_CTL_CAPTURED_TEXT = 4,
	LTT_CTL_CAPTURED_CUT = 5, /* the first bytes of a text that was longer */
};

struct ltt_ctl_captured {
	const char *name; /* of the field */
	enum ltt_ctl_captured_kind kind;
	union {
		int64_t number; /* LTT_CTL_CAPTURED_SIGNED */
		uint64_t bits;	/* LTT_CTL_CAPTURED_UNSIGNED */
		double real;	/* LTT_CTL_CAPTURED_DOUBLE */
	};
	const char *text;
};

/**
 * struct ltt_ctl_notification - of a trigger. No text is NULL.
 * @at_ns: CLOCK_REALTIME. @number: of the firing among those of the trigger, from 1.
 * @count: number of firings; more than 1: their facts are not known.
 * @duration_ns: of LTT_CTL_IF_PAIR. @value: that is beyond the threshold, of other conditions.
 * @pid, @tid, @process, @event: 0 and "": not known.
 * @session: of conditions and actions on sessions. @action: of LTT_CTL_ACTION_....
 */
struct ltt_ctl_notification {
	enum ltt_ctl_notification_kind kind;
	enum ltt_ctl_condition condition;
	const char *trigger;
	uint32_t uid;
	uint64_t at_ns;
	uint64_t number;
	uint64_t count;
	uint64_t duration_ns;
	uint64_t value;
	uint32_t pid;
	uint32_t tid;
	const char *process;
	const char *event;
	const char *session;
	enum ltt_ctl_action_kind action;
	const char *text;
	size_t nr_captured;
	struct ltt_ctl_captured captured[LTT_CTL_CAPTURES_MAX];
};

#define LTT_CTL_ANY_USER UINT32_MAX

/**
 * ltt_ctl_watch() - request that notifications are sent to this connection, until it is connected
 * anew. Other calls with @ctl return LTT_CTL_BUSY. Does not wait for the answer.
 * @name: only of this trigger; NULL or "": of all.
 * @uid: only of this owner's; LTT_CTL_ANY_USER: of all that the caller may see.
 */
int ltt_ctl_watch(struct ltt_ctl *ctl, const char *name, uint32_t uid);
/**
 * ltt_ctl_next_notification() - the next one, without waiting: when ltt_ctl_fd() is readable.
 * @ret_notification: valid until the next call with @ctl; NULL: there is none now.
 * Errors: LTT_CTL_STATE: the daemon ends. LTT_CTL_NO_DAEMON: the connection is lost: connect and
 * watch again; the firings meanwhile are in the counts of ltt_ctl_list_triggers().
 */
int ltt_ctl_next_notification(struct ltt_ctl *ctl,
			      const struct ltt_ctl_notification **ret_notification);
/** Wait for it. Errors as above, and: LTT_CTL_NO_ANSWER; LTT_CTL_INTERRUPTED. */
int ltt_ctl_await_notification(struct ltt_ctl *ctl,
			       const struct ltt_ctl_notification **ret_notification);

#ifdef __cplusplus
}
#endif

#endif
