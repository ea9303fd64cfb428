/* SPDX-License-Identifier: GPL-2.0-only */
#include "columns.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/str.h"
#include "print.h"
#include "read/view_priv.h"

#define COLUMNS_MOST 64u
#define CELL_WIDTH_MAX 48u /* a longer cell is not waited for by the others */

/** A column without a word has the field or context @name. */
struct column {
	const struct column_word *word;
	char *name;
	const char *searched; /* in @name: behind a prefix */
	enum { COLUMN_ANY, COLUMN_FIELD, COLUMN_CONTEXT } scope;
	uint32_t width;
};

/** struct columns - @cells: of a row, one behind the other; @ends: of each cell in it. */
struct columns {
	struct column *all;
	size_t nr;
	bool csv;
	bool begun;
	struct pen cells;
	size_t *ends;
	bool *is_right;
};

/* --- cells: each function returns whether it is a number, which is written on the right ------- */

typedef bool column_fn(struct printer *p, const struct event *event, struct pen *pen);

static void columns_put_seconds(struct pen *pen, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (ns < 0)
		pen_char(pen, '-');
	pen_u64(pen, size / 1000000000);
	pen_char(pen, '.');
	pen_digits(pen, size % 1000000000, 9);
}

static bool columns_put_time(struct printer *p, const struct event *event, struct pen *pen)
{
	print_time(p, pen, event->ns);
	return false;
}

static bool columns_put_delta(struct printer *p, const struct event *event, struct pen *pen)
{
	if (p->any)
		columns_put_seconds(pen, event->ns - p->last_ns);
	return true;
}

static bool columns_put_duration(struct printer *p, const struct event *event, struct pen *pen)
{
	(void)p;
	if (event->took)
		columns_put_seconds(pen, event->took->ns);
	return true;
}

/* Behind its name there may be the process of a trace. */
static bool columns_put_host(struct printer *p, const struct event *event, struct pen *pen)
{
	const char *host = event->source->host;

	(void)p;
	pen_name_bytes(pen, (const uint8_t *)host, strcspn(host, ":"));
	return false;
}

/* A value in a cell: a text without quotes. Return: as of cells. */
static bool columns_put_value(struct pen *pen, const struct value *value)
{
	if (value && value_is_provided(value))
		value = value_provided(value);
	if (!value)
		return false;
	if (value_has_text(value)) {
		pen_name_bytes(pen, value->bytes, value_text_length(value));
		return false;
	}
	print_value_brief(pen, value);
	return value->type->kind == TYPE_INT || value->type->kind == TYPE_FLOAT;
}

static const struct value *columns_packet_member(const struct event *event, const char *name)
{
	return event->packet->context.nr ? value_member(event->packet->context.at, name) : NULL;
}

static bool columns_put_cpu(struct printer *p, const struct event *event, struct pen *pen)
{
	const struct value *cpu = columns_packet_member(event, "cpu_id");

	(void)p;
	return columns_put_value(pen, cpu ? cpu : value_member(event->context, "cpu_id"));
}

static bool columns_put_event_name(struct printer *p, const struct event *event, struct pen *pen)
{
	(void)p;
	pen_name(pen, event->ec->name);
	return false;
}

static bool columns_put_loglevel(struct printer *p, const struct event *event, struct pen *pen)
{
	(void)p;
	if (event->ec->loglevel >= 0)
		pen_text(pen, loglevel_name(event->ec->loglevel));
	return false;
}

/* A trace of one process names it. */
static bool columns_put_of_trace(const struct event *event, const char *key, struct pen *pen)
{
	const struct ctf_env *env = trace_class_env_find(event->source->tc, key);

	if (env && env->text)
		pen_name(pen, env->text);
	else if (env)
		pen_i64(pen, env->number);
	return env && !env->text;
}

static bool columns_put_pid(struct printer *p, const struct event *event, struct pen *pen)
{
	(void)p;
	return event->task.pid ? columns_put_value(pen, event->task.pid) :
				 columns_put_of_trace(event, "vpid", pen);
}

static bool columns_put_tid(struct printer *p, const struct event *event, struct pen *pen)
{
	(void)p;
	return columns_put_value(pen, event->task.tid);
}

