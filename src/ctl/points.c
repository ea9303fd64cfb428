/* SPDX-License-Identifier: GPL-2.0-only */
#include "points.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "connect.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"

/* By application, then by name. */
static int by_application(const void *a, const void *b)
{
	const struct ltt_ctl_point *x = *(const struct ltt_ctl_point *const *)a;
	const struct ltt_ctl_point *y = *(const struct ltt_ctl_point *const *)b;
	int names;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	names = x->pid ? 0 : strcmp(x->process, y->process);
	if (!names)
		names = strcmp(x->name, y->name);
	return names ? names : (x->line > y->line) - (x->line < y->line);
}

int points_fetch(struct ctl *ctl, enum domain_id domain, bool fields, struct points *points,
		 struct err *err)
{
	struct ltt_ctl_points *list;
	int code = ltt_ctl_list_points(ctl->library, (enum ltt_ctl_domain)domain,
				       fields ? LTT_CTL_FIELDS : 0, &list);

	if (ctl_done(ctl, code, err) != 0)
		return err->code;
	points->list = list;
	points->nr = list->nr;
	points->sorted = xalloc((list->nr + 1) * sizeof(*points->sorted));
	for (size_t i = 0; i < list->nr; i++)
		points->sorted[i] = list->points[i];
	qsort(points->sorted, points->nr, sizeof(*points->sorted), by_application);
	return 0;
}

void points_free(struct points *points)
{
	ltt_ctl_points_free(points->list);
	free(points->sorted);
	*points = (struct points){ 0 };
}

void points_keep(struct points *points, const char *process)
{
	size_t nr = 0;

	for (size_t i = 0; i < points->nr; i++)
		if (process ? strcmp(points->sorted[i]->process, process) == 0 :
			      points->sorted[i]->active > 0)
			points->sorted[nr++] = points->sorted[i];
	points->nr = nr;
}

void points_record(const struct points *points, struct json_object *array)
{
	for (size_t i = 0; i < points->nr; i++)
		json_object_array_add(array, json_point(points->sorted[i]));
}

/* The last word of digits alone, from behind @text on: a name may have blanks and digits, too. */
static char *find_count(char *text)
{
	for (char *at = text + strlen(text); at > text; at--)
		if (at[-1] == ' ' && isdigit((unsigned char)*at) &&
		    at[strspn(at, "0123456789")] == ' ')
			return at;
	return NULL;
}

/* "SOURCE NAME COUNT FUNCTION", see kmod/folder.c; of recordings, "channels" is the last word.
 * Return: NULL: it is one of these. */
static struct json_object *parse_probe(char *line)
{
	char *name = strchr(line, ' '), *count = name ? find_count(name) : NULL;
	char *function = count ? strchr(count, ' ') : NULL;
	struct json_object *probe;

	if (!function || count == name + 1 || strcmp(function, " channels") == 0)
		return NULL;
	*name++ = count[-1] = *function++ = '\0';
	probe = json_object_new_object();
	json_set_str(probe, "source", line);
	json_set_str(probe, "name", name);
	json_set_num(probe, "count", strtoull(count, NULL, 10));
	json_set_str(probe, "function", function);
	return probe;
}

int points_kernel_probes(struct json_object **ret)
{
	FILE *from = fopen("/sys/kernel/debug/ltt/active", "re");
	struct json_object *probe;
	char *line = NULL;
	size_t size = 0;

	if (!from)
		return -errno;
	*ret = json_object_new_array();
	while (getline(&line, &size, from) > 0) {
		line[strcspn(line, "\n")] = '\0';
		probe = parse_probe(line);
		if (probe)
			json_object_array_add(*ret, probe);
	}
	free(line);
	fclose(from);
	return 0;
}

const char *points_nearest(const struct points *points, const char *name)
{
	const char **words = xalloc((points->nr + 1) * sizeof(*words));
	const char *near;

	for (size_t i = 0; i < points->nr; i++)
		words[i] = points->sorted[i]->name;
	near = nearest_word(name, words);
	free(words);
	return near;
}

static bool is_kernel(struct json_object *point)
{
	return strcmp(json_str(point, "domain"), "kernel") == 0;
}

