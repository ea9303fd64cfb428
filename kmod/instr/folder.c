// SPDX-License-Identifier: GPL-2.0-only
#include "folder.h"

#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "callbacks.h"
#include "markers.h"

static struct dentry *folder;
static DEFINE_MUTEX(lock);
static void (*show_recorded)(struct seq_file *to);

static int active_show(struct seq_file *to, void *unused)
{
	mutex_lock(&lock);
	if (show_recorded)
		show_recorded(to);
	mutex_unlock(&lock);
	callbacks_show(to);
	markers_show(to);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(active);

struct dentry *ltt_folder_join(void (*show)(struct seq_file *to))
{
	mutex_lock(&lock);
	show_recorded = show;
	mutex_unlock(&lock);
	return folder;
}
EXPORT_SYMBOL_GPL(ltt_folder_join);

void instr_folder_init(void)
{
	folder = debugfs_create_dir("ltt", NULL);
	debugfs_create_file("active", 0400, folder, NULL, &active_fops);
}

void instr_folder_fini(void)
{
	debugfs_remove(folder);
}
