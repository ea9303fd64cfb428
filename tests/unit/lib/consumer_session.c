/* SPDX-License-Identifier: GPL-2.0-only */
/* consumer_session.c - outputs, traces and rings; recording into them. */
#include "consumer_client.h"

const char test_tsdl[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
	"typealias integer { size = 27; align = 1; signed = false; } := uint27_t;\n"
	"trace { major = 1; minor = 8; uuid = \"30313233-3435-3637-3839-616263646566\";\n"
	" byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_instance_id;\n"
	" integer { size = 32; align = 512; signed = false; } stream_id; uint8_t uuid[16]; }; };\n"
	"env { tracer_name = \"ltt\"; };\n"
	"clock { name = \"c\"; freq = 1000000000; offset = 0; };\n"
	"typealias integer { size = 27; align = 1; signed = false; map = clock.c.value; }"
	" := uint27_clock_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; }"
	" := uint64_clock_t;\n"
	"struct packet_context { uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end;\n"
	" uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;\n"
	" uint64_t events_discarded; uint32_t cpu_id; };\n"
	"struct event_header { enum : uint5_t { compact = 0 ... 29, wide = 30, extended = 31 } id;\n"
	" variant <id> { struct { uint27_clock_t timestamp; } compact;\n"
	" struct { uint27_clock_t timestamp; uint16_t id; } wide;\n"
	" struct { uint32_t id; uint64_clock_t timestamp; } extended; } v; } align(8);\n"
	"stream { id = 0; event.header := struct event_header;\n"
	" packet.context := struct packet_context; };\n"
	"event { name = \"numbered\"; id = 0; stream_id = 0;\n"
	" fields := struct { uint32_t _writer; uint64_t _seq; }; };\n";

void open_output(struct daemon *d, uint64_t output, int dir, uint32_t flush_us)
{
	MUST(d, con_output_open, .doorbell = -1, .output = output, .dir = dir, .uid = geteuid(),
	     .gid = getegid(), .flush_us = flush_us);
}

void open_trace(struct daemon *d, uint64_t output, uint64_t trace, const char *path)
{
	MUST(d, con_trace, .metadata = -1, .output = output, .trace = trace, .path = path,
	     .uuid = { (const uint8_t *)TEST_UUID, 16 });
	MUST(d, con_metadata_append, .trace = trace, .text = text_blob(test_tsdl));
}

int rings_from(struct reply *r, struct rings *ret)
{
	struct rep_con_ring rep;

	CHECK_IS(rep_con_ring_decode(&r->dec, &rep), ==, 0);
	CHECK(rep.data >= 0 && rep.ctl >= 0 && rep.doorbell >= 0);
	ret->data_fd = rep.data;
	ret->ctl_fd = rep.ctl;
	ret->doorbell_fd = rep.doorbell;
	return 0;
}

struct rings open_rings(struct daemon *d, uint64_t trace, uint64_t id, uint32_t num_subbuf,
			uint64_t subbuf_size)
{
	struct rings rings = { .id = id, .nr = nr_cpus() };
	struct reply r;

	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = trace, .ring = id,
	    .channel = "chan", .nr_rings = rings.nr, .num_subbuf = num_subbuf,
	    .subbuf_size = subbuf_size, .clock = TEST_RING_CLOCK);
	if (r.code)
		fprintf(stderr, "ring_open: %s\n", r.text);
	CHECK_IS(r.code, ==, 0);
	rings_from(&r, &rings);
	return rings;
}

void enable_rings(struct daemon *d, uint64_t output, uint64_t ring, bool on)
{
	struct msg_con_ring_ref ref = { .ring = ring };
	uint8_t buf[64];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	msg_con_ring_ref_add(&enc, &ref);
	MUST(d, con_ring_enable, .output = output, .rings = encoder_list(&enc), .on = on);
}

static void add_stream(struct decoder *dec, void *data)
{
	struct sums *sums = data;
	struct msg_con_stream msg;

	CHECK_IS(msg_con_stream_decode(dec, &msg), ==, 0);
	sums->recorded += msg.recorded;
	sums->written += msg.written;
	sums->lost_full += msg.lost_full;
	sums->lost_size += msg.lost_size;
	sums->lost_busy += msg.lost_busy;
	sums->lost_output += msg.lost_output;
	sums->lost_invalid += msg.lost_invalid;
	sums->bytes += msg.bytes;
	sums->packets += msg.packets;
	sums->used += msg.used;
	sums->size += msg.size;
	sums->lost_stalled += msg.lost_stalled;
	sums->slow_ns += msg.slow_ns;
	sums->slow_bytes += msg.slow_bytes;
	sums->cleared += msg.cleared;
	sums->streams++;
}

static struct sums await_stats(struct daemon *d)
{
	struct sums sums = { 0 };
	struct reply r;

	daemon_await(d, d->serial, &r, add_stream, &sums);
	CHECK_IS(r.code, ==, 0);
	return sums;
}

struct sums get_stats(struct daemon *d, uint64_t output)
{
	SEND(d, con_stats, .output = output);
	return await_stats(d);
}

struct sums get_last_stats(struct daemon *d, uint64_t output)
{
	SEND(d, con_output_close, .output = output);
	return await_stats(d);
}

/* --- producers ------------------------------------------------------------------ */

uint32_t *map_doorbell(int fd)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK_IS(page, !=, MAP_FAILED);
	return page;
}

void producer_init(struct producer *p, const struct rings *rings, uint32_t writer)
{
	memset(p, 0, sizeof(*p));
	CHECK_IS(ring_init(), ==, RING_RSEQ);
	CHECK_IS(ring_set_map(rings->data_fd, rings->ctl_fd, map_doorbell(rings->doorbell_fd), 0,
			      &p->set),
		 ==, 0);
	p->binding = ring_binding(p->set, 0, 1);
	p->hook.binding = &p->binding;
	p->payload.writer = writer;
}

void produce(struct producer *p)
{
	ring_record(&p->hook, &p->payload, NUMBERED_BYTES);
	p->payload.seq++;
}

void need_rseq(void)
{
	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences here");
}

struct blob text_blob(const char *text)
{
	return (struct blob){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

uint32_t nr_cpus(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

uint64_t lost_in_rings(const struct sums *s)
{
	return s->lost_full + s->lost_size + s->lost_busy;
}
