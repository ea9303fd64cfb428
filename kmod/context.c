// SPDX-License-Identifier: GPL-2.0-only
#include "context.h"

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/ipc_namespace.h>
#include <linux/nsproxy.h>
#include <linux/percpu.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/proc_ns.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/string.h>
#include <linux/time_namespace.h>
#include <linux/user_namespace.h>
#include <linux/utsname.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "counters.h"
#include "filter/program.h"
#include "instr/symbols.h"
#include "stacks.h"

/* --- of the current task -------------------------------------------------- */

static u64 context_pid(void)
{
	return task_tgid_nr(current);
}

static u64 context_tid(void)
{
	return task_pid_nr(current);
}

static u64 context_ppid(void)
{
	u64 pid;

	rcu_read_lock();
	pid = task_tgid_nr(rcu_dereference(current->real_parent));
	rcu_read_unlock();
	return pid;
}

static u64 context_vpid(void)
{
	return task_tgid_vnr(current);
}

static u64 context_vtid(void)
{
	return task_pid_vnr(current);
}

static u64 context_vppid(void)
{
	u64 pid;

	rcu_read_lock();
	pid = task_tgid_vnr(rcu_dereference(current->real_parent));
	rcu_read_unlock();
	return pid;
}

static u64 context_prio(void)
{
	return current->prio - MAX_RT_PRIO;
}

static u64 context_nice(void)
{
	return task_nice(current);
}

static u64 context_uid(void)
{
	return from_kuid_munged(&init_user_ns, current_uid());
}

static u64 context_euid(void)
{
	return from_kuid_munged(&init_user_ns, current_euid());
}

static u64 context_gid(void)
{
	return from_kgid_munged(&init_user_ns, current_gid());
}

static u64 context_egid(void)
{
	return from_kgid_munged(&init_user_ns, current_egid());
}

static u64 context_suid(void)
{
	return from_kuid_munged(&init_user_ns, current_cred()->suid);
}

static u64 context_sgid(void)
{
	return from_kgid_munged(&init_user_ns, current_cred()->sgid);
}

static u64 context_vuid(void)
{
	return from_kuid_munged(current_user_ns(), current_uid());
}

static u64 context_veuid(void)
{
	return from_kuid_munged(current_user_ns(), current_euid());
}

static u64 context_vsuid(void)
{
	return from_kuid_munged(current_user_ns(), current_cred()->suid);
}

static u64 context_vgid(void)
{
	return from_kgid_munged(current_user_ns(), current_gid());
}

static u64 context_vegid(void)
{
	return from_kgid_munged(current_user_ns(), current_egid());
}

static u64 context_vsgid(void)
{
	return from_kgid_munged(current_user_ns(), current_cred()->sgid);
}

static u64 context_user_ns(void)
{
	return current_user_ns()->ns.inum;
}

static u64 context_pid_ns(void)
{
	const struct pid_namespace *ns = task_active_pid_ns(current);

	return ns ? ns->ns.inum : 0;
}

/* A task that ends has let go of the others. */
#define GET_NS(name, inum)							\
	static u64 context_##name(void)						\
	{									\
		const struct nsproxy *proxy = READ_ONCE(current->nsproxy);	\
										\
		return proxy ? proxy->inum : 0;					\
	}

GET_NS(cgroup_ns, cgroup_ns->ns.inum)
GET_NS(ipc_ns, ipc_ns->ns.inum)
GET_NS(net_ns, net_ns->ns.inum)
GET_NS(time_ns, time_ns->ns.inum)
GET_NS(uts_ns, uts_ns->ns.inum)

/* From a namespace of mounts, whose structure is private, to its ns_common. */
static long mnt_ns_offset;

static u64 context_mnt_ns(void)
{
	const struct nsproxy *proxy = READ_ONCE(current->nsproxy);

	return proxy && proxy->mnt_ns ?
		       ((struct ns_common *)((u8 *)proxy->mnt_ns + mnt_ns_offset))->inum : 0;
}

