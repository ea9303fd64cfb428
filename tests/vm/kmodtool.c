/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmodtool - a reader of ltt.ko for the tests in a virtual machine.
 *
 *   kmodtool list
 *       list events, fields, contexts and channels of modules: lines of
 *       tab-separated words
 *   kmodtool record [-odpyf] [-n SUBBUFS] [-s BYTES] [-c CONTEXT]... [-t KIND=ID]...
 *                   DIR EVENT... -- COMMAND...
 *       run the command and keep the events recorded meanwhile in DIR: ring.N holds
 *       the bytes of CPU N, `words` its counters, `busy` lost_busy of all, `ids` the
 *       events' ids, `left-out` the number that sampling left out. EVENT:
 *       as listed, or `all`, or `quick`: all but those that come by perf, which take
 *       long to switch on and off; or `state`: the events that -d records; or kprobe:PLACE,
 *       kretprobe:PLACE, where PLACE is SYMBOL, SYMBOL+OFFSET or 0xADDRESS, or
 *       call:FUNCTION, and the values to record there (args.c); or
 *       uprobe:FILE+OFFSET[@SEMAPHORE], uretprobe: the same. An event of the list may
 *       have a filter behind it, ?OFFSET=NUMBER: 32 bits of the payload are compared; or
 *       ?OFFSET=NUMBER%N, ?%N, ?<N: one of N is recorded, the first N.
 *       -p: by splice(), not from the mapping. -o: overwrite mode, one snapshot at the
 *       end. -c: a context of each event; perf:TYPE:CONFIG: a counter, by its numbers.
 *       -t: whose; KIND is a number of ltt_kmod.h. -y: the command's own process alone; -f: and
 *       its family. -d: first the state of the system.
 *   kmodtool bad
 *       make requests that must be refused, and fail where one isn't
 *
 * Exit status: 0; 1 with a line on stderr. The command's own status is passed on.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ltt_filter.h"
#include "reader.h"

static void list_field(char kind, const struct ltt_kmod_field *f)
{
	printf("%c\t%s\t%s\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\n", kind, f->name, f->type, f->kind,
	       f->size_bits, f->length_bits, f->base, f->flags, f->count, f->declared,
	       f->is_signed);
}

static void list_fields(int fd, const struct ltt_kmod_event *event)
{
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		struct ltt_kmod_field f = { .size = sizeof(f), .index = event->index, .field = i };

		if (ioctl(fd, LTT_KMOD_FIELD, &f))
			err(1, "field %u of %s", i, event->name);
		list_field('F', &f);
	}
}

static int list_presets(int fd)
{
	struct ltt_kmod_preset p = { .size = sizeof(p) };

	for (; !ioctl(fd, LTT_KMOD_PRESET, &p); p.index++)
		printf("P\t%s\t%s\t%" PRIu64 "\t%u\n", p.name, p.events, p.subbuf_size,
		       p.num_subbuf);
	return errno == ENOENT ? 0 : 1;
}

static int list(void)
{
	struct ltt_kmod_event event;
	int fd = device();

	for (uint32_t i = 0; !get_event(fd, i, &event); i++) {
		printf("E\t%s\t%u\t%u\n", event.name, !!(event.flags & LTT_KMOD_LIVE),
		       !!(event.flags & LTT_KMOD_BY_PERF));
		list_fields(fd, &event);
	}
	if (errno != ENOENT)
		return 1;
	for (uint32_t i = 0;; i++) {
		struct ltt_kmod_field f = { .size = sizeof(f), .index = i };

		if (ioctl(fd, LTT_KMOD_CONTEXT_FIELD, &f))
			break;
		list_field('C', &f);
	}
	return errno == ENOENT ? list_presets(fd) : 1;
}

/* Of one comparison, of sampling, or of both. */
struct small_filter {
	struct ltt_kmod_filter request;
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[3];
};

static void add(struct small_filter *to, const struct ltt_filter_insn *in)
{
	to->insns[to->head.nr_insns++] = *in;
}

