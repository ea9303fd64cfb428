/* SPDX-License-Identifier: GPL-2.0-only */
#include "parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "dataset.h"
#include "file.h"
#include "schema.h"
#include "read/view_priv.h"

/** struct parquet_class - an event class, by its address. */
struct parquet_class {
	struct idmap_node node;
	struct parquet_class *next;
	struct schema_class members;
	struct dataset_place place;
};

/** struct parquet_reading - @schemas: of all names of events. @last: class of the event before. */
struct parquet_reading {
	struct view *view;
	struct datasets *datasets;
	struct schema *schemas;
	struct idmap by_class;
	struct parquet_class *classes, *last;
	const struct ctf_event_class *last_ec;
	struct pen pen;
};

/* --- classes -------------------------------------------------------------------------------- */

static const char *parquet_host(const struct source *source)
{
	return trace_class_env(source->tc, "hostname");
}

/* The schema of the events of a name, which is added if it is new. */
static struct schema *parquet_schema(struct parquet_reading *reading, const char *name)
{
	struct schema *schema = reading->schemas;

	while (schema && strcmp(schema->name, name) != 0)
		schema = schema->next;
	if (schema)
		return schema;
	schema = schema_new(name);
	schema->next = reading->schemas;
	reading->schemas = schema;
	return schema;
}

static void parquet_add_class(struct parquet_reading *reading, const struct source *source,
			      const struct ctf_stream_class *sc, const struct ctf_event_class *ec)
{
	struct parquet_class *class = xalloc(sizeof(*class));

	schema_add(parquet_schema(reading, ec->name), ec, sc->event_context, &class->members);
	class->place.schema = class->members.schema;
	class->place.host = parquet_host(source);
	class->next = reading->classes;
	reading->classes = class;
	idmap_add(&reading->by_class, &class->node, (uintptr_t)ec);
}

static void parquet_begin(struct parquet_reading *reading)
{
	idmap_init(&reading->by_class);
	for (size_t i = 0; i < reading->view->nr_sources; i++) {
		const struct source *source = reading->view->sources[i];

		for (const struct ctf_stream_class *sc = source->tc->streams; sc; sc = sc->next)
			for (const struct ctf_event_class *ec = sc->events; ec;
			     ec = ec->next_in_stream)
				parquet_add_class(reading, source, sc, ec);
	}
}

static void parquet_fini(struct parquet_reading *reading)
{
	struct parquet_class *class;

	datasets_free(reading->datasets);
	while ((class = reading->classes)) {
		reading->classes = class->next;
		schema_class_fini(&class->members);
		free(class);
	}
	idmap_fini(&reading->by_class);
	while (reading->schemas)
		reading->schemas = schema_free(reading->schemas);
	pen_fini(&reading->pen);
}

/* --- events --------------------------------------------------------------------------------- */

static struct parquet_class *parquet_class_of(struct parquet_reading *reading,
					      const struct ctf_event_class *ec)
{
	if (reading->last_ec != ec)
		reading->last =
			idmap_get(&reading->by_class, (uintptr_t)ec, struct parquet_class, node);
	reading->last_ec = ec;
	return reading->last;
}

/* Return: 0; negative errno. */
static int parquet_events(struct parquet_reading *reading, const struct view_select *select)
{
	struct event event;
	int r;

	while ((r = event_next(reading->view, select, &event)) > 0) {
		struct parquet_class *class = parquet_class_of(reading, event.ec);
		struct parquet *file = datasets_file(reading->datasets, &class->place, event.ns);

		if (!file)
			return -errno;
		schema_put(&class->members, &event, file, &reading->pen);
		r = datasets_row(reading->datasets, &class->place);
		if (r)
			return r;
	}
	return r;
}

/* --- losses and sampling -------------------------------------------------------------------- */

static const struct parquet_column parquet_losses[] = {
	{ "ts", PARQUET_SIGNED, true },	      { "trace", PARQUET_TEXT, true },
	{ "stream", PARQUET_TEXT, true },     { "cause", PARQUET_TEXT, true },
	{ "events", PARQUET_UNSIGNED, true },
};

