// SPDX-License-Identifier: GPL-2.0-only
#include "ltt_filter.h"
#include "reader.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void refused(int ret, int want, const char *what)
{
	if (ret >= 0 || errno != want)
		errx(1, "%s: %d (%s) where %s was to come", what, ret,
		     ret < 0 ? strerror(errno) : "accepted", strerror(want));
}

static void bad_channels(int fd)
{
	struct ltt_kmod_channel good = { .size = sizeof(good), .num_subbuf = 2,
					 .subbuf_size = 4096, .clock = LTT_CLOCK_CYCLES };
	struct ltt_kmod_channel c = good;
	struct { struct ltt_kmod_channel c; uint32_t tail; } newer = { .c = good, .tail = 1 };

	c.num_subbuf = 3;
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &c), EINVAL, "3 sub-buffers");
	c = good, c.subbuf_size = 2048;
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &c), EINVAL, "2048 bytes");
	c = good, c.subbuf_size = 1ull << 63;
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &c), EINVAL, "2^63 bytes");
	c = good, c.subbuf_size = 1ull << 34;
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &c), ENOMEM, "more than there is");
	c = good, c.mode = 2;
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &c), EINVAL, "mode 2");
	c = good, c.flags = 8;
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &c), EINVAL, "an unknown flag of a channel");
	c = good, c.size = 3;
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &c), EINVAL, "size 3");
	newer.c.size = sizeof(newer);
	refused(ioctl(fd, LTT_KMOD_CHANNEL, &newer), E2BIG, "an unknown tail");
	refused(ioctl(fd, LTT_KMOD_CHANNEL, (void *)8), EFAULT, "a wild pointer");
	refused(ioctl(fd, _IO(LTT_KMOD_IOC, 99)), ENOTTY, "number 99");
}

/* A counting event has no contexts, and keys of the sizes of integers. */
static void bad_counting(int fd)
{
	struct ltt_kmod_channel c = { .size = sizeof(c), .num_subbuf = 2, .subbuf_size = 4096,
				      .clock = LTT_CLOCK_CYCLES, .flags = LTT_KMOD_COUNTS };
	struct ltt_kmod_enable e = { .size = sizeof(e), .id = 7, .name = "power:cpu_frequency",
				     .flags = LTT_KMOD_HISTOGRAM, .field = 99 };
	struct ltt_kmod_counted n = { .size = sizeof(n), .id = 7 };
	struct ltt_kmod_context pid = { .size = sizeof(pid), .name = "pid" };
	int channel = ioctl(fd, LTT_KMOD_CHANNEL, &c);

	if (channel < 0)
		err(1, "a channel that counts");
	refused(ioctl(channel, LTT_KMOD_CONTEXT, &pid), EINVAL, "a context of a channel that counts");
	refused(ioctl(channel, LTT_KMOD_ENABLE, &e), EINVAL, "an unknown field");
	strcpy(e.name, "sched:sched_switch"), e.field = 0; /* a name */
	refused(ioctl(channel, LTT_KMOD_ENABLE, &e), EINVAL, "the size of a text");
	refused(ioctl(channel, LTT_KMOD_COUNTED, &n), ENOENT, "an event that is not counted");
	e.flags = 0, e.field = 1;
	refused(ioctl(channel, LTT_KMOD_ENABLE, &e), EINVAL, "a field without a histogram");
	e.field = 0;
	if (ioctl(channel, LTT_KMOD_ENABLE, &e) || ioctl(channel, LTT_KMOD_COUNTED, &n))
		err(1, "count");
	refused(ioctl(channel, LTT_KMOD_ENABLE, &e), EEXIST, "to count twice");
	e.id = 8, e.filter = 8;
	refused(ioctl(channel, LTT_KMOD_ENABLE, &e), EFAULT, "a filter at a wild pointer");
	close(c.data_fd), close(c.ctl_fd), close(channel);
}

static void bad_maps(const struct reader *r)
{
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->data_fd, 0) != MAP_FAILED)
		errx(1, "data mapped for writing");
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, r->data_fd, 0) != MAP_FAILED)
		errx(1, "data mapped privately");
	if (!mprotect((void *)(uintptr_t)r->data, 4096, PROT_READ | PROT_WRITE))
		errx(1, "data made writable");
}

static void *map_control(const struct ltt_kmod_channel *c)
{
	return mmap(NULL, c->ctl_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->ctl_fd, 0);
}

/* A ring set has one consumer at a time; the next one need not wait for the end of one that is
 * killed. */
