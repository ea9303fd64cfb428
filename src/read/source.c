/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/mem.h"
#include "read/clock/clock.h"
#include "metadata.h"
#include "read/ctf2/ctf2.h"
#include "read/tsdl/tsdl.h"

static struct feed *feed_add(struct source *s, const char *name, uint64_t size)
{
	struct feed *feed = feed_new(s, name, size);

	if (!(s->nr_feeds & (s->nr_feeds - 1))) /* full at each power of two */
		s->feeds = xrealloc(s->feeds, MAX(2 * s->nr_feeds, 1u) * sizeof(*s->feeds));
	s->feeds[s->nr_feeds++] = feed;
	return feed;
}

static int view_source_by_name(const void *a, const void *b)
{
	return strverscmp((*(struct feed *const *)a)->name, (*(struct feed *const *)b)->name);
}

/* Every regular file but metadata and hidden ones is a stream. */
static void add_feeds(struct source *s, const struct find_names *files)
{
	const char *name = NULL;
	struct stat st;

	while ((name = find_names_next(files, name)))
		if (!fstatat(s->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		    st.st_size)
			feed_add(s, name, st.st_size);
	if (s->nr_feeds)
		qsort(s->feeds, s->nr_feeds, sizeof(*s->feeds), view_source_by_name);
	for (uint32_t i = 0; i < s->nr_feeds; i++)
		source_tally(s, s->feeds[i]);
}

/* host[:program[:(process)]], as babeltrace2 prints it. */
static char *host_text(const struct ctf_trace_class *tc)
{
	const char *host = trace_class_env(tc, "hostname");
	const char *program = trace_class_env(tc, "procname");
	const struct ctf_env *vpid = trace_class_env_find(tc, "vpid");
	char process[32] = "";

	if (vpid && !vpid->text)
		snprintf(process, sizeof(process), ":(%lld)", (long long)vpid->number);
	return xasprintf("%s%s%s%s", host ? host : "", program ? ":" : "", program ? program : "",
			 process);
}

void source_change_clocks(struct source *s, int64_t offset_ns)
{
	size_t nr = s->remarks.nr_clocks;

	if (nr && !s->clock_changes)
		s->clock_changes = arena_alloc(&s->arena, nr * sizeof(*s->clock_changes));
	for (struct ctf_clock *clock = s->tc->clocks; clock; clock = clock->next) {
		clock->nr_changes = 0;
		clock->indirect = false;
		for (size_t i = 0; i < nr; i++) {
			struct clock_segment segment = s->remarks.clocks[i];
			uint64_t set_ns = (uint64_t)s->remarks.set_ns;

			segment.base_ns = (int64_t)((uint64_t)segment.base_ns + set_ns +
						    (uint64_t)offset_ns);
			clock_add_change(clock, s->clock_changes, &segment);
		}
	}
}

/* --- metadata ------------------------------------------------------------------------------- */

#define UUID_CHARS 36u
#define SOURCE_FORM_BYTES ((size_t)1 << 20)
#define CRC_CHARS 24u /* of METADATA's last comment, with its line's end */

void source_forms_fini(struct source_forms *forms)
{
	for (size_t i = 0; i < SOURCE_FORMS; i++)
		free(forms->at[i].text);
	*forms = (struct source_forms){ .nr = 0 };
}

/* The checksum of our metadata, a comment at its end, covers UUID and environment. */
static size_t without_crc(const char *text, size_t len)
{
	static const char begin[] = "/* crc32c ";
	const char *at;

	while (len && text[len - 1] == '\n')
		len--;
	at = text + len - MIN(len, (size_t)CRC_CHARS);
	at = memmem(at, (size_t)(text + len - at), begin, sizeof(begin) - 1);
	if (!at || text + len - at != sizeof(begin) - 1 + 11 ||
	    memcmp(text + len - 3, " */", 3) != 0 ||
	    strspn(at + sizeof(begin) - 1, "0123456789abcdef") != 8)
		return len;
	return (size_t)(at - text);
}

static bool read_uuid(const char *text, uint8_t ret[16])
{
	static const char hex[] = "0123456789abcdef";
	size_t digits = 0;

	for (size_t i = 0; i < UUID_CHARS; i++) {
		const char *digit = text[i] ? strchr(hex, text[i]) : NULL;

		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (text[i] != '-')
				return false;
			continue;
		}
		if (!digit)
			return false;
		ret[digits / 2] = (uint8_t)((unsigned)ret[digits / 2] << 4 | (digit - hex));
		digits++;
	}
	return true;
}

