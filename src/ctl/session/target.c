/* SPDX-License-Identifier: GPL-2.0-only */
#include "target.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/home.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/show.h"

struct target_options target_options;

char *target_session(struct ctl *ctl, const char *given)
{
	char *current;

	if (given && *given)
		return xstrdup(given);
	current = home_get(HOME_SESSION);
	if (!current)
		err_set(&ctl->err, ERR_NO_SESSION,
			"no session is named and none is current; name one, or create one with "
			"'lttctl create'");
	return current;
}

char *target_begin(struct ctl *ctl, const char *given, unsigned int domain, const char *what)
{
	char *session = target_session(ctl, given);

	if (!session)
		return NULL;
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	json_set_str(ctl->record, "domain", json_domain(domain));
	json_set(ctl->record, what, json_object_new_array());
	return session;
}

int target_sessions(struct ctl *ctl, struct json_object **ret, struct err *err)
{
	struct ltt_ctl_sessions *list;
	struct json_object *sessions;

	if (ctl_done(ctl, ltt_ctl_find(ctl->library, NULL, &list), err) != 0)
		return err->code;
	sessions = json_object_new_array();
	for (size_t i = 0; i < list->nr; i++)
		json_object_array_add(sessions, json_session(list->sessions[i]));
	ctl->loading = list->loading;
	ltt_ctl_sessions_free(list);
	*ret = sessions;
	return 0;
}

int target_find_session(struct ctl *ctl, const char *name, struct json_object **ret,
			struct err *err)
{
	struct ltt_ctl_sessions *list;

	if (ctl_done(ctl, ltt_ctl_find(ctl->library, name, &list), err) != 0)
		return err->code;
	*ret = list->nr ? json_session(list->sessions[0]) : NULL;
	ltt_ctl_sessions_free(list);
	return 0;
}

struct json_object *target_find(struct json_object *sessions, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		if (strcmp(json_str(session, "name"), name) == 0)
			return session;
	}
	return NULL;
}

enum status target_worse(enum status a, enum status b)
{
	static const unsigned char rank[] = {
		[STATUS_OK] = 0,      [STATUS_WARNING] = 1,	[STATUS_LOST] = 2,
		[STATUS_DAMAGED] = 3, [STATUS_UNSUPPORTED] = 4, [STATUS_ERROR] = 5,
		[STATUS_UNDEFINED] = 6,
	};

	return rank[a] >= rank[b] ? a : b;
}

static bool target_is_meant(const struct ctl *ctl, const char *name)
{
	bool any = target_options.all;

	for (unsigned int i = 0; i < ctl->nr_operands && !any; i++)
		any = glob_match(operand(ctl, i), name);
	return any;
}

static struct json_object *target_named(const struct ctl *ctl)
{
	struct json_object *names = json_object_new_array();

	for (unsigned int i = 0; i < ctl->nr_operands; i++)
		json_object_array_add(names, json_object_new_string(operand(ctl, i)));
	return names;
}

/* Names of those sessions that are meant; an array. */
static struct json_object *pick(struct ctl *ctl)
{
	struct json_object *sessions AUTO_RECORD = NULL;
	struct json_object *names = NULL;

	if (target_sessions(ctl, &sessions, &ctl->err) != 0)
		return NULL;
	names = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		const char *name = json_str(json_object_array_get_idx(sessions, i), "name");

		if (target_is_meant(ctl, name))
			json_object_array_add(names, json_object_new_string(name));
	}
	return names;
}

/* After a call without an answer there is no connection. If it was a consumer that did not answer,
 * the session daemon accepts another one, and sessions of other consumers are not concerned.
 * @more: there are further sessions. Return: false: the error ends the command. */
static bool target_can_go_on(struct ctl *ctl, bool more)
{
	struct err why = { 0 };

	if (ctl->err.code == ERR_NO_ANSWER)
		return more && ctl_open(ctl, false, &why) == 0;
	return ctl->err.code != ERR_NO_DAEMON;
}

static enum status target_each_of(struct ctl *ctl, struct json_object *names,
				  enum status (*each)(struct ctl *, const char *))
{
	const size_t nr = json_object_array_length(names);
	enum status worst = STATUS_OK;

	for (size_t i = 0; i < nr; i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(names, i));
		enum status status = each(ctl, name);

		worst = target_worse(worst, status);
		if (!ctl->err.code)
			continue;
		if (!target_can_go_on(ctl, i + 1 < nr))
			break;
		print_error(ctl, "%s", ctl->err.text);
		ctl->err = (struct err){ 0 };
	}
	return worst;
}

static enum status bad_target(struct ctl *ctl, const char *sentence)
{
	err_set(&ctl->err, ERR_INVALID, "%s", sentence);
	return STATUS_ERROR;
}