/* The task's own, as /proc/PID/ns takes it: not exported, and not for any context. */
void context_init(void)
{
	const struct proc_ns_operations *operations = ltt_symbol_find("mntns_operations");
	struct ns_common *ns = operations ? operations->get(current) : NULL;

	if (!ns)
		return;
	mnt_ns_offset = (u8 *)ns - (u8 *)current->nsproxy->mnt_ns;
	operations->put(ns);
}

static u64 context_cgroup_id(void)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
	return id;
}

static u64 context_interruptible(void)
{
	return !irqs_disabled();
}

/* A probe has turned it off once, but not where the kernel can't preempt itself. */
static u64 context_preemptible(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_COUNT) && preempt_count() == PREEMPT_OFFSET;
}

static u64 context_migratable(void)
{
#ifdef CONFIG_SMP
	return !current->migration_disabled;
#else
	return 1;
#endif
}

static u64 context_need_reschedule(void)
{
	return need_resched();
}

/* --- of the CPU, and of the machine ------------------------------------------ */

static u64 context_cpu_id(void)
{
	return smp_processor_id();
}

static const char *context_procname(void)
{
	return current->comm;
}

static const char *context_hostname(void)
{
	const struct nsproxy *proxy = READ_ONCE(current->nsproxy);

	return proxy ? proxy->uts_ns->name.nodename : "";
}

/* --- the table ------------------------------------------------------------ */

/** struct context - @get: its number; or @text; or @walk: a stack. */
struct context {
	struct field field;
	u64 (*get)(void);
	const char *(*text)(void);
	u32 (*walk)(unsigned long *ret);
};

