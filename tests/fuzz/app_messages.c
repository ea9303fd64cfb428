/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An application receives arbitrary messages of a daemon. An input is a series of
 * messages, each with two bytes of length in front; three descriptors of a true
 * ring set come with each. Nothing may be read out of bounds, nothing may leak,
 * and when the daemon forgets everything nothing is left armed.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

#include "ltt_ring.h"
#include "tracer/agent/buffers.h"
#include "tracer/agent/counts.h"
#include "tracer/agent/link.h"
#include "tracer/agent/message.h"
#include "tracer/agent/thread.h"

LTT_TRACEPOINT(fuzz, tick, (int n), LTT_INFO, ltt_int(int, n, n))

static uint8_t tx[MSG_MAX_BYTES];
static struct agent_link link_ = { .index = 1, .fd = -1, .round = 1, .tx = tx };
static int data_fd, ctl_fd, bell_fd;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_ring_set(void)
{
	struct ltt_ring_desc desc = {
		.magic = LTT_RING_MAGIC, .version = LTT_RING_VERSION, .nr_rings = 1,
		.num_subbuf = 2, .subbuf_size = 4096, .data_size = 8192, .max_record = 1024,
	};

	data_fd = memfd_create("data", MFD_CLOEXEC);
	ctl_fd = memfd_create("ctl", MFD_CLOEXEC);
	bell_fd = memfd_create("bell", MFD_CLOEXEC);
	if (ftruncate(data_fd, (off_t)ltt_ring_data_bytes(&desc)) < 0 ||
	    ftruncate(ctl_fd, (off_t)ltt_ring_ctl_bytes(&desc)) < 0 ||
	    ftruncate(bell_fd, 4096) < 0 ||
	    pwrite(ctl_fd, &desc, sizeof(desc), 0) != (ssize_t)sizeof(desc))
		__builtin_trap();
}

static void message(const uint8_t *data, size_t size)
{
	int fds[3] = { dup(data_fd), dup(ctl_fd), dup(bell_fd) };
	struct decoder dec;

	decoder_init(&dec, data, size, fds, 3);
	agent_message(&link_, &dec);
	link_.tx_len = 0;
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t copy[MSG_MAX_BYTES];

	if (!bell_fd)
		make_ring_set();
	while (size > 2) {
		size_t len = data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		memcpy(copy, data, len);
		message(copy, len);
		ltt_trace(fuzz, tick, 1);
		data += len;
		size -= len;
	}
	agent_lock();
	agent_buffers_forget(1);
	agent_counts_forget(1);
	agent_unlock();
	agent_buffers_reap();
	agent_counts_reap();
	if (ltt_enabled(fuzz, tick))
		__builtin_trap();
	return 0;
}
