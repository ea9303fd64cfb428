// SPDX-License-Identifier: GPL-2.0-only
#include "text_folder.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>

#define BUFFER_BYTES (32u << 10)
#define NUMBER_ROOM  12 /* bytes behind a name: a dash and a number */

/**
 * struct text_folder - of a trace.
 * @lock: of @channels; taken to open a file, and never while the folder is removed.
 * @channels: struct text_channel, by name.
 */
struct text_folder {
	struct list_head all;
	struct mutex lock;
	struct list_head channels;
	u32 nr_channels;
	u8 id[LTT_KMOD_TRACE_ID];
	struct text_clock clock;
	struct dentry *dir;
	char host[LTT_KMOD_NAME_MAX];
	char name[LTT_KMOD_NAME_MAX + NUMBER_ROOM];
};

struct text_channel {
	struct list_head of_folder;
	struct text_folder *folder;
	struct ring_set *set;
	char name[];
};

/**
 * struct text_file - an open file.
 * @lock: of all else: tasks may share the descriptor.
 * @merged: the record that is being printed, if @prints; @skip: bytes of its line that were.
 * @ended: the last read returned 0.
 * @from, @used: text in @buf that was not returned yet.
 */
struct text_file {
	struct mutex lock;
	struct merge *merge;
	struct text_printer printer;
	struct merged merged;
	bool prints, ended;
	u64 skip;
	u32 from, used;
	char host[LTT_KMOD_NAME_MAX];
	char buf[BUFFER_BYTES];
};

/* Folders come and go beneath it; beneath it the locks of folders, never the other way. */
static DEFINE_MUTEX(folders_lock);
static LIST_HEAD(folders);
static struct dentry *parent;

/* --- an open file ----------------------------------------------------------------- */

/* Print into the buffer, as much of the line as fits. Return: whether the line is whole. */
static bool text_file_print(struct text_file *text)
{
	struct line line = {
		.buf = text->buf + text->used,
		.size = BUFFER_BYTES - text->used,
		.skip = text->skip,
	};

	text_print(&text->printer, &text->merged, &line);
	text->used += line.used;
	text->skip += line.used;
	return text->skip == line.at;
}

/* Fill the buffer. Return: 0, also at the end of the records; or -errno, if nothing is in it. */
static int text_file_fill(struct text_file *text)
{
	int ret = 1;

	text->from = text->used = 0;
	while (text->used < BUFFER_BYTES && !signal_pending(current)) {
		if (!text->prints) {
			ret = merge_next(text->merge, &text->merged);
			if (ret <= 0)
				break;
			text->prints = true;
			text->skip = 0;
		}
		if (!text_file_print(text))
			break;
		text_printed(&text->printer, &text->merged);
		text->prints = false;
		cond_resched();
	}
	if (text->used)
		return 0;
	return ret > 0 ? -ERESTARTSYS : ret;
}

static ssize_t text_file_copy(struct text_file *text, char __user *to, size_t size)
{
	size_t done = 0;

	if (text->ended)
		merge_begin(text->merge);
	text->ended = false;
	while (done < size) {
		u32 bytes;
		int ret = text->from == text->used ? text_file_fill(text) : 0;

		if (ret)
			return done ? done : ret;
		bytes = min_t(size_t, size - done, text->used - text->from);
		if (!bytes)
			break;
		if (copy_to_user(to + done, text->buf + text->from, bytes))
			return done ? done : -EFAULT;
		text->from += bytes;
		done += bytes;
	}
	text->ended = size && !done;
	return done;
}

static ssize_t text_file_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	struct text_file *text = file->private_data;
	ssize_t ret;

	if (mutex_lock_interruptible(&text->lock))
		return -ERESTARTSYS;
	ret = text_file_copy(text, to, size);
	mutex_unlock(&text->lock);
	return ret;
}

/* Beneath the folder's lock. Return: or ERR_PTR. */
static struct merge *text_file_merge(const struct text_folder *folder)
{
	struct ring_set **sets = kmalloc_array(folder->nr_channels, sizeof(*sets), GFP_KERNEL);
	struct text_channel *channel;
	struct merge *merge;
	u32 nr = 0;

	if (!sets)
		return ERR_PTR(-ENOMEM);
	list_for_each_entry(channel, &folder->channels, of_folder)
		sets[nr++] = channel->set;
	merge = nr ? merge_new(sets, nr, MERGE_LOOKS) : ERR_PTR(-ENODEV);
	kfree(sets);
	return merge;
}

/* The folder is not removed before this returns. */
static int text_file_open(struct inode *inode, struct file *file)
{
	struct text_folder *folder = inode->i_private;
	struct text_file *text = kvzalloc(sizeof(*text), GFP_KERNEL_ACCOUNT);

	if (!text)
		return -ENOMEM;
	mutex_init(&text->lock);
	text->printer.clock = folder->clock;
	text->printer.host = text->host;
	strscpy(text->host, folder->host, sizeof(text->host));
	mutex_lock(&folder->lock);
	text->merge = text_file_merge(folder);
	mutex_unlock(&folder->lock);
	if (IS_ERR(text->merge)) {
		int ret = PTR_ERR(text->merge);

		kvfree(text);
		return ret;
	}
	file->private_data = text;
	return nonseekable_open(inode, file);
}

