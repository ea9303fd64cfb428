// SPDX-License-Identifier: GPL-2.0-only
#include "presets.h"

#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "ltt_channel.h"
#include "text.h"

static DEFINE_MUTEX(presets_lock);
static LIST_HEAD(presets);

static bool kmod_presets_is_size(u64 size)
{
	return !size || is_power_of_2(size);
}

static bool kmod_presets_is_sound(const struct ltt_channel *channel)
{
	return text_is_word(channel->name) && strlen(channel->name) < LTT_KMOD_NAME_MAX &&
	       strchr(channel->events, ':') && strlen(channel->events) < LTT_KMOD_NAME_MAX &&
	       kmod_presets_is_size(channel->subbuf_size) &&
	       kmod_presets_is_size(channel->num_subbuf);
}

static bool is_there(const char *name)
{
	const struct ltt_channel *other;

	list_for_each_entry(other, &presets, node)
		if (!strcmp(other->name, name))
			return true;
	return false;
}

int ltt_channel_register(struct ltt_channel *channel)
{
	int ret = kmod_presets_is_sound(channel) ? 0 : -EINVAL;

	mutex_lock(&presets_lock);
	if (!ret && is_there(channel->name))
		ret = -EEXIST;
	if (!ret)
		list_add_tail(&channel->node, &presets);
	mutex_unlock(&presets_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_channel_register);

void ltt_channel_unregister(struct ltt_channel *channel)
{
	mutex_lock(&presets_lock);
	list_del(&channel->node);
	mutex_unlock(&presets_lock);
}
EXPORT_SYMBOL_GPL(ltt_channel_unregister);

static void kmod_presets_describe(const struct ltt_channel *channel, struct ltt_kmod_preset *preset)
{
	strscpy(preset->name, channel->name, sizeof(preset->name));
	strscpy(preset->events, channel->events, sizeof(preset->events));
	preset->subbuf_size = channel->subbuf_size;
	preset->num_subbuf = channel->num_subbuf;
}

int preset_describe(struct ltt_kmod_preset *preset)
{
	const struct ltt_channel *channel;
	u32 left = preset->index;
	int ret = -ENOENT;

	mutex_lock(&presets_lock);
	list_for_each_entry(channel, &presets, node) {
		if (left--)
			continue;
		kmod_presets_describe(channel, preset);
		ret = 0;
		break;
	}
	mutex_unlock(&presets_lock);
	return ret;
}
