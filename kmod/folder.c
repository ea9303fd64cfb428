// SPDX-License-Identifier: GPL-2.0-only
#include "folder.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "probe/callbacks.h"
#include "probe/markers.h"
#include "registry.h"
#include "viewer.h"

static struct dentry *folder;

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

static int active_show(struct seq_file *to, void *unused)
{
	u32 i, channels;

	for (i = 0; i < registry_nr_events(); i++) {
		struct event *event = registry_event(i);

		channels = event ? registry_nr_hooks(event) : 0;
		if (channels)
			seq_printf(to, "%s %s %u channels\n", source_of(event), event->name,
				   channels);
	}
	callbacks_show(to);
	markers_show(to);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(active);

void folder_init(void)
{
	folder = debugfs_create_dir("ltt", NULL);
	debugfs_create_file("available", 0400, folder, NULL, &available_fops);
	debugfs_create_file("active", 0400, folder, NULL, &active_fops);
	viewer_add(folder);
}

void folder_fini(void)
{
	debugfs_remove(folder);
}
