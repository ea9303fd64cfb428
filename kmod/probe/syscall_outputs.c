// SPDX-License-Identifier: GPL-2.0-only
#include "syscall_outputs.h"

#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/eventpoll.h>
#include <linux/kernel.h>
#include <linux/mqueue.h>
#include <linux/poll.h>
#include <linux/resource.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/stat.h>
#include <linux/statfs.h>
#include <linux/string.h>
#include <linux/sysinfo.h>
#include <linux/time.h>
#include <linux/times.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/utsname.h>
#include <uapi/linux/sched/types.h>

#include "kept.h"
#include "text.h"

#define OUTPUT_BYTES	 256 /* of an output whose length is not fixed */
#define STRUCTURE_BYTES	 400

/**
 * struct member - a field of a structure. @name: empty: that of the argument alone.
 * @count: elements, of an array or a text.
 */
struct member {
	const char *name;
	u16 at;
	u16 count;
	u8 bytes;
	u8 form;
	bool is_signed;
	u8 base;
};

/** struct output_type - @looks_same: in 32-bit programs, too. */
struct output_type {
	const struct member *members;
	u16 nr;
	u16 bytes;
	bool looks_same;
};

/** enum output_length - how many elements there are. @by: of struct output. */
enum output_length {
	LENGTH_ONE,
	LENGTH_RETURNED, /* by the call */
	LENGTH_ARGUMENT, /* argument @by */
	LENGTH_AT,	 /* the int at argument @by */
	LENGTH_BITS,	 /* words for as many bits as argument @by has */
	LENGTH_PAGES,	 /* of that number of bytes */
	LENGTH_CAPS,	 /* by the version at argument @by */
};

#define OUTPUT_DATA	0x01 /* contents of files, messages and the like */
#define OUTPUT_POSITIVE	0x02 /* filled only if the call returns more than 0 */
#define OUTPUT_LEFT	0x04 /* filled only if a signal ends the call: time that is left */
#define OUTPUT_ADDRESS	0x08 /* not behind its buffer, whose length the entry has kept */
#define VECTOR_MAX	16   /* elements of an array of buffers of which something is recorded */
#define MESSAGES_MAX	(OUTPUT_BYTES / sizeof(u32))

/** enum output_of - the kind of object that the argument points to. */
enum output_of {
	OF_MEMORY,
	OF_VECTOR,   /* array of struct iovec, of @by elements: the first bytes in them */
	OF_MESSAGE,  /* struct user_msghdr: those in its array of such */
	OF_SOURCE,   /* the address in a struct user_msghdr */
	OF_MESSAGES, /* as many struct mmsghdr as the call returns: the first bytes of all */
	OF_SOURCES,  /* all their addresses, without gaps */
	OF_EACH,     /* the u32 at @at of each */
};

/**
 * struct output
 * @arg: argument that points to it. @at: bytes behind that, of which @length counts @less, too.
 * @limit: argument that limits the length, counted from 1; 0: none. @of: enum output_of.
 */
struct output {
	const struct output_type *type;
	u8 arg;
	u8 length;
	u8 by;
	u8 limit;
	u8 at;
	u8 less;
	u8 flags;
	u8 of;
};

/* --- structures ------------------------------------------------------------------- */

/* (Some names of members are macros, and must not be expanded before they are texts.) */
#define MEMBER(name_, at_, count_, form_, element, base_)					\
	{ .name = (name_), .at = (at_), .count = (count_), .bytes = sizeof(element),		\
	  .form = (form_), .is_signed = is_signed_type(element), .base = (base_) }
