/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metadata.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "read/ctf2/ctf2.h"
#include "read/tsdl/lex.h"
#include "trace/metadata.h"
#include "trace/metapacket.h"

#define METADATA_MAGIC 0x75d11d57u
#define METADATA_MAX (256u << 20)

/* CTF 1.8.3, section 7.1 */
struct head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum;
	uint32_t content_bits; /* with this header */
	uint32_t packet_bits;
	uint8_t compression;
	uint8_t encryption;
	uint8_t checksum_scheme;
	uint8_t major;
	uint8_t minor;
} __attribute__((packed));

_Static_assert(sizeof(struct head) == 37, "as on disk");

static bool is_magic(const char *bytes, bool *ret_big)
{
	uint32_t magic;

	memcpy(&magic, bytes, sizeof(magic));
	*ret_big = be32toh(magic) == METADATA_MAGIC;
	return *ret_big || le32toh(magic) == METADATA_MAGIC;
}

static uint32_t from_order(uint32_t v, bool big)
{
	return big ? be32toh(v) : le32toh(v);
}

/* Content and size in bytes; false where the header makes no sense. */
static bool head_sizes(const struct head *head, bool big, size_t *ret_content, size_t *ret_size)
{
	*ret_content = from_order(head->content_bits, big) / 8;
	*ret_size = from_order(head->packet_bits, big) / 8;
	return *ret_content >= sizeof(*head) && *ret_content <= *ret_size && !head->compression &&
	       !head->encryption && !head->checksum_scheme;
}

static size_t next_packet(const char *text, size_t at, size_t len, bool big)
{
	uint32_t magic = big ? htobe32(METADATA_MAGIC) : htole32(METADATA_MAGIC);
	const char *found = at < len ? memmem(text + at, len - at, &magic, sizeof(magic)) : NULL;

	return found ? (size_t)(found - text) : len;
}

static int unpack(char *text, size_t *len, bool big, const char *where, struct reporter *reporter)
{
	size_t at = 0, out = 0, content, size;
	struct head head;
	bool order;

	while (*len - at >= sizeof(head)) {
		memcpy(&head, text + at, sizeof(head));
		if (!is_magic(text + at, &order) || order != big ||
		    !head_sizes(&head, big, &content, &size)) {
			report(reporter, "%s: its packet at byte %zu is damaged", where, at);
			at = next_packet(text, at + 1, *len, big);
			continue;
		}
		if (head.major != 1 && head.major != 2) {
			report(reporter, "%s: it is CTF %u, only CTF 1 and 2 can be read", where,
			       head.major);
			return -EPROTO;
		}
		if (content > *len - at)
			report_note(reporter, "%s: its last packet is not complete (yet)", where);
		content = MIN(content, *len - at) - sizeof(head);
		/* it is used all the same: most of its declarations will do */
		if (metapacket_is_damaged(text + at + sizeof(head), content))
			report(reporter, "%s: the checksum of its packet at byte %zu is wrong",
			       where, at);
		memmove(text + out, text + at + sizeof(head), content);
		out += content;
		at += MIN(size, *len - at);
	}
	*len = out;
	return 0;
}

/* Of CTF 2: sizes and checksums of this project are white space, which stays there. */
static void check_parts(const char *text, size_t len, const char *where, struct reporter *reporter)
{
	struct metapacket part;

	for (size_t at = 0; at < len; at += part.bytes) {
		const uint8_t *bytes = (const uint8_t *)text + at;

		if (!metapacket_parse(bytes, MIN(len - at, METAPACKET_PEEK_BYTES), &part) ||
		    !part.ctf_2)
			return;
		if (part.bytes > len - at) {
			report_note(reporter, "%s: its last part is not complete (yet)", where);
			return;
		}
		if (metapacket_is_damaged(bytes + part.head_bytes, part.text_bytes))
			report(reporter, "%s: the checksum of its part at byte %zu is wrong", where,
			       at);
	}
}

int metadata_unpack(char *text, size_t *len, const char *where, struct reporter *reporter)
{
	bool big;

	check_parts(text, *len, where, reporter);
	if (*len >= 4 && is_magic(text, &big))
		return unpack(text, len, big, where, reporter);
	return 0;
}

static int slurp(int fd, char **ret_text, size_t *ret_len)
{
	char *text AUTO_FREE = NULL;
	size_t len = 0, size;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EPROTO;
	if (st.st_size > METADATA_MAX)
		return -EFBIG;
	size = st.st_size;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	for (; len < size; len += n) {
		n = pread(fd, text + len, size - len, len);
		if (n < 0)
			return -errno;
		if (!n)
			break;
	}
	*ret_text = TAKE(text);
	*ret_len = len;
	return 0;
}

