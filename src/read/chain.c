/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "chain.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "source.h"
#include "trace/streamlist.h"
#include "view_priv.h"

#define ARCHIVES "archives/"
#define CLEARED_PIECE (64u << 10)
#define RUNS_MOST (1u << 20)
#define NUMBER_MOST (UINT64_MAX / 100) /* that a further digit may follow */

/* A stream of a trace that is in an archive, or in the session's directory. */
struct piece {
	const struct source *source;
	const struct tally *tally;
	size_t dir_len;	     /* of the label: the directory of the archives, with its '/' */
	size_t session_len;  /* the same of the session's */
	const char *archive; /* in the label; NULL: it is in none */
	size_t archive_len;
	const char *path; /* of the trace below the archive or the session */
	uint64_t number;  /* of the archive; UINT64_MAX: it is in none */
};

/* BEGIN-END-NUMBER */
static bool parse_archive(const char *name, size_t len, uint64_t *ret_number)
{
	static const char form[] = "ddddddddTdddddd+dddd-ddddddddTdddddd+dddd-";
	const size_t begin = sizeof(form) - 1;
	char number[24];

	if (len <= begin || len - begin >= sizeof(number))
		return false;
	for (size_t i = 0; i < begin; i++)
		if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return false;
	snprintf(number, sizeof(number), "%.*s", (int)(len - begin), name + begin);
	return parse_u64(number, ret_number) == 0;
}

static bool ends_with_archives(const char *label, size_t len)
{
	const size_t own = strlen(ARCHIVES);

	return len >= own && strncmp(label + len - own, ARCHIVES, own) == 0 &&
	       (len == own || label[len - own - 1] == '/');
}

static struct piece piece_of(const struct source *source, const struct tally *tally)
{
	const char *label = source->label;
	struct piece piece = {
		.source = source, .tally = tally, .path = label, .number = UINT64_MAX
	};

	for (const char *at = label; at; at = strchr(at, '/')) {
		size_t len;

		at += at != label || *at == '/';
		len = strcspn(at, "/");
		if (!parse_archive(at, len, &piece.number))
			continue;
		piece.archive = at;
		piece.archive_len = len;
		piece.dir_len = piece.session_len = (size_t)(at - label);
		if (ends_with_archives(label, piece.dir_len))
			piece.session_len -= strlen(ARCHIVES);
		piece.path = at + len + (at[len] == '/');
		break;
	}
	return piece;
}

/* --- their order ------------------------------------------------------------------ */

/* Of the session's directory, and of the trace below it: as one label. */
static int compare_paths(const struct piece *a, const struct piece *b)
{
	AUTO_FREE char *x = xasprintf("%.*s%s", (int)a->session_len, a->source->label, a->path);
	AUTO_FREE char *y = xasprintf("%.*s%s", (int)b->session_len, b->source->label, b->path);

	return strcmp(x, y);
}

static int compare_streams(const struct piece *a, const struct piece *b)
{
	const struct tally *x = a->tally, *y = b->tally;
	int r = memcmp(a->source->tc->uuid, b->source->tc->uuid, sizeof(a->source->tc->uuid));

	if (!r && x->stream_id != y->stream_id)
		r = x->stream_id < y->stream_id ? -1 : 1;
	if (!r && x->instance != y->instance)
		r = x->instance < y->instance ? -1 : 1;
	return r ? r : compare_paths(a, b);
}

static int by_order(const void *one, const void *other)
{
	const struct piece *a = one, *b = other;
	int r = compare_streams(a, b);

	if (!r && a->tally->first_seq != b->tally->first_seq)
		r = a->tally->first_seq < b->tally->first_seq ? -1 : 1;
	return r ? r : (a->number > b->number) - (a->number < b->number);
}

/* --- archives that were cleared ------------------------------------------------------ */

/** Numbers of archives, from the first to the last. */
struct run {
	uint64_t first, last;
};

struct run_list {
	struct run *runs;
	size_t nr, cap;
	uint64_t number; /* of the entry that is being read */
	enum { ENTRY_NONE, ENTRY_NUMBER, ENTRY_SLASH } state;
};

static void run_list_fini(struct run_list *list)
{
	free(list->runs);
}

