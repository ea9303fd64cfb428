/* SPDX-License-Identifier: GPL-2.0-only */
#include "faults.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "ctl/print/text.h"
#include "linger.h"

/* PROC_EVENT_NONZERO_EXIT, _COREDUMP and _EXIT of <linux/cn_proc.h> */
#define FAULTS_EVENTS 0x60000000u
#define FAULTS_CRASH 0x40000000u
#define FAULTS_EXIT 0x80000000u
#define FAULTS_BYTES 4096u
#define FAULTS_QUEUE (4 << 20) /* each process of the machine that fails is a report */
/* The namespaces in which a system begins: enum init_ns_ino of the kernel. */
#define FIRST_PIDS 0xeffffffcu
#define FIRST_USERS 0xeffffffdu

/* struct proc_input of <linux/cn_proc.h>, which headers before Linux 6.6 lack. */
struct faults_input {
	uint32_t operation;
	uint32_t events;
};

#define FAULTS_HEADERS (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define FAULTS_REQUEST (FAULTS_HEADERS + sizeof(struct faults_input))

static int faults_listen(int fd)
{
	const struct faults_input input = { PROC_CN_MCAST_LISTEN, FAULTS_EVENTS };
	const struct cn_msg message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(input) };
	const struct nlmsghdr header = { .nlmsg_len = FAULTS_REQUEST, .nlmsg_type = NLMSG_DONE };
	char request[FAULTS_REQUEST] = { 0 };

	memcpy(request, &header, sizeof(header));
	memcpy(request + NLMSG_HDRLEN, &message, sizeof(message));
	memcpy(request + FAULTS_HEADERS, &input, sizeof(input));
	return send(fd, request, sizeof(request), 0) == sizeof(request) ? 0 : -1;
}

static bool faults_in_first(const char *namespace, ino_t first)
{
	struct stat st;

	return stat(namespace, &st) == 0 && st.st_ino == first;
}

bool faults_is_first(void)
{
	return faults_in_first("/proc/self/ns/pid", FIRST_PIDS);
}

/* Elsewhere the kernel ignores the request. */
static bool faults_can_listen(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname uts;

	return uname(&uts) == 0 && sscanf(uts.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 6)) &&
	       faults_is_first() && faults_in_first("/proc/self/ns/user", FIRST_USERS);
}

void faults_open(struct faults *ret)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	int queue = FAULTS_QUEUE;

	*ret = (struct faults){ .fd = fd, .stop = -1 };
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof(queue)) != 0)
		(void)!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof(queue));
	if (fd >= 0 && (!faults_can_listen() ||
			bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
			faults_listen(fd) != 0))
		faults_close(ret);
}

/* --- the list ---------------------------------------------------------------------- */

static struct fault *faults_search_unsure(struct faults *faults, uint32_t pid)
{
	for (size_t i = faults->nr_unsure; i-- > 0 && faults->nr_unsure - i <= FAULTS_UNSURE;)
		if (faults->unsure[i % FAULTS_UNSURE].pid == pid)
			return &faults->unsure[i % FAULTS_UNSURE];
	return NULL;
}

static struct fault *faults_search(struct faults *faults, uint32_t pid)
{
	if (faults->own.pid == pid)
		return &faults->own;
	for (size_t i = faults->nr; i-- > 0 && faults->nr - i <= FAULTS_KEPT;)
		if (faults->last[i % FAULTS_KEPT].pid == pid)
			return &faults->last[i % FAULTS_KEPT];
	return NULL;
}

const struct fault *faults_find(const struct faults *faults, pid_t pid)
{
	return faults_search((struct faults *)faults, (uint32_t)pid);
}

static struct fault fault_of(uint32_t pid, uint32_t tid)
{
	struct fault fault = { .pid = pid, .tid = tid };
	char *path AUTO_FREE = xasprintf("/proc/%u/comm", pid);

	if (text_read(path, fault.name, sizeof(fault.name)))
		fault.name[strcspn(fault.name, "\n")] = '\0';
	return fault;
}

static struct fault *faults_add(struct faults *faults, struct fault fault)
{
	struct fault *ret = fault.pid == (uint32_t)faults->program ?
				    &faults->own :
				    &faults->last[faults->nr++ % FAULTS_KEPT];