static void second_consumer(int fd)
{
	struct ltt_kmod_channel c = { .size = sizeof(c), .num_subbuf = 2, .subbuf_size = 4096,
				      .clock = LTT_CLOCK_CYCLES };
	int channel = ioctl(fd, LTT_KMOD_CHANNEL, &c), status, ends[2];
	void *data, *ctl, *again;
	char byte = 0;
	pid_t first;

	if (channel < 0 || pipe(ends) || (first = fork()) < 0)
		err(1, "a second consumer");
	if (!first) {
		map_control(&c);
		(void)!write(ends[1], &byte, 1);
		for (;;)
			pause();
	}
	(void)!read(ends[0], &byte, 1);
	refused(map_control(&c) == MAP_FAILED ? -1 : 0, EBUSY, "a second consumer");
	data = mmap(NULL, c.data_bytes, PROT_READ, MAP_SHARED, c.data_fd, 0);
	kill(first, SIGKILL);
	ctl = map_control(&c);
	again = map_control(&c);
	if (data == MAP_FAILED || ctl == MAP_FAILED || again == MAP_FAILED)
		err(1, "the successor of a consumer that is killed");
	waitpid(first, NULL, 0);
	munmap(again, c.ctl_bytes);
	first = fork();
	if (!first)
		_exit(map_control(&c) != MAP_FAILED || errno != EBUSY);
	if (waitpid(first, &status, 0) != first || status)
		errx(1, "a second consumer beside one that had mapped twice");
	munmap(ctl, c.ctl_bytes);
	munmap(data, c.data_bytes);
	close(c.data_fd), close(c.ctl_fd), close(channel), close(ends[0]), close(ends[1]);
}

static void bad_splices(const struct reader *r)
{
	off64_t end = (off64_t)ltt_ring_data_bytes(&r->desc), at = end - 1;
	int ends[2];

	if (pipe2(ends, O_NONBLOCK))
		err(1, "pipe");
	if (splice(r->data_fd, &at, ends[1], NULL, 4096, 0) != 1 || at != end)
		errx(1, "the last byte of the rings spliced as another number of them");
	if (splice(r->data_fd, &at, ends[1], NULL, 4096, 0) != 0)
		errx(1, "something behind the rings spliced");
	at = 0;
	refused((int)splice(ends[0], NULL, r->data_fd, &at, 1, 0), EBADF, "to splice into the rings");
	at = -1;
	refused((int)splice(r->data_fd, &at, ends[1], NULL, 1, 0), EINVAL, "to splice from before them");
	close(ends[0]), close(ends[1]);
}

static void bad_arguments(const struct reader *r, struct ltt_kmod_probe p)
{
	static const char *const texts[] = {
		",u3:a0", ",u16:a0", ",u0:a0", ",u8", ",t0:c", ",u8:g99", ",u8:a8", ",u8:s1024",
		",u8:v0", ",u8:p1", ",u8:a0.a0", ",u8:a0.r3+0", ",u8:a0.w0+0", ",u8:n1.p1.g0",
		",t4096:c,t1:c", ",u8:i5+1", ",u8:g5.i99+1", ",u8:g5.e8+1", ",u8:g5.e3+0", ",u8:g5.e4+2",
	};
	struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX];

	p.args = (uintptr_t)args;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		p.nr_args = parse_args(texts[i], args);
		refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, texts[i]);
	}
	p.nr_args = parse_args(",u8:a0", args);
	args[0].kind = 3;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "an unknown kind of argument");
	args[0].kind = 0, args[0].nr_steps = LTT_KMOD_STEPS_MAX + 1;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "too many steps");
	args[0].nr_steps = 1, p.offset = 1;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "arguments behind the entry");
	p.offset = 0, p.nr_args = LTT_KMOD_ARGS_MAX + 1;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "too many arguments");
	p.nr_args = 0;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "arguments, none of them");
	p.nr_args = 1, p.args = 8;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EFAULT, "arguments at a wild pointer");
}

