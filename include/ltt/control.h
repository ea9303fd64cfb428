/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt/control.h - control of tracing sessions from C: libltt-ctl. See libltt-ctl(3).
 *
 *   cc ... $(pkg-config --cflags --libs libltt-ctl)
 *
 * Return values. A function that returns int returns LTT_CTL_OK (0) or another enum ltt_ctl_code;
 * ltt_ctl_error() is a sentence for the user then. Results (ret_...) are untouched on failure.
 *
 * Ownership. Strings and structs that are passed in are the caller's, and are not kept. A result
 * is the caller's, and is freed as its function says; all that it points to is freed with it.
 *
 * Threads. A struct ltt_ctl is used by one thread at a time; different ones are independent.
 * A call blocks until the session daemon has answered, but for those about news. A daemon that
 * does not answer ends the call after some seconds with LTT_CTL_NO_ANSWER; the descriptor cancel_fd
 * ends it within a second.
 * No call ends the process, changes what a signal does, prints, or leaves a thread behind.
 * The environment (LTT_RUNDIR, HOME and so on) is read by ltt_ctl_connect() and ltt_ctl_create().
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
	LTT_CTL_INVALID = 5,	     /* an argument has no meaning */
	LTT_CTL_NO_SESSION = 6,
	LTT_CTL_SESSION_EXISTS = 7,
	LTT_CTL_NO_CHANNEL = 8,
	LTT_CTL_CHANNEL_EXISTS = 9,
	LTT_CTL_NO_EVENT = 10,
	LTT_CTL_EVENT_EXISTS = 11,
	LTT_CTL_STATE = 12, /* such as: recording already */
	LTT_CTL_NO_MEMORY = 13,
	LTT_CTL_OUTPUT = 14,	/* the directory, the disk or the relay */
	LTT_CTL_NO_DAEMON = 15, /* none is there, or the connection is lost: connect again */
	LTT_CTL_UNSUPPORTED = 16,
	LTT_CTL_CONSUMER = 17, /* the consumer daemon is gone or refused */
	LTT_CTL_BUSY = 18,
	LTT_CTL_LIMIT = 19,	  /* a quota is used up */
	LTT_CTL_NO_ANSWER = 20,	  /* a daemon is there and does not answer */
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

/** enum ltt_ctl_rule_kind - what an event rule does. */
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

/** Why the last call failed: one line, never NULL, empty after a success. Valid until the next
 *  call with @ctl. */
const char *ltt_ctl_error(const struct ltt_ctl *ctl);
/** Facts that the user should know although the last call succeeded, such as an event that can't be
 *  recorded; lines that \n separates, never NULL, empty if there is nothing. Valid likewise. */
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
 */
