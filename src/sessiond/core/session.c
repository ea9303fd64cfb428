/* SPDX-License-Identifier: GPL-2.0-only */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "attribute.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * The transitions of a session. Columns: START STARTED STOP STOPPED DESTROY REFUSED.
 * A state: the next one. REFUSED: the event is invalid in this state. LATER: an operation of
 * several steps is in progress; the command waits for its end.
 */
#define REFUSED -1
#define LATER -2

static const signed char table[SESSION_NR_STATES][SESSION_NR_EVENTS] = {
	[SESSION_NEW] = { SESSION_STARTING, REFUSED, REFUSED, REFUSED, SESSION_DESTROYING,
			  REFUSED },
	[SESSION_STARTING] = { LATER, SESSION_RECORDING, LATER, SESSION_STOPPED, LATER,
			       SESSION_NEW },
	[SESSION_RECORDING] = { REFUSED, REFUSED, SESSION_STOPPING, REFUSED, SESSION_DESTROYING,
				REFUSED },
	[SESSION_STOPPING] = { LATER, REFUSED, LATER, SESSION_STOPPED, LATER, REFUSED },
	[SESSION_STOPPED] = { SESSION_STARTING, REFUSED, REFUSED, REFUSED, SESSION_DESTROYING,
			      REFUSED },
	[SESSION_DESTROYING] = { REFUSED, REFUSED, REFUSED, SESSION_STOPPED, REFUSED, REFUSED },
};

enum session_outcome session_next(enum session_state state, enum session_event event,
				  enum session_state *ret_next)
{
	signed char next = table[state][event];

	if (next == REFUSED)
		return SESSION_REFUSED;
	if (next == LATER)
		return SESSION_LATER;
	*ret_next = (enum session_state)next;
	return SESSION_DONE;
}

static bool is_recording(enum session_state state)
{
	return state == SESSION_STARTING || state == SESSION_RECORDING;
}

enum session_outcome session_apply_event(struct session *session, enum session_event event,
					 uint64_t now_ns)
{
	enum session_state next = session->state;
	enum session_outcome outcome = session_next(session->state, event, &next);

	if (outcome != SESSION_DONE)
		return outcome;
	if (is_recording(next) && !is_recording(session->state)) {
		session->recording_since = now_ns;
		session->starts++;
	}
	if (!is_recording(next) && is_recording(session->state)) {
		session->recorded_ns = session_recording_ns(session, now_ns);
		session->recording_since = 0;
	}
	session->state = next;
	return SESSION_DONE;
}

uint64_t session_recording_ns(const struct session *session, uint64_t now_ns)
{
	if (!session->recording_since || now_ns < session->recording_since)
		return session->recorded_ns;
	return session->recorded_ns + (now_ns - session->recording_since);
}

void session_trouble(struct session *session, enum trouble trouble, const char *text)
{
	snprintf(session->troubles[trouble], sizeof(session->troubles[trouble]), "%s", text);
}

static const char *first_trouble(const struct session *session, unsigned int end)
{
	for (unsigned int trouble = 0; trouble < end; trouble++)
		if (session->troubles[trouble][0])
			return session->troubles[trouble];
	return "";
}

const char *session_problem(const struct session *session)
{
	return first_trouble(session, TROUBLE_KINDS);
}

const char *session_write_problem(const struct session *session)
{
	return first_trouble(session, TROUBLE_ADOPTION + 1);
}

/* A problem of the other consumer, which does not write the domain. */
static bool is_of_other(const struct session *session, enum domain_id domain, unsigned int trouble)
{
	if (trouble == TROUBLE_KERNEL_CONSUMER || trouble == TROUBLE_KERNEL_OUTPUT)
		return domain != DOMAIN_KERNEL;
	return domain == DOMAIN_KERNEL && session->kernel_consumer && trouble <= TROUBLE_OUTPUT;
}

bool session_is_writable(const struct session *session, enum domain_id domain)
{
	for (unsigned int trouble = 0; trouble <= TROUBLE_ADOPTION; trouble++)
		if (session->troubles[trouble][0] && !is_of_other(session, domain, trouble))
			return false;
	return true;
}

