// SPDX-License-Identifier: GPL-2.0-only
#include "maps.h"

#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/mm_types.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "layout.h"
#include "registers.h"
#include "registry.h"

/* As the state dump's. */
static const struct field maps_fields[] = {
	INT(pid), ADDRESS(start), ADDRESS(end), U64(flags), U64(inode), U64(pgoff), TEXT(filename),
};
static struct event maps_event = { .system = "mm", .name = "vm_map_exec", .fields = maps_fields,
				   .nr_fields = ARRAY_SIZE(maps_fields) };

struct maps_record {
	s32 pid;
	u64 start, end, flags, inode, pgoff;
	char path[PATH_MAX];
} __packed;

/** struct maps_probe - of a channel: the function that the kernel calls for each new map. */
struct maps_probe {
	struct kprobe probe;
	struct hook *hook;
	struct maps_record __percpu *records;
};

/* The end of a path that is too long does not matter: its file has no names. */
static u32 maps_fill(struct maps_record *record, const struct vm_area_struct *vma)
{
	const char *path = d_path(&vma->vm_file->f_path, record->path, sizeof(record->path));
	u32 len = IS_ERR(path) ? 0 : strlen(path);

	record->pid = task_tgid_nr(current);
	record->start = vma->vm_start;
	record->end = vma->vm_end;
	record->flags = vma->vm_flags;
	record->inode = file_inode(vma->vm_file)->i_ino;
	record->pgoff = vma->vm_pgoff;
	if (len)
		memmove(record->path, path, len);
	record->path[len] = '\0';
	return offsetof(struct maps_record, path) + len + 1;
}

/* The map's lock is held, and the kernel itself makes the path there. */
static int maps_on_new(struct kprobe *probe, struct pt_regs *regs)
{
	const struct maps_probe *own = container_of(probe, struct maps_probe, probe);
	const struct vm_area_struct *vma =
		(const struct vm_area_struct *)register_argument(regs, 0);
	struct maps_record *record = this_cpu_ptr(own->records);

	if (vma->vm_file && vma->vm_flags & VM_EXEC)
		ring_put(&own->hook->source, record, maps_fill(record, vma));
	return 0;
}
NOKPROBE_SYMBOL(maps_on_new);

static void maps_free(struct maps_probe *own)
{
	free_percpu(own->records);
	kfree(own);
}

static int maps_attach(struct hook *hook)
{
	struct maps_probe *own = kzalloc(sizeof(*own), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!own)
		return ret;
	own->hook = hook;
	own->records = alloc_percpu(struct maps_record);
	own->probe.symbol_name = "perf_event_mmap";
	own->probe.pre_handler = maps_on_new;
	if (own->records)
		ret = register_kprobe(&own->probe);
	if (ret)
		maps_free(own);
	else
		hook->own = own;
	return ret;
}

static void maps_detach(struct hook *hook)
{
	struct maps_probe *own = hook->own;

	unregister_kprobe(&own->probe);
	ring_set_lose(hook->source.set, own->probe.nmissed);
	maps_free(own);
}

static const struct event_kind maps_kind = { .attach = maps_attach, .detach = maps_detach };

int maps_init(void)
{
	int ret = registry_add(&maps_event, &maps_kind);

	if (!ret)
		registry_comes(&maps_event);
	return ret;
}
