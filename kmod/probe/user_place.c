// SPDX-License-Identifier: GPL-2.0-only
#include "user_place.h"

#include <linux/atomic.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/uprobes.h>

#include "compat.h"
#include "fetch.h"
#include "registry.h"

struct user_place;
struct user_file;

/**
 * struct user_site - one of the places of a probe in a file.
 * @semaphore: offset in the file of the counter that the kernel increments for a listener; or 0.
 * @fetch: NULL: no further values.
 * @probe: the handle to unregister with; NULL: not registered.
 */
struct user_site {
	struct user_file *file;
	u64 offset, semaphore;
	struct fetch *fetch;
	struct uprobe_consumer consumer;
	void *probe;
};

/**
 * struct user_file - a file of a probe; an earlier one stays while programs run it.
 * @file: keeps the inode.
 */
struct user_file {
	struct list_head node;
	struct user_place *place;
	struct file *file;
	u32 nr_sites;
	struct user_site sites[];
};

/**
 * struct user_place
 * @hook: its only one.
 * @files: struct user_file, the newest one last; never empty. The channel's lock.
 * @missed: hits without the memory to record them.
 */
struct user_place {
	struct event event;
	struct hook *hook;
	bool is_return;
	struct list_head files;
	u32 nr_files;
	atomic_t missed;
};

static struct user_place *user_place_of(struct event *event)
{
	return container_of(event, struct user_place, event);
}

static void user_place_put(const struct user_place *place, const void *payload, u32 len)
{
	preempt_disable_notrace();
	ring_put(&place->hook->source, payload, len);
	preempt_enable_notrace();
}

/* Fetching may have to wait for a disk, so it is done before recording. */
static void user_place_record(const struct user_site *site, struct pt_regs *regs, const u64 *values,
			      u32 nr_values)
{
	u32 len = nr_values * sizeof(*values);
	u8 *payload;

	if (!site->fetch) {
		user_place_put(site->file->place, values, len);
		return;
	}
	payload = kmalloc(len + site->fetch->bytes, GFP_KERNEL);
	if (!payload) {
		atomic_inc(&site->file->place->missed);
		return;
	}
	memcpy(payload, values, len);
	len += fetch_put(site->fetch, regs, payload + len);
	user_place_put(site->file->place, payload, len);
	kfree(payload);
}

static int user_place_on_hit(struct uprobe_consumer *consumer,
			     struct pt_regs *regs COMPAT_UPROBE_DATA)
{
	u64 ip = instruction_pointer(regs);

	user_place_record(container_of(consumer, struct user_site, consumer), regs, &ip, 1);
	return 0;
}

static int user_place_on_return(struct uprobe_consumer *consumer, unsigned long function,
				struct pt_regs *regs COMPAT_UPROBE_DATA)
{
	const u64 values[] = { function, instruction_pointer(regs), regs_return_value(regs) };

	user_place_record(container_of(consumer, struct user_site, consumer), regs, values,
			  ARRAY_SIZE(values));
	return 0;
}

static struct inode *user_file_inode(const struct user_file *file)
{
	return d_real_inode(file->file->f_path.dentry);
}

/* No handler runs any more on return. */
static void user_file_unregister(struct user_file *file)
{
	struct user_site *site;

	for (site = file->sites; site < file->sites + file->nr_sites; site++)
		if (site->probe)
			compat_uprobe_unregister(site->probe, site->offset, &site->consumer);
	compat_uprobe_sync();
}

static int user_file_register(struct user_file *file)
{
	struct user_site *site;
	void *probe;

	for (site = file->sites; site < file->sites + file->nr_sites; site++) {
		probe = compat_uprobe_register(user_file_inode(file), site->offset,
					       site->semaphore, &site->consumer);
		if (IS_ERR(probe)) {
			user_file_unregister(file);
			return PTR_ERR(probe);
		}
		site->probe = probe;
	}
	return 0;
}

static void user_file_free(struct user_file *file)
{
	u32 i;

	if (file->file)
		fput(file->file);
	for (i = 0; i < file->nr_sites; i++)
		kfree(file->sites[i].fetch);
	kfree(file);
}

/* It is made with one file; others join later. */
static int user_place_attach(struct hook *hook)
{
	struct user_place *place = user_place_of(hook->event);

	place->hook = hook;
	return user_file_register(list_first_entry(&place->files, struct user_file, node));
}

static void user_place_detach(struct hook *hook)
{
	struct user_place *place = user_place_of(hook->event);
	struct user_file *file;

	list_for_each_entry(file, &place->files, node)
		user_file_unregister(file);
	ring_set_lose(hook->source.set, atomic_read(&place->missed));
}

static void user_place_drop(struct user_place *place, struct user_file *file)
{
	user_file_unregister(file);
	list_del(&file->node);
	place->nr_files--;
	user_file_free(file);
}

/* Of files that have been removed and that no program runs, and of the oldest ones. */
static void user_place_drop_old(struct user_place *place)
{
	struct user_file *file, *next;

	list_for_each_entry_safe(file, next, &place->files, node) {
		struct inode *inode = user_file_inode(file);

		if (place->nr_files > LTT_KMOD_FILES_MAX ||
		    (!list_is_last(&file->node, &place->files) && !inode->i_nlink &&
		     !mapping_mapped(inode->i_mapping)))
			user_place_drop(place, file);
	}
}

