// SPDX-License-Identifier: LGPL-2.1-or-later
#include "context.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "filter/program.h"
#include "otel.h"
#include "prepare.h"
#include "provider.h"
#include "rseq.h"
#include "set.h"
#include "sys.h"
#include "tracer/base/large.h"
#include "tracer/base/numbers.h"

#define COMM_LEN 16u /* of the kernel, with the terminator */
#define NR_NAMESPACES 8u
#define LIBC_THREAD_BYTES 4096 /* more than libc's struct pthread */

struct context_set {
	uint32_t nr, bytes;
	uint32_t imaged;	/* an image can be made */
	uint32_t cpu_at, ip_at; /* their places in it; .bytes: none */
	uint16_t types[CONTEXT_VALUES];
};

/* The values of a thread, and as of which change they are; 0: not read yet. */
struct context_thread {
	uint32_t pid, tid;
	uint32_t naming, crediting, spacing;
	uint32_t spaces; /* bits of the namespaces that are read */
	uint32_t users[CONTEXT_NR_IDS];
	uint32_t namespaces[NR_NAMESPACES];
	char name[COMM_LEN];
};

static struct context_set sets[PREPARATION_CONTEXT_SETS] TRACER_LARGE; /* 0 is the empty one */
static uint32_t nr_sets = 1;
uint8_t context_image_size[PREPARATION_CONTEXT_SETS];
/* Changes with a thread's name, its users or groups, and its namespaces; never 0. */
static uint32_t naming = 1, crediting = 1, spacing = 1;
uint64_t context_changes;  /* all of these */
static uint32_t forbidden; /* enum context_calls */
static uint32_t unkept;	   /* enum context_kind; constant once there is a set */
static __thread struct context_thread own __attribute__((tls_model("initial-exec")));
static __thread bool makes_image __attribute__((tls_model("initial-exec")));
__thread struct context_image context_own_image;
/* Where calls are forbidden: the values of the thread that forbade them, for threads that have not
 * read theirs, and the place of libc's copy of a thread's number in its struct pthread; 0: unknown.
 */
static struct context_thread known;
static ptrdiff_t tid_offset;

/* --- values ------------------------------------------------------------------------ */

bool context_may_call(enum context_calls calls)
{
	return !(__atomic_load_n(&forbidden, __ATOMIC_RELAXED) & calls);
}

static uint32_t call_for_number(long nr)
{
	long number = ring_syscall(nr, 0, 0, 0, 0);

	return number > 0 ? (uint32_t)number : 0;
}

static uint32_t libc_tid(void)
{
	return tid_offset ? *(uint32_t *)((char *)pthread_self() + tid_offset) : 0;
}

static __attribute__((noinline)) uint32_t read_pid(void)
{
	return context_may_call(CONTEXT_CALLS_THREAD) ? call_for_number(SYS_getpid) : known.pid;
}

static __attribute__((noinline)) uint32_t read_tid(void)
{
	return context_may_call(CONTEXT_CALLS_THREAD) ? call_for_number(SYS_gettid) : libc_tid();
}

static unsigned char *put_number(unsigned char *to, uint32_t number)
{
	memcpy(to, &number, sizeof(number));
	return to + sizeof(number);
}

static unsigned char *put_long(unsigned char *to, uint64_t number)
{
	memcpy(to, &number, sizeof(number));
	return to + sizeof(number);
}

/* @change if a thread may keep values as of then, else 0: not read yet. */
static uint32_t kept_as_of(enum context_kind kind, uint32_t change)
{
	return unkept & kind ? 0 : change;
}

static unsigned char *put_vpid(unsigned char *to)
{
	if (unlikely(!own.pid))
		own.pid = read_pid();
	return put_number(to, own.pid);
}

static unsigned char *put_vtid(unsigned char *to)
{
	if (unlikely(!own.tid))
		own.tid = read_tid();
	return put_number(to, own.tid);
}

/* The values may be those of a task that had the thread's memory before. */
static void check_task(void)
{
	uint32_t task = call_for_number(SYS_gettid);

	if (own.tid != task)
		context_forget();
	own.tid = task;
}

