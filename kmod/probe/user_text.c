// SPDX-License-Identifier: GPL-2.0-only
#include "user_text.h"

#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* The page of the file that is mapped at the address. NULL also for a mapping with an anon_vma: it
 * has, or has had, private pages, which may differ from the file. */
static struct page *page_of_file(struct mm_struct *mm, unsigned long at)
{
	struct vm_area_struct *vma = find_vma(mm, at);
	struct page *page;

	if (!vma || vma->vm_start > at || !vma->vm_file || vma->anon_vma ||
	    (vma->vm_flags & (VM_IO | VM_PFNMAP | VM_HUGETLB)) || !(vma->vm_flags & VM_READ))
		return NULL;
	page = find_get_page(vma->vm_file->f_mapping, linear_page_index(vma, at));
	if (page && !PageUptodate(page)) {
		put_page(page);
		return NULL;
	}
	return page;
}

/* A program's own texts are often touched by the kernel first: their page is in memory,
 * but not in the task's tables. */
static long copy_of_file(char *to, u32 bytes, unsigned long from)
{
	struct mm_struct *mm = current->mm;
	struct page *page = NULL;
	const char *mapped;
	long len;

	/* with preemption off, as here, its locks may not be taken there */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EFAULT;
	if (mm && mmap_read_trylock(mm)) {
		page = page_of_file(mm, from);
		mmap_read_unlock(mm);
	}
	if (!page)
		return -EFAULT;
	mapped = kmap_local_page(page);
	len = strnlen(mapped + offset_in_page(from), bytes);
	memcpy(to, mapped + offset_in_page(from), len);
	kunmap_local(mapped);
	put_page(page);
	return len;
}

/* Up to the end of a page. Return: @bytes if there is no NUL among them. */
static long copy_in_page(char *to, u32 bytes, const char __user *from)
{
	long len;

	pagefault_disable();
	len = strncpy_from_user(to, from, bytes);
	pagefault_enable();
	return len >= 0 ? len : copy_of_file(to, bytes, (unsigned long)from);
}

u32 user_text(char *to, u32 room, const char __user *from)
{
	u32 end = 0;

	if (!from)
		return strscpy(to, "(null)", room) + 1;
	while (end < room - 1) {
		u32 bytes = min_t(u32, room - 1 - end, PAGE_SIZE - offset_in_page(from + end));
		long len = copy_in_page(to + end, bytes, from + end);

		if (len < 0)
			return strscpy(to, "(fault)", room) + 1;
		end += len;
		if (len < bytes)
			break;
	}
	to[end] = 0;
	return end + 1;
}