#define NUMBER(name_, type_, bytes, signed_)						\
	{ .field = { .name = #name_, .type = type_, .elem_bytes = (bytes),		\
		     .is_signed = (signed_) }, .get = context_##name_ }
#define PID(name) NUMBER(name, "pid_t", 4, true)
#define ID(name) NUMBER(name, "uid_t", 4, false)
#define INODE(name) NUMBER(name, "unsigned int", 4, false)
#define FLAG(name) NUMBER(name, "bool", 1, false)
#define NAME(name_, bytes)								\
	{ .field = { .name = #name_, .type = "char", .elem_bytes = 1, .count = (bytes),		\
		     .form = FORM_ARRAY, .is_signed = true }, .text = context_##name_ }
#define STACK(name_, walk_)								\
	{ .field = { .name = (name_), .type = "void *", .form = FORM_DYNAMIC,		\
		     .elem_bytes = sizeof(unsigned long) }, .walk = (walk_) }

static const struct context table[] = {
	PID(pid), PID(tid), PID(ppid), PID(vpid), PID(vtid), PID(vppid),
	NAME(procname, TASK_COMM_LEN), NAME(hostname, __NEW_UTS_LEN + 1),
	NUMBER(cpu_id, "int", 4, true), NUMBER(prio, "int", 4, true), NUMBER(nice, "int", 4, true),
	ID(uid), ID(euid), ID(suid), ID(gid), ID(egid), ID(sgid),
	ID(vuid), ID(veuid), ID(vsuid), ID(vgid), ID(vegid), ID(vsgid),
	INODE(cgroup_ns), INODE(ipc_ns), INODE(mnt_ns), INODE(net_ns), INODE(pid_ns),
	INODE(time_ns), INODE(user_ns), INODE(uts_ns), NUMBER(cgroup_id, "u64", 8, false),
	FLAG(interruptible), FLAG(preemptible), FLAG(migratable), FLAG(need_reschedule),
	STACK("callstack-kernel", stacks_kernel), STACK("callstack-user", stacks_user),
};

#define COUNTED 255 /* none of the table */

const struct field *context_field(u32 index)
{
	return index < ARRAY_SIZE(table) ? &table[index].field : NULL;
}

static const struct field counter_field = { .type = "u64", .elem_bytes = sizeof(u64) };

const struct field *contexts_field(const struct contexts *contexts, u32 index)
{
	u8 which = contexts->which[index];

	return which == COUNTED ? &counter_field : &table[which].field;
}

const char *contexts_name(const struct contexts *contexts, u32 index)
{
	u8 which = contexts->which[index];

	if (which == COUNTED)
		return counters_name(contexts->counters[index]);
	return table[which].field.name;
}

/* Without elements, where their number is not known before. */
static u32 fixed_bytes(u8 which)
{
	const struct field *field;

	if (which == COUNTED)
		return sizeof(u64);
	field = &table[which].field;
	if (field->form == FORM_DYNAMIC)
		return sizeof(u16);
	return field->form == FORM_ARRAY ? field->elem_bytes * field->count : field->elem_bytes;
}

/* --- values that are read before ---------------------------------------------- */

#define CONTEXT_LEVELS 4 /* writers that interrupt each other, or cause each other, on a CPU */

/* A channel needs one of each at most. */
struct stack {
	u16 nr;
	unsigned long at[STACKS_MAX];
};

struct gathered {
	u64 counted[CONTEXTS_MAX];
	struct stack stacks[2];
};

struct gathering {
	u32 level;
	struct gathered of_level[CONTEXT_LEVELS];
};

static u32 stack_nr(u8 which)
{
	return table[which].walk == stacks_user;
}

static void notrace kmod_context_gather(const struct contexts *contexts, u32 nr,
					struct gathered *ret)
{
	struct stack *stack;
	u32 i;

	for (i = 0; i < nr; i++) {
		u8 which = contexts->which[i];

		if (which == COUNTED) {
			ret->counted[i] = counters_read(contexts->counters[i]);
		} else if (table[which].walk) {
			stack = &ret->stacks[stack_nr(which)];
			stack->nr = table[which].walk(stack->at);
		}
	}
}

/* To read a counter or a stack may be an event that is recorded, too, with all that comes
 * with it: it ends where there are no levels left. */
struct gathered *notrace contexts_gather(const struct contexts *contexts, u32 nr)
{
	struct gathering *gathering = this_cpu_ptr(contexts->gathered);
	u32 level = gathering->level++;

	barrier();
	if (level >= CONTEXT_LEVELS)
		return NULL;
	kmod_context_gather(contexts, nr, &gathering->of_level[level]);
	return &gathering->of_level[level];
}

void notrace contexts_release(const struct contexts *contexts)
{
	barrier();
	this_cpu_ptr(contexts->gathered)->level--;
}

u32 notrace contexts_bytes(const struct contexts *contexts, u32 nr, const struct gathered *gathered)
{
	u32 bytes = contexts->bytes[nr], i;

	for (i = 0; gathered && i < nr; i++) {
		u8 which = contexts->which[i];

		if (which != COUNTED && table[which].walk)
			bytes += gathered->stacks[stack_nr(which)].nr * sizeof(unsigned long);
	}
	return bytes;
}

/* --- which ones ----------------------------------------------------------- */

static int kmod_context_find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].field.name, name))
			return i;
	return -ENOENT;
}

int context_find_value(const char *name)
{
	int which = kmod_context_find(name);

	return which < 0 || table[which].walk ? -ENOENT : which;
}

bool context_has_value(u32 index)
{
	return index < ARRAY_SIZE(table) && !table[index].walk;
}

void notrace context_value(u8 which, struct ltt_filter_value *ret)
{
	const struct context *context = &table[which];

	if (context->get) {
		ret->kind = LTT_FILTER_INTEGER;
		ret->integer = (s64)context->get();
		return;
	}
	ret->kind = LTT_FILTER_TEXT;
	ret->text = context->text();
	ret->length = strnlen(ret->text, context->field.count);
}

