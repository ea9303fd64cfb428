// SPDX-License-Identifier: GPL-2.0-only
#include "folder.h"

#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "callbacks.h"
#include "markers.h"
#include "syscall_names.h"

static struct dentry *folder;
static DEFINE_MUTEX(folder_lock);
static const struct folder_recorder *lister;

/* A function can be probed or not: that is known when a probe is registered. */
static int available_show(struct seq_file *to, void *unused)
{
	mutex_lock(&folder_lock);
	if (lister)
		lister->available(to);
	mutex_unlock(&folder_lock);
	callbacks_show_tracepoints(to);
	markers_show_names(to);
	syscall_names_show(to);
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE))
		seq_puts(to, "functions /sys/kernel/tracing/available_filter_functions\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(available);

static int active_show(struct seq_file *to, void *unused)
{
	mutex_lock(&folder_lock);
	if (lister)
		lister->active(to);
	mutex_unlock(&folder_lock);
	callbacks_show(to);
	markers_show(to);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(active);

struct dentry *ltt_folder_join(const struct folder_recorder *with)
{
	mutex_lock(&folder_lock);
	lister = with;
	mutex_unlock(&folder_lock);
	return folder;
}
EXPORT_SYMBOL_GPL(ltt_folder_join);

void instr_folder_init(void)
{
	folder = debugfs_create_dir("ltt", NULL);
	debugfs_create_file("available", 0400, folder, NULL, &available_fops);
	debugfs_create_file("active", 0400, folder, NULL, &active_fops);
}

void instr_folder_fini(void)
{
	debugfs_remove(folder);
}