static __attribute__((noinline)) void read_name(uint32_t now)
{
	char name[COMM_LEN] = "";

	if (context_may_call(CONTEXT_CALLS_THREAD))
		ring_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0);
	else
		memcpy(name, own.naming ? own.name : known.name, sizeof(name));
	memcpy(own.name, name, sizeof(name));
	own.naming = kept_as_of(CONTEXT_NAME, now);
}

static unsigned char *put_procname(unsigned char *to)
{
	uint32_t now = __atomic_load_n(&naming, __ATOMIC_ACQUIRE);

	if (unlikely(own.naming != now))
		read_name(now);
	memcpy(to, own.name, COMM_LEN);
	return to + COMM_LEN;
}

void context_task(struct context_task *ret)
{
	_Static_assert(sizeof(ret->name) == COMM_LEN, "the name is written by put_procname()");
	put_vpid((unsigned char *)&ret->pid);
	put_vtid((unsigned char *)&ret->tid);
	put_procname((unsigned char *)ret->name);
}

static unsigned char *put_pthread_id(unsigned char *to)
{
	return put_long(to, (uint64_t)pthread_self());
}

/* Without rseq a system call returns it. */
static unsigned char *put_cpu_id(unsigned char *to)
{
	uint32_t cpu = ring_rseq_cpu();

	if (unlikely(cpu == UINT32_MAX) && context_may_call(CONTEXT_CALLS_THREAD))
		ring_syscall(SYS_getcpu, (long)&cpu, 0, 0, 0);
	return put_number(to, cpu);
}

static __attribute__((noinline)) void read_users(uint32_t now)
{
	uint32_t users[CONTEXT_NR_IDS] = { 0 };

	if (context_may_call(CONTEXT_CALLS_USERS)) {
		ring_syscall(NR_GETRESUID, (long)&users[0], (long)&users[1], (long)&users[2], 0);
		ring_syscall(NR_GETRESGID, (long)&users[3], (long)&users[4], (long)&users[5], 0);
	} else {
		memcpy(users, own.crediting ? own.users : known.users, sizeof(users));
	}
	memcpy(own.users, users, sizeof(users));
	own.crediting = kept_as_of(CONTEXT_USERS, now);
}

static unsigned char *put_user(unsigned char *to, uint32_t which)
{
	uint32_t now = __atomic_load_n(&crediting, __ATOMIC_ACQUIRE);

	if (unlikely(own.crediting != now))
		read_users(now);
	return put_number(to, own.users[which]);
}

void context_ids(uint32_t ret_ids[CONTEXT_NR_IDS])
{
	put_user((unsigned char *)ret_ids, 0);
	memcpy(ret_ids, own.users, sizeof(own.users));
}

/* The number in "net:[4026531840]"; 0: there is no such namespace, or no /proc. */
static uint32_t read_namespace(const char *path)
{
	char link[64];
	long len = ring_syscall(SYS_readlinkat, AT_FDCWD, (long)path, (long)link, sizeof(link));
	uint32_t number = 0;

	for (long i = 0; i < len; i++)
		if (link[i] >= '0' && link[i] <= '9')
			number = 10 * number + (uint32_t)(link[i] - '0');
	return number;
}

static __attribute__((noinline)) void read_space(uint32_t which, uint32_t now)
{
	static const char *const paths[NR_NAMESPACES] = {
		"/proc/thread-self/ns/cgroup", "/proc/thread-self/ns/ipc",
		"/proc/thread-self/ns/mnt",    "/proc/thread-self/ns/net",
		"/proc/thread-self/ns/pid",    "/proc/thread-self/ns/time",
		"/proc/thread-self/ns/user",   "/proc/thread-self/ns/uts",
	};

	const bool may = context_may_call(CONTEXT_CALLS_NAMESPACES);

	if (own.spacing != now && may)
		own.spaces = 0;
	own.spacing = kept_as_of(CONTEXT_NAMESPACES, now);
	if (may)
		own.namespaces[which] = read_namespace(paths[which]);
	else if (!(own.spaces >> which & 1))
		own.namespaces[which] = known.namespaces[which];
	own.spaces |= 1u << which;
}

static unsigned char *put_namespace(unsigned char *to, uint32_t which)
{
	uint32_t now = __atomic_load_n(&spacing, __ATOMIC_ACQUIRE);

	if (unlikely(own.spacing != now || !(own.spaces >> which & 1)))
		read_space(which, now);
	return put_long(to, own.namespaces[which]);
}