static bool columns_put_procname(struct printer *p, const struct event *event, struct pen *pen)
{
	(void)p;
	return event->task.procname ? columns_put_value(pen, event->task.procname) :
				      columns_put_of_trace(event, "procname", pen);
}

static bool columns_put_fields(struct printer *p, const struct event *event, struct pen *pen)
{
	(void)p;
	if (event->fields && event->fields->count)
		print_fields_brief(pen, event->fields);
	return false;
}

static const struct column_word {
	const char *name;
	column_fn *put;
	uint32_t width;
} column_words[] = {
	{ "time", columns_put_time, 0 },
	{ "delta", columns_put_delta, 11 },
	{ "duration", columns_put_duration, 11 },
	{ "host", columns_put_host, 0 },
	{ "cpu", columns_put_cpu, 0 },
	{ "procname", columns_put_procname, 15 },
	{ "comm", columns_put_procname, 15 },
	{ "pid", columns_put_pid, 7 },
	{ "tid", columns_put_tid, 7 },
	{ "name", columns_put_event_name, 20 },
	{ "event", columns_put_event_name, 20 },
	{ "loglevel", columns_put_loglevel, 0 },
	{ "fields", columns_put_fields, 0 },
};

/* --- fields by their names ---------------------------------------------------------------- */

/* As print_provided_name() writes it. */
static bool columns_is_provided_name(const struct value *value, const char *name)
{
	const char *full = value_provided_name(value);
	const char *provider = value_provider(value->field->shown);

	if (full)
		return strcmp(full, name) == 0;
	return strlen(provider) == strlen(name) && strcspn(provider, "_") == strcspn(name, ":") &&
	       strcmp(provider + MIN(strlen(provider), strcspn(provider, "_") + 1),
		      name + MIN(strlen(name), strcspn(name, ":") + 1)) == 0;
}

/* `a`, or in a struct `a` its member `a.b`. */
static const struct value *columns_find_in(const struct value *scope, const char *name)
{
	const struct value *at = scope + 1;

	for (uint32_t i = 0; scope && i < scope->count; i++, at = value_behind(at)) {
		const struct ctf_field *field = at->field;
		size_t len = field->shown_len;

		if (strncmp(name, field->shown, len) == 0) {
			if (!name[len])
				return at;
			if (name[len] == '.' && at->type->kind == TYPE_STRUCT)
				return columns_find_in(at, name + len + 1);
		}
		if (value_is_provided(at) && columns_is_provided_name(at, name))
			return at;
	}
	return NULL;
}

static const struct value *columns_find(const struct column *column, const struct event *event)
{
	const struct value *scopes[] = { event->context, event->stream_context,
					 event->packet->context.nr ? event->packet->context.at :
								     NULL };
	const struct value *found = NULL;

	if (column->scope != COLUMN_CONTEXT)
		found = columns_find_in(event->fields, column->searched);
	for (size_t i = 0; !found && column->scope != COLUMN_FIELD && i < ARRAY_SIZE(scopes); i++)
		found = columns_find_in(scopes[i], column->searched);
	return found;
}

/* --- names that a trace declares ---------------------------------------------------------- */

/** struct declared - @names: so far, allocated, and NULL behind them. */
struct declared {
	char **names;
	size_t nr, room;
};

static void declared_add(struct declared *all, char *name)
{
	for (size_t i = 0; i < all->nr; i++)
		if (strcmp(all->names[i], name) == 0) {
			free(name);
			return;
		}
	if (all->room < all->nr + 2) {
		all->room = MAX(2 * all->room, (size_t)64);
		all->names = xrealloc(all->names, all->room * sizeof(*all->names));
	}
	all->names[all->nr++] = name;
	all->names[all->nr] = NULL;
}

static void declared_free(struct declared *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->names[i]);
	free(all->names);
}

/* A context that the application provides: its kind has the name of it. */
static const char *declared_provided(const struct ctf_field *field)
{
	const struct value value = { .field = field, .type = field->type };

	return value_provider(field->shown) && field->type->nr_fields &&
			       field->type->fields[0].type->kind == TYPE_ENUM ?
		       value_provided_name(&value) :
		       NULL;
}