static void user_place_free(struct user_place *place)
{
	struct user_file *file, *next;

	list_for_each_entry_safe(file, next, &place->files, node)
		user_file_free(file);
	kfree(place->event.fields);
	kfree(place);
}

static void user_place_release(struct event *event)
{
	user_place_free(user_place_of(event));
}

static int user_place_join(struct event *event, struct event *more);

static const struct event_kind user_place_kind = { .attach = user_place_attach,
						   .detach = user_place_detach,
						   .release = user_place_release,
						   .join = user_place_join };

static int user_place_join(struct event *event, struct event *more)
{
	struct user_place *place = user_place_of(event), *from = user_place_of(more);
	struct user_file *file, *other;
	int ret;

	if (more->kind != &user_place_kind)
		return -EEXIST;
	file = list_first_entry(&from->files, struct user_file, node);
	list_for_each_entry(other, &place->files, node)
		if (user_file_inode(other) == user_file_inode(file))
			return -EEXIST;
	other = list_first_entry(&place->files, struct user_file, node);
	if (from->is_return != place->is_return ||
	    !fetch_alike(other->sites[0].fetch, file->sites[0].fetch))
		return -EINVAL;
	file->place = place;
	ret = user_file_register(file);
	if (ret)
		return ret;
	list_move_tail(&file->node, &place->files);
	from->nr_files--;
	place->nr_files++;
	user_place_drop_old(place);
	return 0;
}

/* Return: 0 or -errno. */
static int prepare_site(struct user_site *site, const struct ltt_kmod_user_place *at,
			const struct ltt_kmod_user_probe *request)
{
	bool is_return = request->flags & LTT_KMOD_PROBE_RETURN;
	struct fetch *fetch = fetch_new(at->args, request->nr_args,
					is_return ? FETCH_AT_RETURN : FETCH_AT_ENTRY);

	if (IS_ERR(fetch))
		return PTR_ERR(fetch);
	site->fetch = fetch;
	if (fetch)
		fetch->may_sleep = true;
	if (at->offset > S64_MAX || at->semaphore > S64_MAX)
		return -EINVAL;
	if (is_return)
		site->consumer.ret_handler = user_place_on_return;
	else
		site->consumer.handler = user_place_on_hit;
	site->offset = at->offset;
	site->semaphore = at->semaphore;
	return 0;
}

/* The first one is in the request itself. Return: 0 or -errno. */
static int prepare_sites(struct user_file *file, const struct ltt_kmod_user_probe *request)
{
	struct ltt_kmod_user_place at = { request->offset, request->semaphore, request->args };
	const struct ltt_kmod_user_place __user *more = u64_to_user_ptr(request->more);
	u32 i;
	int ret;

	for (i = 0; i <= request->nr_more; i++) {
		struct user_site *site = &file->sites[i];

		if (i && copy_from_user(&at, more + i - 1, sizeof(at)))
			return -EFAULT;
		site->file = file;
		file->nr_sites++;
		ret = prepare_site(site, &at, request);
		if (ret)
			return ret;
		if (!fetch_alike(file->sites[0].fetch, site->fetch))
			return -EINVAL;
	}
	return 0;
}

/* Return: 0 or -errno. */
static int prepare_file(struct user_file *file)
{
	if (!file->file)
		return -EBADF;
	return S_ISREG(file_inode(file->file)->i_mode) && file->file->f_mode & FMODE_READ ? 0 :
											  -EINVAL;
}

/* Without files. */
static struct user_place *user_place_alloc(void)
{
	struct user_place *place = kzalloc(sizeof(*place), GFP_KERNEL_ACCOUNT);

	if (!place)
		return NULL;
	place->event.kind = &user_place_kind;
	place->event.name = "user_probe";
	place->event.live = true;
	INIT_LIST_HEAD(&place->event.hooks);
	INIT_LIST_HEAD(&place->files);
	return place;
}

struct event *user_place_new(const struct ltt_kmod_user_probe *request, struct file *opened)
{
	struct user_place *place = NULL;
	struct user_file *file = NULL;
	int ret = -EINVAL;

	if (!(request->flags & ~LTT_KMOD_PROBE_RETURN) && request->nr_more < LTT_KMOD_PLACES_MAX) {
		ret = -ENOMEM;
		place = user_place_alloc();
		file = kzalloc(struct_size(file, sites, request->nr_more + 1), GFP_KERNEL_ACCOUNT);
	}
	if (!place || !file) {
		kfree(place);
		kfree(file);
		if (opened)
			fput(opened);
		return ERR_PTR(ret);
	}
	file->place = place;
	file->file = opened;
	list_add(&file->node, &place->files);
	place->nr_files = 1;
	place->is_return = request->flags & LTT_KMOD_PROBE_RETURN;
	ret = prepare_file(file);
	if (!ret)
		ret = prepare_sites(file, request);
	if (!ret)
		ret = fetch_describe(file->sites[0].fetch, place->is_return ? 3 : 1, &place->event);
	if (!ret)
		return &place->event;
	user_place_free(place);
	return ERR_PTR(ret);
}