void session_note_unrecorded(struct session *session, pid_t pid, const char *name, const char *why)
{
	char text[sizeof(session->troubles[0])], others[40] = "";

	for (uint32_t i = 0; i < SESSION_UNRECORDED_PIDS; i++)
		if (session->unrecorded_pids[i] == pid)
			return;
	session->unrecorded_pids[session->unrecorded++ % SESSION_UNRECORDED_PIDS] = pid;
	if (session->unrecorded > 1)
		snprintf(others, sizeof(others), " and of %llu other%s",
			 (unsigned long long)session->unrecorded - 1,
			 session->unrecorded == 2 ? "" : "s");
	snprintf(text, sizeof(text), "events of process %d (%.20s)%s are not recorded: %.240s",
		 (int)pid, name, others, why);
	session_trouble(session, TROUBLE_PROGRAMS, text);
}

const char *session_state_name(enum session_state state)
{
	static const char *const names[] = { "new",	 "starting", "recording",
					     "stopping", "stopped",  "destroying" };

	return (size_t)state < ARRAY_SIZE(names) ? names[state] : "?";
}

void sessions_init(struct sessions *sessions, struct quotas *quotas)
{
	memset(sessions, 0, sizeof(*sessions));
	sessions->quotas = quotas;
	list_init(&sessions->list);
	sessions->next_id = 1;
}

void sessions_fini(struct sessions *sessions)
{
	struct session *session, *tmp;

	list_for_each_safe(session, tmp, &sessions->list, node)
		session_free(sessions, session);
}

static struct session *find_owned(struct sessions *sessions, uid_t uid, const char *name)
{
	struct session *session;

	list_for_each(session, &sessions->list, node)
		if (session->uid == uid && session->state != SESSION_DESTROYING &&
		    strcmp(session->name, name) == 0)
			return session;
	return NULL;
}

#define SESSION_FDS 2 /* its directory and its doorbell */

static int core_session_take_session(struct quotas *quotas, uid_t uid, struct err *err)
{
	const struct account_id account = { .uid = uid };

	int code = quota_take_or_explain(quotas, account, QUOTA_SESSIONS, 1, err);

	if (code)
		return code;
	code = quota_take_or_explain(quotas, account, QUOTA_DESCRIPTORS, SESSION_FDS, err);
	if (code)
		quota_give(quotas, account, QUOTA_SESSIONS, 1);
	return code;
}

static void give_session(struct quotas *quotas, uid_t uid)
{
	const struct account_id account = { .uid = uid };

	quota_give(quotas, account, QUOTA_SESSIONS, 1);
	quota_give(quotas, account, QUOTA_DESCRIPTORS, SESSION_FDS);
}

int session_create(struct sessions *sessions, const struct caller *caller, const char *name,
		   const char *path, uint64_t now_real_ns, struct session **ret, struct err *err)
{
	const char *why = name_check(name);
	struct session *session;
	int code;

	if (why)
		return err_set(err, ERR_INVALID, "the session name '%s' %s", name, why);
	if (find_owned(sessions, caller->uid, name))
		return err_set(err, ERR_SESSION_EXISTS,
			       "session '%s' exists already; choose another name or destroy it",
			       name);
	code = core_session_take_session(sessions->quotas, caller->uid, err);
	if (code)
		return code;
	session = xalloc(sizeof(*session));
	list_init(&session->channels);
	list_init(&session->maps);
	session->id = sessions->next_id++;
	session->name = xstrdup(name);
	session->path = xstrdup(path);
#define EACH(type, name, init, doc) session->name = init;
#include "model/session.def"
#define EACH(type, name, init, doc) ATTRIBUTE_OWN(type, session->name);
#include "model/session.def"
	session->uid = caller->uid;
	session->gid = caller->gid;
	session->quotas = sessions->quotas;
	session->created_ns = now_real_ns;
	session->chunk.number = 1;
	list_append(&sessions->list, &session->node);
	sessions->nr++;
	*ret = session;
	return 0;
}

void session_set(struct session *session, const struct session_settings *settings)
{
#define ASKED(type, name, init, doc) ATTRIBUTE_SET(type, session->name, settings->name);
#include "model/session.def"
}

bool session_has_files(const struct session *session)
{
	return (*session->path || *session->relay) && !session->snapshots;
}

enum link_state session_link(const struct session *session)
{
	if (!*session->relay)
		return LINK_NONE;
	return session->relay_down ? LINK_DOWN : LINK_UP;
}

static bool core_session_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		size_t n = strcspn(words, ":");

		if (n == len && memcmp(words, word, n) == 0)
			return true;
		if (!words[n])
			return false;
		words += n + 1;
	}
}

