/* SPDX-License-Identifier: GPL-2.0-only */
#include "testset.h"

uint32_t testset_prefix[TESTSET_PREFIXES];

static uint8_t testset_byte(uint32_t writer, uint64_t seq, uint32_t i)
{
	return (uint8_t)(seq * 31 + writer * 7 + i);
}

void testset_fill(void *buf, uint32_t len, uint32_t writer, uint64_t seq)
{
	struct body *body = buf;

	body->len = len;
	body->writer = writer;
	body->seq = seq;
	for (uint32_t i = sizeof(*body); i < len; i++)
		((uint8_t *)buf)[i] = testset_byte(writer, seq, i);
}

uint64_t testset_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

unsigned int testset_stride(void)
{
	const char *text = getenv("LTT_TEST_SHORT");

	return text && atoi(text) > 1 ? 13 : 1;
}

int testset_goes_on(uint64_t begun, uint64_t ms, const uint64_t *seen, int nr)
{
	uint64_t so_far = (testset_now_ns() - begun) / 1000000u;
	int kind = 0;

	while (kind < nr && seen[kind])
		kind++;
	return so_far < ms || (kind < nr && so_far < 60000);
}

int testset_memfd(const char *name, uint64_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size), "%s: %s", name, strerror(errno));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "seal");
	return fd;
}

struct ltt_ring_prod *testset_prod(const struct testset *t, uint32_t ring)
{
	return (struct ltt_ring_prod *)(t->data + ring * t->view);
}

uint8_t *testset_data(const struct testset *t, uint32_t ring)
{
	return t->data + ring * t->view + ltt_ring_prod_size(t->desc.num_subbuf);
}

struct ltt_ring_cons *testset_cons(const struct testset *t, uint32_t ring)
{
	return (struct ltt_ring_cons *)(t->ctl + LTT_RING_CONS_OFFSET) + ring;
}

void testset_state(const struct testset *t, uint32_t state)
{
	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++)
		__atomic_store_n(&testset_cons(t, ring)->state, state, __ATOMIC_SEQ_CST);
}

static void *testset_map_at(void *at, uint64_t bytes, int fd, uint64_t offset)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *got = mmap(at, bytes, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), fd,
			 (off_t)offset);

	CHECK(got != MAP_FAILED, "mmap: %s", strerror(errno));
	return got;
}

static void testset_map(struct testset *t)
{
	uint64_t once = ltt_ring_stride(&t->desc);

	t->view = once + t->desc.data_size;
	t->data = testset_map_at(NULL, t->view * t->desc.nr_rings, -1, 0);
	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++) {
		uint8_t *at = t->data + ring * t->view;

		testset_map_at(at, once, t->data_fd, ring * once);
		testset_map_at(at + once, t->desc.data_size, t->data_fd,
			       ring * once + ltt_ring_prod_size(t->desc.num_subbuf));
	}
	t->ctl = testset_map_at(NULL, ltt_ring_ctl_bytes(&t->desc), t->ctl_fd, 0);
}

void testset_make(struct testset *t, uint32_t nr_rings, uint32_t num_subbuf, uint64_t subbuf_size,
		  uint32_t mode, uint32_t clock)
{
	memset(t, 0, sizeof(*t));
	t->desc = (struct ltt_ring_desc){
		.magic = LTT_RING_MAGIC,
		.version = LTT_RING_VERSION,
		.mode = mode,
		.nr_rings = nr_rings,
		.num_subbuf = num_subbuf,
		.subbuf_size = subbuf_size,
		.data_size = num_subbuf * subbuf_size,
		.max_record = ltt_ring_max_record(num_subbuf * subbuf_size),
		.clock = clock,
	};
	t->data_fd = testset_memfd("ring-data", ltt_ring_data_bytes(&t->desc));
	t->ctl_fd = testset_memfd("ring-ctl", ltt_ring_ctl_bytes(&t->desc));
	testset_map(t);
	memcpy(t->ctl, &t->desc, sizeof(t->desc));
	t->doorbell = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(t->doorbell != MAP_FAILED, "doorbell");
	t->track = calloc(nr_rings, sizeof(*t->track));
	CHECK(t->track, "memory");
	testset_state(t, LTT_RING_ON);
}

void testset_free(struct testset *t)
{
	munmap(t->data, t->view * t->desc.nr_rings);
	munmap(t->ctl, ltt_ring_ctl_bytes(&t->desc));
	munmap(t->doorbell, 4096);
	close(t->data_fd);
	close(t->ctl_fd);
	free(t->track);
}

struct ring_set *testset_producer(const struct testset *t, int exclusive)
{
	char path[64];
	struct ring_set *set = NULL;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->ctl_fd);
	int ctl_fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(ctl_fd >= 0, "%s", strerror(errno));
	int ret = ring_set_map(t->data_fd, ctl_fd, t->doorbell, exclusive, &set);
	CHECK(ret == 0, "ring_set_map: %s", strerror(-ret));
	close(ctl_fd);
	return set;
}

