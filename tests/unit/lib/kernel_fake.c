/* SPDX-License-Identifier: GPL-2.0-only */
#include "kernel_fake.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "filter/program.h"

static const char *const kernel_fake_names[KERNEL_FAKE_NR] = {
	"sched:sched_switch", "sched:sched_wakeup", "irq:irq_handler_entry", "syscall_entry_openat",
	"lttng_statedump_end"
};

struct kernel_fake kernel_fake;

static unsigned int kernel_fake_index(const char *name)
{
	unsigned int i = 0;

	while (i < KERNEL_FAKE_NR && strcmp(kernel_fake_names[i], name) != 0)
		i++;
	CHECK_IS(i, <, KERNEL_FAKE_NR);
	return i;
}

unsigned int kernel_fake_nr_on(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < KERNEL_FAKE_NR; i++)
		nr += kernel_fake.on[i];
	return nr;
}

static int kernel_fake_event(struct ltt_kmod_event *event)
{
	if (event->index >= KERNEL_FAKE_NR - kernel_fake.missing)
		return errno = ENOENT, -1;
	event->nr_fields = 1;
	event->flags = LTT_KMOD_LIVE | (event->index == KERNEL_FAKE_STATE ? LTT_KMOD_STATE : 0);
	snprintf(event->name, sizeof(event->name), "%s", kernel_fake_names[event->index]);
	return 0;
}

static int kernel_fake_field(struct ltt_kmod_field *field)
{
	CHECK(field->index < KERNEL_FAKE_NR && field->field == 0);
	field->kind = LTT_KIND_INT;
	field->size_bits = 32;
	field->base = 10;
	snprintf(field->name, sizeof(field->name), "f%u", field->index);
	return 0;
}

static void kernel_fake_check_trace(const struct ltt_kmod_channel *channel)
{
	const struct ltt_kmod_trace *trace = (const void *)(uintptr_t)channel->trace;

	CHECK(trace->size == sizeof(*trace) && trace->clock_hz && trace->host[0]);
	CHECK(trace->name[0] && trace->channel[0]);
}

static void kernel_fake_check_description(uint64_t at)
{
	const struct ltt_kmod_description *description = (const void *)(uintptr_t)at;
	const struct ltt_kmod_field *fields;
	char described[LTT_KMOD_NAME_MAX + 16];

	fields = (const void *)(uintptr_t)description->fields;
	snprintf(described, sizeof(described), "name = \"%s\";", description->name);
	CHECK(strstr(harness.consumer.metadata, described) && description->nr_fields);
	CHECK(fields->size == sizeof(*fields) && strcmp(fields->name, "ip") == 0);
	CHECK(fields->kind == LTT_KIND_INT && fields->base == 16);
}

static int kernel_fake_channel(struct ltt_kmod_channel *channel)
{
	if (kernel_fake.refuse)
		return errno = kernel_fake.refuse, -1;
	if (channel->flags & LTT_KMOD_FIRES)
		return errno = ENOMEM, -1;
	if (channel->flags == LTT_KMOD_COUNTS) {
		channel->data_fd = channel->ctl_fd = -1;
		return kernel_fake.counting = memfd_create("counting", MFD_CLOEXEC);
	}
	if (channel->subbuf_size == LTT_RING_PAGE && channel->num_subbuf == 2) {
		channel->data_fd = channel->ctl_fd = -1;
		kernel_fake.trial = memfd_create("trial", MFD_CLOEXEC);
		return kernel_fake.trial;
	}
	CHECK(channel->subbuf_size == 1u << 20 && channel->num_subbuf == 4);
	CHECK(channel->flags == (kernel_fake.old ? 0 : LTT_KMOD_DATA));
	kernel_fake_check_trace(channel);
	channel->data_fd = memfd_create("data", MFD_CLOEXEC);
	channel->ctl_fd = memfd_create("ctl", MFD_CLOEXEC);
	channel->nr_rings = 2;
	kernel_fake.channel = memfd_create("channel", MFD_CLOEXEC);
	return kernel_fake.channel;
}