static uint64_t make_filter(const char *text, struct small_filter *ret)
{
	static const struct ltt_filter_insn accept = { .op = LTT_FILTER_RETURN, .constant = 1 };
	const char *sampling = text + strcspn(text, "%<");
	struct ltt_filter_insn test = { .op = LTT_FILTER_TEST_FIELD, .type = 2,
					.base = LTT_FILTER_FIXED };
	struct ltt_filter_insn sample = { .op = *sampling == '<' ? LTT_FILTER_FIRST :
								   LTT_FILTER_SAMPLE,
					  .offset = 3 };

	*ret = (struct small_filter){
		.request = { .size = sizeof(ret->request), .programs = (uintptr_t)&ret->head },
		.head = { .magic = LTT_FILTER_MAGIC, .version = LTT_FILTER_VERSION },
	};
	if (sscanf(text, "?%hu=%" SCNu64, &test.offset, &test.constant) == 2)
		add(ret, &test);
	if (*sampling && sscanf(sampling + 1, "%" SCNu64, &sample.constant) == 1)
		add(ret, &sample);
	if (!ret->head.nr_insns)
		errx(1, "a filter is ?[OFFSET=NUMBER][%%N|<N]: %s", text);
	add(ret, &accept);
	ret->request.bytes = (uint32_t)(sizeof(ret->head) +
					ret->head.nr_insns * sizeof(ret->insns[0]));
	return (uintptr_t)&ret->request;
}

static void enable(const struct reader *r, uint32_t id, const char *name, FILE *ids)
{
	struct ltt_kmod_enable request = { .size = sizeof(request), .id = id };
	const char *filter = strchr(name, '?');
	struct small_filter program;

	snprintf(request.name, sizeof(request.name), "%.*s", (int)strcspn(name, "?"), name);
	if (filter)
		request.filter = make_filter(filter, &program);
	if (ioctl(r->fd, LTT_KMOD_ENABLE, &request))
		err(1, "enable %s", name);
	fprintf(ids, "%u\t%s\n", id, request.name);
}

static void probe(const struct reader *r, uint32_t id, const char *name, FILE *ids)
{
	struct ltt_kmod_probe request = { .size = sizeof(request), .id = id };
	const char *place = strchr(name, ':') + 1;
	int len = (int)strcspn(place, "+,");
	struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX];

	request.nr_args = parse_args(place + strcspn(place, ","), args);
	if (request.nr_args)
		request.args = (uintptr_t)args;
	if (!strncmp(name, "kret", 4))
		request.flags = LTT_KMOD_PROBE_RETURN;
	if (!strncmp(name, "call:", 5))
		request.flags = LTT_KMOD_PROBE_CALL;
	if (place[len] == '+')
		request.offset = strtoull(place + len + 1, NULL, 0);
	if (!strncmp(place, "0x", 2))
		request.address = strtoull(place, NULL, 16);
	else
		snprintf(request.symbol, sizeof(request.symbol), "%.*s", len, place);
	if (ioctl(r->fd, LTT_KMOD_PROBE, &request))
		err(1, "%s", name);
	fprintf(ids, "%u\t%s\n", id, name);
}

static void user_probe(const struct reader *r, uint32_t id, const char *name, FILE *ids)
{
	struct ltt_kmod_user_probe request = { .size = sizeof(request), .id = id };
	const char *file = strchr(name, ':') + 1;
	const char *offset = file + strcspn(file, "+"), *at = file + strcspn(file, "@");
	struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX];
	char path[4096];

	snprintf(path, sizeof(path), "%.*s", (int)(offset - file), file);
	request.fd = open(path, O_RDONLY);
	if (!strncmp(name, "uret", 4))
		request.flags = LTT_KMOD_PROBE_RETURN;
	request.offset = strtoull(offset, NULL, 0);
	if (*at)
		request.semaphore = strtoull(at + 1, NULL, 0);
	request.nr_args = parse_args(file + strcspn(file, ","), args);
	if (request.nr_args)
		request.args = (uintptr_t)args;
	if (ioctl(r->fd, LTT_KMOD_USER_PROBE, &request))
		err(1, "%s", name);
	close(request.fd);
	fprintf(ids, "%u\t%s\n", id, name);
}