#define VALUE_OF(type, member, element, base)						\
	MEMBER(#member, offsetof(type, member), 1, FORM_VALUE, element, base)
#define OF(type, member)								\
	MEMBER(#member, offsetof(type, member), 1, FORM_VALUE, typeof_member(type, member), 10)
#define HEX(type, member)								\
	MEMBER(#member, offsetof(type, member), 1, FORM_VALUE, typeof_member(type, member), 16)
#define TEXT(type, member)								\
	MEMBER(#member, offsetof(type, member), sizeof_field(type, member), FORM_STRING, char, 10)
#define LIST(type, member)								\
	MEMBER(#member, offsetof(type, member),						\
	       sizeof_field(type, member) / sizeof(((type *)0)->member[0]), FORM_ARRAY,	\
	       typeof(((type *)0)->member[0]), 10)
#define TYPE(name, type, same)								\
	static const struct output_type name = { name##_members, ARRAY_SIZE(name##_members),	\
						 sizeof(type), same };			\
	static_assert(sizeof(type) <= STRUCTURE_BYTES)
#define ALONE(name_, text, type, base, same)						\
	static const struct member name_##_members[] = {					\
		MEMBER(text, 0, 1, FORM_VALUE, type, base),				\
	};										\
	TYPE(name_, type, same)
#define SIMPLE(name, type, base, same) ALONE(name, "", type, base, same)

SIMPLE(out_int, int, 10, true);
SIMPLE(out_uint, unsigned int, 10, true);
SIMPLE(out_long, long, 10, false);
SIMPLE(out_word, unsigned long, 16, false);
SIMPLE(out_offset, loff_t, 10, true);
SIMPLE(out_mask, u64, 16, true);
SIMPLE(out_byte, u8, 16, true);

static const struct member out_text_members[] = {
	MEMBER("", 0, 1, FORM_STRING, char, 10),
};
TYPE(out_text, char, true);

static const struct member out_pair_members[] = {
	MEMBER("", 0, 2, FORM_ARRAY, int, 10),
};
TYPE(out_pair, int[2], true);

ALONE(out_family, "sa_family", sa_family_t, 10, true);
ALONE(out_address, "sa_data", u8, 16, true);
ALONE(out_mtype, "mtype", long, 10, false);
ALONE(out_mtext, "mtext", u8, 16, false);

#define STAT(member) OF(struct stat, member)
static const struct member out_stat_members[] = {
	STAT(st_dev), STAT(st_ino), HEX(struct stat, st_mode), STAT(st_nlink), STAT(st_uid),
	STAT(st_gid), STAT(st_rdev), STAT(st_size), STAT(st_blksize), STAT(st_blocks),
	STAT(st_atime), STAT(st_atime_nsec), STAT(st_mtime), STAT(st_mtime_nsec), STAT(st_ctime),
	STAT(st_ctime_nsec),
};
TYPE(out_stat, struct stat, false);

#define STATX(member) OF(struct statx, member)
static const struct member out_statx_members[] = {
	HEX(struct statx, stx_mask), STATX(stx_blksize), HEX(struct statx, stx_attributes),
	STATX(stx_nlink), STATX(stx_uid), STATX(stx_gid), HEX(struct statx, stx_mode),
	STATX(stx_ino), STATX(stx_size), STATX(stx_blocks),
	HEX(struct statx, stx_attributes_mask), STATX(stx_atime.tv_sec), STATX(stx_atime.tv_nsec),
	STATX(stx_btime.tv_sec), STATX(stx_btime.tv_nsec), STATX(stx_ctime.tv_sec),
	STATX(stx_ctime.tv_nsec), STATX(stx_mtime.tv_sec), STATX(stx_mtime.tv_nsec),
	STATX(stx_rdev_major), STATX(stx_rdev_minor), STATX(stx_dev_major), STATX(stx_dev_minor),
	STATX(stx_mnt_id),
};
TYPE(out_statx, struct statx, true);

#define STATFS(member) OF(struct statfs, member)
static const struct member out_statfs_members[] = {
	HEX(struct statfs, f_type), STATFS(f_bsize), STATFS(f_blocks), STATFS(f_bfree),
	STATFS(f_bavail), STATFS(f_files), STATFS(f_ffree), LIST(struct statfs, f_fsid.val),
	STATFS(f_namelen), STATFS(f_frsize), HEX(struct statfs, f_flags),
};
TYPE(out_statfs, struct statfs, false);

#define UTSNAME(member) TEXT(struct new_utsname, member)
static const struct member out_utsname_members[] = {
	UTSNAME(sysname), UTSNAME(nodename), UTSNAME(release), UTSNAME(version), UTSNAME(machine),
	UTSNAME(domainname),
};
TYPE(out_utsname, struct new_utsname, true);

#define SYSINFO(member) OF(struct sysinfo, member)
static const struct member out_sysinfo_members[] = {
	SYSINFO(uptime), LIST(struct sysinfo, loads), SYSINFO(totalram), SYSINFO(freeram),
	SYSINFO(sharedram), SYSINFO(bufferram), SYSINFO(totalswap), SYSINFO(freeswap),
	SYSINFO(procs), SYSINFO(totalhigh), SYSINFO(freehigh), SYSINFO(mem_unit),
};
TYPE(out_sysinfo, struct sysinfo, false);

static const struct member out_tms_members[] = {
	OF(struct tms, tms_utime), OF(struct tms, tms_stime), OF(struct tms, tms_cutime),
	OF(struct tms, tms_cstime),
};
TYPE(out_tms, struct tms, false);

#define RUSAGE(member) OF(struct rusage, member)
static const struct member out_rusage_members[] = {
	RUSAGE(ru_utime.tv_sec), RUSAGE(ru_utime.tv_usec), RUSAGE(ru_stime.tv_sec),
	RUSAGE(ru_stime.tv_usec), RUSAGE(ru_maxrss), RUSAGE(ru_minflt), RUSAGE(ru_majflt),
	RUSAGE(ru_inblock), RUSAGE(ru_oublock), RUSAGE(ru_nvcsw), RUSAGE(ru_nivcsw),
};
TYPE(out_rusage, struct rusage, false);

static const struct member out_rlimit_members[] = {
	OF(struct rlimit, rlim_cur), OF(struct rlimit, rlim_max),
};
TYPE(out_rlimit, struct rlimit, false);

static const struct member out_rlimit64_members[] = {
	OF(struct rlimit64, rlim_cur), OF(struct rlimit64, rlim_max),
};
TYPE(out_rlimit64, struct rlimit64, true);

static const struct member out_timespec_members[] = {
	OF(struct __kernel_timespec, tv_sec), OF(struct __kernel_timespec, tv_nsec),
};
TYPE(out_timespec, struct __kernel_timespec, true);

static const struct member out_timeval_members[] = {
	OF(struct __kernel_old_timeval, tv_sec), OF(struct __kernel_old_timeval, tv_usec),
};
TYPE(out_timeval, struct __kernel_old_timeval, false);

static const struct member out_timezone_members[] = {
	OF(struct timezone, tz_minuteswest), OF(struct timezone, tz_dsttime),
};
TYPE(out_timezone, struct timezone, true);

#define ITIMERSPEC(member) OF(struct __kernel_itimerspec, member)
static const struct member out_itimerspec_members[] = {
	ITIMERSPEC(it_interval.tv_sec), ITIMERSPEC(it_interval.tv_nsec),
	ITIMERSPEC(it_value.tv_sec), ITIMERSPEC(it_value.tv_nsec),
};
TYPE(out_itimerspec, struct __kernel_itimerspec, true);

#define ITIMERVAL(member) OF(struct __kernel_old_itimerval, member)
static const struct member out_itimerval_members[] = {
	ITIMERVAL(it_interval.tv_sec), ITIMERVAL(it_interval.tv_usec), ITIMERVAL(it_value.tv_sec),
	ITIMERVAL(it_value.tv_usec),
};
TYPE(out_itimerval, struct __kernel_old_itimerval, false);

#define TIMEX(member) OF(struct __kernel_timex, member)
static const struct member out_timex_members[] = {
	HEX(struct __kernel_timex, modes), TIMEX(offset), TIMEX(freq), TIMEX(maxerror),
	TIMEX(esterror), HEX(struct __kernel_timex, status), TIMEX(constant), TIMEX(precision),
	TIMEX(tolerance), TIMEX(time.tv_sec), TIMEX(time.tv_usec), TIMEX(tick), TIMEX(tai),
};
TYPE(out_timex, struct __kernel_timex, true);

static const struct member out_siginfo_members[] = {
	OF(struct kernel_siginfo, si_signo), OF(struct kernel_siginfo, si_errno),
	OF(struct kernel_siginfo, si_code), OF(struct kernel_siginfo, si_pid),
	OF(struct kernel_siginfo, si_uid), OF(struct kernel_siginfo, si_status),
};
TYPE(out_siginfo, struct kernel_siginfo, false);

static const struct member out_sigaction_members[] = {
	VALUE_OF(struct sigaction, sa_handler, unsigned long, 16),
	HEX(struct sigaction, sa_flags), VALUE_OF(struct sigaction, sa_mask, u64, 16),
};
TYPE(out_sigaction, struct sigaction, false);

static const struct member out_stack_members[] = {
	VALUE_OF(stack_t, ss_sp, unsigned long, 16), HEX(stack_t, ss_flags), OF(stack_t, ss_size),
};
TYPE(out_stack, stack_t, false);

#define ATTR(member) OF(struct sched_attr, member)
static const struct member out_sched_attr_members[] = {
	ATTR(size), ATTR(sched_policy), HEX(struct sched_attr, sched_flags), ATTR(sched_nice),
	ATTR(sched_priority), ATTR(sched_runtime), ATTR(sched_deadline), ATTR(sched_period),
};
TYPE(out_sched_attr, struct sched_attr, true);

static const struct member out_mq_attr_members[] = {
	OF(struct mq_attr, mq_flags), OF(struct mq_attr, mq_maxmsg),
	OF(struct mq_attr, mq_msgsize), OF(struct mq_attr, mq_curmsgs),
};
TYPE(out_mq_attr, struct mq_attr, false);

static const struct member out_pollfd_members[] = {
	OF(struct pollfd, fd), HEX(struct pollfd, events), HEX(struct pollfd, revents),
};
TYPE(out_pollfd, struct pollfd, true);

static const struct member out_epoll_members[] = {
	VALUE_OF(struct epoll_event, events, u32, 16), HEX(struct epoll_event, data),
};
TYPE(out_epoll, struct epoll_event, true);

static const struct member out_io_event_members[] = {
	HEX(struct io_event, data), HEX(struct io_event, obj), OF(struct io_event, res),
	OF(struct io_event, res2),
};
TYPE(out_io_event, struct io_event, true);

static const struct member out_caps_members[] = {
	HEX(struct __user_cap_data_struct, effective),
	HEX(struct __user_cap_data_struct, permitted),
	HEX(struct __user_cap_data_struct, inheritable),
};
TYPE(out_caps, struct __user_cap_data_struct, true);

/* (Those of 32-bit programs are other structures.) */
SIMPLE(out_vector, u8, 16, false);
ALONE(out_message, "msg_iov", u8, 16, false);
ALONE(out_source_family, "msg_name_sa_family", sa_family_t, 10, false);
ALONE(out_source, "msg_name_sa_data", u8, 16, false);
ALONE(out_sources, "msg_name", u8, 16, false);
ALONE(out_source_bytes, "msg_namelen", u32, 10, false);
ALONE(out_message_bytes, "msg_len", u32, 10, false);

/* --- calls ------------------------------------------------------------------------ */

#define ONE(arg_, type_) { .type = &out_##type_, .arg = (arg_) }
#define REAPED(arg_, type_) { .type = &out_##type_, .arg = (arg_), .flags = OUTPUT_POSITIVE }
#define RETURNED(arg_, type_) { .type = &out_##type_, .arg = (arg_), .length = LENGTH_RETURNED }
#define LIMITED(arg_, type_, limit_)							\
	{ .type = &out_##type_, .arg = (arg_), .length = LENGTH_RETURNED, .limit = 1 + (limit_) }
#define DATA(arg_, limit_)								\
	{ .type = &out_byte, .arg = (arg_), .length = LENGTH_RETURNED, .limit = 1 + (limit_),	\
	  .flags = OUTPUT_DATA }
#define COUNTED(arg_, type_, by_)							\
	{ .type = &out_##type_, .arg = (arg_), .length = LENGTH_ARGUMENT, .by = (by_) }
#define BITS(arg_) { .type = &out_word, .arg = (arg_), .length = LENGTH_BITS }
#define LEFT(arg_) { .type = &out_timespec, .arg = (arg_), .flags = OUTPUT_LEFT }
#define VECTOR(arg_, by_)								\
	{ .type = &out_vector, .arg = (arg_), .length = LENGTH_RETURNED, .by = (by_),		\
	  .flags = OUTPUT_DATA, .of = OF_VECTOR }
#define MESSAGE(type_, of_, ...)							\
	{ .type = &out_##type_, .arg = 1, .length = LENGTH_RETURNED, .of = (of_), __VA_ARGS__ }
/* The family, and the bytes behind it. */
#define FAMILY(arg_, by_)								\
	{ .type = &out_family, .arg = (arg_), .by = (by_), .flags = OUTPUT_ADDRESS }
#define ADDRESS(arg_, by_)								\
	{ .type = &out_address, .arg = (arg_), .length = LENGTH_AT, .by = (by_),		\
	  .at = sizeof(sa_family_t), .less = sizeof(sa_family_t), .flags = OUTPUT_ADDRESS }

static const struct {
	const char *call;
	struct output of[SYSCALL_OUTPUTS];
} output_table[] = {
	{ "read", { DATA(1, 2) } },
	{ "pread64", { DATA(1, 2) } },
	{ "readv", { VECTOR(1, 2) } },
	{ "preadv", { VECTOR(1, 2) } },
	{ "preadv2", { VECTOR(1, 2) } },
	{ "process_vm_readv", { VECTOR(1, 2) } },
	{ "getrandom", { DATA(0, 1) } },
	{ "readlink", { RETURNED(1, text) } },
	{ "readlinkat", { RETURNED(2, text) } },
	{ "getcwd", { RETURNED(0, text) } },
	{ "syslog", { { .type = &out_text, .arg = 1, .length = LENGTH_RETURNED, .limit = 1 + 2,
			.flags = OUTPUT_DATA } } },
	{ "getdents", { RETURNED(1, byte) } },
	{ "getdents64", { RETURNED(1, byte) } },
	{ "getxattr", { DATA(2, 3) } },
	{ "lgetxattr", { DATA(2, 3) } },
	{ "fgetxattr", { DATA(2, 3) } },
	{ "listxattr", { LIMITED(1, byte, 2) } },
	{ "llistxattr", { LIMITED(1, byte, 2) } },
	{ "flistxattr", { LIMITED(1, byte, 2) } },
	{ "mincore", { { .type = &out_byte, .arg = 2, .length = LENGTH_PAGES, .by = 1 } } },

	{ "recvfrom", { FAMILY(4, 5), DATA(1, 2), ADDRESS(4, 5) } },
	{ "recvmsg", { { .type = &out_source_family, .arg = 1, .of = OF_SOURCE,
			 .flags = OUTPUT_ADDRESS },
		       MESSAGE(message, OF_MESSAGE, .flags = OUTPUT_DATA),
		       MESSAGE(source, OF_SOURCE, .at = sizeof(sa_family_t),
			       .flags = OUTPUT_ADDRESS) } },
	{ "recvmmsg", { MESSAGE(message_bytes, OF_EACH, .at = offsetof(struct mmsghdr, msg_len)),
			MESSAGE(source_bytes, OF_EACH,
				.at = offsetof(struct mmsghdr, msg_hdr.msg_namelen)),
			MESSAGE(message, OF_MESSAGES, .flags = OUTPUT_DATA),
			MESSAGE(sources, OF_SOURCES, .flags = OUTPUT_ADDRESS) } },
	{ "accept", { FAMILY(1, 2), ADDRESS(1, 2) } },
	{ "accept4", { FAMILY(1, 2), ADDRESS(1, 2) } },
	{ "getsockname", { FAMILY(1, 2), ADDRESS(1, 2) } },
	{ "getpeername", { FAMILY(1, 2), ADDRESS(1, 2) } },
	{ "getsockopt", { { .type = &out_byte, .arg = 3, .length = LENGTH_AT, .by = 4 } } },
	{ "socketpair", { ONE(3, pair) } },
	{ "pipe", { ONE(0, pair) } },
	{ "pipe2", { ONE(0, pair) } },

	{ "poll", { COUNTED(0, pollfd, 1) } },
	{ "ppoll", { COUNTED(0, pollfd, 1) } },
	{ "select", { BITS(1), BITS(2), BITS(3) } },
	{ "pselect6", { BITS(1), BITS(2), BITS(3) } },
	{ "epoll_wait", { RETURNED(1, epoll) } },
	{ "epoll_pwait", { RETURNED(1, epoll) } },
	{ "epoll_pwait2", { RETURNED(1, epoll) } },
	{ "io_setup", { ONE(1, word) } },
	{ "io_getevents", { RETURNED(3, io_event) } },
	{ "io_pgetevents", { RETURNED(3, io_event) } },

	{ "newstat", { ONE(1, stat) } },
	{ "newlstat", { ONE(1, stat) } },
	{ "newfstat", { ONE(1, stat) } },
	{ "newfstatat", { ONE(2, stat) } },
	{ "statx", { ONE(4, statx) } },
	{ "statfs", { ONE(1, statfs) } },
	{ "fstatfs", { ONE(1, statfs) } },
	{ "name_to_handle_at", { ONE(3, int) } },
	{ "sendfile64", { ONE(2, offset) } },
	{ "copy_file_range", { ONE(1, offset), ONE(3, offset) } },
	{ "splice", { ONE(1, offset), ONE(3, offset) } },

	{ "newuname", { ONE(0, utsname) } },
	{ "sysinfo", { ONE(0, sysinfo) } },
	{ "times", { ONE(0, tms) } },
	{ "getrusage", { ONE(1, rusage) } },
	{ "getrlimit", { ONE(1, rlimit) } },
	{ "prlimit64", { ONE(3, rlimit64) } },
	{ "getcpu", { ONE(0, uint), ONE(1, uint) } },
	{ "getresuid", { ONE(0, uint), ONE(1, uint), ONE(2, uint) } },
	{ "getresgid", { ONE(0, uint), ONE(1, uint), ONE(2, uint) } },
	{ "getgroups", { LIMITED(1, uint, 0) } },
	{ "get_mempolicy", { ONE(0, int) } },
	{ "capget", { { .type = &out_caps, .arg = 1, .length = LENGTH_CAPS, .by = 0 } } },

	{ "nanosleep", { LEFT(1) } },
	{ "clock_nanosleep", { LEFT(3) } },
	{ "time", { ONE(0, long) } },
	{ "gettimeofday", { ONE(0, timeval), ONE(1, timezone) } },
	{ "clock_gettime", { ONE(1, timespec) } },
	{ "clock_getres", { ONE(1, timespec) } },
	{ "clock_adjtime", { ONE(1, timex) } },
	{ "adjtimex", { ONE(0, timex) } },
	{ "getitimer", { ONE(1, itimerval) } },
	{ "setitimer", { ONE(2, itimerval) } },
	{ "timer_create", { ONE(2, int) } },
	{ "timer_gettime", { ONE(1, itimerspec) } },
	{ "timer_settime", { ONE(3, itimerspec) } },
	{ "timerfd_gettime", { ONE(1, itimerspec) } },
	{ "timerfd_settime", { ONE(3, itimerspec) } },

	{ "wait4", { REAPED(1, int), REAPED(3, rusage) } },
	{ "waitid", { ONE(2, siginfo), ONE(4, rusage) } },
	{ "rt_sigtimedwait", { REAPED(1, siginfo) } },
	{ "rt_sigaction", { ONE(2, sigaction) } },
	{ "rt_sigprocmask", { ONE(2, mask) } },
	{ "rt_sigpending", { ONE(0, mask) } },
	{ "sigaltstack", { ONE(1, stack) } },
	{ "sched_getparam", { ONE(1, int) } },
	{ "sched_getattr", { ONE(1, sched_attr) } },
	{ "sched_getaffinity", { RETURNED(2, byte) } },
	{ "sched_rr_get_interval", { ONE(1, timespec) } },

	{ "msgrcv", { ONE(1, mtype), { .type = &out_mtext, .arg = 1, .length = LENGTH_RETURNED,
				       .at = sizeof(long), .flags = OUTPUT_DATA } } },
	{ "mq_timedreceive", { ONE(3, uint), DATA(1, 2) } },
	{ "mq_getsetattr", { ONE(2, mq_attr) } },
};

void outputs_find(const char *call, bool compat, struct outputs *ret)
{
	const struct output *output;
	u32 i = 0, nth;

	ret->nr = 0;
	while (i < ARRAY_SIZE(output_table) && strcmp(output_table[i].call, call))
		i++;
	for (nth = 0; i < ARRAY_SIZE(output_table) && nth < SYSCALL_OUTPUTS; nth++) {
		output = &output_table[i].of[nth];
		if (output->type && (!compat || output->type->looks_same))
			ret->of[ret->nr++] = output;
	}
}

/* --- fields ----------------------------------------------------------------------- */

u32 outputs_nr_fields(const struct outputs *outputs)
{
	u32 nr = 0, i;

	for (i = 0; i < outputs->nr; i++)
		nr += outputs->of[i]->type->nr;
	return nr;
}

static const char *number_type(const struct member *member)
{
	static const char *const names[2][9] = {
		{ [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64" },
		{ [1] = "s8", [2] = "s16", [4] = "s32", [8] = "s64" },
	};

	return names[member->is_signed][member->bytes];
}

/* The buffer `buf`: "buf"; a structure's member: "statbuf_st_size", "ru_ru_utime_tv_sec". */
static const char *output_name(const char *arg, const char *member)
{
	char *name = kasprintf(GFP_KERNEL_ACCOUNT, "%s%s%s", arg, *member ? "_" : "", member);

	return name ? strreplace(name, '.', '_'), name : NULL;
}

static void describe_member(const struct output *output, const struct member *member,
			    struct field *field)
{
	bool is_text = member->form == FORM_STRING;

	field->type = is_text ? "char" : number_type(member);
	field->elem_bytes = member->bytes;
	field->is_signed = member->is_signed;
	field->base = member->base;
	field->form = output->length == LENGTH_ONE || is_text ? member->form : FORM_DYNAMIC;
	if (field->form == FORM_ARRAY)
		field->count = member->count;
}

int outputs_describe(const struct outputs *outputs, const char *const *args, struct field *fields)
{
	u32 i, nth;

	for (i = 0; i < outputs->nr; i++) {
		const struct output *output = outputs->of[i];

		for (nth = 0; nth < output->type->nr; nth++, fields++) {
			const struct member *member = &output->type->members[nth];

			describe_member(output, member, fields);
			fields->name = output_name(args[output->arg], member->name);
			if (!fields->name)
				return -ENOMEM;
		}
	}
	return 0;
}

/* --- entries ---------------------------------------------------------------------- */

static notrace int output_read(void *to, unsigned long from, size_t bytes)
{
	return copy_from_user_nofault(to, (const void __user *)from, bytes);
}

static notrace const struct output *outputs_address(const struct outputs *outputs)
{
	u32 i;

	for (i = 0; i < outputs->nr; i++)
		if (outputs->of[i]->flags & OUTPUT_ADDRESS)
			return outputs->of[i];
	return NULL;
}

notrace bool outputs_need_entry(const struct outputs *outputs)
{
	return outputs && outputs_address(outputs);
}

/* The shortest of the buffers for addresses, of those messages that are recorded. */
static notrace u32 output_shortest(unsigned long at, u32 nr)
{
	u32 shortest = KEPT_MAX, i;
	struct user_msghdr header;

	for (i = 0; i < min_t(u32, nr, MESSAGES_MAX); i++, at += sizeof(struct mmsghdr))
		if (!output_read(&header, at, sizeof(header)) && header.msg_name)
			shortest = min_t(u32, shortest, header.msg_namelen);
	return shortest;
}

notrace void outputs_keep(const struct outputs *outputs, const unsigned long *args)
{
	const struct output *output = outputs_address(outputs);
	u32 bytes = 0;

	if (output->of == OF_SOURCES)
		bytes = output_shortest(args[output->arg], args[2]);
	else if (output->of == OF_SOURCE)
		bytes = output_shortest(args[output->arg], 1);
	else if (output_read(&bytes, args[output->by], sizeof(bytes)))
		bytes = 0;
	kept_put(bytes);
}

/* --- records ---------------------------------------------------------------------- */

static notrace u64 output_length(const struct output *output, const unsigned long *args, long ret)
{
	u32 value;

	switch (output->length) {
	case LENGTH_RETURNED:
		return ret;
	case LENGTH_ARGUMENT:
		return (u32)args[output->by];
	case LENGTH_AT:
		return output_read(&value, args[output->by], sizeof(value)) ? 0 : value;
	case LENGTH_BITS:
		return DIV_ROUND_UP((u32)args[output->by], 64);
	case LENGTH_PAGES:
		return DIV_ROUND_UP_ULL(args[output->by], PAGE_SIZE);
	case LENGTH_CAPS:
		if (output_read(&value, args[output->by], sizeof(value)))
			return 0;
		return value == _LINUX_CAPABILITY_VERSION_1 ? _LINUX_CAPABILITY_U32S_1 :
							      _LINUX_CAPABILITY_U32S_3;
	default:
		return 1;
	}
}

/* Number of elements; those that do not fit are left out. */
static notrace u32 output_count(const struct output *output, const unsigned long *args, long ret)
{
	u64 nr = output_length(output, args, ret);

	if (output->length == LENGTH_ONE)
		return 1;
	if (output->limit)
		nr = min_t(u64, nr, args[output->limit - 1]);
	if (output->flags & OUTPUT_ADDRESS)
		nr = min_t(u64, nr, kept_get());
	nr -= min_t(u64, nr, output->less);
	return min_t(u64, nr, OUTPUT_BYTES / output->type->bytes);
}

/* Of clock_nanosleep() until a point in time nothing is written. */
static notrace bool output_is_left(const struct output *output, const unsigned long *args, long ret)
{
	bool is_absolute = output->arg == 3 && args[1] & TIMER_ABSTIME;

	return (ret == -EINTR || ret == -ERESTART_RESTARTBLOCK) && !is_absolute;
}

static notrace bool output_is_filled(const struct output *output, const unsigned long *args,
				     long ret, bool with_data)
{
	if (output->flags & OUTPUT_LEFT)
		return output_is_left(output, args, ret);
	if (output->flags & OUTPUT_ADDRESS && output->length == LENGTH_ONE &&
	    kept_get() < output->type->bytes)
		return false;
	return ret >= 0 && (ret || !(output->flags & OUTPUT_POSITIVE)) &&
	       (with_data || !(output->flags & OUTPUT_DATA));
}

/* The first @most bytes in an array of buffers. */
static notrace u32 output_copy_vector(unsigned long at, unsigned long nr, u32 most, u8 *to)
{
	u32 done = 0, bytes;
	struct iovec part;
	unsigned long i;

	for (i = 0; i < min_t(unsigned long, nr, VECTOR_MAX) && done < most; i++) {
		if (output_read(&part, at + i * sizeof(part), sizeof(part)))
			break;
		bytes = min_t(size_t, part.iov_len, most - done);
		if (output_read(to + done, (unsigned long)part.iov_base, bytes))
			break;
		done += bytes;
	}
	return done;
}

/* The address of a message's sender, without its first @at bytes. */
static notrace u32 output_copy_source(const struct user_msghdr *header, u32 at, u32 most, u8 *to)
{
	u32 bytes = header->msg_name && header->msg_namelen > 0 ? header->msg_namelen : 0;

	bytes = min(bytes, kept_get());
	bytes = min_t(u32, bytes - min(bytes, at), most);
	if (!bytes || output_read(to, (unsigned long)header->msg_name + at, bytes))
		return 0;
	return bytes;
}

static notrace u32 output_copy_message(const struct output *output, unsigned long at, long ret,
				       u8 *to)
{
	u32 most = output->length == LENGTH_ONE ? output->type->bytes : OUTPUT_BYTES;
	struct user_msghdr header;

	if (output_read(&header, at, sizeof(header)))
		return 0;
	if (output->of == OF_MESSAGE)
		return output_copy_vector((unsigned long)header.msg_iov, header.msg_iovlen,
					  min_t(long, ret, most), to);
	return output_copy_source(&header, output->at, most, to) / output->type->bytes;
}

/* Of recvmmsg(), which returns the number of messages. */
static notrace u32 output_copy_messages(const struct output *output, unsigned long at, long ret,
					u8 *to)
{
	u32 nr = min_t(long, ret, MESSAGES_MAX), done = 0, i;
	struct mmsghdr message;

	for (i = 0; i < nr && done < OUTPUT_BYTES; i++, at += sizeof(message)) {
		if (output_read(&message, at, sizeof(message)))
			break;
		if (output->of == OF_SOURCES)
			done += output_copy_source(&message.msg_hdr, 0, OUTPUT_BYTES - done,
						   to + done);
		else if (output->of == OF_MESSAGES)
			done += output_copy_vector((unsigned long)message.msg_hdr.msg_iov,
						   message.msg_hdr.msg_iovlen,
						   min_t(u32, message.msg_len, OUTPUT_BYTES - done),
						   to + done);
		else
			memcpy(to + i * sizeof(u32), (u8 *)&message + output->at, sizeof(u32));
	}
	return output->of == OF_EACH ? i : done;
}

static notrace u32 output_copy_memory(const struct output *output, const unsigned long *args,
				      long ret, u8 *to)
{
	u32 nr = output_count(output, args, ret);

	if (!nr || output_read(to, args[output->arg] + output->at, nr * output->type->bytes))
		return 0;
	return nr;
}

/* Return: number of elements that were copied to @to. */
static notrace u32 output_copy(const struct output *output, const unsigned long *args, long ret,
			       bool with_data, u8 *to)
{
	unsigned long from = args[output->arg];

	if (!from || !output_is_filled(output, args, ret, with_data))
		return 0;
	switch (output->of) {
	case OF_MEMORY:
		return output_copy_memory(output, args, ret, to);
	case OF_VECTOR:
		return output_copy_vector(from, args[output->by], min_t(long, ret, OUTPUT_BYTES),
					  to);
	case OF_MESSAGE:
	case OF_SOURCE:
		return output_copy_message(output, from, ret, to);
	default:
		return output_copy_messages(output, from, ret, to);
	}
}

static notrace u8 *put_text(u8 *to, const u8 *text, u32 most)
{
	u32 len = strnlen((const char *)text, most);

	memcpy(to, text, len);
	to[len] = 0;
	return to + len + 1;
}

static notrace u8 *put_member(u8 *to, const struct member *member, const u8 *from)
{
	u32 bytes = member->bytes * member->count;

	if (member->form == FORM_STRING)
		return put_text(to, from + member->at, bytes);
	memcpy(to, from + member->at, bytes);
	return to + bytes;
}

/* The same member of all elements. */
static notrace u8 *put_members(u8 *to, const struct output_type *type, const struct member *member,
			       const u8 *from, u16 nr)
{
	u32 i;

	if (member->form == FORM_STRING)
		return put_text(to, from, nr);
	memcpy(to, &nr, sizeof(nr));
	to += sizeof(nr);
	if (type->bytes == member->bytes)
		memcpy(to, from, nr * member->bytes);
	else
		for (i = 0; i < nr; i++)
			memcpy(to + i * member->bytes, from + i * type->bytes + member->at,
			       member->bytes);
	return to + nr * member->bytes;
}

static notrace u8 *output_put(const struct output *output, const unsigned long *args, long ret,
			      bool with_data, u8 *to)
{
	const struct output_type *type = output->type;
	u8 copy[STRUCTURE_BYTES];
	u32 nr = output_copy(output, args, ret, with_data, copy), i;

	if (!nr && output->length == LENGTH_ONE)
		memset(copy, 0, type->bytes);
	for (i = 0; i < type->nr; i++)
		to = output->length == LENGTH_ONE ?
			     put_member(to, &type->members[i], copy) :
			     put_members(to, type, &type->members[i], copy, nr);
	return to;
}

notrace u8 *outputs_put(const struct outputs *outputs, const unsigned long *args, long ret,
			bool with_data, u8 *to)
{
	u32 i;

	for (i = 0; i < outputs->nr; i++)
		to = output_put(outputs->of[i], args, ret, with_data, to);
	return to;
}