static void kernel_fake_keep_filter(const struct ltt_kmod_filter *filter,
				    struct kernel_fake_filter *ret)
{
	uint32_t at = 0;

	memset(ret, 0, sizeof(*ret));
	if (!filter)
		return;
	CHECK(filter->size == sizeof(*filter) && !filter->reserved);
	snprintf(ret->contexts, sizeof(ret->contexts), "%s", filter->contexts);
	while (at < filter->bytes) {
		const uint8_t *bytes = (const uint8_t *)(uintptr_t)filter->programs + at;
		const struct ltt_filter *program = (const void *)bytes;

		CHECK(ltt_filter_verify(program, ltt_filter_bytes(program)));
		if (!ret->nr_programs++) {
			ret->first_bytes = ltt_filter_bytes(program);
			CHECK_IS(ret->first_bytes, <=, sizeof(ret->first));
			memcpy(ret->first, bytes, ret->first_bytes);
		}
		at += (uint32_t)ltt_filter_padded(program);
	}
	CHECK_IS(at, ==, filter->bytes);
}

static const struct ltt_kmod_filter *kernel_fake_filter_at(uint64_t at)
{
	return (const struct ltt_kmod_filter *)(uintptr_t)at;
}

/* Of an event that is on, or of a probe. */
static int kernel_fake_set_filter(int fd, const struct ltt_kmod_filter *filter)
{
	kernel_fake.refiltered++;
	if (kernel_fake.refuse_filter)
		return errno = kernel_fake.refuse_filter, -1;
	if (fd == kernel_fake.counting && filter->id == kernel_fake.tally.id) {
		kernel_fake_keep_filter(filter, &kernel_fake.counting_filter);
		return 0;
	}
	CHECK_IS(fd, ==, kernel_fake.channel);
	for (unsigned int i = 0; i < KERNEL_FAKE_NR; i++)
		if (kernel_fake.on[i] && kernel_fake.event_ids[i] == filter->id) {
			kernel_fake_keep_filter(filter, &kernel_fake.filters[i]);
			return 0;
		}
	for (size_t i = 0; i < ARRAY_SIZE(kernel_fake.probes); i++)
		if (kernel_fake.probes[i].on && kernel_fake.probes[i].id == filter->id) {
			kernel_fake_keep_filter(filter, &kernel_fake.probes[i].filter);
			return 0;
		}
	if (kernel_fake.users && filter->id == kernel_fake.user.id)
		return 0;
	return errno = ENOENT, -1;
}

bool kernel_fake_accepts(unsigned int event, uint32_t number)
{
	const struct kernel_fake_filter *filter = &kernel_fake.filters[event];
	const struct ltt_filter_value contexts[] = { { .kind = LTT_FILTER_INTEGER, .integer = 3 } };

	CHECK_IS(filter->nr_programs, ==, 1);
	return ltt_filter_run((const void *)filter->first, &number, sizeof(number), contexts);
}

static int kernel_fake_count(const struct ltt_kmod_enable *enable)
{
	if (kernel_fake.refuses)
		return errno = EPERM, -1;
	CHECK_IS(enable->id, !=, kernel_fake.tally.id);
	kernel_fake.tally = *enable;
	kernel_fake_keep_filter(kernel_fake_filter_at(enable->filter),
				&kernel_fake.counting_filter);
	kernel_fake.nr_counted++;
	return 0;
}

/* Hits of 0 and of 5. */
static int kernel_fake_read_count(int fd, struct ltt_kmod_counted *counted)
{
	CHECK(fd == kernel_fake.counting && kernel_fake.nr_counted);
	counted->count = 2 * kernel_fake.hits;
	counted->buckets[0] = counted->buckets[3] = kernel_fake.hits;
	counted->sum = 5 * kernel_fake.hits;
	return 0;
}

