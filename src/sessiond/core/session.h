/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - recording sessions: the data model of ltt-sessiond, and the list that
 * owns them. Pure: no descriptors, no clock (times are arguments); the daemon's
 * loop is the only thread.
 */
#ifndef CORE_SESSION_H
#define CORE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"
#include "channel.h"
#include "map.h"
#include "model/types.h"
#include "proto/enums.h"
#include "quota.h"
#include "tracker.h"
#include "turn.h"

struct run;

#define SESSION_MAX_CHANNELS 1024u
#define SESSION_MAX_RULES 65536u
#define SESSION_MAX_SCOPE 64u

/** Events of a session; the table in session.c has the transitions. */
enum session_event {
	SESSION_EV_START,   /* a start was requested */
	SESSION_EV_STARTED, /* the applications are armed */
	SESSION_EV_STOP,
	SESSION_EV_STOPPED, /* all data is written; or a start was undone, or a destruction */
	SESSION_EV_DESTROY,
	SESSION_EV_REFUSED, /* the first start failed: its output could not be opened */
	SESSION_NR_EVENTS,
};
#define SESSION_NR_STATES (SESSION_DESTROYING + 1)

enum session_outcome {
	SESSION_DONE = 0,
	SESSION_REFUSED = 1, /* the event is invalid in this state */
	SESSION_LATER = 2,   /* an operation is in progress; retry after it */
};

/** The settings of a session, which a request has. Texts are borrowed; NULL: empty. */
struct session_settings {
#define ASKED(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/session.def"
};
#define SESSION_LEAST_SIZE (1u << 20)
#define SESSION_LEAST_SYNC_US 1000u

/** Problems of a session, the worst first. They are independent of each other. */
enum trouble {
	TROUBLE_CONSUMER,	 /* there is no consumer daemon */
	TROUBLE_OUTPUT,		 /* nothing can be written */
	TROUBLE_KERNEL_CONSUMER, /* the same of the kernel's events, where they have their own */
	TROUBLE_KERNEL_OUTPUT,
	TROUBLE_METADATA, /* metadata can't be written */
	TROUBLE_ADOPTION, /* a consumer can't continue a buffer, or a trace, of an earlier one */
	TROUBLE_SPOOL,	  /* the relay is away: data goes to the spool */
	TROUBLE_BUFFERS,  /* a buffer, or a trace, can't be created */
	TROUBLE_PROGRAMS, /* programs record nothing, and their events are not counted */
	TROUBLE_LOST,	  /* a buffer was lost with the processes that held it */
	TROUBLE_DAMAGE,	  /* an application has damaged its buffers */
	TROUBLE_LATE,	  /* events of the kernel that are not recorded yet */
	TROUBLE_APPS,	  /* applications that it should record can't */
	TROUBLE_STATE,	  /* its state can't be saved for the next session daemon */
	TROUBLE_START,	  /* the last start failed */
	TROUBLE_TURN,	  /* the last scheduled rotation failed */
	TROUBLE_NAMES,	  /* names of the kernel's addresses can't be stored */
	TROUBLE_KINDS,
};

/**
 * struct session_saved - the saved state of a session (see state.h).
 * @classes_file, @classes_bytes: number and size of its file of event classes and rules; 0: there
 *	is none.
 * @unused_bytes: of classes of traces that are closed, and of rules as they were.
 * @tried, @succeeded: numbers of the last save, and of the last one that succeeded.
 * @series: id of the client that announced further changes: these are saved with them; 0: none.
 */
struct session_saved {
	uint32_t classes_file;
	uint64_t classes_bytes, unused_bytes;
	uint64_t tried, succeeded;
	uint64_t series;
};

#define SESSION_UNRECORDED_PIDS 64u
#define SESSION_SNAPSHOT_NAME_MOST 200u /* bytes */

struct session {
	struct list_node node;
	uint64_t id;
	char *name;
	char *path;
	uid_t uid;
	gid_t gid;
	enum session_state state;
	uint64_t created_ns;	  /* CLOCK_REALTIME */
	uint64_t recording_since; /* monotonic ns; 0: not recording */
	uint64_t recorded_ns;	  /* time spent recording before that */
	bool sampled;		  /* a rule samples, or has sampled */
	uint32_t nr_snapshots;	  /* number of snapshots that were requested */
	uint32_t starts;	  /* number of them */
	bool drained;		  /* stopped, and everything recorded is written */
	struct session_chunk chunk;
/* the settings; their texts are its own, and not NULL */
#define EACH(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/session.def"
	uint8_t relay_id[16]; /* identifies the session to its relay after a reconnect */
	bool relay_down;      /* unreachable, as reported last */
	char troubles[TROUBLE_KINDS][384]; /* a sentence for each; empty: no problem */
	/* Programs that recorded nothing because of a problem. The last ones' pids are kept, as a
	 * program tries more than once. */
	uint64_t unrecorded;
	pid_t unrecorded_pids[SESSION_UNRECORDED_PIDS];
	uint32_t next_channel;
	uint32_t nr_rules;
	struct list_node channels; /* struct channel */
	struct list_node maps;	   /* struct map */
	uint32_t nr_maps;
	/* by enum domain_id and enum track_kind */
	struct tracker trackers[DOMAIN_USER + 1][TRACK_NR_KINDS];
	struct session_saved saved;
	struct quotas *quotas;
	bool user_consumer;   /* written by a consumer of its user (consumers.h) */
	bool kernel_consumer; /* the kernel's events are written by the kernel's */
	struct run *run;      /* the session's operations (run.h); the model does not use it */
};