/* Names and sizes are those of sessiond/domain/user/context.c. */
enum context_type {
	VPID,
	VTID,
	PROCNAME,
	PTHREAD_ID,
	CPU_ID,
	VUID,
	VSGID = VUID + CONTEXT_NR_IDS - 1,
	CGROUP_NS,
	UTS_NS = CGROUP_NS + NR_NAMESPACES - 1,
	IP,
	OTEL,	    /* trace and span, as bytes */
	OTEL_TRACE, /* for filters: as texts */
	OTEL_SPAN,
	NR_TYPES,
	PROVIDED, /* and the slot of provider.h */
	PROVIDED_END = PROVIDED + PROVIDER_SLOTS - 1,
	CHECKED = 0x8000 /* added to the first one of a set: the task is checked before */
};

static const char *const type_names[NR_TYPES] = {
	[VPID] = "vpid",
	[VTID] = "vtid",
	[PROCNAME] = "procname",
	[PTHREAD_ID] = "pthread_id",
	[CPU_ID] = "cpu_id",
	[VUID] = "vuid",
	"veuid",
	"vsuid",
	"vgid",
	"vegid",
	"vsgid",
	[CGROUP_NS] = "cgroup_ns",
	"ipc_ns",
	"mnt_ns",
	"net_ns",
	"pid_ns",
	"time_ns",
	"user_ns",
	"uts_ns",
	[IP] = "ip",
	[OTEL] = "otel",
	[OTEL_TRACE] = "otel_trace_id",
	[OTEL_SPAN] = "otel_span_id",
};

static unsigned char *put_checked(enum context_type type, unsigned char *to, const void *ip);

static inline unsigned char *context_put(enum context_type type, unsigned char *to, const void *ip)
{
	switch (type) {
	case VPID:
		return put_vpid(to);
	case VTID:
		return put_vtid(to);
	case PROCNAME:
		return put_procname(to);
	case PTHREAD_ID:
		return put_pthread_id(to);
	case CPU_ID:
		return put_cpu_id(to);
	case VUID ... VSGID:
		return put_user(to, type - VUID);
	case CGROUP_NS ... UTS_NS:
		return put_namespace(to, type - CGROUP_NS);
	case IP:
		return put_long(to, (uintptr_t)ip);
	case OTEL:
		return otel_put(to);
	case OTEL_TRACE:
		return otel_put_text(to, 0, OTEL_TRACE_BYTES);
	case OTEL_SPAN:
		return otel_put_text(to, OTEL_TRACE_BYTES, OTEL_SPAN_BYTES);
	default:
		if (unlikely(type & CHECKED))
			return put_checked(type - CHECKED, to, ip);
		return provider_put(type - PROVIDED, to);
	}
}

static __attribute__((noinline)) unsigned char *put_checked(enum context_type type,
							    unsigned char *to, const void *ip)
{
	check_task();
	return context_put(type, to, ip);
}

size_t context_write(uint32_t contexts, unsigned char *to, const void *ip)
{
	const struct context_set *set = &sets[contexts];
	const unsigned char *begin = to;

	for (uint32_t i = 0; i < set->nr; i++)
		to = context_put((enum context_type)set->types[i], to, ip);
	return (size_t)(to - begin);
}

static void compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

/* A signal handler that interrupts this makes none, so that it is of one set. */
static __attribute__((noinline)) uint64_t make_image(uint32_t contexts, uint64_t key)
{
	const struct context_set *set = &sets[contexts];
	struct context_image *image = &context_own_image;

	if (makes_image)
		return 0;
	makes_image = true;
	image->key = 0;
	compiler_barrier();
	context_write(contexts, image->bytes, NULL);
	image->size = set->bytes;
	image->cpu_at = set->cpu_at;
	image->ip_at = set->ip_at;
	image->has_late = set->cpu_at < set->bytes || set->ip_at < set->bytes;
	compiler_barrier();
	image->key = key;
	makes_image = false;
	return key;
}

uint64_t context_keep_image(uint32_t contexts)
{
	const struct context_set *set = &sets[contexts];
	uint64_t key = context_image_key(contexts, set->ip_at < set->bytes);

	if (!set->imaged)
		return 0;
	return context_own_image.key == key ? key : make_image(contexts, key);
}