/* Keys 7 and 9, of which the former has two slots, and one that is damaged. */
static int kernel_fake_read_keys(int fd, struct ltt_kmod_keys *ret)
{
	struct ltt_kmod_key *keys = (void *)(uintptr_t)ret->keys;
	const uint64_t head = LTT_COUNTS_HEAD(0, LTT_COUNTS_UNSIGNED, 0);

	CHECK(fd == kernel_fake.counting && ret->nr_keys == LTT_COUNTS_KERNEL_SLOTS);
	if (!kernel_fake.tally.nr_by)
		return errno = EINVAL, -1;
	memset(keys, 0, 4 * sizeof(*keys));
	for (uint32_t i = 0; i < 4; i++) {
		keys[i].key[0] = i < 3 ? head : LTT_COUNTS_HEAD(0, 77, 0);
		keys[i].key[1] = i < 2 ? 7 : 9;
		keys[i].count = kernel_fake.hits;
	}
	ret->nr_keys = 4;
	ret->overflow = 1;
	ret->missed = 2;
	return 0;
}

/* An event that is enabled must be described, and counted: the buffer is on. */
static int kernel_fake_enable(int fd, const struct ltt_kmod_enable *enable)
{
	unsigned int i = kernel_fake_index(enable->name);
	const char *bare = strchr(enable->name, ':');
	char described[200];

	if (fd == kernel_fake.counting)
		return kernel_fake_count(enable);
	CHECK(fd == kernel_fake.channel && harness.consumer.rings_on);
	CHECK(!kernel_fake.on[i] || (enable->flags & LTT_KMOD_INSTEAD &&
				     enable->id != kernel_fake.event_ids[i]));
	kernel_fake.instead += kernel_fake.on[i];
	if (kernel_fake.refuses)
		return errno = ENOENT, -1;
	snprintf(described, sizeof(described), "id = %u;\n\tstream_id = 0;\n\tname = \"%s\";\n",
		 enable->id, bare ? bare + 1 : enable->name);
	CHECK(kernel_fake.unseen || strstr(harness.consumer.metadata, described));
	kernel_fake_keep_filter(kernel_fake_filter_at(enable->filter), &kernel_fake.filters[i]);
	kernel_fake.on[i] = true;
	kernel_fake.event_ids[i] = enable->id;
	kernel_fake.changes++;
	return 0;
}

/* The ring is on and the event is described; but in a trial, where nothing is recorded. */
static int kernel_fake_add_probe(int fd, struct ltt_kmod_probe *probe)
{
	char described[80];

	if (strchr(probe->symbol, ':'))
		probe->flags |= LTT_KMOD_PROBE_WAITS;
	if (strcmp(probe->symbol, "no_such") == 0)
		return errno = ENOENT, -1;
	if (fd != kernel_fake.channel) {
		CHECK_IS(fd, ==, kernel_fake.trial);
		return probe->offset == 3 ? (errno = EILSEQ, -1) : 0;
	}
	CHECK(harness.consumer.rings_on);
	if (kernel_fake.refuses)
		return errno = EINVAL, -1;
	snprintf(described, sizeof(described), "id = %u;\n\tstream_id = 0;", probe->id);
	CHECK(strstr(harness.consumer.metadata, described));
	kernel_fake_check_description(probe->description);
	for (size_t i = 0; i < ARRAY_SIZE(kernel_fake.probes); i++)
		if (kernel_fake.probes[i].on && kernel_fake.probes[i].id == probe->id)
			return errno = EEXIST, -1;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_fake.probes); i++) {
		if (kernel_fake.probes[i].on)
			continue;
		kernel_fake.probes[i].on = true;
		kernel_fake.probes[i].id = probe->id;
		kernel_fake.probes[i].probe = *probe;
		kernel_fake_keep_filter(kernel_fake_filter_at(probe->filter),
					&kernel_fake.probes[i].filter);
		if (probe->nr_args)
			memcpy(kernel_fake.probes[i].args, (void *)(uintptr_t)probe->args,
			       probe->nr_args * sizeof(struct ltt_kmod_arg));
		return 0;
	}
	return errno = ENOMEM, -1;
}