static int start_counting(struct counters **ret, const struct ltt_kmod_context *asked)
{
	const struct perf_event_attr attr = {
		.type = asked->perf_type,
		.config = asked->perf_config,
		.size = sizeof(attr),
		.pinned = 1,
	};
	struct counters *counters;

	if (asked->perf_type == PERF_TYPE_TRACEPOINT || asked->perf_type == PERF_TYPE_BREAKPOINT)
		return -EINVAL;
	counters = counters_new(&attr, NULL, NULL, asked->name);
	if (IS_ERR(counters))
		return PTR_ERR(counters);
	*ret = counters;
	return 0;
}

static bool kmod_context_has(const struct contexts *contexts, const char *name)
{
	u32 i;

	for (i = 0; i < contexts->nr; i++)
		if (!strcmp(contexts_name(contexts, i), name))
			return true;
	return false;
}

/* Records of events that have none of these may be under way. */
static int kmod_context_ensure_room(struct contexts *contexts, u8 which)
{
	struct gathering __percpu *gathered;

	if (contexts->gathered || (which != COUNTED && !table[which].walk))
		return 0;
	gathered = alloc_percpu_gfp(struct gathering, GFP_KERNEL_ACCOUNT);
	WRITE_ONCE(contexts->gathered, gathered);
	return gathered ? 0 : -ENOMEM;
}

int contexts_add(struct contexts *contexts, const struct ltt_kmod_context *asked)
{
	bool counted = asked->flags & LTT_KMOD_CONTEXT_PERF;
	int which = counted ? COUNTED : kmod_context_find(asked->name), ret;

	BUILD_BUG_ON(ARRAY_SIZE(table) >= CONTEXTS_MAX);
	if (contexts->nr == CONTEXTS_MAX)
		return -ENOSPC;
	if (which < 0)
		return which;
	if (kmod_context_has(contexts, asked->name))
		return -EEXIST;
	ret = kmod_context_ensure_room(contexts, which);
	if (!ret && counted)
		ret = start_counting(&contexts->counters[contexts->nr], asked);
	if (ret)
		return ret;
	contexts->which[contexts->nr] = which;
	contexts->bytes[contexts->nr + 1] = contexts->bytes[contexts->nr] + fixed_bytes(which);
	contexts->nr++;
	return 0;
}

void contexts_fini(struct contexts *contexts)
{
	u32 i;

	for (i = 0; i < contexts->nr; i++)
		counters_free(contexts->counters[i]);
	free_percpu(contexts->gathered);
}

/* --- the record ----------------------------------------------------------- */

static u8 *put_stack(u8 *to, const struct gathered *gathered, u8 which)
{
	const struct stack *stack = gathered ? &gathered->stacks[stack_nr(which)] : NULL;
	u16 nr = stack ? stack->nr : 0;

	memcpy(to, &nr, sizeof(nr));
	if (nr)
		memcpy(to + sizeof(nr), stack->at, nr * sizeof(unsigned long));
	return to + sizeof(nr) + nr * sizeof(unsigned long);
}

static u8 *put_of_table(u8 *to, const struct gathered *gathered, u8 which)
{
	const struct context *context = &table[which];
	u32 bytes = fixed_bytes(which);
	u64 value;

	if (context->walk)
		return put_stack(to, gathered, which);
	if (context->get) {
		value = context->get();
		memcpy(to, &value, bytes);
	} else {
		strscpy_pad((char *)to, context->text(), bytes);
	}
	return to + bytes;
}

void notrace contexts_put(const struct contexts *contexts, u32 nr, const struct gathered *gathered,
			  u8 *to)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		u64 value = gathered ? gathered->counted[i] : 0;

		if (contexts->which[i] != COUNTED) {
			to = put_of_table(to, gathered, contexts->which[i]);
			continue;
		}
		memcpy(to, &value, sizeof(value));
		to += sizeof(value);
	}
}