static void bad_probes(const struct reader *r)
{
	struct ltt_kmod_probe good = { .size = sizeof(good), .id = 70, .symbol = "vfs_read" };
	struct ltt_kmod_probe p = good;

	strcpy(p.symbol, "no_such_function");
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), ENOENT, "an unknown function");
	p = good, p.address = 1;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "symbol and address");
	p = good, p.symbol[0] = 0;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "no place");
	p.address = 0x1000;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "an address of user space");
	p = good, p.flags = 4;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "an unknown flag");
	p.flags = LTT_KMOD_PROBE_RETURN | LTT_KMOD_PROBE_CALL;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "a call and its end");
	p.flags = LTT_KMOD_PROBE_CALL, p.offset = 4;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "a call behind the entry");
	p.offset = 0, p.nr_args = 1, p.args = 8;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EFAULT, "arguments of a call at a wild pointer");
	p.nr_args = 0, p.args = 0, strcpy(p.symbol, "no_such_function");
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), ENOENT, "calls of an unknown function");
	p = good, p.offset = 1ull << 40;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EINVAL, "an offset out of all functions");
	bad_arguments(r, good);
	p = good, p.id = 7;
	refused(ioctl(r->fd, LTT_KMOD_PROBE, &p), EEXIST, "a probe with an event's id");
	if (ioctl(r->fd, LTT_KMOD_PROBE, &good))
		err(1, "probe");
}

extern const char __executable_start[];

/* Its file has it at its address in the program. */
__attribute__((noinline, used)) static void bad_probed(void)
{
	asm volatile("nop");
}

/* More files for a probe: each once, and only those that make the same records. */
static void bad_files(const struct reader *r, struct ltt_kmod_user_probe p)
{
	struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX];
	struct ltt_kmod_enable off = { .size = sizeof(off), .id = p.id };
	uint64_t offset = (uintptr_t)bad_probed - (uintptr_t)__executable_start;

	p.offset = offset;
	if (ioctl(r->fd, LTT_KMOD_USER_PROBE, &p))
		err(1, "user probe");
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EEXIST, "a file of a user probe again");
	if (system("cp /proc/$PPID/exe /dev/shm/bad-copy"))
		errx(1, "no copy");
	p.fd = open("/dev/shm/bad-copy", O_RDONLY);
	p.nr_args = parse_args(",u8:n1", args), p.args = (uintptr_t)args;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "another file with other arguments");
	p.nr_args = 0, p.args = 0, p.flags = LTT_KMOD_PROBE_RETURN;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "another file's return");
	p.flags = 0, p.offset = 1ull << 40;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "another file, behind its end");
	p.offset = offset;
	if (ioctl(r->fd, LTT_KMOD_USER_PROBE, &p))
		err(1, "a second file of a user probe");
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EEXIST, "the second file again");
	if (ioctl(r->fd, LTT_KMOD_DISABLE, &off))
		err(1, "user probe");
	close(p.fd);
}

static void bad_user_probes(const struct reader *r)
{
	struct ltt_kmod_user_probe good = { .size = sizeof(good), .id = 71,
					    .fd = open("/proc/self/exe", O_RDONLY) };
	struct ltt_kmod_user_place behind = { .offset = 1ull << 40 };
	struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX], others[LTT_KMOD_ARGS_MAX];
	struct ltt_kmod_user_probe p = good;

	p.fd = -1;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EBADF, "no file");
	p.fd = r->fd;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "no regular file");
	p = good, p.flags = 2;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "an unknown flag");
	p = good, p.nr_more = 1, p.more = 8;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EFAULT, "more places at a wild pointer");
	p.nr_more = LTT_KMOD_PLACES_MAX;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "too many places");
	p.nr_more = 1, p.more = (uintptr_t)&behind;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "a second place behind the file");
	p.nr_args = parse_args(",u8:n1", args), p.args = (uintptr_t)args;
	parse_args(",u4:n1", others), behind.offset = 0, behind.args = (uintptr_t)others;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "places with different arguments");
	p = good, p.offset = 1ull << 63;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "an offset below 0");
	p = good, p.offset = 1ull << 40;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EINVAL, "an offset behind the file");
	p = good, p.nr_args = 1, p.args = 8;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EFAULT, "arguments at a wild pointer");
	p = good, p.id = 7;
	refused(ioctl(r->fd, LTT_KMOD_USER_PROBE, &p), EEXIST, "a user probe with an event's id");
	bad_files(r, good);
	close(good.fd);
}

