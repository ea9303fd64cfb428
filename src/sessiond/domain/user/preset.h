/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preset.h - channels that libraries in applications have registered for their events
 * (ltt/channel.h): presets of the user domain. Those of a user are shared by the user's
 * applications and charged to the user; a preset lasts as long as an application has it.
 * Owned by the user domain; runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_PRESET_H
#define DOMAIN_USER_PRESET_H

#include "app.h"

#define USER_PRESET_CONFLICT \
	"another program of the user has registered the channel with other events or sizes"

/** A preset of a user. The first one of a name is used; later ones have other events or sizes. */
struct user_preset {
	struct list_node node; /* of the domain's presets, in the order of registration */
	uid_t uid;
	char name[LTT_CHANNEL_NAME_MAX + 1];
	char events[LTT_CHANNEL_EVENTS_MAX + 1];
	uint64_t subbuf_size;
	uint32_t num_subbuf;
	uint32_t uses; /* applications that have it */
};

/** An application ends: it has no presets any more. */
void user_presets_drop(struct user_app *app);

/* Members of the domain's table; see struct domain_ops. */
void user_each_preset(struct domain_tracer *domain, uid_t uid,
		      void (*fn)(const struct domain_preset *preset, void *data), void *data);
bool user_is_preset_for(struct domain_tracer *domain, const struct domain_preset *preset,
			const char *pattern);
const char *user_preset_obstacle(struct domain_tracer *domain, const struct domain_preset *preset,
				 uid_t uid);

#endif