enum status target_check(struct ctl *ctl)
{
	if (target_options.all && operand(ctl, 0))
		return bad_target(ctl, "--all and session names exclude each other");
	if (target_options.glob && !operand(ctl, 0))
		return bad_target(ctl, "--glob needs a pattern, e.g. 'web*'");
	return STATUS_OK;
}

bool target_has_several(const struct ctl *ctl)
{
	return target_options.all || target_options.glob || ctl->nr_operands > 1;
}

enum status target_each(struct ctl *ctl, enum status (*each)(struct ctl *ctl, const char *session))
{
	struct json_object *names AUTO_RECORD = NULL;
	char *name AUTO_FREE = NULL;

	ctl->record = json_object_new_object();
	json_set(ctl->record, "sessions", json_object_new_array());
	if (!target_has_several(ctl)) {
		name = target_session(ctl, operand(ctl, 0));
		return name ? each(ctl, name) : STATUS_ERROR;
	}
	names = target_options.all || target_options.glob ? pick(ctl) : target_named(ctl);
	if (!names)
		return STATUS_ERROR;
	if (json_object_array_length(names) == 0)
		print_note(ctl,
			   target_options.all ? "there is no session, so nothing was done" :
						"no session matches '%s', so nothing was done",
			   operand(ctl, 0));
	return target_each_of(ctl, names, each);
}

struct json_object *target_record(struct ctl *ctl, const char *session)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "session", session);
	json_append(ctl->record, "sessions", o);
	return o;
}

enum status target_failed(struct ctl *ctl, const char *session)
{
	if (ctl->err.code != ERR_STATE) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	print_warning(ctl, "%s", ctl->err.text);
	ctl->err = (struct err){ 0 };
	return STATUS_WARNING;
}

/* ---- nearest names ---- */

static void add_hint(struct err *err, const char *near)
{
	size_t len = strlen(err->text);

	if (near)
		snprintf(err->text + len, sizeof(err->text) - len, "; did you mean '%s'?", near);
}

/* The values of @key in an array, for nearest_word(); the array lends them. */
static const char *nearest_in(struct json_object *array, const char *key, const char *text)
{
	size_t nr = array ? json_object_array_length(array) : 0;
	const char **words = xalloc((nr + 1) * sizeof(*words));
	const char *near;

	for (size_t i = 0; i < nr; i++)
		words[i] = json_str(json_object_array_get_idx(array, i), key);
	near = text && *text ? nearest_word(text, words) : NULL;
	free(words);
	return near && strcmp(near, text) != 0 ? near : NULL;
}

static void suggest_session(struct ctl *ctl, const char *session)
{
	struct json_object *sessions AUTO_RECORD = NULL;
	struct err ignored = { 0 };
	char *current AUTO_FREE = NULL;
	const char *near = NULL;

	if (target_sessions(ctl, &sessions, &ignored) == 0)
		near = nearest_in(sessions, "name", session);
	current = home_get(HOME_SESSION);
	if (near || !session || !current || strcmp(current, session) != 0) {
		add_hint(&ctl->err, near);
		return;
	}
	ctl->err = (struct err){ 0 };
	err_set(&ctl->err, ERR_NO_SESSION,
		"the current session '%s' is gone; create one with 'lttctl create', or choose one "
		"with 'lttctl set-session'",
		session);
}

static void suggest_event(struct ctl *ctl, struct json_object *session, const char *channel,
			  const char *event)
{
	for (size_t i = 0; i < json_len(session, "channels"); i++) {
		struct json_object *c = json_at(session, "channels", i);
		const char *near = nearest_in(json_get(c, "rules"), "pattern", event);

		if (channel && *channel && strcmp(channel, json_str(c, "name")) != 0)
			continue;
		if (near) {
			add_hint(&ctl->err, near);
			return;
		}
	}
}

void target_suggest(struct ctl *ctl, const char *session, const char *channel, const char *event)
{
	struct json_object *shown AUTO_RECORD = NULL;
	struct err ignored = { 0 };

	if (!ctl_is_connected(ctl) || strstr(ctl->err.text, "did you mean"))
		return;
	if (ctl->err.code == ERR_NO_SESSION) {
		suggest_session(ctl, session);
		return;
	}
	if (ctl->err.code != ERR_NO_CHANNEL && ctl->err.code != ERR_NO_EVENT)
		return;
	if (show_fetch(ctl, session, &shown, &ignored) != 0)
		return;
	if (ctl->err.code == ERR_NO_CHANNEL)
		add_hint(&ctl->err, nearest_in(json_get(shown, "channels"), "name", channel));
	else
		suggest_event(ctl, shown, channel, event);
}