uint32_t context_nr(uint32_t contexts)
{
	return sets[contexts].nr;
}

uint32_t context_bytes(uint32_t contexts)
{
	return sets[contexts].bytes;
}

static uint32_t context_type_bytes(enum context_type type)
{
	if (type >= PROVIDED)
		return PROVIDER_BYTES;
	if (type >= OTEL)
		return type == OTEL	  ? OTEL_TRACE_BYTES + OTEL_SPAN_BYTES :
		       type == OTEL_TRACE ? 2 * OTEL_TRACE_BYTES + 1 :
					    2 * OTEL_SPAN_BYTES + 1;
	if (type == PROCNAME)
		return COMM_LEN;
	return type == PTHREAD_ID || type >= CGROUP_NS ? sizeof(uint64_t) : sizeof(uint32_t);
}

static int64_t context_read_integer(enum context_type type, const unsigned char *at)
{
	int64_t number;
	int32_t low;

	if (context_type_bytes(type) == sizeof(number)) {
		memcpy(&number, at, sizeof(number));
		return number;
	}
	memcpy(&low, at, sizeof(low));
	return type >= VUID ? (int64_t)(uint32_t)low : low;
}

/* Reads one value of those that context_write() has written. Return: behind it. */
static unsigned char *context_read(enum context_type type, unsigned char *at,
				   struct ltt_filter_value *ret)
{
	bool is_text = type == PROCNAME || type == OTEL_TRACE || type == OTEL_SPAN;

	if (type >= PROVIDED)
		return provider_read(at, ret);
	ret->kind = is_text ? LTT_FILTER_TEXT : LTT_FILTER_INTEGER;
	if (is_text) {
		ret->text = (const char *)at;
		ret->length = (uint32_t)strnlen(ret->text, context_type_bytes(type));
	} else if (type == OTEL) {
		ret->kind = LTT_FILTER_ABSENT;
	} else {
		ret->integer = context_read_integer(type, at);
	}
	return at + context_type_bytes(type);
}

void context_values(uint32_t contexts, unsigned char *memory, struct ltt_filter_value *values,
		    const void *ip)
{
	const struct context_set *set = &sets[contexts];

	context_write(contexts, memory, ip);
	for (uint32_t i = 0; i < set->nr; i++)
		memory = context_read((enum context_type)(set->types[i] & ~CHECKED), memory,
				      &values[i]);
}

/* --- sets --------------------------------------------------------------------------- */

static uint32_t context_find_type(const char *name, size_t len)
{
	uint32_t type = 0;

	while (type < NR_TYPES &&
	       (strlen(type_names[type]) != len || memcmp(type_names[type], name, len) != 0))
		type++;
	return type;
}

/* Return: NR_TYPES: there is no such context. */
static uint32_t context_find(const char *name, size_t len)
{
	const size_t head = strlen("$app.");
	uint32_t slot;
	int err;

	if (len <= head || memcmp(name, "$app.", head) != 0)
		return context_find_type(name, len);
	return provider_slot(name + head, len - head, &slot, &err) ? PROVIDED + slot : NR_TYPES;
}

/* Whether a thread may keep such a value until a change is reported. */
static bool context_is_kept(enum context_type type)
{
	switch (type) {
	case VPID:
	case VTID:
	case PTHREAD_ID:
		return !(unkept & CONTEXT_TASK);
	case PROCNAME:
		return !(unkept & CONTEXT_NAME);
	case VUID ... VSGID:
		return !(unkept & CONTEXT_USERS);
	case CGROUP_NS ... UTS_NS:
		return !(unkept & CONTEXT_NAMESPACES);
	default:
		return false;
	}
}

/* Its place, if it is written for each event, is that behind the contexts before. */
static bool context_is_late(struct context_set *set, enum context_type type)
{
	uint32_t *at = type == CPU_ID ? &set->cpu_at : type == IP ? &set->ip_at : NULL;

	if (!at || *at != UINT32_MAX)
		return false;
	*at = set->bytes;
	return true;
}

