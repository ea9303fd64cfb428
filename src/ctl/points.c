/* SPDX-License-Identifier: GPL-2.0-only */
#include "points.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "connect.h"
#include "record.h"
#include "text.h"

/* By application, then by name. */
static int by_application(const void *a, const void *b)
{
	struct json_object *x = *(struct json_object *const *)a;
	struct json_object *y = *(struct json_object *const *)b;
	uint64_t p = record_num(x, "pid"), q = record_num(y, "pid");
	int names;

	if (p != q)
		return p < q ? -1 : 1;
	names = p ? 0 : strcmp(record_str(x, "process"), record_str(y, "process"));
	if (names)
		return names;
	names = strcmp(record_str(x, "name"), record_str(y, "name"));
	if (names)
		return names;
	p = record_num(x, "line");
	q = record_num(y, "line");
	return p < q ? -1 : p > q;
}

int points_fetch(struct ctl *ctl, enum domain_id domain, bool fields, struct json_object **ret,
		 struct json_object **ret_presets, struct err *err)
{
	struct json_object *points AUTO_RECORD = json_object_new_array();
	struct json_object *presets AUTO_RECORD = json_object_new_array();
	struct ltt_ctl_points *list;
	int code = ltt_ctl_list_points(ctl->library, (enum ltt_ctl_domain)domain,
				       fields ? LTT_CTL_FIELDS : 0, &list);

	if (ctl_done(ctl, code, err) != 0)
		return err->code;
	for (size_t i = 0; i < list->nr; i++)
		json_object_array_add(points, record_point(list->points[i]));
	for (size_t i = 0; i < list->nr_presets; i++)
		json_object_array_add(presets, record_preset(list->presets[i]));
	ltt_ctl_points_free(list);
	json_object_array_sort(points, by_application);
	*ret = TAKE(points);
	if (ret_presets)
		*ret_presets = TAKE(presets);
	return 0;
}

/* @process: only its points; NULL: only active ones. */
static struct json_object *points_kept(struct json_object *points, const char *process)
{
	struct json_object *kept = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(points); i++) {
		struct json_object *point = json_object_array_get_idx(points, i);

		if (process ? strcmp(record_str(point, "process"), process) == 0 :
			      record_num(point, "active") > 0)
			json_object_array_add(kept, json_object_get(point));
	}
	json_object_put(points);
	return kept;
}

struct json_object *points_of_process(struct json_object *points, const char *process)
{
	return points_kept(points, process);
}

struct json_object *points_active(struct json_object *points)
{
	return points_kept(points, NULL);
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
	record_set_str(probe, "source", line);
	record_set_str(probe, "name", name);
	record_set_num(probe, "count", strtoull(count, NULL, 10));
	record_set_str(probe, "function", function);
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

const char *points_nearest(struct json_object *points, const char *name)
{
	size_t nr = json_object_array_length(points);
	const char **words = xalloc((nr + 1) * sizeof(*words));
	const char *near;

	for (size_t i = 0; i < nr; i++)
		words[i] = record_str(json_object_array_get_idx(points, i), "name");
	near = nearest_word(name, words);
	free(words);
	return near;
}

static bool is_kernel(struct json_object *point)
{
	return strcmp(record_str(point, "domain"), "kernel") == 0;
}

static void point_text(FILE *out, struct json_object *point)
{
	const char *format = record_str(point, "format"), *refused = record_str(point, "refused");
	uint64_t active = record_num(point, "active");

	fprintf(out, "  %s", record_str(point, "name"));
	if (*refused)
		fprintf(out, " (%s)", record_str(point, "kind"));
	else if (!is_kernel(point))
		fprintf(out, " (%s, %s)", record_str(point, "kind"), record_str(point, "loglevel"));
	if (active)
		fputs(" recorded", out);
	if (active > 1)
		fprintf(out, " by %" PRIu64 " sessions", active);
	if (*record_str(point, "file"))
		fprintf(out, " %s:%" PRIu64, record_str(point, "file"), record_num(point, "line"));
	fputc('\n', out);
	if (*refused)
		fprintf(out, "      is never recorded: it %s\n", refused);
	if (*format)
		fprintf(out, "      format: \"%s\"\n", format);
	for (size_t i = 0; i < record_len(point, "field_list"); i++) {
		struct json_object *field = record_at(point, "field_list", i);

		fprintf(out, "      %s: %s%s\n", record_str(field, "name"),
			record_str(field, "type"),
			record_bool(field, "is_recorded") ? "" : ", for filters only");
	}
}

/* The process, or the kernel's subsystem, of the points that follow. */
static void head_text(FILE *out, struct json_object *point)
{
	fputs(record_str(point, "process"), out);
	if (!is_kernel(point))
		fprintf(out, " (process %" PRIu64 ", user %" PRIu64 ")", record_num(point, "pid"),
			record_num(point, "uid"));
	fputc('\n', out);
}

static bool same_head(struct json_object *a, struct json_object *b)
{
	return record_num(a, "pid") == record_num(b, "pid") &&
	       (!is_kernel(a) || strcmp(record_str(a, "process"), record_str(b, "process")) == 0);
}

void points_text(FILE *out, struct json_object *points)
{
	struct json_object *before = NULL;

	for (size_t i = 0; i < json_object_array_length(points); i++) {
		struct json_object *point = json_object_array_get_idx(points, i);

		if (!before || !same_head(before, point)) {
			if (before)
				fputc('\n', out);
			head_text(out, point);
		}
		point_text(out, point);
		before = point;
	}
	if (json_object_array_length(points) == 0)
		fputs("No application with instrumentation points is running.\n", out);
}

/* Sizes that it does not set are the defaults. */
static void preset_text(FILE *out, struct json_object *preset)
{
	uint64_t size = record_num(preset, "subbuf_size"), nr = record_num(preset, "num_subbuf");
	char buf[TEXT_BYTES];

	fprintf(out, "  %s: %s", record_str(preset, "name"), record_str(preset, "pattern"));
	if (nr)
		fprintf(out, ", %" PRIu64 " sub-buffers", nr);
	if (size)
		fprintf(out, "%s %s", nr ? " of" : ", sub-buffers of", text_size(buf, size));
	if (*record_str(preset, "unused"))
		fprintf(out, " (not used: %s)", record_str(preset, "unused"));
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
		uint64_t count = record_num(probe, "count");

		fprintf(out, "  %s %s: %s", record_str(probe, "source"), record_str(probe, "name"),
			record_str(probe, "function"));
		if (count > 1)
			fprintf(out, ", registered %" PRIu64 " times", count);
		fputc('\n', out);
	}
}