static int kernel_fake_add_user_probe(int fd, const struct ltt_kmod_user_probe *probe)
{
	const size_t bytes = probe->nr_args * sizeof(struct ltt_kmod_arg);
	struct stat st;

	CHECK(fd == kernel_fake.channel || fd == kernel_fake.trial);
	CHECK(fstat(probe->fd, &st) == 0 && S_ISREG(st.st_mode) && probe->nr_args <= 2);
	if (probe->offset == 0x666)
		return errno = EINVAL, -1;
	kernel_fake.user = *probe;
	kernel_fake.user_inode = st.st_ino;
	if (bytes)
		memcpy(kernel_fake.user_args[0], (void *)(uintptr_t)probe->args, bytes);
	if (probe->nr_more)
		memcpy(&kernel_fake.second, (void *)(uintptr_t)probe->more,
		       sizeof(kernel_fake.second));
	if (probe->nr_more && bytes)
		memcpy(kernel_fake.user_args[1], (void *)(uintptr_t)kernel_fake.second.args, bytes);
	kernel_fake.users += fd == kernel_fake.channel;
	return 0;
}

const struct ltt_kmod_probe *kernel_fake_probe(const char *symbol, uint32_t flags)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_fake.probes); i++)
		if (kernel_fake.probes[i].on && kernel_fake.probes[i].probe.flags == flags &&
		    strcmp(kernel_fake.probes[i].probe.symbol, symbol) == 0)
			return &kernel_fake.probes[i].probe;
	return NULL;
}

static int kernel_fake_disable(int fd, const struct ltt_kmod_enable *disable)
{
	CHECK_IS(disable->flags, ==, LTT_KMOD_NOWAIT);
	if (fd == kernel_fake.counting) {
		kernel_fake.nr_counted--;
		return 0;
	}
	CHECK_IS(fd, ==, kernel_fake.channel);
	for (size_t i = 0; i < ARRAY_SIZE(kernel_fake.probes); i++)
		if (kernel_fake.probes[i].on && kernel_fake.probes[i].id == disable->id) {
			kernel_fake.probes[i].on = false;
			return 0;
		}
	for (unsigned int i = 0; i < KERNEL_FAKE_NR; i++)
		if (kernel_fake.on[i] && kernel_fake.event_ids[i] == disable->id) {
			kernel_fake.on[i] = false;
			kernel_fake.changes++;
			return 0;
		}
	return errno = ENOENT, -1;
}

static int kernel_fake_context_field(struct ltt_kmod_field *field)
{
	static const char *const contexts[] = { "pid", "procname" };

	if (field->index >= ARRAY_SIZE(contexts))
		return errno = ENOENT, -1;
	field->kind = field->index ? LTT_KIND_ARRAY : LTT_KIND_INT;
	field->size_bits = field->index ? 8 : 32;
	field->count = field->index ? 16 : 0;
	field->flags = field->index ? LTT_FIELD_TEXT : LTT_FIELD_SIGNED;
	field->base = 10;
	snprintf(field->name, sizeof(field->name), "%s", contexts[field->index]);
	return 0;
}

/* The kernel's own counters, and none of a processor. */
static int kernel_fake_context(int fd, const struct ltt_kmod_context *context)
{
	bool counted = context->flags & LTT_KMOD_CONTEXT_PERF;

	CHECK_IS(counted, ==, (strncmp(context->name, "perf:", 5) == 0));
	if (counted && context->perf_type != PERF_TYPE_SOFTWARE)
		return errno = ENOENT, -1;
	if (fd != kernel_fake.channel) {
		CHECK(fd == kernel_fake.trial && counted);
		return ++kernel_fake.tried % 4 ? 0 : (errno = ENOSPC, -1);
	}
	CHECK_IS(kernel_fake_nr_on(), ==, 0);
	strcat(strcat(kernel_fake.contexts, context->name), ";");
	return 0;
}