static const struct parquet_column parquet_sampling[] = {
	{ "ts", PARQUET_SIGNED, true },	      { "name", PARQUET_TEXT, true },
	{ "events", PARQUET_UNSIGNED, true }, { "sampled", PARQUET_TEXT, true },
	{ "about", PARQUET_UNSIGNED, false }, { "one_in", PARQUET_UNSIGNED, false },
};

static void parquet_put_string(struct parquet *file, uint32_t column, const char *text)
{
	parquet_text(file, column, text, strlen(text));
}

/* A row for each stream and cause, at the time of the first event. */
static int parquet_add_losses(struct datasets *datasets, struct dataset_place *place,
			      const struct view_summary *sum, const char *trace)
{
	struct parquet *file = datasets_file(datasets, place, sum->first_ns);
	int error = file ? 0 : -errno;

	for (size_t i = 0; i < sum->nr_streams && !error; i++) {
		const struct view_stream *stream = &sum->streams[i];

		for (int cause = 0; cause < VIEW_NR_LOST && !error; cause++) {
			if (!stream->lost[cause] || strcmp(stream->trace, trace) != 0)
				continue;
			file = datasets_file(datasets, place, sum->first_ns);
			if (!file)
				return -errno;
			parquet_integer(file, 0, (uint64_t)sum->first_ns);
			parquet_put_string(file, 1, stream->trace);
			parquet_put_string(file, 2, stream->name);
			parquet_put_string(file, 3, view_lost_key((enum view_lost)cause));
			parquet_integer(file, 4, stream->lost[cause]);
			error = datasets_row(datasets, place);
		}
	}
	return error;
}

static int parquet_add_sampled(struct datasets *datasets, struct dataset_place *place,
			       const struct view_summary *sum)
{
	struct parquet *file = datasets_file(datasets, place, sum->first_ns);
	int error = file ? 0 : -errno;

	for (size_t i = 0; i < sum->nr_names && !error; i++) {
		const struct view_name *name = &sum->names[i];

		if (!name->sampled)
			continue;
		file = datasets_file(datasets, place, sum->first_ns);
		if (!file)
			return -errno;
		parquet_integer(file, 0, (uint64_t)sum->first_ns);
		parquet_put_string(file, 1, name->name);
		parquet_integer(file, 2, name->events);
		parquet_put_string(file, 3, name->sampled);
		if (name->about)
			parquet_integer(file, 4, name->about);
		if (name->one_in)
			parquet_integer(file, 5, name->one_in);
		error = datasets_row(datasets, place);
	}
	return error;
}

static int parquet_facts(const struct parquet_reading *reading, const struct view_summary *sum)
{
	const struct schema losses = { .columns = (struct parquet_column *)parquet_losses,
				       .nr_columns = ARRAY_SIZE(parquet_losses) };
	const struct schema sampling = { .columns = (struct parquet_column *)parquet_sampling,
					 .nr_columns = ARRAY_SIZE(parquet_sampling) };
	struct dataset_place place = { .schema = &sampling, .directory = "sampling" };
	int error = 0;

	for (size_t i = 0; i < reading->view->nr_sources && !error; i++) {
		const struct source *source = reading->view->sources[i];
		struct dataset_place lost = { .schema = &losses,
					      .directory = "losses",
					      .host = parquet_host(source) };

		if (i == 0)
			place.host = lost.host;
		else if (place.host && (!lost.host || strcmp(lost.host, place.host) != 0))
			place.host = NULL; /* the names are those of several hosts */
		error = parquet_add_losses(reading->datasets, &lost, sum, source->label);
	}
	return error ? error : parquet_add_sampled(reading->datasets, &place, sum);
}

/* --- all ------------------------------------------------------------------------------------ */

int parquet_write_view(struct view *view, const struct view_select *select, int dir_fd)
{
	struct parquet_reading reading = { .view = view, .datasets = datasets_new(dir_fd) };
	const struct view_summary *sum;
	int error;

	parquet_begin(&reading);
	error = parquet_events(&reading, select);
	if (!error)
		error = view_summary(view, &sum);
	if (!error)
		error = parquet_facts(&reading, sum);
	if (!error)
		error = datasets_end(reading.datasets);
	parquet_fini(&reading);
	return error;
}