bool session_admits(const struct session *session, uid_t uid, const char *scopes)
{
	if (session->uid != 0 && session->uid != uid)
		return false;
	return !*session->scope || core_session_has_word(scopes, session->scope);
}

static void free_channel(struct session *session, struct channel *channel)
{
	const struct account_id account = { .uid = session->uid };
	const struct rule *rule;

	list_for_each(rule, &channel->rules, node) {
		const struct rule_spec spec = rule_spec_of(rule);

		quota_give(session->quotas, account, QUOTA_TEXT, rule_bytes(&spec));
		quota_give(session->quotas, account, QUOTA_RULES, 1);
	}
	quota_give(session->quotas, account, QUOTA_CHANNELS, 1);
	channel_free(channel);
}

static void core_session_free_maps(struct session *session)
{
	struct map *map, *next;

	list_for_each_safe(map, next, &session->maps, node) {
		quota_give(session->quotas, (struct account_id){ .uid = session->uid },
			   QUOTA_CHANNELS, 1);
		map_free(map);
	}
}

int session_check_disk(const struct session_settings *disk, bool has_output, struct err *err)
{
	if (disk->sync > SYNC_PERIOD)
		return err_set(err, ERR_INVALID, "unknown policy for syncing: %d", disk->sync);
	if (!has_output && (disk->keep_free || disk->max_size || disk->sync != SYNC_NONE))
		return err_set(err, ERR_INVALID,
			       "a session without output writes nothing that could be limited or "
			       "synced");
	if (disk->max_size && disk->max_size < SESSION_LEAST_SIZE)
		return err_set(err, ERR_INVALID,
			       "--max-size: a trace of at most %llu bytes has no room for data; "
			       "give it %u or more",
			       (unsigned long long)disk->max_size, SESSION_LEAST_SIZE);
	if (disk->sync == SYNC_PERIOD && disk->sync_us < SESSION_LEAST_SYNC_US)
		return err_set(err, ERR_INVALID,
			       "--sync: %u us is too short a period; the shortest is %u us",
			       disk->sync_us, SESSION_LEAST_SYNC_US);
	return 0;
}

struct session *session_free(struct sessions *sessions, struct session *session)
{
	struct channel *channel, *tmp;

	if (!session)
		return NULL;
	list_for_each_safe(channel, tmp, &session->channels, node)
		free_channel(session, channel);
	core_session_free_maps(session);
	for (size_t i = 0; i < ARRAY_SIZE(session->trackers); i++)
		for (unsigned int kind = 0; kind < TRACK_NR_KINDS; kind++)
			tracker_clear(&session->trackers[i][kind]);
	give_session(session->quotas, session->uid);
	list_remove(&session->node);
	sessions->nr--;
	free(session->name);
	free(session->path);
#define EACH(type, name, init, doc) ATTRIBUTE_FREE(type, session->name);
#include "model/session.def"
	free(session);
	return NULL;
}

struct session *session_by_id(struct sessions *sessions, uint64_t id)
{
	struct session *session;

	list_for_each(session, &sessions->list, node)
		if (session->id == id)
			return session;
	return NULL;
}

bool session_visible(const struct session *session, const struct caller *caller)
{
	return session->state != SESSION_DESTROYING &&
	       (caller->uid == 0 || caller->uid == session->uid);
}

static int no_session(struct sessions *sessions, const struct caller *caller, const char *name,
		      struct err *err)
{
	const char **words = xalloc((sessions->nr + 1u) * sizeof(*words));
	struct session *session;
	const char *near;
	uint32_t nr = 0;

	list_for_each(session, &sessions->list, node)
		if (session_visible(session, caller))
			words[nr++] = session->name;
	near = nearest_word(name, words);
	if (near)
		err_set(err, ERR_NO_SESSION, "there is no session '%s'; did you mean '%s'?", name,
			near);
	else
		err_set(err, ERR_NO_SESSION, "there is no session '%s'%s", name,
			nr ? "; `lttctl list` shows those that exist" :
			     "; create it with `lttctl create`");
	free(words);
	return ERR_NO_SESSION;
}

int session_find(struct sessions *sessions, const struct caller *caller, const char *name,
		 struct session **ret, struct err *err)
{
	struct session *session, *found = find_owned(sessions, caller->uid, name);