static int kernel_fake_track(int fd, const struct ltt_kmod_track *track)
{
	uint32_t bit = 1u << track->kind;

	CHECK(fd == kernel_fake.channel && track->kind < TRACK_NR_KINDS);
	if (track->kind == TRACK_FOLLOW && track->op == LTT_KMOD_TRACK_ADD &&
	    track->id == kernel_fake.ended)
		return errno = ESRCH, -1;
	if (track->op == LTT_KMOD_TRACK_ALL || track->op == LTT_KMOD_TRACK_NONE)
		kernel_fake.ids[track->kind] = kernel_fake.sum[track->kind] = 0;
	kernel_fake.on_kinds = track->op == LTT_KMOD_TRACK_ALL ? kernel_fake.on_kinds & ~bit :
								 kernel_fake.on_kinds | bit;
	if (track->op == LTT_KMOD_TRACK_ADD) {
		kernel_fake.ids[track->kind]++;
		kernel_fake.sum[track->kind] += track->id;
	} else if (track->op == LTT_KMOD_TRACK_REMOVE) {
		kernel_fake.ids[track->kind]--;
		kernel_fake.sum[track->kind] -= track->id;
	}
	return 0;
}

static int kernel_fake_call(int fd, unsigned long request, void *arg)
{
	switch (request) {
	case LTT_KMOD_HELLO:
		((struct ltt_kmod_hello *)arg)->abi = LTT_KMOD_ABI;
		((struct ltt_kmod_hello *)arg)->clock = kernel_fake.clock;
		((struct ltt_kmod_hello *)arg)->nr_events = KERNEL_FAKE_NR - kernel_fake.missing;
		((struct ltt_kmod_hello *)arg)->features =
			kernel_fake.old ? 0 :
					  LTT_KMOD_SAMPLES | LTT_KMOD_FAMILIES | LTT_KMOD_KEYS |
						  LTT_KMOD_OUTPUTS | LTT_KMOD_FILES |
						  LTT_KMOD_TRIGGERS | LTT_KMOD_CAPTURES;
		return 0;
	case LTT_KMOD_EVENT:
		return kernel_fake_event(arg);
	case LTT_KMOD_FIELD:
		return kernel_fake_field(arg);
	case LTT_KMOD_CHANNEL:
		return kernel_fake_channel(arg);
	case LTT_KMOD_CONTEXT_FIELD:
		return kernel_fake_context_field(arg);
	case LTT_KMOD_CONTEXT:
		return kernel_fake_context(fd, arg);
	case LTT_KMOD_TRACK:
		return kernel_fake_track(fd, arg);
	case LTT_KMOD_ENABLE:
		return kernel_fake_enable(fd, arg);
	case LTT_KMOD_COUNTED_KEYS:
		return kernel_fake_read_keys(fd, arg);
	case LTT_KMOD_COUNTED:
		return kernel_fake_read_count(fd, arg);
	case LTT_KMOD_DUMP:
		CHECK(fd == kernel_fake.channel && kernel_fake.on[KERNEL_FAKE_STATE]);
		kernel_fake.dumps++;
		kernel_fake.dump_flags = ((const struct ltt_kmod_dump *)arg)->flags;
		return 0;
	case LTT_KMOD_PROBE:
		return kernel_fake_add_probe(fd, arg);
	case LTT_KMOD_USER_PROBE:
		return kernel_fake_add_user_probe(fd, arg);
	case LTT_KMOD_FILTER:
		return kernel_fake_set_filter(fd, arg);
	case LTT_KMOD_DISABLE:
		return kernel_fake_disable(fd, arg);
	}
	return errno = ENOTTY, -1;
}

int kernel_fake_begin(bool module)
{
	int client;

	memset(&kernel_fake, 0, sizeof(kernel_fake));
	harness_begin();
	if (module) {
		harness.sd.kmod.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		harness.sd.kmod.call = kernel_fake_call;
	}
	client = harness_client();
	new_session(client);
	return client;
}

struct answer kernel_fake_enable_event(int client, const char *pattern)
{
	return HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
			    .pattern = pattern, .exclude = "");
}

void kernel_fake_settle(void)
{
	harness_wait(20000);
}

struct answer kernel_fake_enable_place(int client, uint8_t kind, const char *name,
				       const char *location)
{
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = name,
		     .exclude = "", .kind = kind, .location = location);
	kernel_fake_settle();
	return harness_answer(client);
}

void kernel_fake_disable_place(int client, const char *name)
{
	HARNESS_SEND(client, event_disable, NAME, .domain = DOMAIN_KERNEL, .pattern = name);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
}
