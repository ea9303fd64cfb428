/* SPDX-License-Identifier: GPL-2.0-only */
#include "faults.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"

#define FAULTS_EVENT 0x40000000u /* PROC_EVENT_COREDUMP of <linux/cn_proc.h> */
#define FAULTS_BYTES 4096u

/* struct proc_input of <linux/cn_proc.h>, which headers before Linux 6.6 lack. */
struct faults_input {
	uint32_t operation;
	uint32_t events;
};

#define FAULTS_HEADERS (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define FAULTS_REQUEST (FAULTS_HEADERS + sizeof(struct faults_input))

static int faults_listen(int fd)
{
	const struct faults_input input = { PROC_CN_MCAST_LISTEN, FAULTS_EVENT };
	const struct cn_msg message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(input) };
	const struct nlmsghdr header = { .nlmsg_len = FAULTS_REQUEST, .nlmsg_type = NLMSG_DONE };
	char request[FAULTS_REQUEST] = { 0 };

	memcpy(request, &header, sizeof(header));
	memcpy(request + NLMSG_HDRLEN, &message, sizeof(message));
	memcpy(request + FAULTS_HEADERS, &input, sizeof(input));
	return send(fd, request, sizeof(request), 0) == sizeof(request) ? 0 : -1;
}

void faults_open(struct faults *ret)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);

	*ret = (struct faults){ .fd = fd };
	if (fd >= 0 && (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
			faults_listen(fd) != 0))
		faults_close(ret);
}

/* One event is in a message. */
static void faults_take(struct faults *faults, const char *message, size_t len, pid_t program)
{
	struct proc_event event = { 0 };
	uint32_t pid, parent;

	if (len < FAULTS_HEADERS + sizeof(event))
		return;
	memcpy(&event, message + FAULTS_HEADERS, sizeof(event));
	pid = (uint32_t)event.event_data.coredump.process_tgid;
	parent = (uint32_t)event.event_data.coredump.parent_tgid;
	if ((uint32_t)event.what != FAULTS_EVENT ||
	    (pid != (uint32_t)program && parent != (uint32_t)program))
		return;
	faults->pid = pid;
	faults->tid = (uint32_t)event.event_data.coredump.process_pid;
}

void faults_read(struct faults *faults, pid_t program)
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
			faults_take(faults, message, (size_t)len, program);
		size = sizeof(from);
	}
}

void faults_close(struct faults *faults)
{
	faults->fd = close_fd(faults->fd);
}