static void declared_add_struct(struct declared *all, const struct ctf_type *type,
				const char *prefix)
{
	for (uint32_t i = 0; type && i < type->nr_fields; i++) {
		const struct ctf_field *field = &type->fields[i];

		if (field->type->kind == TYPE_STRUCT) {
			char *inner AUTO_FREE = xasprintf("%s%s.", prefix, field->shown);
			const char *provided = declared_provided(field);

			if (provided)
				declared_add(all, xstrdup(provided));
			declared_add_struct(all, field->type, inner);
		}
		declared_add(all, xasprintf("%s%s", prefix, field->shown));
	}
}

/* @scope: COLUMN_FIELD, COLUMN_CONTEXT or both. */
static void declared_add_all(struct declared *all, const struct view *view, int scope)
{
	for (size_t i = 0; i < view->nr_sources; i++) {
		const struct ctf_trace_class *tc = view->sources[i]->tc;

		for (const struct ctf_stream_class *sc = tc ? tc->streams : NULL; sc; sc = sc->next)
			if (scope != COLUMN_FIELD) {
				declared_add_struct(all, sc->packet_context, "");
				declared_add_struct(all, sc->event_context, "");
			}
		for (const struct ctf_event_class *ec = tc ? tc->events : NULL; ec; ec = ec->next) {
			if (scope != COLUMN_CONTEXT)
				declared_add_struct(all, ec->fields, "");
			if (scope != COLUMN_FIELD)
				declared_add_struct(all, ec->context, "");
		}
	}
}

static bool declared_has(const struct declared *all, const char *name)
{
	for (size_t i = 0; i < all->nr; i++)
		if (strcmp(all->names[i], name) == 0)
			return true;
	return false;
}

/* Other columns count, too. */
static char *columns_suggest(const struct column *column, struct declared *all)
{
	static const char *const kinds[] = { "field or context", "field", "context" };
	const char *near;

	if (column->scope == COLUMN_ANY)
		for (size_t i = 0; i < ARRAY_SIZE(column_words); i++)
			declared_add(all, xstrdup(column_words[i].name));
	near = all->nr ? nearest_word(column->searched, (const char *const *)all->names) : NULL;
	return xasprintf("--columns: no event of this trace has a %s '%s'%s%s%s",
			 kinds[column->scope], column->searched, near ? "; did you mean '" : "",
			 near ? near : "", near ? "'?" : "");
}

char *columns_unknown(const struct columns *columns, const struct view *view)
{
	char *sentence = NULL;

	for (size_t i = 0; i < columns->nr && !sentence; i++) {
		const struct column *column = &columns->all[i];
		struct declared all = { 0 };

		if (column->word)
			continue;
		declared_add_all(&all, view, (int)column->scope);
		if (!declared_has(&all, column->searched))
			sentence = columns_suggest(column, &all);
		declared_free(&all);
	}
	return sentence;
}

/* --- the option --------------------------------------------------------------------------- */

static bool columns_have(const struct columns *columns, column_fn *put)
{
	for (size_t i = 0; i < columns->nr; i++)
		if (columns->all[i].word && columns->all[i].word->put == put)
			return true;
	return false;
}

bool columns_have_duration(const struct columns *columns)
{
	return columns_have(columns, columns_put_duration);
}

static const struct column_word *columns_word(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(column_words); i++)
		if (strcmp(column_words[i].name, name) == 0)
			return &column_words[i];
	return NULL;
}

static void columns_add(struct columns *columns, const char *name, size_t len)
{
	struct column *column = &columns->all[columns->nr++];

	column->name = xasprintf("%.*s", (int)len, name);
	column->searched = column->name;
	column->word = columns_word(column->name);
	if (strncmp(column->name, "field.", 6) == 0)
		column->scope = COLUMN_FIELD;
	else if (strncmp(column->name, "ctx.", 4) == 0)
		column->scope = COLUMN_CONTEXT;
	if (column->scope != COLUMN_ANY)
		column->searched = strchr(column->name, '.') + 1;
	column->width = MAX((uint32_t)len, column->word ? column->word->width : 0);
	if (columns->csv)
		column->width = 0;
}