/* All whose flags, of those in @mask, are @want; the index is the id. Return: one that is free. */
static uint32_t enable_flagged(const struct reader *r, uint32_t mask, uint32_t want, FILE *ids)
{
	struct ltt_kmod_event event;
	int fd = device();
	uint32_t i;

	for (i = 0; !get_event(fd, i, &event); i++)
		if ((event.flags & mask) == want)
			enable(r, i, event.name, ids);
	close(fd);
	return i;
}

static void add_context(const struct reader *r, const char *name, FILE *contexts)
{
	struct ltt_kmod_context request = { .size = sizeof(request) };

	snprintf(request.name, sizeof(request.name), "%s", name);
	if (sscanf(name, "perf:%u:%" SCNu64, &request.perf_type, &request.perf_config) == 2)
		request.flags = LTT_KMOD_CONTEXT_PERF;
	if (ioctl(r->fd, LTT_KMOD_CONTEXT, &request))
		err(1, "context %s", name);
	fprintf(contexts, "%s\n", name);
}

static void track(const struct reader *r, const char *what)
{
	struct ltt_kmod_track request = { .size = sizeof(request), .op = LTT_KMOD_TRACK_ADD };

	if (sscanf(what, "%u=%u", &request.kind, &request.id) != 2 ||
	    ioctl(r->fd, LTT_KMOD_TRACK, &request))
		err(1, "track %s", what);
}

static void track_this(const struct reader *r, uint32_t kind)
{
	char what[32];

	snprintf(what, sizeof(what), "%u=%d", kind, (int)getpid());
	track(r, what);
}

static void dump(const struct reader *r)
{
	struct ltt_kmod_dump request = { .size = sizeof(request), .flags = LTT_KMOD_DUMP_WAIT };

	if (ioctl(r->fd, LTT_KMOD_DUMP, &request))
		err(1, "dump");
}

struct options {
	uint32_t overwrite, num_subbuf;
	int splices;
	uint64_t subbuf_size;
	const char *contexts[64], *tracked[32];
	int nr_contexts, nr_tracked, dump, tracks_command, tracks_family;
};

static int run(struct reader *r, char **command, const struct options *o)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (!child) {
		if (o->dump)
			dump(r);
		if (o->tracks_command)
			track_this(r, LTT_KMOD_TRACK_PID);
		if (o->tracks_family)
			track_this(r, LTT_KMOD_TRACK_FAMILY);
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		struct pollfd p = { .fd = r->data_fd, .events = POLLIN };

		poll(&p, 1, 20);
		if (!o->overwrite)
			take(r);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+dopyfn:s:c:t:")) != -1) {
		if (c == 'o')
			o->overwrite = 1;
		else if (c == 'd')
			o->dump = 1;
		else if (c == 'p')
			o->splices = 1;
		else if (c == 'y')
			o->tracks_command = 1;
		else if (c == 'f')
			o->tracks_family = 1;
		else if (c == 'n')
			o->num_subbuf = (uint32_t)strtoul(optarg, NULL, 0);
		else if (c == 's')
			o->subbuf_size = strtoull(optarg, NULL, 0);
		else if (c == 'c' && o->nr_contexts < 64)
			o->contexts[o->nr_contexts++] = optarg;
		else if (c == 't' && o->nr_tracked < 32)
			o->tracked[o->nr_tracked++] = optarg;
		else
			errx(1, "-%c", c);
	}
	if (argc - optind < 4)
		errx(1, "record DIR EVENT... -- COMMAND...");
}

static void apply(const struct reader *r, const struct options *o, const char *dir)
{
	FILE *contexts = create(dir, "%s/contexts", 0);

	for (int i = 0; i < o->nr_contexts; i++)
		add_context(r, o->contexts[i], contexts);
	for (int i = 0; i < o->nr_tracked; i++)
		track(r, o->tracked[i]);
	fclose(contexts);
}