	*ret = fault;
	return ret;
}

static bool faults_dumps_core(int signal)
{
	static const int signals[] = { SIGQUIT, SIGILL,	 SIGTRAP, SIGABRT, SIGBUS,
				       SIGFPE,	SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i] == signal)
			return true;
	return false;
}

void faults_take_child(struct faults *faults, pid_t pid, int signal)
{
	struct fault *fault = faults_search(faults, (uint32_t)pid);
	struct fault *unsure = faults_search_unsure(faults, (uint32_t)pid);

	if (!faults_dumps_core(signal))
		return;
	if (!fault)
		fault = faults_add(faults, unsure ? *unsure : fault_of((uint32_t)pid, 0));
	if (unsure)
		unsure->pid = 0;
	fault->signal = signal;
}

/* --- the kernel's reports ---------------------------------------------------------- */

/* lttctl is the parent of orphans: the parents of each descendant lead to it. */
static void faults_take_crash(struct faults *faults, const struct coredump_proc_event *event)
{
	bool child = event->parent_tgid == getpid() || event->parent_tgid == faults->program;
	int found = child ? 1 : linger_is_descendant(event->parent_tgid);
	struct fault fault;

	if (!found)
		return;
	fault = fault_of((uint32_t)event->process_tgid, (uint32_t)event->process_pid);
	if (found > 0)
		faults_add(faults, fault);
	else
		faults->unsure[faults->nr_unsure++ % FAULTS_UNSURE] = fault;
}

static void faults_take_exit(struct faults *faults, const struct exit_proc_event *event)
{
	struct fault *fault = faults_search(faults, (uint32_t)event->process_tgid);

	if (!fault)
		fault = faults_search_unsure(faults, (uint32_t)event->process_tgid);
	if (fault && !fault->signal)
		fault->signal = WTERMSIG((int)event->exit_code);
}

/* One event is in a message. */
static void faults_take(struct faults *faults, const char *message, size_t len)
{
	struct proc_event event = { 0 };

	if (len < FAULTS_HEADERS + sizeof(event))
		return;
	memcpy(&event, message + FAULTS_HEADERS, sizeof(event));
	if ((uint32_t)event.what == FAULTS_CRASH)
		faults_take_crash(faults, &event.event_data.coredump);
	else if ((uint32_t)event.what == FAULTS_EXIT)
		faults_take_exit(faults, &event.event_data.exit);
}

void faults_read(struct faults *faults)
{
	struct sockaddr_nl from = { 0 };
	char message[FAULTS_BYTES];
	socklen_t size = sizeof(from);
	ssize_t len;

	/* ENOBUFS, after which there may be more: some were dropped */
	while (faults->fd >= 0 && ((len = recvfrom(faults->fd, message, sizeof(message), 0,
						   (struct sockaddr *)&from, &size)) >= 0 ||
				   errno == ENOBUFS)) {
		if (len > 0 && from.nl_pid == 0) /* of the kernel */
			faults_take(faults, message, (size_t)len);
		size = sizeof(from);
	}
}

static void *faults_thread(void *priv)
{
	struct faults *faults = priv;
	struct pollfd pfds[] = {
		{ .fd = faults->fd, .events = POLLIN },
		{ .fd = faults->stop, .events = POLLIN },
	};

	while (!pfds[1].revents && (poll(pfds, ARRAY_SIZE(pfds), -1) > 0 || errno == EINTR))
		faults_read(faults);
	return NULL;
}

void faults_attend(struct faults *faults)
{
	faults->stop = faults->fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
	if (faults->stop >= 0 && thread_start(&faults->thread, faults_thread, faults) < 0)
		faults->stop = close_fd(faults->stop);
}

void faults_unattend(struct faults *faults)
{
	if (faults->stop < 0)
		return;
	(void)!eventfd_write(faults->stop, 1);
	pthread_join(faults->thread, NULL);
	faults->stop = close_fd(faults->stop);
}

void faults_close(struct faults *faults)
{
	faults->fd = close_fd(faults->fd);
}