int columns_new(const char *names, bool csv, bool delta, struct columns **ret, struct err *err)
{
	const char *at = names ? names : "time,host,cpu,procname,pid,tid,name,fields";
	struct columns *columns = xalloc(sizeof(*columns));

	columns->csv = csv;
	columns->all = xalloc(COLUMNS_MOST * sizeof(*columns->all));
	delta = delta && !(names && strstr(names, "delta"));
	while (at && columns->nr + 1 < COLUMNS_MOST) {
		size_t len = strcspn(at, ",");

		if (!len)
			break;
		columns_add(columns, at, len);
		if (delta && strncmp(at, "time", len) == 0)
			columns_add(columns, "delta", strlen("delta"));
		at = at[len] ? at + len + 1 : NULL;
	}
	if (at) {
		columns_free(columns);
		return err_set(err, ERR_INVALID,
			       "--columns=%s: names with commas between them, at most %u", names,
			       COLUMNS_MOST - 2);
	}
	if (delta && !columns_have(columns, columns_put_delta))
		columns_add(columns, "delta", strlen("delta"));
	pen_init(&columns->cells, NULL);
	columns->ends = xalloc(columns->nr * sizeof(*columns->ends));
	columns->is_right = xalloc(columns->nr * sizeof(*columns->is_right));
	*ret = columns;
	return 0;
}

bool columns_are_csv(const struct columns *columns)
{
	return columns->csv;
}

struct columns *columns_copy(const struct columns *columns)
{
	struct columns *copy = xalloc(sizeof(*copy));

	*copy = *columns;
	copy->begun = true;
	copy->all = xalloc(COLUMNS_MOST * sizeof(*copy->all));
	memcpy(copy->all, columns->all, columns->nr * sizeof(*copy->all));
	for (size_t i = 0; i < copy->nr; i++) {
		struct column *column = &copy->all[i];

		column->name = xstrdup(column->name);
		column->searched = column->name + (column->searched - columns->all[i].name);
	}
	pen_init(&copy->cells, NULL);
	copy->ends = xalloc(copy->nr * sizeof(*copy->ends));
	copy->is_right = xalloc(copy->nr * sizeof(*copy->is_right));
	return copy;
}

void columns_free(struct columns *columns)
{
	if (!columns)
		return;
	for (size_t i = 0; i < columns->nr; i++)
		free(columns->all[i].name);
	free(columns->all);
	pen_fini(&columns->cells);
	free(columns->ends);
	free(columns->is_right);
	free(columns);
}

/* --- rows --------------------------------------------------------------------------------- */

static void columns_double_quotes(struct pen *pen, const char *cell, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (cell[i] == '"')
			pen_char(pen, '"');
		pen_char(pen, cell[i]);
	}
}

/* In quotes, if it has characters that separate cells or lines. */
static void columns_put_csv(struct pen *pen, const char *cell, size_t len)
{
	bool quotes = false;

	for (size_t i = 0; i < len; i++)
		quotes |= cell[i] == ',' || cell[i] == '"' || cell[i] == '\n' || cell[i] == '\r';
	if (!quotes) {
		pen_bytes(pen, cell, len);
		return;
	}
	pen_char(pen, '"');
	columns_double_quotes(pen, cell, len);
	pen_char(pen, '"');
}

static void columns_pad(struct pen *pen, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		pen_char(pen, ' ');
}

/* Nothing is written behind the last column. */
static void columns_put_cell(const struct columns *columns, size_t i, struct pen *pen,
			     const char *cell, size_t len)
{
	const struct column *column = &columns->all[i];
	uint32_t width = columns->csv ? 0 : print_width(cell, len);
	bool is_last = i + 1 == columns->nr;

	if (columns->csv) {
		columns_put_csv(pen, cell, len);
		pen_char(pen, is_last ? '\n' : ',');
		return;
	}
	if (columns->is_right[i])
		columns_pad(pen, width, column->width);
	pen_bytes(pen, cell, len);
	if (!columns->is_right[i] && !is_last)
		columns_pad(pen, width, column->width);
	pen_text(pen, is_last ? "\n" : "  ");
}

void columns_begin(struct columns *columns, struct pen *pen)
{
	for (size_t i = 0; i < columns->nr && !columns->begun; i++) {
		const char *name = columns->all[i].name;

		columns_put_cell(columns, i, pen, name, strlen(name));
	}
	columns->begun = true;
}