static int run_by_first(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* As a rule, each is the next one. */
static void run_list_add(struct run_list *list, struct run run)
{
	struct run *last = list->nr ? &list->runs[list->nr - 1] : NULL;

	if (last && run.first >= last->first && run.first <= last->last + 1) {
		last->last = MAX(last->last, run.last);
		return;
	}
	if (list->nr == list->cap) {
		list->cap = MAX(2 * list->cap, (size_t)64);
		list->runs = xrealloc(list->runs, list->cap * sizeof(*list->runs));
	}
	list->runs[list->nr++] = run;
}

static void run_list_sort(struct run_list *list)
{
	size_t nr = list->nr;

	if (nr)
		qsort(list->runs, nr, sizeof(*list->runs), run_by_first);
	list->nr = 0;
	for (size_t i = 0; i < nr; i++)
		run_list_add(list, list->runs[i]);
}

/* An incomplete entry is ignored. */
static void run_list_read(struct run_list *list, char c)
{
	bool slash = c == *TRACELIST_END;

	if (slash && list->state == ENTRY_SLASH)
		run_list_add(list, (struct run){ list->number, list->number });
	if (c == '\n') {
		list->number = 0;
		list->state = ENTRY_NUMBER;
	} else if (list->state == ENTRY_NUMBER && slash && list->number) {
		list->state = ENTRY_SLASH;
	} else if (list->state == ENTRY_NUMBER && c >= '0' && c <= '9' &&
		   list->number < NUMBER_MOST) {
		list->number = 10 * list->number + (uint64_t)(c - '0');
	} else {
		list->state = ENTRY_NONE;
	}
}

/* By pieces: it has an entry for each clear. Those that follow each other take no memory. */
static void read_cleared(struct view *view, const char *path, struct run_list *list)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FREE char *buf = xalloc(CLEARED_PIECE);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	while ((n = read(fd, buf, CLEARED_PIECE)) > 0 && list->nr <= RUNS_MOST)
		for (ssize_t i = 0; i < n; i++)
			run_list_read(list, buf[i]);
	if (list->nr > RUNS_MOST) {
		report_note(&view->reporter,
			    "%s: the list of cleared archives is ignored: it has more than %u gaps",
			    path, RUNS_MOST);
		list->nr = 0;
	}
}

/* Of the archives beside that of @piece; sorted. */
static struct run_list cleared_numbers(struct view *view, const struct piece *piece)
{
	AUTO_FREE char *path = xasprintf("%s/%.*s" CLEAREDLIST_FILE, view->dir, (int)piece->dir_len,
					 piece->source->label);
	struct run_list list = { 0 };

	if (piece->archive)
		read_cleared(view, path, &list);
	run_list_sort(&list);
	return list;
}

/* Was all that was between them cleared? Traces that are in no archive come behind all of them. */
static bool is_cleared(struct view *view, const struct piece *a, const struct piece *b)
{
	struct run_list list CLEANUP(run_list_fini) = cleared_numbers(view, a);
	const struct run *run = list.runs;

	while (run < list.runs + list.nr && run->last <= a->number)
		run++;
	if (run == list.runs + list.nr || run->first > a->number + 1)
		return false;
	return b->archive ? run->last + 1 == b->number : run + 1 == list.runs + list.nr;
}

/* --- two that follow each other --------------------------------------------------- */

static const char *place(const struct piece *piece, char *buf, size_t len)
{
	if (!piece->archive)
		return "what was recorded last";
	snprintf(buf, len, "archive %.*s", (int)piece->archive_len, piece->archive);
	return buf;
}

/* @what: before the places of both. Packets are named where no event is in them. */
static void report_link(struct view *view, const struct piece *a, const struct piece *b,
			const uint64_t events[2], const uint64_t packets[2], const char *what)
{
	bool counted = events[0] <= events[1];
	const uint64_t *range = counted ? events : packets;
	char one[128], other[128];

	report(&view->reporter, "%s %llu to %llu of %.*s%s/%s are %s %s and %s",
	       counted ? "events" : "packets without events,", (unsigned long long)range[0],
	       (unsigned long long)range[1], (int)b->session_len, b->source->label, b->path,
	       b->tally->sum.name, what, place(a, one, sizeof(one)),
	       place(b, other, sizeof(other)));
}

/* One that begins with a base follows the last packet before, but for packets that were damaged.
 * Another one has lost its first packets itself. */
static void check_link(struct view *view, const struct piece *a, const struct piece *b)
{
	const struct tally *x = a->tally, *y = b->tally;
	const uint64_t gap[2] = { x->last_seq + 1, y->first_seq - 1 };
	const uint64_t missing[2] = { x->last_recorded + 1, y->first_recorded };
	const uint64_t twice[2] = { y->first_seq, MIN(x->last_seq, y->last_seq) };
	const uint64_t both[2] = { y->first_recorded + 1, MIN(x->last_recorded, y->last_recorded) };

	if (y->first_seq <= x->last_seq)
		report_link(view, a, b, both, twice, "in both");
	else if (y->has_base && y->first_seq - x->last_seq - 1 > x->damaged_in_row &&
		 !is_cleared(view, a, b))
		report_link(view, a, b, missing, gap, "missing between");
}

/* --- archives, by their numbers ---------------------------------------------------- */

static int compare_sessions(const struct piece *a, const struct piece *b)
{
	int r = strncmp(a->source->label, b->source->label, MIN(a->session_len, b->session_len));

	return r ? r : (a->session_len > b->session_len) - (a->session_len < b->session_len);
}

static int by_session(const void *one, const void *other)
{
	const struct piece *a = one, *b = other;
	int r = compare_sessions(a, b);

	return r ? r : (a->number > b->number) - (a->number < b->number);
}

/* One piece of each source that is in an archive, sorted; allocated. */
static struct piece *sort_archives(const struct view *view, size_t *ret_nr)
{
	struct piece *archives = xalloc((view->nr_sources + 1) * sizeof(*archives));

