/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the arguments and outputs of system calls, which scripts/syscall-labels took from the
 * target's headers: their values are those that this program was compiled with. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sessiond/domain/kernel/labels.h"

static const struct {
	const char *call, *arg, *text;
	int64_t value;
} wanted[] = {
	{ "openat", "flags", "O_CREAT", O_CREAT },
	{ "openat", "flags", "O_SYNC", O_SYNC },
	{ "openat", "flags", "O_TMPFILE", O_TMPFILE },
	{ "openat", "flags", "O_DIRECTORY", O_DIRECTORY },
	{ "openat", "flags", "O_RDONLY", O_RDONLY },
	{ "openat", "flags", "O_WRONLY|O_CREAT|O_TRUNC", O_WRONLY | O_CREAT | O_TRUNC },
	{ "mmap", "flags", "MAP_PRIVATE|MAP_ANONYMOUS", MAP_PRIVATE | MAP_ANONYMOUS },
	{ "mmap", "prot", "PROT_NONE", PROT_NONE },
	{ "mprotect", "prot", "PROT_READ|PROT_WRITE", PROT_READ | PROT_WRITE },
	{ "madvise", "behavior", "MADV_DONTNEED", MADV_DONTNEED },
	{ "socket", "family", "AF_INET6", AF_INET6 },
	{ "socket", "type", "SOCK_SEQPACKET", SOCK_SEQPACKET },
	{ "socket", "type", "SOCK_DGRAM|SOCK_CLOEXEC", SOCK_DGRAM | SOCK_CLOEXEC },
	{ "shutdown", "how", "SHUT_RDWR", SHUT_RDWR },
	{ "lseek", "whence", "SEEK_END", SEEK_END },
	{ "faccessat", "mode", "R_OK|W_OK", R_OK | W_OK },
	{ "futex", "op", "FUTEX_WAKE|FUTEX_PRIVATE_FLAG", FUTEX_WAKE | FUTEX_PRIVATE_FLAG },
	{ "futex", "op", "FUTEX_WAIT", FUTEX_WAIT },
	{ "fcntl", "cmd", "F_DUPFD_CLOEXEC", F_DUPFD_CLOEXEC },
	{ "clone", "clone_flags", "CLONE_THREAD", CLONE_THREAD },
	{ "clone", "clone_flags", "SIGCHLD", SIGCHLD },
	{ "kill", "sig", "SIGUSR1", SIGUSR1 },
	{ "rt_sigprocmask", "how", "SIG_SETMASK", SIG_SETMASK },
	{ "prctl", "option", "PR_SET_NAME", PR_SET_NAME },
	{ "prctl", "option", "PR_SET_PDEATHSIG", PR_SET_PDEATHSIG },
	{ "wait4", "options", "__WCLONE", (int32_t)__WCLONE },
	{ "ppoll", "ufds_revents", "POLLIN|POLLHUP", POLLIN | POLLHUP },
	{ "poll", "ufds_events", "POLLRDHUP", POLLRDHUP },
	{ "epoll_pwait2", "events_events", "EPOLLONESHOT", EPOLLONESHOT },
	{ "epoll_wait", "events_events", "EPOLLET", (int32_t)EPOLLET },
};

/* A field of the set, as the daemon makes it. @bits: of the integer. */
static struct layout *layout_of(const struct label_set *set, uint8_t bits)
{
	const struct layout_field field = { .name = "it",
					    .kind = LTT_KIND_INT,
					    .size_bits = bits,
					    .flags = LTT_FIELD_SIGNED };
	struct layout *layout = layout_new(1, set->nr, labels_text_bytes(set) + 3);

	CHECK(layout && layout_add_field(layout, &field) && labels_add(layout, set));
	CHECK(!layout_check(layout));
	return layout;
}

static const struct layout_label *find(const struct layout_field *field, const char *text)
{
	for (uint32_t i = 0; i < field->nr_labels; i++)
		if (strcmp(field->labels[i].text, text) == 0)
			return &field->labels[i];
	return NULL;
}