int metadata_read(int dir_fd, const char *where, struct reporter *reporter, char **ret_text,
		  size_t *ret_len)
{
	int fd AUTO_FD = openat(dir_fd, "metadata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text AUTO_FREE = NULL;
	size_t len = 0;
	int r = fd < 0 ? -errno : slurp(fd, &text, &len);

	if (r < 0) {
		report(reporter, "%s can't be read: %s", where, strerror(-r));
		return r;
	}
	r = metadata_unpack(text, &len, where, reporter);
	if (r < 0)
		return r;
	*ret_text = TAKE(text);
	*ret_len = len;
	return 0;
}

/* --- remarks ---------------------------------------------------------------- */

enum remark_kind { REMARK_BUFFER, REMARK_NOT_SAMPLED };

struct remark {
	enum remark_kind kind;
	uint64_t id;
	size_t order;
	bool lost;
	uint64_t nr; /* of events that are not sampled */
};

static int view_metadata_by_id(const void *a, const void *b)
{
	const struct remark *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The text behind @word goes to @buf if the one at @at begins with it. */
static bool read_numbers(const char *at, const char *end, const char *word, char *buf, size_t size)
{
	size_t len = strlen(word), left;

	if ((size_t)(end - at) < len || memcmp(at, word, len) != 0)
		return false;
	left = MIN((size_t)(end - at) - len, size - 1);
	memcpy(buf, at + len, left);
	buf[left] = '\0';
	return true;
}

/* A remark about a buffer at @at, which is not behind @end. */
static bool read_remark(const char *at, const char *end, struct remark *ret)
{
	static const char *const words[] = { METADATA_BUFFER_FOUND, METADATA_BUFFER_LOST };
	char numbers[48], *rest;

	*ret = (struct remark){ .kind = REMARK_BUFFER };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!read_numbers(at, end, words[i], numbers, sizeof(numbers)))
			continue;
		ret->id = strtoull(numbers, NULL, 10);
		ret->lost = i;
		return true;
	}
	if (!read_numbers(at, end, METADATA_NOT_SAMPLED, numbers, sizeof(numbers)))
		return false;
	ret->kind = REMARK_NOT_SAMPLED;
	ret->id = strtoull(numbers, &rest, 10);
	ret->nr = strtoull(rest, NULL, 10);
	return true;
}

/* "1/64", "1/64 by FIELD"; a further limit makes the number of events unknown. */
static uint32_t read_one_in(const char *how)
{
	char *rest;
	unsigned long nr = strncmp(how, "1/", 2) == 0 ? strtoul(how + 2, &rest, 10) : 0;

	if (!nr || nr > UINT32_MAX || strchr(rest, ',') || (*rest && strncmp(rest, " by ", 4) != 0))
		return 0;
	return (uint32_t)nr;
}

static bool read_sampling(const char *at, const char *end, struct metadata_sampling *ret)
{
	char text[512], *how, *close;

	if (!read_numbers(at, end, METADATA_SAMPLED, text, sizeof(text)))
		return false;
	ret->stream_id = strtoull(text, &how, 10);
	ret->id = strtoull(how, &how, 10);
	how += *how == ' ';
	close = how + strlen(how);
	while (close > how && close[-1] == ' ')
		close--;
	*close = '\0';
	ret->one_in = read_one_in(how);
	ret->how = xstrdup(how);
	return true;
}

static void add_sampling(const char *at, const char *end, struct metadata_remarks *remarks)
{
	size_t nr = remarks->nr_sampled;
	struct metadata_sampling one;

	if (!read_sampling(at, end, &one))
		return;
	if (!(nr & (nr - 1))) /* full at each power of two */
		remarks->sampled = xrealloc(remarks->sampled, MAX(2 * nr, (size_t)1) * sizeof(one));
	remarks->sampled[remarks->nr_sampled++] = one;
}