	if (!found && caller->uid == 0) {
		list_for_each(session, &sessions->list, node) {
			if (!session_visible(session, caller) || strcmp(session->name, name) != 0)
				continue;
			if (found)
				return err_set(err, ERR_INVALID,
					       "users %u and %u both have a session '%s'",
					       found->uid, session->uid, name);
			found = session;
		}
	}
	if (!found)
		return no_session(sessions, caller, name, err);
	*ret = found;
	return 0;
}

struct channel *session_find_channel(struct session *session, enum domain_id domain,
				     const char *name)
{
	struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (channel->domain == domain && strcmp(channel->name, name) == 0)
			return channel;
	return NULL;
}

/* Where nothing takes events from a full buffer, a program would wait in vain. */
static int core_session_check_blocking(const struct session *session, enum domain_id domain,
				       const struct channel_attr *attr, struct err *err)
{
	if (!attr->blocking_us)
		return 0;
	if (domain == DOMAIN_KERNEL)
		return err_set(err, ERR_INVALID,
			       "the kernel does not wait for space in a buffer: omit "
			       "--blocking-timeout, or use -u");
	if (attr->overwrite)
		return err_set(err, ERR_INVALID,
			       "a buffer that is overwritten is never full: omit "
			       "--blocking-timeout, or use --discard");
	if (attr->remember || session->snapshots)
		return err_set(err, ERR_INVALID,
			       "only snapshots have the events of this channel, so that no space "
			       "becomes free for a program that waits; omit --blocking-timeout");
	return 0;
}

static int core_session_check_memory(const struct session *session, enum domain_id domain,
				     const struct channel_attr *attr, struct err *err)
{
	if (!attr->on_demand && !attr->reclaim && !attr->reclaim_us)
		return 0;
	if (domain == DOMAIN_KERNEL)
		return err_set(err, ERR_INVALID,
			       "an event of the kernel can't wait for memory, so that its buffers "
			       "have all of theirs: omit --buffer-preallocation and "
			       "--auto-reclaim-memory, or use -u");
	if (attr->overwrite || attr->remember || session->snapshots)
		return err_set(err, ERR_INVALID,
			       "a snapshot has no time for page faults, so that its buffers have all "
			       "of their memory: omit --buffer-preallocation and "
			       "--auto-reclaim-memory");
	return 0;
}

int session_choose_mode(const struct session *session, enum domain_id domain, uint8_t mode,
			struct channel_attr *attr, struct err *err)
{
	if (mode > CHANNEL_DISCARD)
		return err_set(err, ERR_INVALID, "unknown mode %u of a channel", mode);
	if ((mode == CHANNEL_OVERWRITE || attr->remember) && domain == DOMAIN_KERNEL &&
	    !session->snapshots && !session_has_files(session))
		return err_set(err, ERR_UNSUPPORTED,
			       "session '%s' was started, or has channels that discard: enable "
			       "those of the kernel that overwrite or remember before, or use "
			       "create --snapshot",
			       session->name);
	if (attr->remember && session_has_files(session))
		return err_set(err, ERR_INVALID,
			       "session '%s' writes its events, and has to remember none; omit "
			       "--remember, or use create --snapshot",
			       session->name);
	attr->overwrite = mode == CHANNEL_DEFAULT ? session->snapshots && !attr->remember :
						    mode == CHANNEL_OVERWRITE;
	if (core_session_check_blocking(session, domain, attr, err) ||
	    core_session_check_memory(session, domain, attr, err))
		return err->code;
	if (attr->overwrite && attr->tracefile_size && !session_has_files(session))
		return err_set(err, ERR_INVALID,
			       "a snapshot has one file of each stream: omit --tracefile-size");
	return 0;
}

/* Files of a channel are NAME_CPU, or NAME_CPU_NUMBER where their size is limited. */
static bool core_session_files_meet(const char *limited, const char *other)
{
	size_t len = strlen(limited);

	return strncmp(other, limited, len) == 0 && other[len] == '_' && other[len + 1] &&
	       !other[len + 1 + strspn(other + len + 1, "0123456789")];
}

/* A channel whose files could have the names of another one's; NULL: none. */
static const struct channel *core_session_name_meets(const struct session *session,
						     const char *name, enum domain_id domain,
						     bool is_limited)
{
	const struct channel *channel;

	list_for_each(channel, &session->channels, node) {
		if (channel->domain != domain || !channel->tracefile_size == !is_limited)
			continue;
		if (is_limited ? core_session_files_meet(name, channel->name) :
				 core_session_files_meet(channel->name, name))
			return channel;
	}
	return NULL;
}