static void bad_contexts(const struct reader *r)
{
	struct ltt_kmod_context c = { .size = sizeof(c), .name = "nonsense" };
	struct ltt_kmod_track t = { .size = sizeof(t), .kind = LTT_KMOD_TRACK_KINDS, .op = 2 };

	refused(ioctl(r->fd, LTT_KMOD_CONTEXT, &c), ENOENT, "an unknown context");
	strcpy(c.name, "pid");
	if (ioctl(r->fd, LTT_KMOD_CONTEXT, &c))
		err(1, "context");
	refused(ioctl(r->fd, LTT_KMOD_CONTEXT, &c), EEXIST, "a context twice");
	c.flags = 2;
	refused(ioctl(r->fd, LTT_KMOD_CONTEXT, &c), EINVAL, "an unknown flag of a context");
	c.flags = 0, c.perf_config = 1;
	refused(ioctl(r->fd, LTT_KMOD_CONTEXT, &c), EINVAL, "a counter's number without one");
	strcpy(c.name, "counter");
	c.flags = LTT_KMOD_CONTEXT_PERF, c.perf_type = 1, c.perf_config = 999;
	refused(ioctl(r->fd, LTT_KMOD_CONTEXT, &c), ENOENT, "an unknown counter");
	c.perf_type = 2, c.perf_config = 1;
	refused(ioctl(r->fd, LTT_KMOD_CONTEXT, &c), EINVAL, "a tracepoint as a counter");
	c.perf_type = 1, c.perf_config = 0;
	for (unsigned int i = 1; i < LTT_KMOD_CONTEXTS_MAX; i++) {
		snprintf(c.name, sizeof(c.name), "counter %u", i);
		if (ioctl(r->fd, LTT_KMOD_CONTEXT, &c))
			err(1, "%s", c.name);
	}
	strcpy(c.name, "another");
	refused(ioctl(r->fd, LTT_KMOD_CONTEXT, &c), ENOSPC, "a context too many");
	refused(ioctl(r->fd, LTT_KMOD_TRACK, &t), EINVAL, "to track an unknown kind");
	t.kind = 0, t.op = 4;
	refused(ioctl(r->fd, LTT_KMOD_TRACK, &t), EINVAL, "an unknown change of tracking");
	t.op = LTT_KMOD_TRACK_REMOVE;
	refused(ioctl(r->fd, LTT_KMOD_TRACK, &t), ENOENT, "to leave out an id that is not tracked");
	t.op = LTT_KMOD_TRACK_ADD, t.id = 0xffffffff;
	if (ioctl(r->fd, LTT_KMOD_TRACK, &t))
		err(1, "track");
	refused(ioctl(r->fd, LTT_KMOD_TRACK, &t), EEXIST, "to track a process twice");
}

/* Of 101 ids, in an order that is not theirs, every third is left out again. */
static void bad_track(const struct reader *r)
{
	struct ltt_kmod_track t = { .size = sizeof(t), .kind = LTT_KMOD_TRACK_TID };

	for (uint32_t i = 0; i < 101; i++) {
		t.op = LTT_KMOD_TRACK_ADD, t.id = i * 37 % 101;
		if (ioctl(r->fd, LTT_KMOD_TRACK, &t))
			err(1, "track %u", t.id);
	}
	for (t.id = 0, t.op = LTT_KMOD_TRACK_REMOVE; t.id < 101; t.id += 3)
		if (ioctl(r->fd, LTT_KMOD_TRACK, &t))
			err(1, "leave out %u", t.id);
	for (t.id = 0; t.id < 101; t.id++) {
		t.op = t.id % 3 ? LTT_KMOD_TRACK_ADD : LTT_KMOD_TRACK_REMOVE;
		refused(ioctl(r->fd, LTT_KMOD_TRACK, &t), t.id % 3 ? EEXIST : ENOENT,
			"a change of an id that is as wanted");
	}
}

/* state > 3 && name of the task =~ "x", and a bit more, of which mutations are made. */
struct long_filter {
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[10];
	char text[8];
};

static const struct long_filter whole_filter = {
	.head = { LTT_FILTER_MAGIC, LTT_FILTER_VERSION, 10, 8, 2, 0 },
	.insns = {
		{ .op = LTT_FILTER_TEST_FIELD, .type = 2, .a = LTT_FILTER_GT,
		  .base = LTT_FILTER_FIXED, .constant = 3 },
		{ .op = LTT_FILTER_TEST_TEXT, .type = LTT_FILTER_TEXT_CONTEXT,
		  .a = LTT_FILTER_CONTAINS, .base = LTT_FILTER_FIXED, .constant = 1ull << 16 },
		{ .op = LTT_FILTER_CONTEXT, .a = 0, .offset = 1 },
		{ .op = LTT_FILTER_COMPUTE_CONSTANT, .type = LTT_FILTER_ADD, .constant = 7 },
		{ .op = LTT_FILTER_TEST_REGISTER, .type = LTT_FILTER_EQ, .jump = 6, .constant = 5 },
		{ .op = LTT_FILTER_SKIP_STRING, .a = 1, .base = LTT_FILTER_FIXED, .offset = 4 },
		{ .op = LTT_FILTER_TEST_FIELD, .type = 3, .a = LTT_FILTER_LE,
		  .base = LTT_FILTER_FIXED, .offset = 8, .constant = 9 },
		{ .op = LTT_FILTER_SAMPLE, .offset = 5, .constant = 2 },
		{ .op = LTT_FILTER_RATE, .a = LTT_CLOCK_CYCLES, .offset = 6,
		  .constant = 3ull << LTT_FILTER_INTERVAL_BITS | 1000 },
		{ .op = LTT_FILTER_RETURN, .constant = 1 },
	},
	.text = "xyz",
};