static int compare_samplings(const void *a, const void *b)
{
	const struct metadata_sampling *x = a, *y = b;

	if (x->stream_id != y->stream_id)
		return x->stream_id < y->stream_id ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

const struct metadata_sampling *metadata_sampling_of(const struct metadata_remarks *remarks,
						     uint64_t stream_id, uint64_t id)
{
	const struct metadata_sampling key = { .stream_id = stream_id, .id = id };

	if (!remarks->nr_sampled)
		return NULL;
	return bsearch(&key, remarks->sampled, remarks->nr_sampled, sizeof(key), compare_samplings);
}

static int view_metadata_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A text in quotes, from @at on. @ret: allocated. Return: the text behind it, or NULL. */
static const char *read_quoted(const char *at, const char *end, char **ret)
{
	const char *close =
		at < end && *at == '"' ? memchr(at + 1, '"', (size_t)(end - at) - 1) : NULL;
	char *out;

	if (!close)
		return NULL;
	out = *ret = xalloc((size_t)(close - at));
	for (at++; at < close; at++, out++) {
		int high = close - at > 3 && at[0] == '\\' && at[1] == 'x' ?
				   view_metadata_hex_digit(at[2]) :
				   -1;
		int low = high < 0 ? -1 : view_metadata_hex_digit(at[3]);

		*out = low < 0 ? *at : (char)(high << 4 | low);
		at += low < 0 ? 0 : 3;
	}
	*out = '\0';
	return close + 1;
}

static void conflict_fini(struct view_conflict *c)
{
	free((char *)c->name);
	free((char *)c->refused);
	free((char *)c->armed);
}

static bool is_known_conflict(const struct metadata_remarks *remarks, const struct view_conflict *c)
{
	for (size_t i = 0; i < remarks->nr_conflicts; i++)
		if (view_conflict_same(&remarks->conflicts[i], c))
			return true;
	return false;
}

static bool read_conflict(const char *at, const char *end, struct view_conflict *ret)
{
	static const char word[] = METADATA_MARKER_REFUSED;
	char **const texts[] = { (char **)&ret->name, (char **)&ret->refused,
				 (char **)&ret->armed };
	uint64_t pid = 0;

	if ((size_t)(end - at) < sizeof(word) - 1 || memcmp(at, word, sizeof(word) - 1) != 0)
		return false;
	for (at += sizeof(word) - 1; at < end && *at >= '0' && *at <= '9'; at++)
		pid = pid * 10 + (uint64_t)(*at - '0');
	ret->pid = (uint32_t)pid;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (at >= end || *at != ' ')
			return false;
		at = read_quoted(at + 1, end, texts[i]);
		if (!at)
			return false;
	}
	return true;
}

static void add_conflict(const char *at, const char *end, struct metadata_remarks *remarks)
{
	struct view_conflict c = { .name = NULL };

	if (remarks->nr_conflicts == VIEW_MAX_CONFLICTS || !read_conflict(at, end, &c) ||
	    is_known_conflict(remarks, &c)) {
		conflict_fini(&c);
		return;
	}
	if (!remarks->conflicts)
		remarks->conflicts = xalloc(VIEW_MAX_CONFLICTS * sizeof(c));
	remarks->conflicts[remarks->nr_conflicts++] = c;
}

/* A number that no segment can have makes it no segment. */
static bool read_clock(const char *at, const char *end, struct clock_segment *ret)
{
	char text[256];
	int cause;

	if (!read_numbers(at, end, METADATA_CLOCK, text, sizeof(text)) ||
	    sscanf(text,
		   "%" SCNu64 "%" SCNu64 "%" SCNd64 "%" SCNu64 "%" SCNu64 "%" SCNd64 "%" SCNu64
		   "%d",
		   &ret->from, &ret->freq_hz, &ret->base_ns, &ret->first, &ret->last, &ret->jump_ns,
		   &ret->old_hz, &cause) != 8)
		return false;
	ret->cause = (enum clock_cause)cause;
	return ret->freq_hz && cause >= CLOCK_JUMPED && cause <= CLOCK_STOPPED;
}

/* A daemon that takes over repeats the last one. */
static void add_clock(const char *at, const char *end, struct metadata_remarks *remarks)
{
	struct clock_segment one;
	size_t nr = remarks->nr_clocks;

	if (nr == CLOCK_CHANGES_MAX || !read_clock(at, end, &one) ||
	    (nr && remarks->clocks[nr - 1].from == one.from &&
	     remarks->clocks[nr - 1].base_ns == one.base_ns))
		return;
	if (!(nr & (nr - 1))) /* full at each power of two */
		remarks->clocks = xrealloc(remarks->clocks, MAX(2 * nr, (size_t)1) * sizeof(one));
	remarks->clocks[remarks->nr_clocks++] = one;
}