/* Return: the next id. */
static uint32_t enable_one(const struct reader *r, uint32_t id, const char *name, FILE *ids)
{
	if (!strcmp(name, "all"))
		return enable_flagged(r, 0, 0, ids);
	if (!strcmp(name, "quick"))
		return enable_flagged(r, LTT_KMOD_BY_PERF, 0, ids);
	if (!strcmp(name, "state"))
		return enable_flagged(r, LTT_KMOD_STATE, LTT_KMOD_STATE, ids);
	if (!strncmp(name, "kprobe:", 7) || !strncmp(name, "kretprobe:", 10) ||
		 !strncmp(name, "call:", 5))
		probe(r, id, name, ids);
	else if (!strncmp(name, "uprobe:", 7) || !strncmp(name, "uretprobe:", 10))
		user_probe(r, id, name, ids);
	else
		enable(r, id, name, ids);
	return id + 1;
}

/* count EVENT FIELD -- COMMAND...: count an event by the values of a field, given by its number. */
static int count(int argc, char **argv)
{
	struct ltt_kmod_channel channel = { .size = sizeof(channel), .num_subbuf = 2,
					    .subbuf_size = LTT_RING_PAGE, .clock = LTT_CLOCK_CYCLES,
					    .flags = LTT_KMOD_COUNTS };
	struct ltt_kmod_enable event = { .size = sizeof(event), .nr_by = 1 };
	struct ltt_kmod_counted counted = { .size = sizeof(counted) };
	int fd = device(), status;
	pid_t child;

	if (argc < 5)
		errx(1, "count EVENT FIELD -- COMMAND...");
	snprintf(event.name, sizeof(event.name), "%s", argv[1]);
	event.by[0] = (uint32_t)strtoul(argv[2], NULL, 0);
	fd = ioctl(fd, LTT_KMOD_CHANNEL, &channel);
	if (fd < 0 || ioctl(fd, LTT_KMOD_ENABLE, &event))
		err(1, "count %s", argv[1]);
	child = fork();
	if (!child) {
		execvp(argv[4], argv + 4);
		err(127, "%s", argv[4]);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || ioctl(fd, LTT_KMOD_COUNTED, &counted))
		err(1, "counted");
	fprintf(stderr, "%llu counted, %llu missed\n", (unsigned long long)counted.count,
		(unsigned long long)counted.missed);
	return !counted.count || counted.missed || !WIFEXITED(status) || WEXITSTATUS(status);
}

static int record(int argc, char **argv)
{
	struct options o = { .num_subbuf = 8, .subbuf_size = 1 << 20 };
	struct reader r = { .fd = -1 };
	int ret;

	parse(&o, argc, argv);
	r.splices = o.splices;
	const char *dir = argv[optind++];
	FILE *ids = create(dir, "%s/ids", 0);

	reader_open(&r, o.overwrite, o.num_subbuf, o.subbuf_size);
	apply(&r, &o, dir);
	for (uint32_t cpu = 0; cpu < r.desc.nr_rings; cpu++)
		r.out[cpu] = create(dir, "%s/ring.%u", cpu);
	for (uint32_t id = 1; optind < argc && strcmp(argv[optind], "--"); optind++)
		id = enable_one(&r, id, argv[optind], ids);
	fclose(ids);
	if (optind + 1 >= argc)
		errx(1, "no command");
	reader_state(&r, LTT_RING_ON);
	ret = run(&r, argv + optind + 1, &o);
	reader_state(&r, 0);
	close(r.fd); /* all events off, no writer left */
	if (!o.overwrite)
		take(&r);
	keep_words(&r, dir, (int)o.overwrite);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "list"))
		return list();
	if (argc > 1 && !strcmp(argv[1], "bad"))
		return bad();
	if (argc > 1 && !strcmp(argv[1], "record"))
		return record(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "count"))
		return count(argc - 1, argv + 1);
	errx(1, "list, record, count or bad");
}
