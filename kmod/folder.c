// SPDX-License-Identifier: GPL-2.0-only
#include "folder.h"

#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "instr/folder.h"
#include "channel.h"
#include "ltt_kmod.h"
#include "registry.h"
#include "trace/control.h"
#include "trace/text_folder.h"
#include "viewer.h"

static struct dentry *view, *counts, *control;

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

static int folder_stats_show(struct seq_file *to, void *unused)
{
	kmod_channels_show(to);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(folder_stats);

static int folder_control_open(struct inode *inode, struct file *file)
{
	return capable(CAP_SYS_ADMIN) ? nonseekable_open(inode, file) : -EPERM;
}

static const struct file_operations folder_control_fops = {
	.owner = THIS_MODULE,
	.open = folder_control_open,
	.write = control_write,
};

static const struct folder_recorder recorder = { .available = folder_show_available,
						 .active = folder_show_active };

void folder_init(void)
{
	struct dentry *folder = ltt_folder_join(&recorder);

	view = viewer_add(folder);
	counts = debugfs_create_file("stats", 0400, folder, NULL, &folder_stats_fops);
	control = debugfs_create_file("control", 0200, folder, NULL, &folder_control_fops);
	text_folder_init(folder);
}

void folder_fini(void)
{
	ltt_folder_join(NULL);
	debugfs_remove(control);
	debugfs_remove(counts);
	debugfs_remove(view);
}