static bool context_parse(const char *names, struct context_set *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->imaged = true;
	ret->cpu_at = ret->ip_at = UINT32_MAX;
	while (*names) {
		size_t len = strcspn(names, ",");
		uint32_t type = context_find(names, len);

		if (type == NR_TYPES || ret->nr == CONTEXT_VALUES)
			return false;
		if (type >= OTEL && type <= OTEL_SPAN)
			otel_find();
		ret->types[ret->nr++] = (uint16_t)type;
		ret->imaged = ret->imaged && (context_is_kept((enum context_type)type) ||
					      context_is_late(ret, (enum context_type)type));
		ret->bytes += context_type_bytes((enum context_type)type);
		names += len + (names[len] == ',');
	}
	if (unkept & CONTEXT_TASK && ret->nr)
		ret->types[0] |= CHECKED;
	ret->imaged = ret->imaged && ret->nr && ret->bytes <= CONTEXT_IMAGE;
	ret->cpu_at = ret->cpu_at < ret->bytes ? ret->cpu_at : ret->bytes;
	ret->ip_at = ret->ip_at < ret->bytes ? ret->ip_at : ret->bytes;
	return true;
}

bool context_set(const char *names, uint32_t *ret_contexts)
{
	struct context_set set;
	uint32_t i = 0;

	if (!context_parse(names, &set))
		return false;
	while (i < nr_sets && memcmp(&sets[i], &set, sizeof(set)) != 0)
		i++;
	if (i == PREPARATION_CONTEXT_SETS)
		return false;
	if (i == nr_sets) {
		sets[nr_sets++] = set;
		context_image_size[i] = set.imaged ? (uint8_t)set.bytes : 0;
	}
	*ret_contexts = i;
	return true;
}

/* --- changes ------------------------------------------------------------------------ */

static void context_advance(uint32_t *change)
{
	if (__atomic_add_fetch(change, 1, __ATOMIC_RELEASE) == 0)
		__atomic_store_n(change, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&context_changes, 1, __ATOMIC_RELEASE);
}

void context_set_name(pthread_t thread, const char *name)
{
	const ptrdiff_t offset = (char *)&own - (char *)pthread_self(); /* of each thread */
	struct context_thread *its = (void *)((char *)thread + offset);

	if (!context_may_call(CONTEXT_CALLS_THREAD)) {
		strncpy(its->name, name, COMM_LEN - 1);
		its->name[COMM_LEN - 1] = '\0';
		its->naming = 1;
		if (its->tid == its->pid) /* threads that it creates begin with its name */
			memcpy(known.name, its->name, COMM_LEN);
	}
	context_advance(&naming);
}

void context_users_changed(void)
{
	context_advance(&crediting);
}

void context_namespaces_changed(void)
{
	context_advance(&spacing);
	context_advance(&crediting); /* a user has other numbers in another namespace */
}

/* libc's copy is at the address that the kernel clears at the thread's end. */
static void find_libc_tid(uint32_t tid)
{
	uint32_t *at = NULL;
	ptrdiff_t offset;

	ring_syscall(SYS_prctl, PR_GET_TID_ADDRESS, (long)&at, 0, 0);
	offset = (char *)at - (char *)pthread_self();
	if (at && offset > 0 && offset < LIBC_THREAD_BYTES && *at == tid)
		tid_offset = offset;
}

static void context_read_all(void)
{
	unsigned char to[sizeof(uint64_t) + COMM_LEN];

	put_vpid(to);
	put_vtid(to);
	put_procname(to);
	put_user(to, 0);
	for (uint32_t i = 0; i < NR_NAMESPACES; i++)
		put_namespace(to, i);
}

void context_remember(void)
{
	context_read_all();
	if (context_may_call(CONTEXT_CALLS_THREAD))
		find_libc_tid(own.tid);
	known = own;
}

void context_forbid_calls(uint32_t calls)
{
	__atomic_fetch_or(&forbidden, calls, __ATOMIC_RELEASE);
}

void context_after_fork_child(bool by_libc)
{
	context_forget();
	if (!by_libc)
		tid_offset = 0; /* its copy is the parent's */
	known.pid = libc_tid();
}

void context_keep_not(uint32_t kinds)
{
	unkept |= kinds;
}

void context_forget(void)
{
	context_own_image.key = 0;
	makes_image = false;
	own.pid = 0;
	own.tid = 0;
	own.naming = 0;
	own.crediting = 0;
	own.spacing = 0;
	own.spaces = 0;
}