struct ltt_ctl_connect_options {
	size_t size;
	int cancel_fd;
	int start_daemon;
	const char *rundir;
	const char *daemon_path;
	const char *group;
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

/** struct ltt_ctl_daemon_info - the daemon that answers. */
struct ltt_ctl_daemon_info {
	const char *version;
	const char *rundir;
	uint32_t pid;
	uint32_t consumer_pid; /* of its ltt-consumerd when it was connected to; 0: none */
};

/** Return: the daemon, valid as long as the connection; NULL: there is no connection. */
const struct ltt_ctl_daemon_info *ltt_ctl_daemon(const struct ltt_ctl *ctl);

/* --- sessions as they are ------------------------------------------------------------ */

/**
 * struct ltt_ctl_totals - counts of events since the session was created.
 * @recorded: events in the trace or on their way to it.
 * @written: of these, in the files, or at the relay.
 * @waiting: of these, in the buffers.
 * @lost: events that were lost, for one of the causes:
 * @lost_full: a buffer was full; @lost_size: too large for the buffer; @lost_busy: no buffer
 *	could be written; @lost_output: the trace could not be written.
 * @invalid_bytes: dropped because an application damaged its buffer.
 * @lost_buffers: buffers that were lost with all processes that held them; how many events were
 *	in these is not known.
 * @bytes, @packets: written.
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
};

/**
 * struct ltt_ctl_session - a session. No string is NULL.
 * @output: directory of the trace, or the relay's URL; empty: no trace is written.
 * @problem: why nothing can be written now; empty: nothing is wrong.
 * @spool: directory for data that the relay does not have; empty: there is none.
 * @created_ns: CLOCK_REALTIME. @recording_ns: time spent recording.
 * @applications: that can record into it.
 * @scoped: not 0: only programs that were started for it do.
 * @keep_free, @max_size, @sync, @sync_us, @live_us, @compress, @spool_size: as in
 *	struct ltt_ctl_create_options.
 * @spooled: bytes in the spool.
 * @clock_offset_ns: the relay's CLOCK_REALTIME less this host's, measured with
 *	@clock_error_ns; if that is 0, it is not known.
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
};

/** struct ltt_ctl_sessions - @nr of them, in the order of their creation. */
struct ltt_ctl_sessions {
	size_t nr;
	const struct ltt_ctl_session *const *sessions;
};

/** The sessions that the caller may use: its own; for root those of all users.
 *  @ret_sessions: to be freed with ltt_ctl_sessions_free(). */
int ltt_ctl_list(struct ltt_ctl *ctl, struct ltt_ctl_sessions **ret_sessions);
void ltt_ctl_sessions_free(struct ltt_ctl_sessions *sessions);

/** struct ltt_ctl_rule - an event rule. @points: instrumentation points that it matches now.
 *  @loglevel: unless @level_type is LTT_CTL_LEVEL_ALL, 0 (EMERG) to 14 (DEBUG).
 *  @location: of a probe or function; of a histogram: the field. @fetch: values that are
 *  recorded there. */
struct ltt_ctl_rule {
	const char *pattern;
	const char *exclude; /* patterns, separated by commas */
	const char *location;
	const char *fetch;
	enum ltt_ctl_rule_kind kind;
	enum ltt_ctl_level_type level_type;
	int loglevel;
	int enabled;
	uint32_t points;
};

/** struct ltt_ctl_refusal - an event that a rule matches and that can't be recorded or, if
 *  @counted, counted. @why: half a sentence. */
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

/**
 * struct ltt_ctl_channel - a channel, which is a set of buffers.
 * @contexts: recorded with each event, separated by commas.
 * @used, @size: bytes in the buffers of the owner that has used the largest part of them, and
 *	their size. @memory: bytes of all buffers.
 * @totals: NULL: not known.
 */
struct ltt_ctl_channel {
	const char *name;
	const char *contexts;
	enum ltt_ctl_domain domain;
	int enabled;
	int overwrite;
	enum ltt_ctl_owner owner;
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
};

/** struct ltt_ctl_tracker - a kind of ids by which a session chooses tasks: events of tasks with
 *  one of the @nr_ids @ids are recorded, of no task if there is none. */
struct ltt_ctl_tracker {
	enum ltt_ctl_domain domain;
	enum ltt_ctl_track_kind kind;
	size_t nr_ids;
	const uint32_t *ids;
};

/** struct ltt_ctl_session_status - a session, its channels, and its trackers: a kind of ids that
 *  has none is not used to choose; a task is recorded if all trackers have chosen it. */
struct ltt_ctl_session_status {
	const struct ltt_ctl_session *session;
	size_t nr_channels;
	const struct ltt_ctl_channel *const *channels;
	size_t nr_trackers;
	const struct ltt_ctl_tracker *const *trackers;
};

/** Return in @ret_status how @session records now; to be freed with ltt_ctl_status_free().
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

/**
 * struct ltt_ctl_counted - an event that a rule counts (LTT_CTL_RULE_COUNT,
 * LTT_CTL_RULE_HISTOGRAM).
 * @field: whose sizes are counted; empty: none, and all that follows @count is 0.
 * @counting: 0: no longer.
 * @since_ns: CLOCK_REALTIME, when counting began.
 * @count: events.
 * @sum: of the field's values, modulo 2^64. @negative: values below 0, which are in no bucket.
 * @missed: values that could not be read.
 * @buckets: that are not empty, by size.
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
};

struct ltt_ctl_stats {
	size_t nr;
	const struct ltt_ctl_counted *const *counted;
};

/** The events that @session counts. @ret_stats: to be freed with ltt_ctl_stats_free().
 *  Errors: LTT_CTL_NO_SESSION. */
int ltt_ctl_list_stats(struct ltt_ctl *ctl, const char *session, struct ltt_ctl_stats **ret_stats);
void ltt_ctl_stats_free(struct ltt_ctl_stats *stats);

/** struct ltt_ctl_quota - use of a resource by user @uid. @name: of the resource.
 *  @in_roots: not 0: by applications of the user in sessions of root. @limit: 0: none.
 *  @refused: how many times. */
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

/** Quotas of the caller and their use; for root of all users that use something.
 *  @ret_quotas: to be freed with ltt_ctl_quotas_free(). */
int ltt_ctl_list_quotas(struct ltt_ctl *ctl, struct ltt_ctl_quotas **ret_quotas);
void ltt_ctl_quotas_free(struct ltt_ctl_quotas *quotas);

/* --- contexts and instrumentation points -------------------------------------------------- */

/** struct ltt_ctl_context - a type of contexts. @type: of its value, for the user. */
struct ltt_ctl_context {
	const char *name;
	const char *type;
	enum ltt_ctl_domain domain;
};

struct ltt_ctl_contexts {
	size_t nr;
	const struct ltt_ctl_context *const *contexts;
};

/** The types of contexts that ltt_ctl_add_context() knows; LTT_CTL_USER has none.
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

/** struct ltt_ctl_field - a field of an event. @type: for the user, such as "integer".
 *  @recorded: 0: for filters only. */
struct ltt_ctl_field {
	const char *name;
	const char *type;
	int recorded;
};

/**
 * struct ltt_ctl_point - an instrumentation point. No string is NULL.
 * @process: name of the application; of the kernel's points: the subsystem.
 * @format: of a marker. @refused: why it can't be recorded, half a sentence; empty: it can.
 * @file, @line: in the program's source; empty and 0: not known.
 * @loglevel: 0 (EMERG) to 14 (DEBUG), of an application's points.
 * @pid, @uid: of the application.
 * @active: recording sessions that record it.
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
};

/** struct ltt_ctl_preset - a channel that a module of the kernel has registered for its events,
 *  which @events matches. @subbuf_size, @num_subbuf: of its buffers; 0: the default. */
struct ltt_ctl_preset {
	const char *name;
	const char *events;
	uint64_t subbuf_size;
	uint32_t num_subbuf;
};

/** struct ltt_ctl_points - points, in no order, and with LTT_CTL_KERNEL presets. */
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
 * Errors: LTT_CTL_UNSUPPORTED: the kernel can't be traced; LTT_CTL_LIMIT: there are too many.
 */
int ltt_ctl_list_points(struct ltt_ctl *ctl, enum ltt_ctl_domain domain, unsigned int flags,
			struct ltt_ctl_points **ret_points);
void ltt_ctl_points_free(struct ltt_ctl_points *points);

/* --- sessions as they shall be ---------------------------------------------------------- */

#define LTT_CTL_NAME_BYTES 255 /* of a session's or channel's name, with the final NUL */

/**
 * struct ltt_ctl_create_options - a session to create. Zero or NULL: the default.
 * @name: NULL: one is made up, with the date.
 * @output: directory of the trace, which is made; it must not hold a trace. NULL:
 *	$HOME/ltt-traces/NAME-DATE.
 * @no_output: not 0: no trace is written (events are counted, or read by probes).
 * @url: of a relay, or of up to eight between commas, in place of @output; see lttctl-create(1).
 * @clear_text: not 0: the connection to it is not encrypted.
 * @compress: not 0: data on its way to it is compressed.
 * @spool_size: of a directory for data that the relay does not have, beneath
 *	$HOME/ltt-traces/spool; 0: none, and then the relay must answer now.
 * @scope: only programs that are started with this word in LTT_SCOPE are recorded; NULL: all
 *	programs of the caller, for root of all users.
 * @keep_free: space that the trace leaves free in its file system; 0: none.
 * @max_size: of all files of the trace; 0: unlimited.
 * @sync, @sync_us: when data is on the disk itself; @sync_us with LTT_CTL_SYNC_PERIOD.
 * @live_us: not 0: viewers can follow the trace at the relay, and see events no later than this;
 *	without @url a relay is used, or started, on this machine.
 */
struct ltt_ctl_create_options {
	size_t size;
	const char *name;
	const char *output;
	const char *url;
	const char *scope;
	int no_output;
	int clear_text;
	int compress;
	enum ltt_ctl_sync sync;
	uint32_t sync_us;
	uint32_t live_us;
	uint64_t spool_size;
	uint64_t keep_free;
	uint64_t max_size;
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
 * nor a directory is left behind then. A relay that is away is a warning if there is a spool.
 */
int ltt_ctl_create(struct ltt_ctl *ctl, const struct ltt_ctl_create_options *create,
		   char **ret_name, char **ret_output);

/**
 * struct ltt_ctl_channel_options - a channel to create, or to enable again. Zero: the default.
 * @session, @name, @domain: must be given.
 * @owner: which programs share its buffers.
 * @subbuf_size, @num_subbuf: of the sub-buffers in a buffer; rounded up to powers of two.
 * @switch_timer_us: longest time that an event stays in a buffer.
 * @tracefile_size, @tracefile_count: of each stream's files; a file of this size is closed, and
 *	the oldest is removed when there are so many.
 * @overwrite: not 0: the oldest events are dropped if a buffer is full (the newest otherwise).
 */
struct ltt_ctl_channel_options {
	size_t size;
	const char *session;
	const char *name;
	enum ltt_ctl_domain domain;
	enum ltt_ctl_owner owner;
	uint64_t subbuf_size;
	uint32_t num_subbuf;
	uint32_t switch_timer_us;
	uint64_t tracefile_size;
	uint32_t tracefile_count;
	int overwrite;
};

static inline void ltt_ctl_channel_options_init(struct ltt_ctl_channel_options *channel)
{
	memset(channel, 0, sizeof(*channel));
	channel->size = sizeof(*channel);
}

/** Create a channel, also while the session records. Errors: LTT_CTL_CHANNEL_EXISTS,
 *  LTT_CTL_NO_SESSION, LTT_CTL_INVALID, LTT_CTL_LIMIT. */
int ltt_ctl_enable_channel(struct ltt_ctl *ctl, const struct ltt_ctl_channel_options *channel);
/** Record nothing into a channel until it is enabled again. Errors: LTT_CTL_NO_CHANNEL. */
int ltt_ctl_disable_channel(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			    const char *channel);

/**
 * struct ltt_ctl_event_options - an event rule to add, or to enable again.
 * @session, @pattern, @domain: must be given. @pattern: an event's name, with * for any part of
 *	it; for a probe or function: the name of the events that it records.
 * @channel: NULL: the session's only channel, or channel0, which is created.
 * @exclude: patterns that are not recorded, separated by commas; NULL: none.
 * @level_type, @loglevel: which log levels; @loglevel is 0 (EMERG) to 14 (DEBUG).
 * @kind: LTT_CTL_RULE_USER is not supported: see lttctl-enable-event(1), --userspace-probe.
 * @location: of a probe or function: SYMBOL, SYMBOL+OFFSET or 0xADDRESS; of a histogram: the field.
 * @fetch: values that a probe records: [NAME=]VALUE[:TYPE]..., separated by blanks; NULL: none.
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
	enum ltt_ctl_level_type level_type;
	int loglevel;
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
 * that match and can't be recorded are warnings.
 */
int ltt_ctl_enable_event(struct ltt_ctl *ctl, const struct ltt_ctl_event_options *event,
			 char *ret_channel, uint32_t *ret_points);
/** Disable the rule that was enabled with @pattern; all rules of the channel if it is NULL.
 *  @channel: NULL: as above, but none is created. Errors: LTT_CTL_NO_EVENT, LTT_CTL_NO_CHANNEL. */
int ltt_ctl_disable_event(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			  const char *channel, const char *pattern);

/**
 * ltt_ctl_add_context() - record something about the task with each event of a channel that has
 * not recorded yet.
 * @channel: NULL: all channels of the domain; if there is none, channel0, which is created.
 * @type: a name of ltt_ctl_list_contexts().
 * @ret_channels: how many channels did not have it before, or NULL.
 *
 * Errors: LTT_CTL_NO_SESSION, LTT_CTL_NO_CHANNEL; LTT_CTL_INVALID: also a channel that has recorded
 * already; LTT_CTL_UNSUPPORTED: the domain.
 */
int ltt_ctl_add_context(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			const char *channel, const char *type, uint32_t *ret_channels);

/**
 * struct ltt_ctl_track_options - a choice of tasks whose events a session records.
 * @session, @domain: must be given; only LTT_CTL_KERNEL has such choices.
 * @ids, @nr_ids: with LTT_CTL_TRACK_ADD and LTT_CTL_TRACK_REMOVE; an id that is there twice counts
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
 * ltt_ctl_track() - choose tasks by a kind of ids, also while the session records. See
 * struct ltt_ctl_session_status for the choices as they are.
 * @ret_changed: how many of the ids were added or removed: the others were there, or not there,
 *	before; or NULL.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_INVALID: also ids to remove from a kind that is not used to
 * choose; LTT_CTL_UNSUPPORTED: the domain; LTT_CTL_LIMIT: too many ids, of which the daemon may
 * have added the first ones.
 */
int ltt_ctl_track(struct ltt_ctl *ctl, const struct ltt_ctl_track_options *track,
		  uint32_t *ret_changed);

/**
 * ltt_ctl_start() - record. Programs that do not answer within a second record as soon as they
 * do, which is a warning.
 * @ret_applications: how many the session can record, or NULL.
 *
 * Errors: LTT_CTL_NO_SESSION, LTT_CTL_STATE, LTT_CTL_OUTPUT.
 */
int ltt_ctl_start(struct ltt_ctl *ctl, const char *session, uint32_t *ret_applications);

/** enum ltt_ctl_end - flags of ltt_ctl_stop() and ltt_ctl_destroy(). */
enum ltt_ctl_end {
	LTT_CTL_NO_WAIT = 1, /* return before the data is written; there are no totals then */
};

/**
 * ltt_ctl_stop() - record no more, and wait until all data is written.
 * @flags: 0, or LTT_CTL_NO_WAIT.
 * @ret_totals: to be freed with ltt_ctl_totals_free(); set to NULL if they are not known. NULL is
 *	allowed. Events that were lost are in there.
 *
 * Errors: LTT_CTL_NO_SESSION, LTT_CTL_STATE. Data that could not be written is a warning.
 */
int ltt_ctl_stop(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		 struct ltt_ctl_totals **ret_totals);
/** Stop if need be, wait until all data is written, and forget the session; its trace stays.
 *  Arguments and errors are those of ltt_ctl_stop(). */
int ltt_ctl_destroy(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		    struct ltt_ctl_totals **ret_totals);
void ltt_ctl_totals_free(struct ltt_ctl_totals *totals);

/* --- changes, when they happen ------------------------------------------------------------ */

/** enum ltt_ctl_news_kind - a change of a session. More kinds may follow: ignore unknown ones. */
enum ltt_ctl_news_kind {
	LTT_CTL_NEWS_STATE = 1,	  /* its state, also the first one */
	LTT_CTL_NEWS_PROBLEM = 2, /* nothing can be written, for the reason in the text */
	LTT_CTL_NEWS_SOLVED = 3,  /* the problem is solved */
	LTT_CTL_NEWS_LOSS = 4,	  /* the first events of a channel that were lost for a cause */
	LTT_CTL_NEWS_CONSUMER_DIED = 5,	    /* recorded data waits in the buffers */
	LTT_CTL_NEWS_CONSUMER_REPLACED = 6, /* its successor continues */
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
 * @text: the problem; how the consumer daemon died; why not all data could be written.
 * @channel, @cause, @count: with LTT_CTL_NEWS_LOSS; @count is what was lost until then.
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
 * ltt_ctl_follow() - have the changes of a session sent to this connection, its present state
 * first. Until the session is destroyed, or @ctl is connected anew, other calls with @ctl return
 * LTT_CTL_BUSY: use another handle for them. Does not wait for an answer: that there is no such
 * session is an error of ltt_ctl_next_news().
 */
int ltt_ctl_follow(struct ltt_ctl *ctl, const char *session);
/** The connection's descriptor, for poll(2): it is readable when ltt_ctl_next_news() has
 *  something to return. Not to be read, changed or closed. Return: -1: there is no connection. */
int ltt_ctl_fd(const struct ltt_ctl *ctl);
/**
 * ltt_ctl_next_news() - the next change, without waiting for one.
 * @ret_news: valid until the next call with @ctl; set to NULL if there is none now.
 *
 * Errors: LTT_CTL_NO_SESSION; LTT_CTL_NO_DAEMON: the daemon is gone: connect (which starts the
 * successor of a daemon that was killed) and follow again; news that was sent before may be sent
 * again then.
 */
int ltt_ctl_next_news(struct ltt_ctl *ctl, const struct ltt_ctl_news **ret_news);

#ifdef __cplusplus
}
#endif

#endif
