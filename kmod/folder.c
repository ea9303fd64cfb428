// SPDX-License-Identifier: GPL-2.0-only
#include "folder.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "instr/folder.h"
#include "ltt_kmod.h"
#include "registry.h"
#include "trace/text_folder.h"
#include "viewer.h"

static struct dentry *view;

/* Events that are neither tracepoints nor system calls are named by the prefix of their kind. */
static const char *source_of(const struct event *event)
{
	if (event->probe || event->kind->flags & LTT_KMOD_BY_PERF)
		return "tracepoint";
	return event->system ? event->system : "event";
}

/* ltt_instr.ko lists tracepoints and markers. */
static void folder_show_available(struct seq_file *to)
{
	u32 i;

	for (i = 0; i < registry_nr_events(); i++) {
		const struct event *event = registry_event(i);

		if (event && registry_is_live(event) && strcmp(source_of(event), "tracepoint") &&
		    strcmp(source_of(event), "marker"))
			seq_printf(to, "%s %s\n", source_of(event), event->name);
	}
}

static void folder_show_active(struct seq_file *to)
{
	u32 i, channels;

	for (i = 0; i < registry_nr_events(); i++) {
		struct event *event = registry_event(i);

		channels = event ? registry_nr_hooks(event) : 0;
		if (channels)
			seq_printf(to, "%s %s %u channels\n", source_of(event), event->name,
				   channels);
	}
}

static const struct folder_recorder recorder = { .available = folder_show_available,
						 .active = folder_show_active };

void folder_init(void)
{
	struct dentry *folder = ltt_folder_join(&recorder);

	view = viewer_add(folder);
	text_folder_init(folder);
}

void folder_fini(void)
{
	ltt_folder_join(NULL);
	debugfs_remove(view);
}