static int send_filter(const struct reader *r, const void *program, uint32_t bytes)
{
	struct ltt_kmod_filter f = { .size = sizeof(f),
				     .id = 7,
				     .programs = (uintptr_t)program,
				     .bytes = bytes,
				     .contexts = "procname,pid" };

	return ioctl(r->fd, LTT_KMOD_FILTER, &f);
}

#define MUTATIONS 100000

/* Each is rejected, or runs at an event that is hit all the time. */
static void mutated_filters(const struct reader *r)
{
	unsigned int accepted = 0;

	srandom(4711);
	for (unsigned int i = 0; i < MUTATIONS; i++) {
		struct long_filter mutant = whole_filter;
		unsigned int nr = 1 + (unsigned int)random() % 4;

		while (nr--)
			((uint8_t *)&mutant)[(size_t)random() % sizeof(mutant)] ^=
				(uint8_t)(random() % 3 ? 1 << random() % 8 : random());
		if (!send_filter(r, &mutant, sizeof(mutant)))
			accepted++;
		else if (errno != EINVAL)
			err(1, "a mutated filter");
	}
	if (accepted < MUTATIONS / 100 || accepted > MUTATIONS / 100 * 99)
		errx(1, "%u of %u mutated filters were accepted", accepted, MUTATIONS);
}

static void bad_filters(const struct reader *r)
{
	struct ltt_kmod_enable e = { .size = sizeof(e), .id = 7, .name = "syscall_exit_ioctl" };
	struct ltt_kmod_filter good = { .size = sizeof(good),
					.id = 7,
					.programs = (uintptr_t)&whole_filter,
					.bytes = sizeof(whole_filter),
					.contexts = "procname,pid" };
	struct ltt_kmod_filter f = good;
	struct long_filter program = whole_filter;

	f.id = 6;
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), ENOENT,
		"a filter of an event that is not there");
	f = good, f.programs = 8;
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EFAULT, "programs at a wild pointer");
	f = good, f.bytes = LTT_KMOD_FILTER_BYTES_MAX + 1;
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EINVAL, "programs that are too long");
	f = good, f.bytes--;
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EINVAL, "a program without its end");
	f = good, f.bytes = 0;
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EINVAL, "programs of no bytes");
	f = good, f.reserved = 1;
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EINVAL, "a filter with a reserved word");
	f = good, strcpy(f.contexts, "procname");
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EINVAL, "fewer contexts than a program uses");
	f = good, strcpy(f.contexts, "procname,nonsense");
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), ENOENT, "an unknown context in a filter");
	strcpy(f.contexts, "procname,callstack-kernel");
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), ENOENT, "a stack in a filter");
	memset(f.contexts, 'x', sizeof(f.contexts));
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EINVAL, "contexts without an end");
	for (unsigned int i = 0; i <= LTT_KMOD_FILTER_CONTEXTS_MAX; i++)
		strcpy(f.contexts + 4 * i, i < LTT_KMOD_FILTER_CONTEXTS_MAX ? "pid," : "pid");
	refused(ioctl(r->fd, LTT_KMOD_FILTER, &f), EINVAL, "too many contexts in a filter");
	program.insns[4].jump = 4;
	refused(send_filter(r, &program, sizeof(program)), EINVAL, "a jump to itself");
	program = whole_filter, program.insns[0].type = 3 | LTT_FILTER_FLOAT;
	program.insns[0].a |= LTT_FILTER_FLOAT;
	refused(send_filter(r, &program, sizeof(program)), EINVAL, "floating point");
	program = whole_filter, program.insns[7].constant = 0;
	refused(send_filter(r, &program, sizeof(program)), EINVAL, "one of no events");
	program = whole_filter, program.insns[8].offset = LTT_FILTER_WORDS;
	refused(send_filter(r, &program, sizeof(program)), EINVAL, "a word behind the last one");
	e.filter = 8;
	refused(ioctl(r->fd, LTT_KMOD_DISABLE, &e), EINVAL, "to disable by a filter");
	e.id = 77;
	refused(ioctl(r->fd, LTT_KMOD_ENABLE, &e), EFAULT, "a filter at a wild pointer");
	e.filter = (uintptr_t)&good, good.bytes--;
	refused(ioctl(r->fd, LTT_KMOD_ENABLE, &e), EINVAL, "an event with an invalid filter");
	good.bytes++, e.id = 7;
	refused(ioctl(r->fd, LTT_KMOD_ENABLE, &e), EEXIST,
		"a filtered event with an id that is in use");
}

