/* SPDX-License-Identifier: GPL-2.0-only */
#include "nothing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/elf.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/needed.h"
#include "ctl/own.h"
#include "ctl/print/print.h"
#include "ctl/print/json.h"
#include "run.h"
#include "ctl/print/show.h"
#include "ctl/print/text.h"
#include "wrap.h"

#define OWN_POINTS "ltt_statedump:" /* libltt's: every program has them */
#define MAX_NAMES_LISTED 20u

/* The names of others, an array. */
static struct json_object *nothing_names(const struct ltt_ctl_programs *programs)
{
	struct json_object *names = json_object_new_array();

	for (size_t i = 0; i < programs->nr_points; i++)
		if (strncmp(programs->points[i], OWN_POINTS, strlen(OWN_POINTS)) != 0)
			json_object_array_add(names, json_object_new_string(programs->points[i]));
	return names;
}

static int nothing_by_name(const void *a, const void *b)
{
	return strcmp(json_object_get_string(*(struct json_object *const *)a),
		      json_object_get_string(*(struct json_object *const *)b));
}

struct json_object *nothing_fetch(struct ctl *ctl, const char *session)
{
	struct ltt_ctl_programs *programs;
	struct json_object *points, *names;

	if (ltt_ctl_list_programs(ctl->library, session, &programs) != 0)
		return NULL;
	names = nothing_names(programs);
	json_object_array_sort(names, nothing_by_name);
	points = json_object_new_object();
	json_set_bool(points, "matched", programs->matched);
	json_set_bool(points, "registered",
			programs->matched || programs->applications || programs->nr_points);
	json_set(points, "others", names);
	json_set_bool(points, "incomplete", programs->more);
	ltt_ctl_programs_free(programs);
	return points;
}

/* --- messages -------------------------------------------------------------------------- */

static const char *nothing_nearest(struct json_object *points, const char *events)
{
	size_t nr = json_len(points, "others");
	const char **words = xalloc((nr + 1) * sizeof(*words));
	struct names patterns CLEANUP(names_fini) = { 0 };
	const char *near = NULL;

	for (size_t i = 0; i < nr; i++)
		words[i] = json_object_get_string(json_at(points, "others", i));
	names_split(events, &patterns);
	for (size_t i = 0; i < patterns.nr && !near; i++)
		near = nearest_word(patterns.names[i], words);
	free(words);
	return near;
}

static void name_points(FILE *out, struct json_object *points, const char *events)
{
	size_t nr = json_len(points, "others");
	const char *near = nothing_nearest(points, events);

	fprintf(out,
		"No instrumentation point of the program matches --events=%s%s%s%s It has these:\n",
		events, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ".");
	for (size_t i = 0; i < nr && i < MAX_NAMES_LISTED; i++)
		fprintf(out, "  %s\n", json_object_get_string(json_at(points, "others", i)));
	if (nr > MAX_NAMES_LISTED || json_flag(points, "incomplete"))
		fputs("  and more; 'lttctl list -u' shows all while it runs\n", out);
}

/* Return: whether the program could not be loaded. */
static bool nothing_explain_load(FILE *out, const char *path, const struct elf_facts *facts)
{
	struct needed needed CLEANUP(needed_fini) =
		elf_has_glibc(facts) ? needed_find(path) : (struct needed){ NULL, NULL, false };
	const char *library = needed.missing;
	char *dir AUTO_FREE = library ? own_library_dir_for(facts->bits, library) : NULL;

	if (!library)
		return false;
	fprintf(out,
		"The program could not be loaded: the dynamic linker found no %s, which it needs.\n",
		library);
	if (dir)
		fprintf(out,
			"It is in %s. For one run:\n"
			"  LD_LIBRARY_PATH=%s lttctl record -- ...\n"
			"For all programs: echo %s | sudo tee /etc/ld.so.conf.d/ltt.conf; sudo ldconfig\n"
			"For this program: link it with -Wl,-rpath,%s\n",
			dir, dir, dir, dir);
	else
		fputs("Install it; or, if it is installed: LD_LIBRARY_PATH=DIRECTORY lttctl record -- ...\n",
		      out);
	return true;
}

static void not_instrumented(FILE *out, const struct nothing *nothing)
{
	char *path AUTO_FREE = run_find(nothing->program);
	struct elf_facts facts = { .dynamic = true };
	bool known = elf_read(path, &facts) == 0;
	const char *remedy;
	char *obstacle AUTO_FREE =
		known && !facts.instrumented ? elf_obstacle(&facts, &remedy) : NULL;

	if (known && nothing->status == RUN_NOT_FOUND && nothing_explain_load(out, path, &facts))
		return;
	if (nothing->wrap)
		wrap_explain_uncalled(out, nothing->program, nothing->wrap);
	else if (obstacle)
		fprintf(out,
			"The program %s: no library can be loaded into it, so --wrap\n"
			"has no effect. %s, or record what the kernel does for it: lttctl record -k -- "
			"...\n",
			obstacle, remedy);
	else
		fputs("The program has no libltt instrumentation. To see its allocations, "
		      "locks\nor loaded libraries without a change to it: lttctl record "
		      "--wrap=libc,pthread,dl -- ...\n",
		      out);
}