static void columns_fill(struct columns *columns, struct printer *p, const struct event *event)
{
	struct pen *cells = &columns->cells;

	cells->used = 0;
	for (size_t i = 0; i < columns->nr; i++) {
		struct column *column = &columns->all[i];
		size_t begin = cells->used;
		uint32_t width;

		columns->is_right[i] =
			column->word ? column->word->put(p, event, cells) :
				       columns_put_value(cells, columns_find(column, event));
		if (cells->used == begin && !columns->csv)
			pen_char(cells, '-');
		columns->ends[i] = cells->used;
		if (columns->csv)
			continue;
		width = print_width(cells->buf + begin, cells->used - begin);
		column->width = MAX(column->width, MIN(width, CELL_WIDTH_MAX));
	}
}

/* --- rows of CSV: the literal text of a class is made once (mold.h) ------------------------- */

static bool columns_has_odd_label(const struct ctf_type *type)
{
	if (type->kind == TYPE_ARRAY || type->kind == TYPE_SEQUENCE)
		return columns_has_odd_label(type->elem);
	for (uint32_t i = 0; i < type->nr_mappings; i++)
		if (strpbrk(type->mappings[i].label, ",\"\r\n"))
			return true;
	return false;
}

/* Whether the cell of fields is in quotes depends on the types alone: texts have quotes, and of the
 * other values only labels may have any, or commas. */
static void columns_mold_fields(struct pen *pen, const struct value *fields)
{
	const struct value *end = value_behind(fields);
	bool quotes = false;

	for (const struct value *value = fields + 1; value < end; value++) {
		quotes |= value_has_text(value);
		if (value->type->kind != TYPE_STRUCT && columns_has_odd_label(value->type))
			mold_give_up(pen);
	}
	pen_bytes(pen, "\"", quotes);
	print_fields_brief(pen, fields);
	pen_bytes(pen, "\"", quotes);
}

static bool columns_has_way(const struct value *value, enum mold_way wanted)
{
	return value && !value_is_provided(value) && !value->type->nr_mappings &&
	       mold_way_of(value, false) == wanted;
}

static void columns_mold_task(struct pen *pen, const struct value *value, uint32_t number,
			      enum mold_way wanted)
{
	if (columns_has_way(value, wanted))
		mold_takes_way(pen, value, wanted == MOLD_QUOTED ? MOLD_BARE : wanted);
	else
		mold_takes_part(pen, (uint16_t)(MOLD_CELLS + number));
}

/* The value of such a column; NULL: it has none, or the column is another one. */
static const struct value *columns_task_value(const struct column_word *word,
					      const struct task *task)
{
	return word->put == columns_put_procname ? task->procname :
	       word->put == columns_put_pid	 ? task->pid :
	       word->put == columns_put_tid	 ? task->tid :
						   NULL;
}

/* Whether the cell is the same for all events of the class in the trace, where events have no such
 * value of their own. */
static bool columns_is_of_class(const struct column_word *word)
{
	static column_fn *const puts[] = { columns_put_host,	 columns_put_event_name,
					   columns_put_loglevel, columns_put_procname,
					   columns_put_pid,	 columns_put_tid };

	for (size_t i = 0; i < ARRAY_SIZE(puts); i++)
		if (word->put == puts[i])
			return true;
	return false;
}

static void columns_mold_cell(struct printer *p, const struct event *event, uint32_t number)
{
	const struct column_word *word = p->style.table->all[number].word;
	struct pen *pen = &p->pen;

	const struct value *task = word ? columns_task_value(word, &event->task) : NULL;

	if (task)
		columns_mold_task(pen, task, number,
				  word->put == columns_put_procname ? MOLD_QUOTED : MOLD_NUMBER);
	else if (word && columns_is_of_class(word))
		print_cell(p, event, number);
	else if (word && word->put == columns_put_time)
		mold_takes_part(pen, MOLD_CLOCK);
	else if (word && word->put == columns_put_cpu && columns_packet_member(event, "cpu_id"))
		mold_takes_part(pen, MOLD_PACKET);
	else if (word && word->put == columns_put_fields && event->fields && event->fields->count)
		columns_mold_fields(pen, event->fields);
	else
		mold_takes_part(pen, (uint16_t)(MOLD_CELLS + number));
}

#define COLUMNS_OF_TASK 3u

