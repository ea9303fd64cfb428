// SPDX-License-Identifier: GPL-2.0-only
#include "dump.h"

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/proc_ns.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "instr/symbols.h"

/* Values of the fields, as readers know them. */
enum { TYPE_USER, TYPE_KERNEL };
enum { MODE_UNKNOWN = 5, SUBMODE_UNKNOWN = 1 };
enum { STATUS_WAIT_CPU = 2, STATUS_ZOMBIE = 4, STATUS_WAIT = 5, STATUS_RUN = 6, STATUS_DEAD = 7 };

static int status_of(const struct task_struct *task)
{
	if (READ_ONCE(task->exit_state))
		return task->exit_state & EXIT_ZOMBIE ? STATUS_ZOMBIE : STATUS_DEAD;
	if (!task_is_running(task))
		return STATUS_WAIT;
	return READ_ONCE(task->on_cpu) ? STATUS_RUN : STATUS_WAIT_CPU;
}

static void dump_task_state(struct dump *dump, struct task_struct *task)
{
	char name[TASK_COMM_LEN];
	int ppid;

	rcu_read_lock();
	ppid = task_tgid_nr(rcu_dereference(task->real_parent));
	rcu_read_unlock();
	strscpy_pad(name, task->comm, sizeof(name));
	DUMP_ADD(dump, s32, task_pid_nr(task));
	DUMP_ADD(dump, s32, task_tgid_nr(task));
	DUMP_ADD(dump, s32, ppid);
	dump_add(dump, name, sizeof(name));
	DUMP_ADD(dump, s32, task->flags & PF_KTHREAD ? TYPE_KERNEL : TYPE_USER);
	DUMP_ADD(dump, s32, MODE_UNKNOWN);
	DUMP_ADD(dump, s32, SUBMODE_UNKNOWN);
	DUMP_ADD(dump, s32, status_of(task));
	DUMP_ADD(dump, u32, task_cpu(task));
	DUMP_ADD(dump, u64, (unsigned long)READ_ONCE(task->files));
	dump_record(dump, DUMP_PROCESS_STATE);
}

/* --- namespaces and cgroup ------------------------------------------------ */

/* The kernel's own way to them, as /proc/PID/ns takes it; not exported. */
static const struct {
	enum dump_event event;
	const char *operations;
} namespaces[] = {
	{ DUMP_PROCESS_CGROUP_NS, "cgroupns_operations" },
	{ DUMP_PROCESS_IPC_NS, "ipcns_operations" },
	{ DUMP_PROCESS_MNT_NS, "mntns_operations" },
	{ DUMP_PROCESS_NET_NS, "netns_operations" },
	{ DUMP_PROCESS_TIME_NS, "timens_operations" },
	{ DUMP_PROCESS_UTS_NS, "utsns_operations" },
};

#define NR_NAMESPACES ARRAY_SIZE(namespaces)

static void find_namespaces(const struct dump *dump, const struct proc_ns_operations **ret)
{
	size_t i;

	for (i = 0; i < NR_NAMESPACES; i++)
		ret[i] = dump_wants(dump, namespaces[i].event) ?
				 ltt_symbol_find(namespaces[i].operations) : NULL;
}

static void dump_namespace(struct dump *dump, struct task_struct *task,
			   const struct proc_ns_operations *operations, enum dump_event event)
{
	struct ns_common *ns = operations->get(task);

	if (!ns)
		return;
	DUMP_ADD(dump, s32, task_pid_nr(task));
	DUMP_ADD(dump, u32, ns->inum);
	dump_record(dump, event);
	operations->put(ns);
}

/* Its own, and all those around it. A task that ends has none. */
static void dump_pid_namespaces(struct dump *dump, struct task_struct *task)
{
	struct pid_namespace *ns;

	rcu_read_lock();
	for (ns = task_active_pid_ns(task); ns; ns = ns->parent) {
		DUMP_ADD(dump, s32, task_pid_nr(task));
		DUMP_ADD(dump, s32, task_pid_nr_ns(task, ns));
		DUMP_ADD(dump, s32, task_tgid_nr_ns(task, ns));
		DUMP_ADD(dump, s32, task_tgid_nr_ns(rcu_dereference(task->real_parent), ns));
		DUMP_ADD(dump, u32, ns->level);
		DUMP_ADD(dump, u32, ns->ns.inum);
		dump_record(dump, DUMP_PROCESS_PID_NS);
	}
	rcu_read_unlock();
}

static void dump_user_namespaces(struct dump *dump, struct task_struct *task)
{
	const struct cred *cred;
	struct user_namespace *ns;

	rcu_read_lock();
	cred = __task_cred(task);
	for (ns = cred->user_ns; ns; ns = ns->parent) {
		DUMP_ADD(dump, s32, task_pid_nr(task));
		DUMP_ADD(dump, u32, from_kuid_munged(ns, cred->uid));
		DUMP_ADD(dump, u32, from_kgid_munged(ns, cred->gid));
		DUMP_ADD(dump, u32, ns->level);
		DUMP_ADD(dump, u32, ns->ns.inum);
		dump_record(dump, DUMP_PROCESS_USER_NS);
	}
	rcu_read_unlock();
}