int session_add_channel(struct session *session, const char *name, enum domain_id domain,
			const struct channel_attr *attr, struct channel **ret, struct err *err)
{
	const char *why = name_check_channel(name);
	const struct channel *other;
	struct channel *channel;

	if (why)
		return err_set(err, ERR_INVALID, "the channel name '%s' %s", name, why);
	if (strcmp(name, "metadata") == 0 || strcmp(name, "index") == 0)
		return err_set(err, ERR_INVALID,
			       "'%s' is the name of a part of every trace; "
			       "choose another channel name",
			       name);
	other = core_session_name_meets(session, name, domain, attr->tracefile_size);
	if (other)
		return err_set(err, ERR_INVALID,
			       "files of channel '%s' could have names of those of channel '%s', as the "
			       "size of one's files is limited: choose another channel name",
			       name, other->name);
	if (session->next_channel >= SESSION_MAX_CHANNELS)
		return err_set(err, ERR_LIMIT, "a session has at most %u channels",
			       SESSION_MAX_CHANNELS);
	channel = channel_new(name, domain, attr);
	channel->number = session->next_channel;
	if (session_restore_channel(session, channel, err)) {
		channel_free(channel);
		return err->code;
	}
	session->next_channel++;
	*ret = channel;
	return 0;
}

struct map *session_find_map(const struct session *session, enum domain_id domain, const char *name)
{
	struct map *map;

	list_for_each(map, &session->maps, node)
		if (map->domain == domain && strcmp(map->name, name) == 0)
			return map;
	return NULL;
}

int session_add_map(struct session *session, const char *name, enum domain_id domain,
		    const struct map_attr *attr, struct map **ret, struct err *err)
{
	const struct account_id account = { .uid = session->uid };
	const char *why = name_check_channel(name);

	if (why)
		return err_set(err, ERR_INVALID, "the name '%s' of a map channel %s", name, why);
	if (session_find_map(session, domain, name))
		return err_set(err, ERR_CHANNEL_EXISTS,
			       "map channel '%s' exists already; choose another name", name);
	if (session->nr_maps >= SESSION_MAX_CHANNELS)
		return err_set(err, ERR_LIMIT, "a session has at most %u map channels",
			       SESSION_MAX_CHANNELS);
	if (quota_take_or_explain(session->quotas, account, QUOTA_CHANNELS, 1, err))
		return err->code;
	*ret = map_new(name, domain, session->nr_maps++, attr);
	list_append(&session->maps, &(*ret)->node);
	return 0;
}

int session_restore_channel(struct session *session, struct channel *channel, struct err *err)
{
	const struct account_id account = { .uid = session->uid };

	if (quota_take_or_explain(session->quotas, account, QUOTA_CHANNELS, 1, err))
		return err->code;
	list_append(&session->channels, &channel->node);
	return 0;
}

int session_add_rule(struct session *session, struct channel *channel, const struct rule_spec *spec,
		     struct rule **ret, struct err *err)
{
	const struct account_id account = { .uid = session->uid };

	if (session->nr_rules >= SESSION_MAX_RULES)
		return err_set(err, ERR_LIMIT, "a session has at most %u event rules",
			       SESSION_MAX_RULES);
	if (quota_take_or_explain(session->quotas, account, QUOTA_RULES, 1, err))
		return err->code;
	if (quota_take_or_explain(session->quotas, account, QUOTA_TEXT, rule_bytes(spec), err)) {
		quota_give(session->quotas, account, QUOTA_RULES, 1);
		return err->code;
	}
	session->nr_rules++;
	*ret = channel_add_rule(channel, spec);
	session->sampled = session->sampled || *(*ret)->sampling;
	return 0;
}

int session_change_rule(struct session *session, struct rule *rule, const struct rule_spec *spec,
			bool *ret_changed, struct err *err)
{
	const struct account_id account = { .uid = session->uid };
	const struct rule_spec before = rule_spec_of(rule);
	uint64_t had = rule_bytes(&before), needs = rule_bytes(spec);

	if (needs > had &&
	    quota_take_or_explain(session->quotas, account, QUOTA_TEXT, needs - had, err))
		return err->code;
	*ret_changed = rule_change(rule, spec);
	if (needs < had)
		quota_give(session->quotas, account, QUOTA_TEXT, had - needs);
	session->sampled = session->sampled || *rule->sampling;
	return 0;
}