/* The metadata had no problem. A form has one environment, behind the UUID, and no remarks. */
static void keep_form(struct source_forms *forms, const char *text, size_t len,
		      const struct ctf_trace_class *tc)
{
	static const char word[] = "uuid = \"";
	const char *uuid = memmem(text, tc->env_at, word, sizeof(word) - 1);
	struct source_form *form = &forms->at[forms->nr % SOURCE_FORMS];
	uint8_t bytes[16];

	if (tc->nr_envs != 1 || !tc->has_uuid || !uuid ||
	    (size_t)(text + tc->env_at - uuid) < sizeof(word) + UUID_CHARS ||
	    !read_uuid(uuid + sizeof(word) - 1, bytes) || memcmp(bytes, tc->uuid, 16) != 0 ||
	    len > SOURCE_FORM_BYTES || metadata_has_remarks(text, len))
		return;
	forms->nr++;
	free(form->text);
	form->text = xalloc(len + 1);
	memcpy(form->text, text, len);
	form->len = without_crc(text, len);
	form->uuid_at = (size_t)(uuid - text) + sizeof(word) - 1;
	form->tc = tc;
}

/* Return: the end of its environment; 0: it differs elsewhere. */
static size_t compare_form(const struct source_form *form, const char *text, size_t len)
{
	static const char end[] = "\n};\n";
	size_t behind = form->uuid_at + UUID_CHARS, env = form->tc->env_at, at, rest;
	const char *found;

	if (len < env || memcmp(text, form->text, form->uuid_at) != 0 ||
	    memcmp(text + behind, form->text + behind, env - behind) != 0)
		return 0;
	found = memmem(text + env, len - env, end, sizeof(end) - 1);
	at = found ? (size_t)(found - text) + 3 : len;
	rest = form->len - form->tc->env_end;
	return len - at == rest && memcmp(text + at, form->text + form->tc->env_end, rest) == 0 ?
		       at :
		       0;
}

/* The environment is parsed by itself: it has to be one block, without a problem, from its begin to
 * its end, and then all else is declared as in the form's text. Return: whether it was set. */
static bool take_form(struct source *s, const struct source_form *form, const char *text,
		      size_t len)
{
	size_t end = compare_form(form, text, len), env = form->tc->env_at;
	struct reporter silent = { .count = 0 };
	struct ctf_trace_class *own;
	uint8_t uuid[16];

	if (!end || !read_uuid(text + form->uuid_at, uuid) ||
	    metadata_has_remarks(text + env, end - env) ||
	    tsdl_parse(text + env, end - env, "", &s->arena, &silent, &own) < 0 || silent.count ||
	    own->nr_envs != 1 || own->env_at || own->env_end != end - env || own->streams ||
	    own->events)
		return false;
	s->tc = arena_alloc(&s->arena, sizeof(*s->tc));
	*s->tc = *form->tc;
	s->tc->env = own->env;
	s->tc->is_shared = true;
	memcpy(s->tc->uuid, uuid, sizeof(uuid));
	s->host = host_text(s->tc);
	return true;
}

static bool find_form(struct source *s, const struct source_forms *forms, const char *text,
		      size_t len)
{
	len = without_crc(text, len);
	for (size_t i = 0; i < MIN(forms->nr, (size_t)SOURCE_FORMS); i++)
		if (take_form(s, &forms->at[i], text, len))
			return true;
	return false;
}

static int parse_metadata(struct source *s, const char *text, size_t len, const char *where,
			  struct reporter *reporter)
{
	int r = (ctf2_is_text(text, len) ? ctf2_parse : tsdl_parse)(text, len, where, &s->arena,
								    reporter, &s->tc);

	if (r)
		return r;
	free(s->host);
	s->host = host_text(s->tc);
	metadata_remarks_fini(&s->remarks);
	metadata_remarks(text, len, &s->remarks);
	s->clock_changes = NULL;
	for (struct ctf_clock *clock = s->tc->clocks; clock; clock = clock->next)
		clock->base_ns = (int64_t)((uint64_t)clock->base_ns + (uint64_t)s->remarks.set_ns);
	source_change_clocks(s, 0);
	return 0;
}

/* @forms: NULL: its classes are its own. */
static int read_metadata(struct source *s, struct source_forms *forms)
{
	uint64_t problems = s->reporter->count;
	char *where AUTO_FREE = xasprintf("%s/metadata", s->label);
	char *text AUTO_FREE = NULL;
	size_t len;
	int r = metadata_read(s->dir_fd, where, s->reporter, &text, &len);

	if (r || (forms && find_form(s, forms, text, len)))
		return r;
	r = parse_metadata(s, text, len, where, s->reporter);
	if (!r && forms && s->reporter->count == problems)
		keep_form(forms, text, len, s->tc);
	return r;
}

static struct source *source_new(int dir_fd, const char *label, struct reporter *reporter)
{
	struct source *s = xalloc(sizeof(*s));

	s->reporter = reporter;
	s->label = xstrdup(label);
	s->dir_fd = dir_fd;
	s->until_ns = INT64_MIN;
	s->tail = &s->tallies;
	return s;
}

struct source *source_new_live(struct live *live, uint64_t id, const char *path,
			       struct reporter *reporter)
{
	struct source *s = source_new(-1, path, reporter);

	s->live = live;
	s->from_relay = true;
	s->live_id = id;
	s->tc = arena_alloc(&s->arena, sizeof(*s->tc));
	return s;
}

