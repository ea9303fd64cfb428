// SPDX-License-Identifier: GPL-2.0-only
#include "folder.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "instr/folder.h"
#include "registry.h"
#include "trace/text_folder.h"
#include "viewer.h"

static struct dentry *available, *view;

/* Tracepoints with a compiled probe have one; others are named by the prefix of their kind. */
static const char *source_of(const struct event *event)
{
	return event->probe ? "tracepoint" : event->system ? event->system : "event";
}

static int available_show(struct seq_file *to, void *unused)
{
	u32 i;

	for (i = 0; i < registry_nr_events(); i++) {
		const struct event *event = registry_event(i);

		if (event && registry_is_live(event))
			seq_printf(to, "%s %s\n", source_of(event), event->name);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(available);

static void show_active(struct seq_file *to)
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

void folder_init(void)
{
	struct dentry *folder = ltt_folder_join(show_active);

	available = debugfs_create_file("available", 0400, folder, NULL, &available_fops);
	view = viewer_add(folder);
	text_folder_init(folder);
}

void folder_fini(void)
{
	ltt_folder_join(NULL);
	debugfs_remove(available);
	debugfs_remove(view);
}
