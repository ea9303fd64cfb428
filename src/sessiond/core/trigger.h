/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trigger.h - triggers: a condition, and the actions that run each time it holds. Part of the
 * model of ltt-sessiond; pure: no descriptors, no clock (times are arguments); the daemon's loop is
 * the only thread.
 *
 * Each firing is counted once, as delivered (an action ran), or as suppressed: by the limit of the
 * trigger, by the policies of its actions, or because nothing could be done.
 */
#ifndef CORE_TRIGGER_H
#define CORE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"
#include "model/types.h"
#include "proto/enums.h"
#include "rule.h"

struct caller;

#define TRIGGER_MAX_ACTIONS 9u
#define TRIGGER_MAX_CAPTURES 16u
#define TRIGGER_MAX_NAME 255u
#define TRIGGER_MAX_COMMAND 4096u
#define TRIGGER_MOST 256u /* of a user */

/** The attributes of an action that a request has. Texts are borrowed; NULL: empty. */
struct action_spec {
#define ASKED(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/action.def"
};

struct trigger_spec {
#define ASKED(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/trigger.def"
};

struct trigger_action {
	uint64_t ran, failed, joined; /* times */
	bool busy;		      /* the last one has not ended */
	char problem[256];	      /* of the last one that failed; empty: it ended well */
#define EACH(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/action.def"
};

struct trigger {
	struct list_node node;
	uint64_t id; /* never reused; 0 is none */
	char *name;  /* unique among the owner's */
	uid_t uid;
	gid_t gid;
	uint64_t created_ns; /* CLOCK_REALTIME */
	uint64_t fired, delivered, suppressed;
	uint64_t unrecorded;	  /* of `fired`: those whose captures were not recorded */
	uint64_t last_ns;	  /* CLOCK_REALTIME of the last firing; 0: none */
	uint64_t period_ns;	  /* monotonic begin of the period of `at_most` */
	uint64_t in_period;	  /* firings that were let through in it */
	struct trigger_action actions[TRIGGER_MAX_ACTIONS];
	uint32_t nr_actions;
	struct rule *match, *match_end; /* of conditions on events; else NULL */
	void *watched; /* of the domain that watches for it */
	struct {
		uint64_t last, since_ns; /* value, and its monotonic time */
		bool known, held, asking;
	} look; /* of conditions that the daemon evaluates periodically */
#define EACH(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/trigger.def"
};

/** Numbers of app.def. */
enum capture_kind {
	CAPTURE_FIELD = 0,
	CAPTURE_ELEMENT = 1,
	CAPTURE_CONTEXT = 2,
};

/** A capture: FIELD, FIELD[NUMBER], $ctx.NAME or $app.PROVIDER:NAME. @name: of the field or
 *  context, as for ltt_ctl_add_context(); its @len bytes are in the list. */
struct capture {
	enum capture_kind kind;
	const char *name;
	size_t len;
	uint32_t number;
};

/** The next capture of a list. @list: moved behind it. Return: false: there is none. A malformed
 *  one has no name. */
bool capture_next(const char **list, struct capture *ret);

#define SIGNAL_NAME_BYTES 16u
/** "SEGV", or the number of one without a name; in @buf or static. */
const char *signal_text(int signo, char buf[SIGNAL_NAME_BYTES]);
/** Whether a list of signals has one: "any", or names with or without SIG, and numbers, separated by
 *  commas. */
bool signal_list_has(const char *list, int signo);

struct triggers {
	struct list_node list; /* struct trigger, by age */
	uint64_t next_id;
};

struct firing_value {
	enum captured_kind kind;
	union {
		int64_t number;
		uint64_t bits;
		double real;
	};
	const char *text; /* of CAPTURED_TEXT and CAPTURED_CUT; any bytes but NUL */
};

/** The known facts of a firing. Texts are borrowed, and NULL where they are not known. */
struct firing {
	uint64_t at_ns;	      /* CLOCK_REALTIME */
	uint64_t duration_ns; /* of a pair */
	uint64_t value;	      /* of other conditions with a threshold */
	pid_t pid, tid;	      /* 0: not known */
	const char *process;  /* its comm */
	const char *event;    /* name of the point */
	const char *session;  /* of conditions on sessions */
	uint32_t nr_values;   /* of the trigger's captures, in their order */
	struct firing_value values[TRIGGER_MAX_CAPTURES];
};

/** Whether programs are watched for the condition. */
static inline bool condition_is_on_events(enum condition condition)
{
	return condition <= CONDITION_SILENCE;
}
/** The same, or for their end. */
static inline bool condition_is_on_programs(enum condition condition)
{
	return condition_is_on_events(condition) || condition == CONDITION_SIGNAL;
}
/** Whether single events matter, and not just their number. */
static inline bool condition_has_events(enum condition condition)
{
	return condition == CONDITION_EVENT || condition == CONDITION_PAIR;
}

void triggers_init(struct triggers *triggers);
void triggers_fini(struct triggers *triggers);
/** The events of a condition on events; @end: of a pair, its end. The texts are those of @spec. */
struct rule_spec trigger_rule(const struct trigger_spec *spec, bool end);
/** Return: 0 or the code set in @err. */
int trigger_check(const struct trigger_spec *spec, const struct action_spec *actions, uint32_t nr,
		  struct err *err) MUST_CHECK;
/** Create one; the attributes are checked. @name: empty: the next free trigger-N. Return: 0 or the
 *  code set in @err. */
int trigger_add(struct triggers *triggers, const struct caller *owner, const char *name,
		const struct trigger_spec *spec, const struct action_spec *actions, uint32_t nr,
		struct trigger **ret, struct err *err) MUST_CHECK;
struct trigger *trigger_free(struct trigger *trigger);
/** A user's trigger; NULL: there is none. */
struct trigger *trigger_find(const struct triggers *triggers, uid_t uid, const char *name);
struct trigger *trigger_by_id(const struct triggers *triggers, uint64_t id);
/** Whether events are watched for it: not only counted, in maps. */
bool trigger_is_watched(const struct trigger *trigger);
/** Whether programs of the user are watched for it. */
bool trigger_concerns(const struct trigger *trigger, uid_t uid);

/** Count @nr firings. Return: how many of them the limit lets through. */
uint64_t trigger_admit(struct trigger *trigger, uint64_t nr, uint64_t now_ns, uint64_t now_real_ns);
/** Whether the action runs for the firing with this number, from 1. */
bool action_is_due(const struct trigger_action *action, uint64_t number);
/** An action that an earlier daemon had begun: its end is not known, so it failed. */
void action_interrupted(struct trigger_action *action);

#endif
