/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * consumer_client.h - for tests of ltt-consumerd: starts the real program, sends it the requests of
 * ltt-sessiond, records into its rings with the real tracer, and reads its output from the written
 * formats alone. The sources are consumer_daemon.c, consumer_session.c and consumer_walk.c.
 */
#ifndef TESTS_CONSUMER_CLIENT_H
#define TESTS_CONSUMER_CLIENT_H

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"
#include "base/err.h"
#include "io/sock.h"
#include "ltt_ring.h"
#include "proto/consumer.h"
#include "trace/crc32c.h"
#include "tracer/ring/hook.h"
#include "tracer/ring/ring.h"

/* --- the daemon ----------------------------------------------------------------- */

struct daemon {
	pid_t pid;
	int fd;
	uint32_t serial;
	/* con_output_error messages that came in */
	unsigned int errors, recoveries;
	uint32_t last_error;
	uint64_t damaged; /* ring set of the last con_ring_damaged message; 0: none came in */
};

struct reply {
	uint32_t code;
	char text[512];
	uint8_t buf[MSG_MAX_BYTES];
	int fds[MSG_MAX_FDS];
	struct decoder dec; /* the OUT fields */
};

typedef void (*item_fn)(struct decoder *dec, void *data);

uint64_t mono_ns(void);
void sleep_ms(unsigned int ms);

/** The path of a file of the same build as the test. */
void build_path(const char *name, char ret[4096]);

/** Skip the test in a build where no library can be preloaded. */
void need_preload(void);

/** Preload a library of the same build as the test ("dso/NAME.so") into the next daemon. */
void daemon_preload(const char *library);
struct daemon daemon_start(void);

/** Fork a child that does not outlive the test, and holds none of its connections. */
pid_t fork_child(const struct daemon *d);

/** Wait for its end. Return: the wait status. */
int daemon_wait(struct daemon *d);

/** Hang up; it must write everything and end well. */
void daemon_end(struct daemon *d);

/* --- requests ------------------------------------------------------------------- */

/** Receive messages that are no replies, for @ms. */
void daemon_listen(struct daemon *d, int ms);
void daemon_await(struct daemon *d, uint32_t serial, struct reply *r, item_fn item, void *data);
void send_begin(struct daemon *d, struct encoder *enc, uint8_t *buf, uint16_t type);
void send_end(struct daemon *d, struct encoder *enc);

/** Send a request without waiting for its answer. */
#define SEND(d, name, ...)                                \
	do {                                              \
		static uint8_t buf_[MSG_MAX_BYTES];       \
		struct req_##name req_ = { __VA_ARGS__ }; \
		struct encoder enc_;                      \
                                                          \
		send_begin(d, &enc_, buf_, MSG_##name);   \
		req_##name##_encode(&enc_, &req_);        \
		send_end(d, &enc_);                       \
	} while (0)

/** Send a request and wait; the reply is in @r. */
#define ASK(d, r, name, ...)                                 \
	do {                                                 \
		SEND(d, name, __VA_ARGS__);                  \
		daemon_await(d, (d)->serial, r, NULL, NULL); \
	} while (0)

/** Send a request that must succeed. */
#define MUST(d, name, ...)                                           \
	do {                                                         \
		struct reply r_;                                     \
                                                                     \
		ASK(d, &r_, name, __VA_ARGS__);                      \
		if (r_.code)                                         \
			fprintf(stderr, "%s: %s\n", #name, r_.text); \
		CHECK_IS(r_.code, ==, 0);                            \
	} while (0)

/* --- a session ------------------------------------------------------------------ */

#define TEST_UUID "0123456789abcdef"

/** A trace whose one event class, id 0, has the fields of struct numbered. */
extern const char test_tsdl[];

struct numbered {
	uint32_t writer;
	uint64_t seq;
	uint8_t slack[16];
} __attribute__((packed));
#define NUMBERED_BYTES 12u

void open_output(struct daemon *d, uint64_t output, int dir, uint32_t flush_us);
void open_trace(struct daemon *d, uint64_t output, uint64_t trace, const char *path);

/** The bytes of @text, without its end. */
struct blob text_blob(const char *text);

#if defined(__x86_64__) || defined(__aarch64__)
#define TEST_RING_CLOCK LTT_CLOCK_CYCLES
#else
#define TEST_RING_CLOCK LTT_CLOCK_MONOTONIC
#endif

struct rings {
	uint64_t id;
	int data_fd, ctl_fd, doorbell_fd;
	uint32_t nr;
};

/** The number of shared rings of a set, one per possible CPU. */
uint32_t nr_cpus(void);

int rings_from(struct reply *r, struct rings *ret);
struct rings open_rings(struct daemon *d, uint64_t trace, uint64_t id, uint32_t num_subbuf,
			uint64_t subbuf_size);
void enable_rings(struct daemon *d, uint64_t output, uint64_t ring, bool on);

struct sums {
	uint64_t recorded, written, lost_full, lost_size, lost_busy, lost_output, lost_invalid;
	uint64_t bytes, packets, used, size;
	uint64_t lost_stalled, slow_ns, slow_bytes, cleared;
	unsigned int streams;
};

struct sums get_stats(struct daemon *d, uint64_t output);
/** Those with which the output is closed. */
struct sums get_last_stats(struct daemon *d, uint64_t output);

/** Events lost before the consumer could read them. */
uint64_t lost_in_rings(const struct sums *s);

/* --- producers ------------------------------------------------------------------ */

struct producer {
	struct ring_set *set;
	struct binding binding;
	struct hook hook;
	struct numbered payload;
};

uint32_t *map_doorbell(int fd);

/** In the process that records. The rings must be shared ones. */
void producer_init(struct producer *p, const struct rings *rings, uint32_t writer);
void produce(struct producer *p);

/** Can this machine record into shared rings at all? */
void need_rseq(void);

/* --- the written files ------------------------------------------------------------- */

struct walked {
	uint64_t packets, bytes, records, payload_bytes;
	uint64_t lost, lost_output;
	unsigned int streams;
};

struct test_packet {
	uint32_t magic, instance, form, crc;
	uint64_t pos, recorded, lost_full, lost_size, lost_busy, lost_output;
	uint32_t stream_id;
	char uuid[16];
	uint64_t begin, end, content, size, seq, discarded;
	uint32_t cpu;
} __attribute__((packed));

void *slurp(int dir, const char *name, size_t *ret_len);

/** Walk a stream file beside its index; @prev: the packet before it, or zeros. */
void walk_stream(int dir, const char *name, struct test_packet *prev, struct walked *sum);

/** Walk the streams CHAN_0 ... of a trace directory. */
struct walked walk_trace(int dir, const char *channel, uint32_t nr);

enum complaint {
	COMPLAINT_NONE = 0,
	COMPLAINT_LOSSES = 1,  /* events were discarded */
	COMPLAINT_GROWING = 2, /* a packet, or half of an entry, came between its reads */
};

/** Let babeltrace2 read it. Any complaint fails the test, but for those that are @allowed.
 *  Return: false, and this with COMPLAINT_GROWING only, where a packet has its size and not
 *  its header yet (doc/reliability.md, G6). */
bool babeltrace_reads(const char *path, unsigned int allowed, long *ret_lines);

/** The same until it can be read, which is soon. Return: lines of output; -1 where there is
 *  no babeltrace2. */
long babeltrace(const char *path, unsigned int allowed);

/** A fresh directory below the test's own. */
int fresh_dir(const char *name);

/** Run in a directory of one's own, also by hand. */
void enter_test_dir(void);

#endif