static void add_clock_pair(const char *at, const char *end, struct metadata_remarks *remarks)
{
	struct clock_pair one = { 0 };
	size_t nr = remarks->nr_pairs;
	char text[128];

	if (nr == CLOCK_PAIRS_MAX ||
	    !read_numbers(at, end, METADATA_CLOCK_PAIR, text, sizeof(text)) ||
	    sscanf(text, "%" SCNu64 "%" SCNu64 "%" SCNu64, &one.value, &one.counter, &one.width) !=
		    3)
		return;
	if (!(nr & (nr - 1))) /* full at each power of two */
		remarks->pairs = xrealloc(remarks->pairs, MAX(2 * nr, (size_t)1) * sizeof(one));
	remarks->pairs[remarks->nr_pairs++] = one;
}

static void take_clock_set(const char *at, const char *end, struct metadata_remarks *remarks)
{
	char text[64];
	int64_t ns;

	if (read_numbers(at, end, METADATA_CLOCK_SET, text, sizeof(text)) &&
	    sscanf(text, "%" SCNd64, &ns) == 1)
		remarks->set_ns = ns;
}

/* Blanks and comments from @at to @end: between two words of the metadata. */
static void add_remarks(const char *at, const char *end, struct metadata_remarks *found,
			struct remark **remarks, size_t *nr)
{
	static const char begin[] = { '/', '*' };
	struct remark remark;

	while (at < end && (at = memmem(at, (size_t)(end - at), begin, sizeof(begin)))) {
		const char *stop = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);

		if (read_remark(at, stop ? stop : end, &remark)) {
			if (!(*nr & (*nr - 1))) /* full at each power of two */
				*remarks = xrealloc(*remarks,
						    MAX(2 * *nr, (size_t)1) * sizeof(remark));
			remark.order = *nr;
			(*remarks)[(*nr)++] = remark;
		}
		add_conflict(at, stop ? stop : end, found);
		add_sampling(at, stop ? stop : end, found);
		add_clock(at, stop ? stop : end, found);
		add_clock_pair(at, stop ? stop : end, found);
		take_clock_set(at, stop ? stop : end, found);
		at = stop ? stop + 2 : end;
	}
}

bool metadata_has_remarks(const char *text, size_t len)
{
	static const char *const words[] = { METADATA_BUFFER_LOST, METADATA_MARKER_REFUSED,
					     METADATA_SAMPLED,	   METADATA_NOT_SAMPLED,
					     METADATA_CLOCK,	   METADATA_CLOCK_PAIR,
					     METADATA_CLOCK_SET };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(text, len, words[i], strlen(words[i])))
			return true;
	return false;
}

void metadata_remarks(const char *text, size_t len, struct metadata_remarks *ret)
{
	struct lex lex = { text, text + len };
	struct remark *remarks AUTO_FREE = NULL;
	char *attributes AUTO_FREE = NULL;
	struct token token;
	size_t nr = 0;

	*ret = (struct metadata_remarks){ 0 };
	if (ctf2_is_text(text, len)) {
		attributes = ctf2_remarks(text, len);
		text = attributes;
		len = text ? strlen(text) : 0;
		lex = (struct lex){ text, text + len };
	}
	if (!text || !metadata_has_remarks(text, len))
		return;
	do {
		const char *from = lex.at;

		lex_next(&lex, &token);
		add_remarks(from, token.kind == TOKEN_STRING ? token.text - 1 : token.text, ret,
			    &remarks, &nr);
	} while (token.kind != TOKEN_END);
	if (nr)
		qsort(remarks, nr, sizeof(*remarks), view_metadata_by_id);
	if (ret->nr_sampled)
		qsort(ret->sampled, ret->nr_sampled, sizeof(*ret->sampled), compare_samplings);
	for (size_t i = 0; i < nr; i++) { /* the last word on each */
		if (i + 1 < nr && remarks[i + 1].id == remarks[i].id &&
		    remarks[i + 1].kind == remarks[i].kind)
			continue;
		ret->lost_buffers += remarks[i].lost;
		ret->not_sampled += remarks[i].nr;
	}
}

void metadata_remarks_fini(struct metadata_remarks *remarks)
{
	for (size_t i = 0; i < remarks->nr_conflicts; i++)
		conflict_fini(&remarks->conflicts[i]);
	free(remarks->conflicts);
	for (size_t i = 0; i < remarks->nr_sampled; i++)
		free(remarks->sampled[i].how);
	free(remarks->sampled);
	free(remarks->clocks);
	free(remarks->pairs);
}
