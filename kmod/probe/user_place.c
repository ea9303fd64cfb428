// SPDX-License-Identifier: GPL-2.0-only
#include "user_place.h"

#include <linux/atomic.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uprobes.h>

#include "compat.h"
#include "fetch.h"
#include "registry.h"

struct user_place;

/**
 * struct user_site - one of the places of a probe.
 * @semaphore: offset in the file of the counter that the kernel increments for a listener; or 0.
 * @fetch: NULL: no further values.
 * @probe: the handle to unregister with; NULL: not registered.
 */
struct user_site {
	struct user_place *place;
	u64 offset, semaphore;
	struct fetch *fetch;
	struct uprobe_consumer consumer;
	void *probe;
};

/**
 * struct user_place
 * @hook: its only one.
 * @file: keeps the inode.
 * @missed: hits without the memory to record them.
 */
struct user_place {
	struct event event;
	struct hook *hook;
	struct file *file;
	atomic_t missed;
	u32 nr_sites;
	struct user_site sites[];
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
		user_place_put(site->place, values, len);
		return;
	}
	payload = kmalloc(len + site->fetch->bytes, GFP_KERNEL);
	if (!payload) {
		atomic_inc(&site->place->missed);
		return;
	}
	memcpy(payload, values, len);
	user_place_put(site->place, payload, len + fetch_put(site->fetch, regs, payload + len));
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

/* No handler runs any more on return. */
static void user_place_unregister(struct user_place *place)
{
	struct user_site *site;

	for (site = place->sites; site < place->sites + place->nr_sites; site++)
		if (site->probe)
			compat_uprobe_unregister(site->probe, site->offset, &site->consumer);
	compat_uprobe_sync();
}

static int user_place_attach(struct hook *hook)
{
	struct user_place *place = user_place_of(hook->event);
	struct inode *inode = d_real_inode(place->file->f_path.dentry);
	struct user_site *site;
	void *probe;

	place->hook = hook;
	for (site = place->sites; site < place->sites + place->nr_sites; site++) {
		probe = compat_uprobe_register(inode, site->offset, site->semaphore,
					       &site->consumer);
		if (IS_ERR(probe)) {
			user_place_unregister(place);
			return PTR_ERR(probe);
		}
		site->probe = probe;
	}
	return 0;
}

static void user_place_detach(struct hook *hook)
{
	struct user_place *place = user_place_of(hook->event);

	user_place_unregister(place);
	ring_set_lose(hook->source.set, atomic_read(&place->missed));
}

static void user_place_free(struct user_place *place)
{
	u32 i;

	if (place->file)
		fput(place->file);
	for (i = 0; i < place->nr_sites; i++)
		kfree(place->sites[i].fetch);
	kfree(place->event.fields);
	kfree(place);
}

static void user_place_release(struct event *event)
{
	user_place_free(user_place_of(event));
}

static const struct event_kind user_place_kind = { .attach = user_place_attach,
						   .detach = user_place_detach,
						   .release = user_place_release };

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
static int prepare_sites(struct user_place *place, const struct ltt_kmod_user_probe *request)
{
	struct ltt_kmod_user_place at = { request->offset, request->semaphore, request->args };
	const struct ltt_kmod_user_place __user *more = u64_to_user_ptr(request->more);
	u32 i;
	int ret;

	for (i = 0; i <= request->nr_more; i++) {
		struct user_site *site = &place->sites[i];

		if (i && copy_from_user(&at, more + i - 1, sizeof(at)))
			return -EFAULT;
		site->place = place;
		place->nr_sites++;
		ret = prepare_site(site, &at, request);
		if (ret)
			return ret;
		if (!fetch_alike(place->sites[0].fetch, site->fetch))
			return -EINVAL;
	}
	return 0;
}

/* Return: 0 or -errno. */
static int prepare_file(struct user_place *place, struct file *file)
{
	place->file = file;
	if (!file)
		return -EBADF;
	return S_ISREG(file_inode(place->file)->i_mode) && place->file->f_mode & FMODE_READ ?
		       0 : -EINVAL;
}

struct event *user_place_new(const struct ltt_kmod_user_probe *request, struct file *file)
{
	struct user_place *place;
	int ret;

	ret = request->flags & ~LTT_KMOD_PROBE_RETURN || request->nr_more >= LTT_KMOD_PLACES_MAX ?
		      -EINVAL : -ENOMEM;
	place = ret == -EINVAL ? NULL : kzalloc(struct_size(place, sites, request->nr_more + 1),
						GFP_KERNEL_ACCOUNT);
	if (!place) {
		if (file)
			fput(file);
		return ERR_PTR(ret);
	}
	place->event.kind = &user_place_kind;
	place->event.name = "user_probe";
	place->event.live = true;
	INIT_LIST_HEAD(&place->event.hooks);
	ret = prepare_file(place, file);
	if (!ret)
		ret = prepare_sites(place, request);
	if (!ret)
		ret = fetch_describe(place->sites[0].fetch,
				     request->flags & LTT_KMOD_PROBE_RETURN ? 3 : 1,
				     &place->event);
	if (!ret)
		return &place->event;
	user_place_free(place);
	return ERR_PTR(ret);
}