void nothing_text(FILE *out, struct json_object *points, const struct nothing *nothing)
{
	if (json_flag(points, "matched") && nothing->filter)
		fprintf(out,
			"The program has points that are recorded%s%s; it has passed none of them, or "
			"--filter=%s\nheld for none of their events. 'lttctl filter --check' explains an "
			"expression while the\nprogram runs.\n",
			nothing->events ? " with --events=" : "",
			nothing->events ? nothing->events : "", nothing->filter);
	else if (json_flag(points, "matched") && !nothing->wrap)
		fprintf(out,
			"The program has points that are recorded%s%s, and has passed none of them.\n",
			nothing->events ? " with --events=" : "",
			nothing->events ? nothing->events : "");
	else if (nothing->events && json_len(points, "others"))
		name_points(out, points, nothing->events);
	else
		not_instrumented(out, nothing);
}

/* --- a session ------------------------------------------------------------------------- */

/* The rules that record, of one domain; rules that count record nothing. */
struct nothing_rules {
	unsigned int nr;
	char *patterns; /* separated by commas; NULL: none */
	bool filter;
};

static void nothing_take_rule(struct nothing_rules *rules, struct json_object *rule)
{
	const char *kind = json_str(rule, "kind");
	char *before AUTO_FREE = rules->patterns;

	if (strcmp(kind, "count") == 0 || strcmp(kind, "histogram") == 0) {
		rules->patterns = TAKE(before);
		return;
	}
	rules->nr++;
	rules->filter |= *json_str(rule, "filter");
	rules->patterns = xasprintf("%s%s%s", before ? before : "", before ? "," : "",
				    json_str(rule, "pattern"));
}

static void nothing_take_rules(struct nothing_rules rules[DOMAIN_USER + 1],
			       struct json_object *shown)
{
	for (size_t i = 0; i < json_len(shown, "channels"); i++) {
		struct json_object *channel = json_at(shown, "channels", i);
		bool kernel = strcmp(json_str(channel, "domain"), "kernel") == 0;

		for (size_t j = 0; j < json_len(channel, "rules"); j++)
			nothing_take_rule(&rules[kernel ? DOMAIN_KERNEL : DOMAIN_USER],
					  json_at(channel, "rules", j));
	}
}

/* The beginning of the list of points: "a, b and more"; allocated. */
static char *nothing_list(struct json_object *points)
{
	size_t nr = json_len(points, "others");
	char *list = xstrdup("");

	for (size_t i = 0; i < MIN(nr, (size_t)MAX_NAMES_LISTED); i++) {
		char *before AUTO_FREE = list;

		list = xasprintf("%s%s%s", before, i ? ", " : "",
				 json_object_get_string(json_at(points, "others", i)));
	}
	if (nr > MAX_NAMES_LISTED || json_flag(points, "incomplete")) {
		char *before AUTO_FREE = list;

		list = xasprintf("%s and more", before);
	}
	return list;
}

static void nothing_note_user(struct ctl *ctl, const char *session, struct json_object *points,
			      const struct nothing_rules *rules)
{
	const char *near = nothing_nearest(points, rules->patterns);
	char *list AUTO_FREE = nothing_list(points);

	if (!json_flag(points, "registered"))
		print_note(ctl,
			   "session '%s': no program with libltt has registered; one that ends "
			   "within milliseconds may end before it is recorded: start it with "
			   "LTT_REGISTER_TIMEOUT=5000. 'lttctl doctor' shows other reasons",
			   session);
	else if (json_flag(points, "matched"))
		print_note(ctl,
			   "session '%s': programs have points that are recorded; they have passed "
			   "none of them while it recorded%s",
			   session,
			   rules->filter ? ", or the filter held for none of their events; 'lttctl "
					   "filter --check' explains an expression" :
					   "");
	else if (*list)
		print_note(ctl,
			   "session '%s': no instrumentation point of its programs matches "
			   "'%s'%s%s%s; they have: %s",
			   session, rules->patterns, near ? "; did you mean '" : "",
			   near ? near : "", near ? "'?" : "", list);
	else
		print_note(ctl,
			   "session '%s': its programs have no instrumentation point; to see their "
			   "allocations, locks or loaded libraries: lttctl record "
			   "--wrap=libc,pthread,dl -- PROGRAM",
			   session);
}

void nothing_note(struct ctl *ctl, const char *session, struct json_object *totals)
{
	struct json_object *shown AUTO_RECORD = NULL, *points AUTO_RECORD = NULL;
	struct nothing_rules rules[DOMAIN_USER + 1] = { 0 };
	struct err ignored = { 0 };

	if (!totals || json_num(totals, "recorded") || json_num(totals, "lost") ||
	    show_fetch(ctl, session, &shown, &ignored) != 0 || *json_str(shown, "problem"))
		return;
	nothing_take_rules(rules, shown);
	if (strcmp(json_str(shown, "state"), "new") == 0 || !json_len(shown, "channels"))
		; /* the state explains it, as `status` shows */
	else if (!rules[DOMAIN_USER].nr && rules[DOMAIN_KERNEL].nr)
		print_note(ctl,
			   "session '%s': none of the kernel's events that are enabled has "
			   "occurred while it recorded",
			   session);
	else if (rules[DOMAIN_USER].nr && (points = nothing_fetch(ctl, session)))
		nothing_note_user(ctl, session, points, &rules[DOMAIN_USER]);
	free(rules[DOMAIN_USER].patterns);
	free(rules[DOMAIN_KERNEL].patterns);
}