struct feed *source_add_live_feed(struct source *s, const char *name, uint64_t id)
{
	struct feed *feed = feed_add(s, name, 0);

	feed->live_id = id;
	feed->ns = feed->until_ns = INT64_MIN;
	feed->open = true;
	source_tally(s, feed);
	return feed;
}

/* Problems of the text before were reported. Packets that are being read still refer to its
 * classes, so these stay in the arena. */
int source_take_text(struct source *s)
{
	char *where AUTO_FREE = xasprintf("%s/metadata", s->label);
	char *text AUTO_FREE = xalloc(s->text_len + 1);
	struct reporter again = { 0 };
	struct reporter *reporter = s->host ? &again : s->reporter;
	size_t len = s->text_len;
	int r;

	memcpy(text, s->text, len);
	r = metadata_unpack(text, &len, where, reporter);
	r = r ? r : parse_metadata(s, text, len, where, reporter);
	return r == -EPROTO ? 0 : r;
}

static uint64_t source_metadata_size(const struct source *s)
{
	struct stat st;

	return fstatat(s->dir_fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) == 0 ?
		       (uint64_t)st.st_size :
		       0;
}

int source_open_growing(struct live *live, int dir_fd, const char *label, struct reporter *reporter,
			struct source **ret_source)
{
	struct source *s = source_new(dir_fd, label, reporter);
	int r;

	s->live = live;
	s->metadata_size = source_metadata_size(s);
	r = read_metadata(s, NULL);
	if (r < 0)
		source_free(s);
	else
		*ret_source = s;
	return r;
}

/* As source_take_text(). A trace that a clear has removed keeps the metadata that it had. */
int source_read_growth(struct source *s)
{
	uint64_t size = source_metadata_size(s);
	struct reporter again = { 0 }, *reporter = s->reporter;
	int r;

	if (size <= s->metadata_size)
		return 0;
	s->reporter = &again;
	r = read_metadata(s, NULL);
	s->reporter = reporter;
	if (r == 0)
		s->metadata_size = size;
	return r == -ENOMEM ? r : 0;
}

struct feed *source_add_growing_feed(struct source *s, const char *name, uint64_t size)
{
	struct feed *feed = feed_add(s, name, size);

	feed->ns = feed->until_ns = INT64_MIN;
	source_tally(s, feed);
	return feed;
}

struct feed *source_feed(const struct source *s, const char *name)
{
	struct feed sought = { .name = (char *)name }, *key = &sought;
	struct feed **found = s->nr_feeds && !s->live ?
				      bsearch(&key, s->feeds, s->nr_feeds, sizeof(*s->feeds),
					      view_source_by_name) :
				      NULL;

	return found ? *found : NULL;
}

int source_open(int dir_fd, const char *label, const struct find_names *files,
		struct source_forms *forms, struct reporter *reporter, struct source **ret_source)
{
	struct source *s = source_new(dir_fd, label, reporter);
	int r;

	add_feeds(s, files);
	r = read_metadata(s, forms);
	if (r < 0) {
		source_free(s);
		return r;
	}
	*ret_source = s;
	return 0;
}

struct source *source_free(struct source *source)
{
	if (!source)
		return NULL;
	for (uint32_t i = 0; i < source->nr_feeds; i++)
		feed_free(source->feeds[i]);
	while (source->tallies) {
		struct tally *next = source->tallies->next;

		free(source->tallies);
		source->tallies = next;
	}
	guest_trace_free(source->guest);
	metadata_remarks_fini(&source->remarks);
	free(source->feeds);
	free(source->label);
	free(source->host);
	free(source->text);
	arena_fini(&source->arena);
	close_fd(source->dir_fd);
	free(source);
	return NULL;
}

static struct tally *tally_new(struct source *s, const struct feed *feed)
{
	struct tally *tally = xalloc(sizeof(*tally));

	tally->sum.trace = s->label;
	tally->sum.name = feed->name;
	tally->sum.bytes = feed->window.limit;
	*s->tail = tally;
	s->tail = &tally->next;
	return tally;
}

/* A file that goes on where another ended shares its tally; its own is emptied,
 * and a tally without a name is not shown. */
void source_tally(struct source *source, struct feed *feed)
{
	struct tally *own = feed->tally;

	if (!own) {
		feed->tally = tally_new(source, feed);
		return;
	}
	if (own->has_last || own->damaged_in_row || !own->sum.name)
		return;
	for (struct tally *t = source->tallies; t; t = t->next) {
		if (!tally_continues(t, &feed->packet))
			continue;
		t->sum.bytes += own->sum.bytes;
		own->sum.name = NULL;
		feed->tally = t;
		return;
	}
}

bool source_has_magic(const struct source *source)
{
	const struct ctf_type *header = source->tc->packet_header;

	return header && header->nr_fields && header->fields[0].role == ROLE_MAGIC &&
	       header->fields[0].type->size_bits == 32;
}