static int text_file_release(struct inode *inode, struct file *file)
{
	struct text_file *text = file->private_data;

	merge_free(text->merge);
	kvfree(text);
	return 0;
}

static const struct file_operations text_file_ops = {
	.owner = THIS_MODULE,
	.open = text_file_open,
	.read = text_file_read,
	.release = text_file_release,
};

/* --- names ------------------------------------------------------------------------ */

static bool text_folder_is_taken(const char *name)
{
	static const char *const others[] = { "active", "available", "control", "ltt-view",
					      "stats" };
	struct text_folder *folder;
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i]))
			return true;
	list_for_each_entry(folder, &folders, all)
		if (!strcmp(name, folder->name))
			return true;
	return false;
}

static bool text_folder_may_have(char c)
{
	return (u8)c > ' ' && c != '/' && c != 0x7f;
}

static void text_folder_choose_name(struct text_folder *folder, const char *name)
{
	u32 number = 1;
	size_t len, i;

	strscpy(folder->name, name, LTT_KMOD_NAME_MAX);
	len = strlen(folder->name);
	for (i = 0; i < len; i++)
		if (!text_folder_may_have(folder->name[i]) || (!i && folder->name[i] == '.'))
			folder->name[i] = '_';
	while (text_folder_is_taken(folder->name))
		snprintf(folder->name + len, NUMBER_ROOM, "-%u", ++number);
}

/* --- folders ---------------------------------------------------------------------- */

static struct text_folder *text_folder_find(const u8 *id)
{
	struct text_folder *folder;

	list_for_each_entry(folder, &folders, all)
		if (!memcmp(folder->id, id, sizeof(folder->id)))
			return folder;
	return NULL;
}

/* Return: or ERR_PTR. */
static struct text_folder *text_folder_new(const struct text_trace *trace, u32 clock)
{
	struct text_folder *folder = kzalloc(sizeof(*folder), GFP_KERNEL_ACCOUNT);
	struct dentry *text;

	if (!folder)
		return ERR_PTR(-ENOMEM);
	mutex_init(&folder->lock);
	INIT_LIST_HEAD(&folder->channels);
	memcpy(folder->id, trace->id, sizeof(folder->id));
	folder->clock = trace->clock;
	if (!folder->clock.hz)
		text_clock_now(clock, &folder->clock);
	strscpy(folder->host, trace->host[0] ? trace->host : init_utsname()->nodename,
		sizeof(folder->host));
	text_folder_choose_name(folder, trace->name);
	folder->dir = debugfs_create_dir(folder->name, parent);
	/* the file's operations need no protection by debugfs, which would delay the removal */
	text = IS_ERR(folder->dir) ? folder->dir :
				     debugfs_create_file_unsafe("text", 0400, folder->dir, folder,
								&text_file_ops);
	if (IS_ERR(text)) {
		debugfs_remove(folder->dir);
		kfree(folder);
		return ERR_CAST(text);
	}
	list_add_tail(&folder->all, &folders);
	return folder;
}

/* Returns when no task opens a file in it. */
static void text_folder_free(struct text_folder *folder)
{
	list_del(&folder->all);
	debugfs_remove(folder->dir);
	kfree(folder);
}

static void text_folder_add(struct text_folder *folder, struct text_channel *channel)
{
	struct text_channel *before, *at = NULL;

	mutex_lock(&folder->lock);
	list_for_each_entry(before, &folder->channels, of_folder)
		if (!at && strcmp(before->name, channel->name) > 0)
			at = before;
	list_add_tail(&channel->of_folder, at ? &at->of_folder : &folder->channels);
	folder->nr_channels++;
	channel->folder = folder;
	mutex_unlock(&folder->lock);
}

struct text_channel *text_folder_join(const struct text_trace *trace, struct ring_set *set)
{
	size_t bytes = strlen(trace->channel) + 1;
	struct text_channel *channel;
	struct text_folder *folder;

	if (!trace->name[0])
		return ERR_PTR(-EINVAL);
	channel = kzalloc(struct_size(channel, name, bytes), GFP_KERNEL_ACCOUNT);
	if (!channel)
		return ERR_PTR(-ENOMEM);
	memcpy(channel->name, trace->channel, bytes);
	mutex_lock(&folders_lock);
	folder = text_folder_find(trace->id);
	if (!folder)
		folder = text_folder_new(trace, set->desc.clock);
	if (!IS_ERR(folder)) {
		ring_set_get(set);
		channel->set = set;
		text_folder_add(folder, channel);
	}
	mutex_unlock(&folders_lock);
	if (!IS_ERR(folder))
		return channel;
	kfree(channel);
	return ERR_CAST(folder);
}

void text_folder_leave(struct text_channel *channel)
{
	struct text_folder *folder;
	bool is_last;

	if (IS_ERR_OR_NULL(channel))
		return;
	folder = channel->folder;
	mutex_lock(&folders_lock);
	mutex_lock(&folder->lock);
	list_del(&channel->of_folder);
	is_last = !--folder->nr_channels;
	mutex_unlock(&folder->lock);
	if (is_last)
		text_folder_free(folder);
	mutex_unlock(&folders_lock);
	ring_set_put(channel->set);
	kfree(channel);
}

void text_folder_name(const struct text_channel *channel, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", channel->folder->name, channel->name);
}

void text_folder_init(struct dentry *folder)
{
	parent = folder;
}
