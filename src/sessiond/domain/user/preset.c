/* SPDX-License-Identifier: GPL-2.0-only */
#include "preset.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "session.h"

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define SUBBUF_MAX (1ull << 30)
#define NUM_SUBBUF_MAX 65536u

/* --- registration --------------------------------------------------------------------
 * Data of an application is untrusted; a list is bounded by LTT_CHANNELS_MAX, and the presets of a
 * user by the quota. */

static bool preset_is_text(const char *text, const char *characters, size_t max)
{
	size_t len = strnlen(text, max + 1);

	return len > 0 && len <= max && strspn(text, characters) == len;
}

static bool preset_is_size(uint64_t value, uint64_t most)
{
	return (value & (value - 1)) == 0 && value <= most;
}

static bool preset_is_sound(const struct msg_app_channel *msg)
{
	return preset_is_text(msg->name, WORD, LTT_CHANNEL_NAME_MAX) &&
	       preset_is_text(msg->events, WORD ":.-*", LTT_CHANNEL_EVENTS_MAX) &&
	       msg->events[0] != '*' && preset_is_size(msg->subbuf_size, SUBBUF_MAX) &&
	       preset_is_size(msg->num_subbuf, NUM_SUBBUF_MAX);
}

static bool preset_is_same(const struct user_preset *preset, const struct msg_app_channel *msg)
{
	return strcmp(preset->name, msg->name) == 0 && strcmp(preset->events, msg->events) == 0 &&
	       preset->subbuf_size == msg->subbuf_size && preset->num_subbuf == msg->num_subbuf;
}

static struct user_preset *preset_find(const struct user_app *app,
				       const struct msg_app_channel *msg)
{
	struct user_preset *preset;

	list_for_each(preset, &app->user->presets, node)
		if (preset->uid == app->app.uid && preset_is_same(preset, msg))
			return preset;
	return NULL;
}

/* The preset that its user's sessions use under that name. */
static const struct user_preset *preset_first(const struct user_domain *user, uid_t uid,
					      const char *name)
{
	const struct user_preset *preset;

	list_for_each(preset, &user->presets, node)
		if (preset->uid == uid && strcmp(preset->name, name) == 0)
			return preset;
	return NULL;
}

static void preset_refuse(const struct user_app *app, const char *name, const char *why)
{
	log_warn_some("process %d (%s): the channel '%.63s' that it registers is not used: %s",
		      (int)app->app.pid, app->app.procname, name, why);
}

/* Return: NULL: the quota is used up. */
static struct user_preset *preset_new(struct user_app *app, const struct msg_app_channel *msg)
{
	const struct account_id account = { .uid = app->app.uid };
	struct user_preset *preset;
	struct err err = { 0 };

	if (quota_take_or_explain(app->app.quotas, account, QUOTA_PRESETS, 1, &err) != 0) {
		preset_refuse(app, msg->name, err.text);
		return NULL;
	}
	preset = xalloc(sizeof(*preset));
	preset->uid = app->app.uid;
	preset->subbuf_size = msg->subbuf_size;
	preset->num_subbuf = msg->num_subbuf;
	strcpy(preset->name, msg->name);
	strcpy(preset->events, msg->events);
	list_append(&app->user->presets, &preset->node);
	if (preset_first(app->user, preset->uid, preset->name) != preset)
		preset_refuse(app, preset->name, USER_PRESET_CONFLICT);
	return preset;
}

static void preset_unuse(struct user_app *app, struct user_preset *preset)
{
	const struct account_id account = { .uid = preset->uid };

	if (--preset->uses)
		return;
	quota_give(app->app.quotas, account, QUOTA_PRESETS, 1);
	list_remove(&preset->node);
	free(preset);
}

static void presets_free(struct user_app *app, struct user_preset **presets, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		preset_unuse(app, presets[i]);
}

/* The new list is taken before the old one is released: presets in both keep their place. */
int user_app_channels(struct user_app *app, struct msg_app_channels *msg)
{
	struct user_preset *old[LTT_CHANNELS_MAX];
	uint32_t nr_old = app->nr_presets;
	struct msg_app_channel channel;

	memcpy(old, app->presets, sizeof(old));
	app->nr_presets = 0;
	while (app->nr_presets < LTT_CHANNELS_MAX &&
	       msg_app_channel_next(&msg->channels, &channel)) {
		struct user_preset *preset;

		if (!preset_is_sound(&channel)) {
			preset_refuse(app, "?", "its name, events or sizes are invalid");
			continue;
		}
		preset = preset_find(app, &channel);
		if (!preset)
			preset = preset_new(app, &channel);
		if (!preset)
			continue;
		preset->uses++;
		app->presets[app->nr_presets++] = preset;
	}
	presets_free(app, old, nr_old);
	return 0;
}

void user_presets_drop(struct user_app *app)
{
	presets_free(app, app->presets, app->nr_presets);
	app->nr_presets = 0;
}

/* --- use ------------------------------------------------------------------------------ */

static void preset_report(const struct user_domain *user, bool own, uid_t uid,
			  void (*fn)(const struct domain_preset *preset, void *data), void *data)
{
	const struct user_preset *preset;

	list_for_each(preset, &user->presets, node) {
		const struct domain_preset found = {
			.name = preset->name,
			.events = preset->events,
			.subbuf_size = preset->subbuf_size,
			.num_subbuf = preset->num_subbuf,
			.uid = preset->uid,
			.unused = preset_first(user, preset->uid, preset->name) == preset ?
					  "" :
					  USER_PRESET_CONFLICT,
		};

		if ((preset->uid == uid) == own)
			fn(&found, data);
	}
}

/* Own ones come first. */
void user_each_preset(struct domain_tracer *domain, uid_t uid,
		      void (*fn)(const struct domain_preset *preset, void *data), void *data)
{
	preset_report(user_of(domain), true, uid, fn, data);
	if (uid == 0)
		preset_report(user_of(domain), false, uid, fn, data);
}

/* In a pattern's text each star is matched by one of the events', which have no other way to match
 * it: so the events match whatever the pattern matches. */
bool user_is_preset_for(struct domain_tracer *domain, const struct domain_preset *preset,
			const char *pattern)
{
	(void)domain;
	return glob_match(preset->events, pattern);
}

struct preset_events {
	const char *glob;
	bool found;
};

static void preset_note_point(struct app_point *point, void *data)
{
	struct preset_events *events = data;

	events->found = events->found || glob_match(events->glob, point->shape->name);
}

static bool preset_has_user(const struct user_domain *user, uid_t uid,
			    const struct domain_preset *preset)
{
	const struct user_preset *other = preset_first(user, uid, preset->name);

	return other && strcmp(other->events, preset->events) == 0 &&
	       other->subbuf_size == preset->subbuf_size && other->num_subbuf == preset->num_subbuf;
}

/* A user can't choose the buffers of other users' events in root's sessions. */
const char *user_preset_obstacle(struct domain_tracer *domain, const struct domain_preset *preset,
				 uid_t uid)
{
	struct user_domain *user = user_of(domain);
	struct preset_events events = { .glob = preset->events };
	struct user_app *app;

	if (preset->uid == uid || preset->uid == 0)
		return "";
	list_for_each(app, &user->apps, node) {
		if (app->app.uid == preset->uid || preset_has_user(user, app->app.uid, preset))
			continue;
		app_each_point(&app->app, preset_note_point, &events);
		if (events.found)
			return "programs of other users have such events";
	}
	return "";
}