uint32_t testset_nr_cpus(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

struct cut testset_cut(const struct testset *t, uint32_t ring)
{
	struct ltt_ring_prod *prod = testset_prod(t, ring);
	struct cut cut;

	do {
		cut.pub = __atomic_load_n(&prod->pub, __ATOMIC_ACQUIRE);
		cut.last_ts = __atomic_load_n(&prod->last_ts, __ATOMIC_ACQUIRE);
		cut.count = __atomic_load_n(&prod->count[!!(cut.pub & LTT_PUB_PARITY)],
					    __ATOMIC_ACQUIRE);
		cut.lost_full = __atomic_load_n(&prod->lost_full, __ATOMIC_ACQUIRE) +
				__atomic_load_n(&prod->lost_full_apart, __ATOMIC_ACQUIRE);
		cut.lost_size = __atomic_load_n(&prod->lost_size, __ATOMIC_ACQUIRE);
		cut.lost_busy = __atomic_load_n(&prod->lost_busy, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&prod->pub, __ATOMIC_ACQUIRE) != cut.pub);
	return cut;
}

uint64_t testset_accounted(const struct testset *t)
{
	uint64_t sum = 0;

	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++) {
		struct cut cut = testset_cut(t, ring);

		sum += cut.count + cut.lost_full + cut.lost_size + cut.lost_busy;
	}
	return sum;
}

struct record testset_decode(const uint8_t *at, uint64_t ts)
{
	struct record r;
	uint32_t word;
	uint16_t short_id;

	memcpy(&word, at, sizeof(word));
	r.id = word & 31;
	if (r.id == LTT_ID_EXTENDED) {
		memcpy(&r.id, at + 1, sizeof(r.id));
		memcpy(&r.ts, at + 5, sizeof(r.ts));
		r.header = LTT_HDR_EXTENDED;
	} else {
		r.ts = (ts & ~((1ull << LTT_TS_BITS) - 1)) | word >> 5;
		r.header = LTT_HDR_COMPACT;
	}
	if (r.id == LTT_ID_WIDE && r.header == LTT_HDR_COMPACT) {
		memcpy(&short_id, at + 4, sizeof(short_id));
		r.id = short_id;
		r.header = LTT_HDR_WIDE;
	}
	r.header += testset_prefix[r.id % TESTSET_PREFIXES];
	r.body = (const struct body *)(at + r.header);
	return r;
}

void testset_check_record(const struct record *r, uint32_t room)
{
	struct body body;

	memcpy(&body, r->body, sizeof(body));
	CHECK(body.len >= sizeof(body) && r->header + body.len <= room,
	      "payload of %u bytes in a room of %u", body.len, room);
	for (uint32_t i = sizeof(body); i < body.len; i++)
		CHECK(((const uint8_t *)r->body)[i] == testset_byte(body.writer, body.seq, i),
		      "byte %u of writer %u's record %llu", i, body.writer,
		      (unsigned long long)body.seq);
}

struct cut testset_take(struct testset *t, uint32_t ring, record_fn fn, void *priv)
{
	struct track *track = &t->track[ring];
	struct cut cut = testset_cut(t, ring);
	uint64_t avail = (cut.pub - track->pos) & LTT_POS_MASK;
	const uint8_t *at = testset_data(t, ring) + (track->pos & (t->desc.data_size - 1));
	const uint8_t *end = at + avail;

	CHECK(avail <= t->desc.data_size, "%llu bytes in the ring", (unsigned long long)avail);
	CHECK(cut.last_ts >= track->end, "last_ts went back");
	for (; at < end; track->count++) {
		struct record r = testset_decode(at, track->ts);

		testset_check_record(&r, (uint32_t)(end - at));
		CHECK(r.ts >= track->ts, "clock went back: %llu after %llu",
		      (unsigned long long)r.ts, (unsigned long long)track->ts);
		CHECK(r.ts >= track->end && r.ts <= cut.last_ts, "record outside its packet");
		track->ts = r.ts;
		track->compact += r.header == LTT_HDR_COMPACT;
		track->wide += r.header == LTT_HDR_WIDE;
		track->extended += r.header == LTT_HDR_EXTENDED;
		if (fn)
			fn(&r, ring, priv);
		uint32_t len;
		memcpy(&len, r.body, sizeof(len));
		at += r.header + len;
	}
	CHECK(at == end, "a record crosses the end of the published data");
	CHECK(track->count == cut.count, "count is %llu, decoded %llu",
	      (unsigned long long)cut.count, (unsigned long long)track->count);
	uint64_t epoch = cut.pub >> LTT_PUB_EPOCH_SHIFT;
	CHECK(!track->count || epoch == (track->ts >> LTT_TS_BITS & 0xffffff), "epoch in pub");
	track->end = cut.last_ts;
	track->pos += avail;
	__atomic_store_n(&testset_cons(t, ring)->consumed, track->pos & LTT_POS_MASK,
			 __ATOMIC_RELEASE);
	return cut;
}

struct totals testset_take_all(struct testset *t, record_fn fn, void *priv)
{
	struct totals sum = { 0 };

	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++) {
		struct cut cut = testset_take(t, ring, fn, priv);

		sum.count += cut.count;
		sum.full += cut.lost_full;
		sum.size += cut.lost_size;
		sum.busy += cut.lost_busy;
		sum.compact += t->track[ring].compact;
		sum.wide += t->track[ring].wide;
		sum.extended += t->track[ring].extended;
	}
	return sum;
}

uint64_t testset_lost(const struct totals *sum)
{
	return sum->full + sum->size + sum->busy;
}