struct sessions {
	struct list_node list; /* struct session, by age */
	struct quotas *quotas;
	uint64_t next_id;
	uint32_t nr;
};

/** The client that sent the request. */
struct caller {
	uid_t uid;
	gid_t gid;
};

/** @quotas: of the owners; NULL: none. */
void sessions_init(struct sessions *sessions, struct quotas *quotas);
void sessions_fini(struct sessions *sessions);

/** Return: 0, or the code set in @err. */
int session_create(struct sessions *sessions, const struct caller *caller, const char *name,
		   const char *path, uint64_t now_real_ns, struct session **ret, struct err *err);
/** Apply settings that are checked. */
void session_set(struct session *session, const struct session_settings *settings);
/** Whether its traces are written: else their metadata is kept in memory, for snapshots. */
bool session_has_files(const struct session *session);
enum link_state session_link(const struct session *session);
/** Whether an application may record into it. @scopes: words, separated by colons. */
bool session_admits(const struct session *session, uid_t uid, const char *scopes);
/** Check the limits of an output. Return: 0, or the code set in @err. */
int session_check_disk(const struct session_settings *disk, bool has_output, struct err *err);
struct session *session_free(struct sessions *sessions, struct session *session);

struct session *session_by_id(struct sessions *sessions, uint64_t id);
bool session_visible(const struct session *session, const struct caller *caller);
/** Find a session that the caller may use by its name: the caller's own first; for root then
 *  those of other users. */
int session_find(struct sessions *sessions, const struct caller *caller, const char *name,
		 struct session **ret, struct err *err);

/** The state after an event, if it is allowed. Pure table. */
enum session_outcome session_next(enum session_state state, enum session_event event,
				  enum session_state *ret_next);
/** Apply the event. @now_ns: monotonic. */
enum session_outcome session_apply_event(struct session *session, enum session_event event,
					 uint64_t now_ns);
uint64_t session_recording_ns(const struct session *session, uint64_t now_ns);

/** @text: a sentence, or empty if the problem is solved. */
void session_trouble(struct session *session, enum trouble trouble, const char *text);
/** Return: the session's worst problem, or "". Valid until the next session_trouble(). */
const char *session_problem(const struct session *session);
/** Count a program whose events are neither recorded nor counted; at once or later, but once. */
void session_note_unrecorded(struct session *session, pid_t pid, const char *name, const char *why);
/** The problem that keeps metadata from its output, or "". */
const char *session_write_problem(const struct session *session);
/** Whether metadata of a domain can be written. Nothing waits for a session where it can't: that
 *  may last until a user frees space on a disk. */
bool session_is_writable(const struct session *session, enum domain_id domain);
const char *session_state_name(enum session_state state);

/** Set whether a channel overwrites its oldest events: by default only in sessions for snapshots.
 *  @mode: as in channel_enable. Return: 0 or the code set in @err. */
int session_choose_mode(const struct session *session, enum domain_id domain, uint8_t mode,
			struct channel_attr *attr, struct err *err);
struct channel *session_find_channel(struct session *session, enum domain_id domain,
				     const char *name);
/** Add a channel with resolved attributes. Return: 0 or the code set in @err. */
int session_add_channel(struct session *session, const char *name, enum domain_id domain,
			const struct channel_attr *attr, struct channel **ret, struct err *err);
/** A map channel of a domain; NULL: there is none of this name. */
struct map *session_find_map(const struct session *session, enum domain_id domain,
			     const char *name);
/** Add a map channel with resolved attributes. Return: 0 or the code set in @err. */
int session_add_map(struct session *session, const char *name, enum domain_id domain,
		    const struct map_attr *attr, struct map **ret, struct err *err);
/** A channel of an earlier daemon, whose number and state the caller sets. Return: as above. */
int session_restore_channel(struct session *session, struct channel *channel, struct err *err);
/** Add a rule that the channel does not have. Return: 0 or the code set in @err. */
int session_add_rule(struct session *session, struct channel *channel, const struct rule_spec *spec,
		     struct rule **ret, struct err *err);
/** Change a rule, which @spec means (rule_is()), to the attributes that a request changes. Return:
 *  0 or the code set in @err. */
int session_change_rule(struct session *session, struct rule *rule, const struct rule_spec *spec,
			bool *ret_changed, struct err *err);

#endif