/* In a channel of its own, which records. */
static void hit_filters(void)
{
	struct ltt_kmod_enable e = { .size = sizeof(e), .id = 7, .name = "syscall_exit_ioctl" };
	struct reader r = { .fd = -1 };

	reader_open(&r, 1, 2, 4096);
	if (ioctl(r.fd, LTT_KMOD_ENABLE, &e))
		err(1, "enable");
	reader_state(&r, LTT_RING_ON);
	bad_filters(&r);
	if (send_filter(&r, &whole_filter, sizeof(whole_filter)) || send_filter(&r, NULL, 0) != -1)
		errx(1, "a filter");
	mutated_filters(&r);
	reader_state(&r, 0);
	close(r.fd);
}

/* In a channel of its own, which has other contexts later. */
static void late_contexts(void)
{
	struct ltt_kmod_enable e = { .size = sizeof(e), .id = 7, .name = "power:cpu_idle" };
	struct ltt_kmod_context c = { .size = sizeof(c), .name = "tid" };
	struct reader r = { .fd = -1 };

	reader_open(&r, 1, 2, 4096);
	if (ioctl(r.fd, LTT_KMOD_ENABLE, &e) || ioctl(r.fd, LTT_KMOD_CONTEXT, &c))
		err(1, "a context after an event");
	refused(ioctl(r.fd, LTT_KMOD_CONTEXT, &c), EEXIST, "the same context again");
	e.flags = LTT_KMOD_INSTEAD;
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), EEXIST, "an event instead of its own id");
	e.flags = 0;
	if (ioctl(r.fd, LTT_KMOD_DISABLE, &e))
		err(1, "disable");
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), EBUSY, "an id whose records had fewer contexts");
	e.id = 8;
	if (ioctl(r.fd, LTT_KMOD_ENABLE, &e))
		err(1, "another id");
	close(r.fd);
}

int bad(void)
{
	struct ltt_kmod_enable e = { .size = sizeof(e), .id = 7, .name = "power:cpu_frequency" };
	struct ltt_kmod_counted n = { .size = sizeof(n), .id = 7 };
	struct reader r = { .fd = -1 };
	int fd = device();

	bad_channels(fd);
	bad_counting(fd);
	second_consumer(fd);
	hit_filters();
	late_contexts();
	reader_open(&r, 0, 2, 4096);
	bad_maps(&r);
	bad_splices(&r);
	bad_contexts(&r);
	bad_track(&r);
	if (ioctl(r.fd, LTT_KMOD_ENABLE, &e))
		err(1, "enable");
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), EEXIST, "an event twice");
	bad_probes(&r);
	bad_user_probes(&r);
	e.flags = LTT_KMOD_HISTOGRAM;
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), EINVAL, "a histogram where it is recorded");
	e.flags = 0;
	refused(ioctl(r.fd, LTT_KMOD_COUNTED, &n), EINVAL, "an event that is recorded, not counted");
	strcpy(e.name, "power:cpu_idle");
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), EEXIST, "an id twice");
	strcpy(e.name, "power:nonsense");
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), ENOENT, "an unknown event");
	strcpy(e.name, "sched:cpu_frequency");
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), ENOENT, "another system");
	memset(e.name, 'x', sizeof(e.name));
	refused(ioctl(r.fd, LTT_KMOD_ENABLE, &e), EINVAL, "a name without an end");
	if (ioctl(r.fd, LTT_KMOD_DISABLE, &e))
		err(1, "disable");
	refused(ioctl(r.fd, LTT_KMOD_DISABLE, &e), ENOENT, "to disable it again");
	refused(ioctl(fd, LTT_KMOD_ENABLE, &e), ENOTTY, "to enable on the device");
	return 0;
}