static void check_values(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		char event[64];
		const struct label_set *set;
		const struct layout_label *label;
		struct layout *layout;

		snprintf(event, sizeof(event), "syscall_%s_%s",
			 strstr(wanted[i].arg, "events") ? "exit" : "entry", wanted[i].call);
		set = labels_of(event, wanted[i].arg);
		CHECK(set);
		layout = layout_of(set, 32);
		CHECK_IS(layout->fields[0].kind, ==, LTT_KIND_ENUM);
		label = find(&layout->fields[0], wanted[i].text);
		if (!label)
			fprintf(stderr, "%s(%s) has no %s\n", event, wanted[i].arg, wanted[i].text);
		CHECK(label);
		CHECK_IS(label->first, ==, wanted[i].value);
		CHECK_IS(label->last, ==, wanted[i].value);
		layout_free(layout);
	}
}

/* Of one set; in a set of bits, those of the mask first, then those of several bits. */
static void check_order(void)
{
	const struct label_set *set = labels_of("compat_syscall_entry_openat", "flags");
	uint32_t at = 0;

	CHECK(set && set->is_set);
	CHECK_IS(set->mask, ==, O_ACCMODE);
	CHECK(!strcmp(set->labels[at++].text, "O_RDONLY") &&
	      !strcmp(set->labels[at++].text, "O_WRONLY") && !strcmp(set->labels[at++].text, "O_RDWR"));
	for (; at + 1 < set->nr && !strchr(set->labels[at + 1].text, '|'); at++)
		CHECK_IS(__builtin_popcountll((uint64_t)set->labels[at].value), >=,
			 __builtin_popcountll((uint64_t)set->labels[at + 1].value));
	set = labels_of("syscall_entry_lseek", "whence");
	CHECK(set && !set->is_set && set->mask == 0);
}

static void check_others(void)
{
	char *results = labels_of_results(METADATA_CTF_1_8);

	CHECK(!labels_of("syscall_entry_openat", "mode"));
	CHECK(!labels_of("syscall_exit_poll", "ufds_fd"));
	CHECK(!labels_of("sched_switch", "flags"));
	CHECK(!labels_of("syscall_entry_nothing", "flags"));
	CHECK(results && strstr(results, "\"ENOENT\" = -2,") && !strstr(results, "EWOULDBLOCK"));
	free(results);
}

/* For filters: the result stays an integer. */
static void check_results(void)
{
	const struct layout_field ret = { .name = "ret",
					  .kind = LTT_KIND_INT,
					  .size_bits = 64,
					  .flags = LTT_FIELD_SIGNED };
	const struct layout_field events = { .name = "ufds_revents",
					     .kind = LTT_KIND_SEQUENCE,
					     .size_bits = 16,
					     .length_bits = 16,
					     .flags = LTT_FIELD_SIGNED };
	const struct label_set *poll_set = labels_of("syscall_exit_poll", events.name);
	struct layout *plain = layout_new(3, poll_set->nr, 64 + labels_text_bytes(poll_set));
	struct layout_field buf = ret;
	struct layout *named;

	buf.name = "buf";
	CHECK(plain && layout_add_field(plain, &ret) && layout_add_field(plain, &buf) &&
	      layout_add_field(plain, &events) && labels_add(plain, poll_set));
	CHECK(!layout_check(plain));
	named = labels_with_results("compat_syscall_exit_openat", plain);
	CHECK(named && named->nr_fields == 3 && named->fields[0].kind == LTT_KIND_INT);
	CHECK_IS(find(&named->fields[0], "ENOENT")->first, ==, -ENOENT);
	CHECK_IS(named->fields[1].nr_labels, ==, 0);
	CHECK(named->fields[2].kind == LTT_KIND_SEQUENCE && named->fields[2].is_set);
	CHECK_IS(find(&named->fields[2], "POLLOUT")->first, ==, POLLOUT);
	CHECK(!labels_with_results("syscall_entry_openat", plain) &&
	      !labels_with_results("mine", plain));
	layout_free(named);
	layout_free(plain);
}

int main(void)
{
	check_results();
	check_values();
	check_order();
	check_others();
	return 0;
}