static void point_text(FILE *out, struct json_object *point)
{
	const char *format = json_str(point, "format"), *refused = json_str(point, "refused");
	uint64_t active = json_num(point, "active");

	fprintf(out, "  %s", json_str(point, "name"));
	if (*refused)
		fprintf(out, " (%s)", json_str(point, "kind"));
	else if (!is_kernel(point))
		fprintf(out, " (%s, %s)", json_str(point, "kind"), json_str(point, "loglevel"));
	if (active)
		fputs(" recorded", out);
	if (active > 1)
		fprintf(out, " by %" PRIu64 " sessions", active);
	if (*json_str(point, "file"))
		fprintf(out, " %s:%" PRIu64, json_str(point, "file"), json_num(point, "line"));
	fputc('\n', out);
	if (*refused)
		fprintf(out, "      is never recorded: it %s\n", refused);
	if (*format)
		fprintf(out, "      format: \"%s\"\n", format);
	for (size_t i = 0; i < json_len(point, "field_list"); i++) {
		struct json_object *field = json_at(point, "field_list", i);

		fprintf(out, "      %s: %s%s\n", json_str(field, "name"),
			json_str(field, "type"),
			json_flag(field, "is_recorded") ? "" : ", for filters only");
	}
}

/* The process, or the kernel's subsystem, of the points that follow. */
static void head_text(FILE *out, struct json_object *point)
{
	fputs(json_str(point, "process"), out);
	if (!is_kernel(point))
		fprintf(out, " (process %" PRIu64 ", user %" PRIu64 ")", json_num(point, "pid"),
			json_num(point, "uid"));
	fputc('\n', out);
}

static bool same_head(const struct ltt_ctl_point *a, const struct ltt_ctl_point *b)
{
	return a->pid == b->pid &&
	       (a->domain != LTT_CTL_KERNEL || strcmp(a->process, b->process) == 0);
}

/* There may be 100,000: a record, which is 3 KiB, is made of one at a time. */
void points_text(FILE *out, const struct points *points)
{
	for (size_t i = 0; i < points->nr; i++) {
		struct json_object *record AUTO_RECORD = json_point(points->sorted[i]);
		struct json_object *point AUTO_RECORD = text_printable(record);

		if (i == 0 || !same_head(points->sorted[i - 1], points->sorted[i])) {
			if (i > 0)
				fputc('\n', out);
			head_text(out, point);
		}
		point_text(out, point);
	}
}

/* Sizes that it does not set are the defaults. */
static void preset_text(FILE *out, struct json_object *preset)
{
	uint64_t size = json_num(preset, "subbuf_size"), nr = json_num(preset, "num_subbuf");
	char buf[TEXT_BYTES];

	fprintf(out, "  %s: %s", json_str(preset, "name"), json_str(preset, "pattern"));
	if (nr)
		fprintf(out, ", %" PRIu64 " sub-buffers", nr);
	if (size)
		fprintf(out, "%s %s", nr ? " of" : ", sub-buffers of", text_size(buf, size));
	if (*json_str(preset, "unused"))
		fprintf(out, " (not used: %s)", json_str(preset, "unused"));
	fputc('\n', out);
}

void points_presets_text(FILE *out, struct json_object *presets)
{
	size_t nr = json_object_array_length(presets);

	if (nr)
		fputs("\nChannels that modules or libraries registered for their events\n", out);
	for (size_t i = 0; i < nr; i++)
		preset_text(out, json_object_array_get_idx(presets, i));
}

void points_probes_text(FILE *out, struct json_object *probes)
{
	size_t nr = json_object_array_length(probes);

	if (nr)
		fputs("\nFunctions of modules that are called\n", out);
	for (size_t i = 0; i < nr; i++) {
		struct json_object *probe = json_object_array_get_idx(probes, i);
		uint64_t count = json_num(probe, "count");

		fprintf(out, "  %s %s: %s", json_str(probe, "source"), json_str(probe, "name"),
			json_str(probe, "function"));
		if (count > 1)
			fprintf(out, ", registered %" PRIu64 " times", count);
		fputc('\n', out);
	}
}