static void dump_cgroup(struct dump *dump, struct task_struct *task)
{
	struct cgroup *cgroup;

	rcu_read_lock();
	cgroup = task_dfl_cgroup(task);
	DUMP_ADD(dump, s32, task_pid_nr(task));
	DUMP_ADD(dump, u64, cgroup_id(cgroup));
	dump_add_text(dump, cgroup_path(cgroup, dump->path, PATH_MAX) < 0 ? "" : dump->path);
	dump_record(dump, DUMP_PROCESS_CGROUP);
	rcu_read_unlock();
}

/* --- descriptors and maps ------------------------------------------------- */

static const char *path_of(struct dump *dump, struct file *file)
{
	const char *path = d_path(&file->f_path, dump->path, PATH_MAX);

	return IS_ERR(path) ? "" : path;
}

struct table {
	struct dump *dump;
	const struct files_struct *files;
};

/* The table's lock is held. */
static int dump_descriptor(const void *data, struct file *file, unsigned int fd)
{
	const struct table *table = data;
	struct dump *dump = table->dump;

	DUMP_ADD(dump, u64, (unsigned long)table->files);
	DUMP_ADD(dump, s32, fd);
	DUMP_ADD(dump, u32, file->f_flags);
	DUMP_ADD(dump, u32, (__force u32)file->f_mode);
	dump_add_text(dump, path_of(dump, file));
	dump_record(dump, DUMP_FILE_DESCRIPTOR);
	return READ_ONCE(*dump->is_over);
}

/* Threads nearly always share one table, which is dumped once. */
static void dump_descriptors(struct dump *dump, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct table table = { .dump = dump };

	task_lock(task);
	table.files = task->files;
	if (table.files && (task == leader || table.files != READ_ONCE(leader->files)))
		iterate_fd(task->files, 0, dump_descriptor, &table);
	task_unlock(task);
}

static void dump_map(struct dump *dump, struct task_struct *task, struct vm_area_struct *vma)
{
	DUMP_ADD(dump, s32, task_tgid_nr(task));
	DUMP_ADD(dump, u64, vma->vm_start);
	DUMP_ADD(dump, u64, vma->vm_end);
	DUMP_ADD(dump, u64, vma->vm_flags);
	DUMP_ADD(dump, u64, vma->vm_file ? file_inode(vma->vm_file)->i_ino : 0);
	DUMP_ADD(dump, u64, vma->vm_pgoff);
	dump_add_text(dump, vma->vm_file ? path_of(dump, vma->vm_file) : "");
	dump_record(dump, DUMP_VM_MAP);
}

static void dump_maps(struct dump *dump, struct task_struct *task)
{
	struct mm_struct *mm = get_task_mm(task);
	struct vm_area_struct *vma;

	if (!mm)
		return;
	mmap_read_lock(mm);
	{
		VMA_ITERATOR(iterator, mm, 0);

		for_each_vma(iterator, vma) dump_map(dump, task, vma);
	}
	mmap_read_unlock(mm);
	mmput(mm);
}

/* --- all of them ---------------------------------------------------------- */

static void dump_task(struct dump *dump, struct task_struct *task,
		      const struct proc_ns_operations *const *operations)
{
	size_t i;

	if (dump_wants(dump, DUMP_PROCESS_STATE))
		dump_task_state(dump, task);
	for (i = 0; i < NR_NAMESPACES; i++)
		if (operations[i])
			dump_namespace(dump, task, operations[i], namespaces[i].event);
	if (dump_wants(dump, DUMP_PROCESS_PID_NS))
		dump_pid_namespaces(dump, task);
	if (dump_wants(dump, DUMP_PROCESS_USER_NS))
		dump_user_namespaces(dump, task);
	if (dump_wants(dump, DUMP_PROCESS_CGROUP))
		dump_cgroup(dump, task);
	if (dump_wants(dump, DUMP_FILE_DESCRIPTOR))
		dump_descriptors(dump, task);
	if (dump_wants(dump, DUMP_VM_MAP) && thread_group_leader(task))
		dump_maps(dump, task);
}

static u32 count_tasks(void)
{
	struct task_struct *process, *task;
	u32 nr = 0;

	rcu_read_lock();
	for_each_process_thread(process, task)
		nr++;
	rcu_read_unlock();
	return nr;
}

/* Those that there are now, referenced: dumping them may sleep. */
static u32 get_tasks(struct task_struct **tasks, u32 room)
{
	struct task_struct *process, *task;
	u32 nr = 0;

	rcu_read_lock();
	for_each_process_thread(process, task)
		if (nr < room)
			tasks[nr++] = get_task_struct(task);
	rcu_read_unlock();
	return nr;
}

int dump_tasks(struct dump *dump)
{
	const struct proc_ns_operations *operations[NR_NAMESPACES];
	u32 room = count_tasks() + 64, nr, i;
	struct task_struct **tasks = kvmalloc_array(room, sizeof(*tasks), GFP_KERNEL);

	if (!tasks)
		return -ENOMEM;
	find_namespaces(dump, operations);
	nr = get_tasks(tasks, room);
	for (i = 0; i < nr; i++) {
		if (dump_pause(dump))
			dump_task(dump, tasks[i], operations);
		put_task_struct(tasks[i]);
	}
	kvfree(tasks);
	return 0;
}