/* Whether the columns from @number on are those of print_task_cells(), and have values. */
static bool columns_begin_task(const struct columns *columns, size_t number,
			       const struct task *task)
{
	static column_fn *const puts[COLUMNS_OF_TASK] = { columns_put_procname, columns_put_pid,
							  columns_put_tid };

	if (columns->nr - number < COLUMNS_OF_TASK)
		return false;
	for (size_t i = 0; i < COLUMNS_OF_TASK; i++) {
		const struct column_word *word = columns->all[number + i].word;

		if (!word || word->put != puts[i])
			return false;
	}
	return columns_has_way(task->procname, MOLD_QUOTED) &&
	       columns_has_way(task->pid, MOLD_NUMBER) && columns_has_way(task->tid, MOLD_NUMBER);
}

void print_task_cells(struct printer *p, struct pen *pen, const struct task *task)
{
	const struct value *const values[] = { task->procname, task->pid, task->tid };
	struct pen *cell = &p->style.table->cells;

	for (size_t i = 0; i < COLUMNS_OF_TASK; i++) {
		pen_bytes(pen, ",", i > 0);
		cell->used = 0;
		columns_put_value(cell, values[i]);
		columns_put_csv(pen, cell->buf, cell->used);
	}
}

/* A row as a mold has it. */
static void columns_mold_row(struct printer *p, const struct event *event)
{
	size_t nr = p->style.table->nr;

	for (uint32_t i = 0; i < nr; i++) {
		if (columns_begin_task(p->style.table, i, &event->task)) {
			mold_takes_part(&p->pen, MOLD_TASK);
			i += COLUMNS_OF_TASK - 1;
		} else {
			columns_mold_cell(p, event, i);
		}
		pen_char(&p->pen, i + 1 == nr ? '\n' : ',');
	}
}

void print_cell(struct printer *p, const struct event *event, uint32_t number)
{
	struct columns *columns = p->style.table;
	const struct column *column = &columns->all[number];
	struct pen *cell = &columns->cells;

	cell->used = 0;
	if (column->word)
		column->word->put(p, event, cell);
	else
		columns_put_value(cell, columns_find(column, event));
	columns_put_csv(&p->pen, cell->buf, cell->used);
}

void print_value_cell(struct printer *p, const struct value *value, bool is_inner)
{
	struct pen *cell = &p->style.table->cells, *pen = &p->pen;

	if (is_inner && (value->type->kind == TYPE_INT || value->type->kind == TYPE_FLOAT)) {
		print_value_brief(pen, value);
		return;
	}
	cell->used = 0;
	if (!is_inner) {
		columns_put_value(cell, value);
		columns_put_csv(pen, cell->buf, cell->used);
		return;
	}
	print_value_brief(cell, value);
	if (memchr(cell->buf, '"', cell->used))
		columns_double_quotes(pen, cell->buf, cell->used);
	else
		pen_bytes(pen, cell->buf, cell->used);
}

/* The cell of the processor is that of the packet. */
static void columns_put_packet(struct pen *pen, const struct packet *packet)
{
	const struct value *cpu =
		packet->context.nr ? value_member(packet->context.at, "cpu_id") : NULL;
	struct pen cell;

	pen_init(&cell, NULL);
	columns_put_value(&cell, cpu);
	columns_put_csv(pen, cell.buf, cell.used);
	pen_fini(&cell);
}

void print_columns_packet(struct packet *packet, const struct source *source)
{
	print_packet_once(packet, source, NULL, columns_put_packet);
}

/* Return: whether it could be written so. */
static bool columns_put_molded(struct printer *p, const struct event *event)
{
	const struct mold *mold;

	print_columns_packet(event->packet, event->source);
	mold = mold_of(p, event, columns_mold_row, NULL);
	if (mold)
		mold_write(p, mold, event, NULL);
	return mold;
}

static void columns_put_row(struct printer *p, const struct event *event)
{
	struct columns *columns = p->style.table;
	size_t begin = 0;

	columns_fill(columns, p, event);
	if (!p->style.longest)
		columns_begin(columns, &p->pen);
	for (size_t i = 0; i < columns->nr; i++) {
		const char *cell = columns->cells.buf + begin;
		size_t len = columns->ends[i] - begin;

		columns_put_cell(columns, i, &p->pen, cell, len);
		begin = columns->ends[i];
	}
}

void print_columns(struct printer *p, const struct event *event)
{
	struct columns *columns = p->style.table;

	if (!columns->begun || !columns->csv || !columns_put_molded(p, event))
		columns_put_row(p, event);
	p->last_ns = event->ns;
	p->any = true;
}
