// SPDX-License-Identifier: GPL-2.0-only
#include "memory_file.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/splice.h>

#include "compat.h"

static vm_fault_t give_page(struct vm_fault *vmf, struct page **pages, unsigned long nr)
{
	if (vmf->pgoff >= nr)
		return VM_FAULT_SIGBUS;
	vmf->page = pages[vmf->pgoff];
	get_page(vmf->page);
	return 0;
}

static vm_fault_t data_fault(struct vm_fault *vmf)
{
	struct ring_set *set = vmf->vma->vm_file->private_data;

	return give_page(vmf, set->data_pages, set->nr_data_pages);
}

static vm_fault_t ctl_fault(struct vm_fault *vmf)
{
	struct ring_set *set = vmf->vma->vm_file->private_data;

	return give_page(vmf, set->ctl_pages, set->nr_ctl_pages);
}

/* The control words are the consumer's: an address space that has them mapped consumes. A mapping
 * in two parts counts twice. */
static void ctl_open(struct vm_area_struct *vma)
{
	struct ring_set *set = vma->vm_file->private_data;

	if (claim_take(&set->consumer, vma->vm_mm, NULL))
		return; /* it was being killed, and another one has come */
}

static void ctl_close(struct vm_area_struct *vma)
{
	struct ring_set *set = vma->vm_file->private_data;

	claim_drop(&set->consumer, vma->vm_mm);
}

static const struct vm_operations_struct data_vm_ops = { .fault = data_fault };
static const struct vm_operations_struct ctl_vm_ops = {
	.open = ctl_open, .close = ctl_close, .fault = ctl_fault,
};

/* Shared mappings only: a private one would stop to follow the ring when written.
 * (VM_MAYSHARE is the requested mode; of a read-only file VM_SHARED is dropped.) */
static int memory_file_map(struct vm_area_struct *vma, const struct vm_operations_struct *ops,
			   unsigned long forbidden)
{
	if (!(vma->vm_flags & VM_MAYSHARE) || (vma->vm_flags & (VM_EXEC | forbidden)))
		return -EPERM;
	compat_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC | forbidden << 4);
	vma->vm_ops = ops;
	return 0;
}

static int data_mmap(struct file *file, struct vm_area_struct *vma)
{
	BUILD_BUG_ON(VM_WRITE << 4 != VM_MAYWRITE);
	return memory_file_map(vma, &data_vm_ops, VM_WRITE);
}

static int ctl_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ring_set *set = file->private_data;
	int ret = memory_file_map(vma, &ctl_vm_ops, 0);

	if (ret)
		return ret;
	/* a child has no part in it */
	compat_vm_flags_mod(vma, VM_DONTCOPY, 0);
	return claim_take(&set->consumer, vma->vm_mm, task_tgid(current));
}

/* Arm the wake-up, then look: a record that comes between is seen, or wakes the reader. */
static __poll_t data_poll(struct file *file, poll_table *wait)
{
	struct ring_set *set = file->private_data;

	poll_wait(file, &set->sleepers, wait);
	WRITE_ONCE(set->armed, 1);
	smp_mb();
	return ring_set_has_data(set) ? EPOLLIN | EPOLLRDNORM : 0;
}

static void drop_page(struct splice_pipe_desc *spliced, unsigned int i)
{
	put_page(spliced->pages[i]);
}

/* The pages themselves go into the pipe, where offsets are those of the mapping. As with a
 * mapping, their bytes stay as they are while `consumed` does not pass them: until the other end of
 * the pipe has them. */
static ssize_t data_splice_read(struct file *file, loff_t *offset, struct pipe_inode_info *pipe,
				size_t len, unsigned int flags)
{
	struct ring_set *set = file->private_data;
	struct page *pages[PIPE_DEF_BUFFERS];
	struct partial_page parts[PIPE_DEF_BUFFERS];
	struct splice_pipe_desc spliced = {
		.pages = pages,
		.partial = parts,
		.nr_pages_max = PIPE_DEF_BUFFERS,
		.ops = &nosteal_pipe_buf_ops,
		.spd_release = drop_page,
	};
	u64 at = *offset, end = (u64)set->nr_data_pages << PAGE_SHIFT;
	ssize_t ret;

	if (at >= end)
		return 0;
	end = min_t(u64, end, at + len);
	while (at < end && spliced.nr_pages < PIPE_DEF_BUFFERS) {
		unsigned int in_page = offset_in_page(at), i = spliced.nr_pages++;

		pages[i] = set->data_pages[at >> PAGE_SHIFT];
		get_page(pages[i]);
		parts[i] = (struct partial_page){
			.offset = in_page,
			.len = min_t(u64, end - at, PAGE_SIZE - in_page),
		};
		at += parts[i].len;
	}
	ret = splice_to_pipe(pipe, &spliced);
	if (ret > 0)
		*offset += ret;
	return ret;
}

static int memory_file_release(struct inode *inode, struct file *file)
{
	ring_set_put(file->private_data);
	return 0;
}

static const struct file_operations data_fops = {
	.owner = THIS_MODULE,
	.mmap = data_mmap,
	.poll = data_poll,
	.splice_read = data_splice_read,
	.release = memory_file_release,
	.llseek = noop_llseek,
};

static const struct file_operations ctl_fops = {
	.owner = THIS_MODULE,
	.mmap = ctl_mmap,
	.release = memory_file_release,
	.llseek = noop_llseek,
};

static struct file *memory_file_make(struct ring_set *set, const char *name,
				     const struct file_operations *ops, int flags)
{
	struct file *file = anon_inode_getfile(name, ops, set, flags);

	if (!IS_ERR(file))
		ring_set_get(set);
	return file;
}

struct file *memory_file_data(struct ring_set *set)
{
	struct file *file = memory_file_make(set, "[ltt-data]", &data_fops, O_RDONLY);

	if (!IS_ERR(file))
		file->f_mode |= FMODE_PREAD; /* splice() with an offset */
	return file;
}

struct file *memory_file_ctl(struct ring_set *set)
{
	return memory_file_make(set, "[ltt-ctl]", &ctl_fops, O_RDWR);
}
