/* SPDX-License-Identifier: GPL-2.0-only */
#include "points.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/session/logger.h"

int points_each(struct ctl *ctl, enum domain_id domain,
		void (*fn)(const struct ltt_ctl_point *point, void *data), void *data,
		struct err *err)
{
	struct ltt_ctl_points *presets;
	int code = ltt_ctl_each_point(ctl->library, (enum ltt_ctl_domain)domain, 0, fn, data,
				      &presets);

	if (ctl_done(ctl, code, err) == 0)
		ltt_ctl_points_free(presets);
	return err->code;
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

static void point_text(FILE *out, struct json_object *point)
{
	uint64_t active = json_num(point, "active");

	if (json_get(point, "logger")) {
		text_form(out, point, "    {logger}\n");
		return;
	}
	text_form(out, point,
		  "  {name}[{?refused} ({kind})|[{domain=user} ({kind}, {loglevel})]]"
		  "[ ({way?})][{?active} recorded]");
	if (active > 1)
		fprintf(out, " by %" PRIu64 " sessions", active);
	text_form(out, point,
		  "[ {file?}:{line}]\n[      is never recorded: it {refused?}\n]"
		  "[      format: \"{format?}\"\n]");
	text_forms(out, point, "field_list",
		   "      {name}: {type}[{!is_recorded}, for filters only]\n");
}

static bool same_head(const struct points_output *output, const struct ltt_ctl_point *point)
{
	return output->process && output->pid == point->pid &&
	       (point->domain != LTT_CTL_KERNEL || strcmp(output->process, point->process) == 0);
}

static bool point_is_wanted(const struct points_output *output, const struct ltt_ctl_point *point,
			    const struct logger_domain *loggers)
{
	if (output->only && strcmp(point->process, output->only) != 0)
		return false;
	if (output->loggers ? loggers != output->loggers &&
				      strcmp(point->name, output->loggers->event) != 0 :
			      loggers != NULL)
		return false;
	return !output->only_active || point->active;
}

/* A record, which is 3 KiB, is made of one point at a time. */
static void write_point(const struct ltt_ctl_point *point, void *data)
{
	struct points_output *output = data;
	const struct logger_domain *loggers = logger_domain_of_name(point->name);
	struct json_object *record AUTO_RECORD = NULL;
	struct json_object *text AUTO_RECORD = NULL;

	if (!point_is_wanted(output, point, loggers))
		return;
	record = json_point(point);
	if (loggers) {
		json_set_str(record, "logger", point->file);
		json_set_str(record, "file", "");
	}
	if (output->array) {
		json_object_array_add(output->array, TAKE(record));
		return;
	}
	if (output->json) {
		text_json_element(output->out, record);
		output->nr++;
		return;
	}
	text = text_printable(record);
	if (!same_head(output, point)) {
		fputs(output->nr ? "\n" : "", output->out);
		text_form(output->out, text,
			  "{process}[{domain=user} (process {pid}, user {uid})]\n");
		output->pid = point->pid;
		free(output->process);
		output->process = xstrdup(point->process);
	}
	point_text(output->out, text);
	output->nr++;
}

int points_write(struct ctl *ctl, enum domain_id domain, struct points_output *output,
		 struct ltt_ctl_points **ret, struct err *err)
{
	int code = ltt_ctl_each_point(ctl->library, (enum ltt_ctl_domain)domain,
				      output->fields ? LTT_CTL_FIELDS : 0, write_point, output,
				      ret);

	if (ctl_done(ctl, code, err) == 0 && (fflush(output->out) != 0 || ferror(output->out)))
		err_errno(err, ERR_OUTPUT, errno, "can't store the list in /tmp");
	return err->code;
}

/* Sizes that it does not set are the defaults. */
void points_presets_text(FILE *out, struct json_object *presets)
{
	if (json_object_array_length(presets))
		fputs("\nChannels that modules or libraries registered for their events\n", out);
	for (size_t i = 0; i < json_object_array_length(presets); i++)
		text_form(out, json_object_array_get_idx(presets, i),
			  "  {name}: {pattern}[, {num_subbuf?} sub-buffers[ of {subbuf_size:b?}]|"
			  "[, sub-buffers of {subbuf_size:b?}]][ (not used: {unused?})]\n");
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
