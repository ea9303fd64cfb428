/* SPDX-License-Identifier: GPL-2.0-only */
#include "exits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "io/confine.h"

#define ANSWER_MS 200
#define AT_ONCE 256 /* messages: then other sources of the loop are served */
#define ROOM_BYTES (1 << 20)

/* The kernel does not align the event, which is behind a header of 20 bytes. */
struct exit_message {
	struct nlmsghdr head;
	struct cn_msg connector;
	uint32_t event, cpu;
	uint8_t time_ns[8];
	union {
		uint32_t answer;
		struct {
			uint32_t pid, tgid, code, signal;
		} exit;
	};
} __attribute__((packed));

struct listen_message {
	struct nlmsghdr head;
	struct cn_msg connector;
	uint32_t wanted; /* enum proc_cn_mcast_op */
} __attribute__((packed));

static bool exits_is_event(const struct exit_message *message, size_t len)
{
	return len >= offsetof(struct exit_message, exit) + sizeof(message->exit) &&
	       message->head.nlmsg_len <= len && message->connector.id.idx == CN_IDX_PROC &&
	       message->connector.id.val == CN_VAL_PROC;
}

static void exits_receive(struct exits *exits, const struct exit_message *message)
{
	/* it has a number of the kernel's, but the acknowledged one is of the request */
	if (message->event == PROC_EVENT_NONE && message->connector.ack == (uint32_t)getpid() + 1)
		exits->answer = -(int)(message->answer & 0xfff);
	else if (message->event == PROC_EVENT_EXIT && message->exit.code & 0x7f)
		exits->ended(exits, (pid_t)message->exit.tgid, (int)(message->exit.code & 0x7f));
}

/* Return: false: there is no more. */
static bool exits_read(struct exits *exits)
{
	struct exit_message message = { 0 };
	struct sockaddr_nl from = { 0 };
	struct iovec part = { &message, sizeof(message) };
	struct msghdr head = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part, .msg_iovlen = 1
	};
	ssize_t len = recvmsg(exits->source.fd, &head, MSG_DONTWAIT | MSG_TRUNC);

	if (len < 0 && errno == ENOBUFS) {
		exits->lost++;
		log_warn_some(
			"more processes were ended by signals at once than the kernel has room "
			"for: triggers have not seen all of them");
		return true;
	}
	if (len <= 0)
		return len < 0 && errno == EINTR;
	/* only the kernel has the number 0 */
	if (from.nl_pid == 0 && exits_is_event(&message, (size_t)len))
		exits_receive(exits, &message);
	return true;
}

static void exits_ready(struct loop_fd *source, uint32_t events)
{
	struct exits *exits = container_of(source, struct exits, source);

	for (int i = 0; i < AT_ONCE && exits_are_received(exits); i++)
		if (!exits_read(exits))
			break;
	if (events & EPOLLHUP)
		exits_end(exits);
}

/* --- the socket ------------------------------------------------------------------------ */

/* Words are loaded in network order. */
static int exits_filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct exit_message, event)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl((uint32_t)PROC_EVENT_EXIT), 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct exit_message, exit.code)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, htonl(0x7f), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT16_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

static int exits_request(int fd, uint32_t wanted)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const struct listen_message message = {
		.head = { .nlmsg_len = sizeof(message), .nlmsg_type = NLMSG_DONE },
		.connector = { .id = { CN_IDX_PROC, CN_VAL_PROC },
			       .ack = (uint32_t)getpid(),
			       .len = sizeof(message.wanted) },
		.wanted = wanted,
	};

	return sendto(fd, &message, sizeof(message), MSG_DONTWAIT, (const struct sockaddr *)&kernel,
		      sizeof(kernel)) < 0 ?
		       -errno :
		       0;
}

/* The filter is there before the first message. */
static int exits_listen(void *data)
{
	const struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const int room = ROOM_BYTES;
	int *ret_fd = data, ret;
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	ret = exits_filter(fd) < 0 || bind(fd, (const struct sockaddr *)&own, sizeof(own)) < 0 ?
		      -errno :
		      exits_request(fd, PROC_CN_MCAST_LISTEN);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	*ret_fd = fd;
	return 0;
}

static int exits_ignore(void *data)
{
	return exits_request(*(int *)data, PROC_CN_MCAST_IGNORE);
}

/* A kernel that has no process events for this namespace does not answer. */
static int exits_await_answer(struct exits *exits)
{
	struct pollfd ready = { .fd = exits->source.fd, .events = POLLIN };

	exits->answer = 1;
	while (exits->answer > 0 && poll(&ready, 1, ANSWER_MS) > 0)
		(void)exits_read(exits);
	return exits->answer > 0 ? -EOPNOTSUPP : exits->answer;
}

/* --- life ------------------------------------------------------------------------------- */

void exits_init(struct exits *exits, struct loop *loop,
		void (*ended)(struct exits *exits, pid_t pid, int signo))
{
	*exits = (struct exits){ .source.fd = -1, .loop = loop, .ended = ended };
}

bool exits_are_received(const struct exits *exits)
{
	return exits->source.fd >= 0;
}

int exits_begin_from(struct exits *exits, int fd)
{
	int ret = loop_fd_init(&exits->source, exits->loop, fd, EPOLLIN, exits_ready);

	if (ret < 0)
		exits->source.fd = close_fd(fd);
	return ret;
}

int exits_begin(struct exits *exits)
{
	int fd, ret;

	if (exits_are_received(exits))
		return 0;
	ret = confine_with(CONFINE_CAP(CAP_NET_ADMIN), exits_listen, &fd);
	if (ret == 0)
		ret = exits_begin_from(exits, fd);
	if (ret == 0) {
		ret = exits_await_answer(exits);
		if (ret < 0)
			exits_end(exits);
	}
	return ret;
}

/* Without the request, kernels before 6.6 would make events for no receiver. */
void exits_end(struct exits *exits)
{
	int fd = exits->source.fd;

	if (!exits_are_received(exits))
		return;
	(void)confine_with(CONFINE_CAP(CAP_NET_ADMIN), exits_ignore, &fd);
	loop_fd_fini(&exits->source);
	exits->source.fd = close_fd(fd);
}