	*ret_nr = 0;
	for (size_t i = 0; i < view->nr_sources; i++) {
		struct piece piece = piece_of(view->sources[i], NULL);

		if (piece.archive && !view->sources[i]->guest)
			archives[(*ret_nr)++] = piece;
	}
	qsort(archives, *ret_nr, sizeof(*archives), by_session);
	return archives;
}

/* A stream that goes on in @piece, and began in none of those that are there: is an archive missing
 * between one that is there and this one? */
static void check_begin(struct view *view, const struct piece *archives, size_t nr,
			const struct piece *piece)
{
	const struct tally *t = piece->tally;
	const struct piece *before = NULL;
	char one[128], other[128];

	for (size_t low = 0, high = nr; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (by_session(&archives[middle], piece) >= 0) {
			high = middle;
			continue;
		}
		before = &archives[middle];
		low = middle + 1;
	}
	if (!t->has_base || !before || compare_sessions(before, piece) != 0 ||
	    is_cleared(view, before, piece))
		return;
	report(&view->reporter,
	       "%s of %.*s%s/%s are missing, up to number %llu: it begins between %s and %s",
	       t->first_recorded ? "the first events" : "the first packets",
	       (int)piece->session_len, piece->source->label, piece->path, t->sum.name,
	       (unsigned long long)(t->first_recorded ? t->first_recorded : t->first_seq - 1),
	       place(before, one, sizeof(one)), place(piece, other, sizeof(other)));
}

#define RANGES_BYTES 120 /* of a sentence */

/* Add the numbers from @from to @to. */
static void put_range(char *buf, uint64_t from, uint64_t to)
{
	size_t len = strlen(buf);

	if (len > RANGES_BYTES - 48) {
		snprintf(buf + len, RANGES_BYTES - len, "%s", buf[len - 1] == '.' ? "" : ", ...");
		return;
	}
	len += (size_t)snprintf(buf + len, RANGES_BYTES - len, "%s%llu", len ? ", " : "",
				(unsigned long long)from);
	if (to > from)
		snprintf(buf + len, RANGES_BYTES - len, " to %llu", (unsigned long long)to);
}

/* Those from @from to before @to that were not cleared. */
static void put_missing(char *buf, uint64_t from, uint64_t to, const struct run_list *cleared)
{
	for (size_t i = 0; i < cleared->nr && from < to; i++) {
		const struct run *run = &cleared->runs[i];

		if (run->last < from)
			continue;
		if (MIN(run->first, to) > from)
			put_range(buf, from, MIN(run->first, to) - 1);
		from = run->last + 1;
	}
	if (from < to)
		put_range(buf, from, to - 1);
}

/* @archives: of one session. */
static void note_session(struct view *view, const struct piece *archives, size_t nr)
{
	struct run_list cleared CLEANUP(run_list_fini) = cleared_numbers(view, archives);
	char ranges[RANGES_BYTES] = "";
	uint64_t next = 1;

	for (size_t i = 0; i < nr; i++) {
		put_missing(ranges, next, archives[i].number, &cleared);
		next = archives[i].number + 1;
	}
	if (*ranges)
		report_note(&view->reporter,
			    "%.*s%sthese archives are not here, nor are their events: %s (the "
			    "limits of 'lttctl enable-rotation' remove the oldest ones)",
			    (int)archives->session_len, archives->source->label,
			    archives->session_len ? ": " : "", ranges);
}

void chain_note_missing(struct view *view)
{
	size_t nr, begin = 0;
	AUTO_FREE struct piece *archives = sort_archives(view, &nr);

	for (size_t i = 1; i <= nr; i++)
		if (i == nr || compare_sessions(&archives[begin], &archives[i]) != 0) {
			note_session(view, &archives[begin], i - begin);
			begin = i;
		}
}

/* --- all of them -------------------------------------------------------------------- */

static size_t collect(const struct view *view, struct piece *pieces)
{
	size_t nr = 0;

	for (size_t i = 0; i < view->nr_sources; i++) {
		const struct source *source = view->sources[i];
		const struct tally *t = source->tallies;

		for (; t && source->tc->has_uuid && !source->guest; t = t->next)
			if (tally_has_begin(t) && t->has_instance) {
				if (pieces)
					pieces[nr] = piece_of(source, t);
				nr++;
			}
	}
	return nr;
}

void chain_check(struct view *view)
{
	AUTO_FREE struct piece *pieces = xalloc((collect(view, NULL) + 1) * sizeof(*pieces));
	size_t nr = collect(view, pieces), last = 0, nr_archives;
	AUTO_FREE struct piece *archives = sort_archives(view, &nr_archives);

	qsort(pieces, nr, sizeof(*pieces), by_order);
	for (size_t i = 0; i < nr; i++) {
		bool same = i && compare_streams(&pieces[last], &pieces[i]) == 0;

		if (!same)
			check_begin(view, archives, nr_archives, &pieces[i]);
		else if (pieces[last].source != pieces[i].source)
			check_link(view, &pieces[last], &pieces[i]);
		if (!same || pieces[i].tally->last_seq >= pieces[last].tally->last_seq)
			last = i;
	}
}
