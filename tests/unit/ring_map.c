// SPDX-License-Identifier: GPL-2.0-only
/* Wrong descriptors, files of the wrong size: refused, and nothing leaks. */
#include "lib/tracer/testset.h"
#include "tracer/ring/set.h"

static int try_map(const struct ltt_ring_desc *desc, uint64_t data_bytes, uint64_t ctl_bytes)
{
	int data_fd = testset_memfd("data", data_bytes);
	int ctl_fd = testset_memfd("ctl", ctl_bytes);
	struct ring_set *set = NULL;
	uint32_t doorbell = 0;

	CHECK(ctl_bytes < sizeof(*desc) || pwrite(ctl_fd, desc, sizeof(*desc), 0) == sizeof(*desc),
	      "write");
	int ret = ring_set_map(data_fd, ctl_fd, &doorbell, 0, &set);
	CHECK(ret || set, "no set");
	CHECK(!ret || !set, "a set in spite of an error");
	ring_set_unmap(set);
	close(data_fd);
	close(ctl_fd);
	return ret;
}

static struct ltt_ring_desc good(void)
{
	return (struct ltt_ring_desc){
		.magic = LTT_RING_MAGIC,
		.version = LTT_RING_VERSION,
		.nr_rings = 2,
		.num_subbuf = 4,
		.subbuf_size = 4096,
		.data_size = 16384,
		.max_record = 2048,
		.clock = LTT_CLOCK_MONOTONIC,
	};
}

static int refused(struct ltt_ring_desc desc)
{
	return try_map(&desc,
		       ltt_ring_data_bytes(&desc) < 1u << 30 ? ltt_ring_data_bytes(&desc) :
							       1u << 30,
		       1u << 20) == -EINVAL;
}

#define REFUSED(member, value)                                   \
	do {                                                     \
		struct ltt_ring_desc bad = good();               \
		bad.member = value;                              \
		CHECK(refused(bad), "%s = %s", #member, #value); \
	} while (0)

static void test_descriptors(void)
{
	REFUSED(magic, 0);
	REFUSED(version, 2);
	REFUSED(mode, 2);
	REFUSED(clock, 2);
	REFUSED(nr_rings, 0);
	REFUSED(nr_rings, 4097);
	REFUSED(nr_rings, UINT32_MAX);
	REFUSED(num_subbuf, 0);
	REFUSED(num_subbuf, 3);
	REFUSED(num_subbuf, 8);
	REFUSED(num_subbuf, 1u << 31);
	REFUSED(subbuf_size, 0);
	REFUSED(subbuf_size, 2048);
	REFUSED(subbuf_size, 4095);
	REFUSED(subbuf_size, 1ull << 63);
	REFUSED(subbuf_size, 1ull << 62);
	REFUSED(data_size, 0);
	REFUSED(data_size, 16383);
	REFUSED(data_size, UINT64_MAX);
	REFUSED(max_record, 0);
	REFUSED(max_record, 13);
	REFUSED(max_record, 2049);
	REFUSED(max_record, UINT32_MAX);
}

static void check_large(uint32_t num_subbuf)
{
	struct testset t;

	testset_make(&t, 3, num_subbuf, LTT_RING_LARGE_PAGE / num_subbuf, LTT_RING_DISCARD,
		     LTT_CLOCK_MONOTONIC);
	struct ring_set *set = testset_producer(&t, 0);
	for (uint32_t ring = 0; ring < 3; ring++) {
		uint8_t *data = ring_data(set, ring), *ours = t.data + ring * t.view;
		uint64_t words = ltt_ring_prod_size(num_subbuf);
		uint64_t offset = ring * ltt_ring_stride(&t.desc) + words;

		CHECK(((uint64_t)data - offset) % LTT_RING_LARGE_PAGE == 0, "ring %u: %p", ring,
		      (void *)data);
		data[LTT_RING_LARGE_PAGE + 1] = (uint8_t)(ring + 7);
		CHECK(ours[words + 1] == ring + 7 && data[1] == ring + 7, "ring %u", ring);
	}
	ring_set_unmap(set);
	testset_free(&t);
}

/* Their pages are where large pages can be mapped. */
static void test_large(void)
{
	check_large(4);
	check_large(512); /* the producer block has several pages */
	check_large(4);	  /* at the place of another */
}

static void test_sizes(void)
{
	struct ltt_ring_desc desc = good();
	uint64_t data = ltt_ring_data_bytes(&desc), ctl = ltt_ring_ctl_bytes(&desc);

	CHECK(try_map(&desc, data, ctl) == 0, "a good one");
	CHECK(try_map(&desc, data - 1, ctl) == -EINVAL, "data too short");
	CHECK(try_map(&desc, data + 1, ctl) == -EINVAL, "data too long");
	CHECK(try_map(&desc, 0, ctl) == -EINVAL, "no data");
	CHECK(try_map(&desc, data, ctl - 1) == -EINVAL, "ctl too short");
	CHECK(try_map(&desc, data, 0) == -EINVAL, "no ctl");
	desc.num_subbuf = 1;
	desc.data_size = 4096;
	desc.max_record = 512;
	CHECK(try_map(&desc, ltt_ring_data_bytes(&desc), ctl) == 0, "one sub-buffer");
	desc.num_subbuf = 4096;
	desc.data_size = 4096ull * 4096;
	CHECK(try_map(&desc, ltt_ring_data_bytes(&desc), ctl) == 0, "many sub-buffers");
}

static int mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	CHECK(maps, "maps");
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "memfd:") != NULL;
	fclose(maps);
	return n;
}

int main(void)
{
	struct ring_set *set = NULL;
	uint32_t doorbell = 0;

	test_descriptors();
	test_sizes();
	test_large();
	CHECK(ring_set_map(-1, -1, &doorbell, 0, &set) == -EBADF && !set, "bad descriptors");
	ring_set_unmap(NULL);
	CHECK(mappings() == 0, "%d mappings left", mappings());
	return 0;
}
