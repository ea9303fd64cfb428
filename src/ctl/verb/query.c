/* SPDX-License-Identifier: GPL-2.0-only */
/* query.c - lttctl query ['SQL'] [SESSION | DIR]: answers of SQL on the tables of a trace; without
 * SQL, statements are read from standard input. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/query/run.h"
#include "ctl/trace/viewing.h"
#include "show/show.h"

#define MEMORY_MIB 256u
#define MEMORY_MIB_MOST (1u << 20)
#define BLOCK_ROWS 1000u /* that are aligned */
#define FILE_BYTES (1u << 20)

static struct {
	char *trace_path, *file, *memory;
	int csv;
} opt;

static uint64_t memory_mib = MEMORY_MIB;

static const struct poptOption options[] = {
	OPTION_TEXT("file", 0, &opt.file, "read the statements from this file", "FILE"),
	OPTION_FLAG("csv", 0, &opt.csv, "print comma-separated values"),
	OPTION_TEXT("memory", 0, &opt.memory, "for rows that are kept, in MiB; default: 256",
		    "MIB"),
	OPTION_TEXT("trace-path", 0, &opt.trace_path, "read the traces below this directory",
		    "DIR"),
	POPT_TABLEEND,
};

static enum status query_verb_check(struct ctl *ctl)
{
	unsigned int most = 2u - (opt.file != NULL) - (opt.trace_path != NULL);

	if (ctl->nr_operands > most)
		err_set(&ctl->err, ERR_INVALID,
			opt.file ?
				"with --file, the only operand is a session or directory" :
				"the operands are a statement of SQL, in quotes, and a session or "
				"directory, but for --trace-path");
	else if (opt.memory && (parse_u64(opt.memory, &memory_mib) != 0 || !memory_mib ||
				memory_mib > MEMORY_MIB_MOST))
		err_set(&ctl->err, ERR_INVALID, "--memory=%s: this is not a number of MiB, 1 to %u",
			opt.memory, MEMORY_MIB_MOST);
	else if (opt.csv && ctl->json)
		err_set(&ctl->err, ERR_INVALID, "--csv and --json exclude each other");
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- results ------------------------------------------------------------------------------- */

/**
 * struct query_answer - where results go.
 * @results: of statements that had columns. @rows: of the present one.
 * @stored: rows as JSON; NULL: they are printed.
 */
struct query_answer {
	struct ctl *ctl;
	uint64_t results, rows;
	int nr_columns;
	char align[TABLE_MAX_COLUMNS + 1];
	struct table table;
	struct json_object *columns;
	FILE *stored;
	bool too_many; /* columns */
};

static void query_verb_print_cell(const struct sqlite *sql, sqlite3_stmt *stmt, int i, FILE *out)
{
	const char *text = (const char *)sql->sqlite3_column_text(stmt, i);

	if (text && strpbrk(text, ",\"\n\r"))
		for (fputc('"', out); *text; text++)
			fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	else
		fputs(text ? text : "", out);
	if (text && !*text && sql->sqlite3_column_bytes(stmt, i))
		fputc('"', out);
}

static void query_verb_begin(void *priv, const struct query *query, sqlite3_stmt *stmt)
{
	struct query_answer *answer = priv;
	const struct sqlite *sql = query->sql;

	answer->nr_columns = sql->sqlite3_column_count(stmt);
	answer->rows = 0;
	if (!answer->nr_columns)
		return;
	if (answer->results++ && !answer->stored)
		fputc('\n', stdout);
	answer->too_many = answer->nr_columns > TABLE_MAX_COLUMNS && !opt.csv && !answer->stored;
	json_object_put(answer->columns);
	answer->columns = json_object_new_array();
	for (int i = 0; i < answer->nr_columns; i++) {
		char *name AUTO_FREE = text_escape(sql->sqlite3_column_name(stmt, i));

		json_object_array_add(answer->columns, json_object_new_string(name));
		if (opt.csv)
			fprintf(stdout, "%s%s", name, i + 1 < answer->nr_columns ? "," : "\n");
	}
}

static struct json_object *query_verb_json(const struct sqlite *sql, sqlite3_stmt *stmt, int i)
{
	switch (sql->sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		return json_object_new_int64(sql->sqlite3_column_int64(stmt, i));
	case SQLITE_FLOAT:
		return json_object_new_double(sql->sqlite3_column_double(stmt, i));
	case SQLITE_NULL:
		return NULL;
	default:
		return json_object_new_string_len((const char *)sql->sqlite3_column_text(stmt, i),
						  sql->sqlite3_column_bytes(stmt, i));
	}
}

static void query_verb_store(struct query_answer *answer, const struct sqlite *sql,
			     sqlite3_stmt *stmt)
{
	struct json_object *row AUTO_RECORD = json_object_new_array();

	for (int i = 0; i < answer->nr_columns; i++)
		json_object_array_add(row, query_verb_json(sql, stmt, i));
	text_json_element(answer->stored, row);
}

/* Numbers are aligned at the right, by the first row. */
static void query_verb_heads(struct query_answer *answer, const struct sqlite *sql,
			     sqlite3_stmt *stmt)
{
	answer->table = (struct table){ .columns = answer->align };
	for (int i = 0; i < answer->nr_columns; i++) {
		int type = sql->sqlite3_column_type(stmt, i);

		answer->align[i] = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? 'r' : 'l';
		table_cell(&answer->table, "%s",
			   json_object_get_string(json_object_array_get_idx(answer->columns, i)));
	}
	answer->align[answer->nr_columns] = '\0';
}

static void query_verb_row(void *priv, const struct query *query, sqlite3_stmt *stmt)
{
	struct query_answer *answer = priv;
	const struct sqlite *sql = query->sql;

	if (answer->stored) {
		query_verb_store(answer, sql, stmt);
	} else if (opt.csv) {
		for (int i = 0; i < answer->nr_columns; i++) {
			query_verb_print_cell(sql, stmt, i, stdout);
			fputc(i + 1 < answer->nr_columns ? ',' : '\n', stdout);
		}
	} else if (!answer->too_many) {
		if (!answer->rows)
			query_verb_heads(answer, sql, stmt);
		for (int i = 0; i < answer->nr_columns; i++) {
			const char *text = (const char *)sql->sqlite3_column_text(stmt, i);
			char *harmless AUTO_FREE = text_escape(text ? text : "");

			table_cell(&answer->table, "%s", harmless);
		}
		if (answer->rows % BLOCK_ROWS == BLOCK_ROWS - 1)
			table_print(stdout, &answer->table);
	}
	answer->rows++;
}

static void query_verb_end(void *priv)
{
	struct query_answer *answer = priv;

	if (answer->table.nr_cells)
		table_print(stdout, &answer->table);
	if (answer->too_many)
		print_warning(answer->ctl,
			      "a result of %d columns is not printed; name the columns that are "
			      "wanted, or use --csv or --json",
			      answer->nr_columns);
}

/* --- statements from standard input -------------------------------------------------------- */

static struct query *query_running;

static void query_verb_interrupt(int signal)
{
	(void)signal;
	query_running->interrupted = 1;
	query_running->sql->sqlite3_interrupt(query_running->db);
}

static void query_verb_help(void)
{
	puts("SELECT ...;      a statement of SQL; it ends with ';'\n"
	     ".tables          the tables of this trace\n"
	     ".schema [TABLE]  their columns\n"
	     ".quit            end; so does Ctrl-D");
}

/* A command of the shell. Return: false: it ends. */
static bool query_verb_command(struct ctl *ctl, const struct query *query, char *line)
{
	char *rest = line, *word = strsep(&rest, " ");

	if (strcmp(word, ".tables") == 0)
		query_print_tables(query, stdout);
	else if (strcmp(word, ".schema") == 0 && !query_print_schema(query, rest, stdout))
		print_warning(ctl, "there is no table '%s'; .tables lists them", rest);
	else if (strcmp(word, ".help") == 0)
		query_verb_help();
	else if (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0)
		return false;
	else if (strcmp(word, ".schema") != 0)
		print_warning(ctl, "'%s' is no command; .help lists them", word);
	return true;
}

/* A statement that fails ends no shell, but the reading of a script. */
static void query_verb_shell(struct ctl *ctl, struct query *query,
			     const struct query_output *output)
{
	bool terminal = isatty(STDIN_FILENO);
	char *text AUTO_FREE = xstrdup(""), *line AUTO_FREE = NULL;
	size_t size = 0;
	ssize_t len;

	query_running = query;
	if (terminal) {
		sigaction(SIGINT, &(struct sigaction){ .sa_handler = query_verb_interrupt }, NULL);
		puts("SQL on this trace; .help lists the commands.");
	}
	while (!ctl->err.code) {
		char *more;

		if (terminal)
			fputs(*text ? "...> " : "ltt> ", stdout);
		fflush(stdout);
		len = getline(&line, &size, stdin);
		if (len < 0 && errno == EINTR) { /* Ctrl-C: the statement is not run */
			clearerr(stdin);
			fputc('\n', stdout);
			*text = '\0';
			continue;
		}
		if (len < 0)
			break;
		if (len && line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (!*text && *line == '.') {
			if (!query_verb_command(ctl, query, line))
				break;
			continue;
		}
		more = xasprintf("%s%s\n", text, line);
		free(text);
		text = more;
		if (strlen(text) < FILE_BYTES && !query->sql->sqlite3_complete(text))
			continue;
		(void)!query_run(query, text, output, &ctl->err);
		*text = '\0';
		if (terminal && ctl->err.code) {
			print_error(ctl, "%s", ctl->err.text);
			ctl->below_error = TAKE(query->place);
			print_below_error(ctl);
			ctl->err = (struct err){ 0 };
		}
	}
	if (!ctl->err.code && !terminal && *text)
		(void)!query_run(query, text, output, &ctl->err);
}

/* --- running ------------------------------------------------------------------------------- */

/* Return: the statements; allocated; NULL: they come from standard input, or with ctl->err set.
 * @ret_trace: the operand that is the trace. */
static char *query_verb_text(struct ctl *ctl, const char **ret_trace)
{
	char *text;

	*ret_trace = operand(ctl, opt.file ? 0 : 1);
	if (!opt.file)
		return operand(ctl, 0) ? xstrdup(operand(ctl, 0)) : NULL;
	text = xalloc(FILE_BYTES + 1);
	errno = 0;
	if (text_read(opt.file, text, FILE_BYTES + 1) == FILE_BYTES)
		err_set(&ctl->err, ERR_INVALID, "--file=%s: more than %u bytes", opt.file,
			FILE_BYTES);
	else if (!*text)
		err_errno(&ctl->err, ERR_INVALID, errno, "--file=%s can't be read", opt.file);
	return text;
}

static void query_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

static enum status query_verb_note(struct ctl *ctl, const struct query *query)
{
	char nr[TEXT_BYTES];

	if (query->empty)
		print_note(ctl, "the trace has no events for the table \"%s\"; %s",
			   query->empty->name, query->empty->missing);
	if (query->nr_groups)
		print_verbose(ctl,
			      "%" PRIu64 " statement%s counted %" PRIu64
			      " events without SQLite's aggregation",
			      query->nr_groups, text_plural(query->nr_groups), query->grouped);
	if (query->reads > 2)
		print_note(ctl,
			   "the trace was read %" PRIu64
			   " times; a join by '=', or a condition on the time (ts), needs less",
			   query->reads);
	if (query->lost)
		print_warning(
			ctl,
			"%s event%s were lost when the trace was recorded; the result is that "
			"of the others (table \"losses\")",
			text_count(nr, query->lost), text_plural(query->lost));
	if (query->problems)
		return STATUS_DAMAGED;
	return query->lost ? STATUS_LOST : STATUS_OK;
}

static void query_verb_record(struct ctl *ctl, struct query_answer *answer)
{
	ctl->record = json_object_new_object();
	json_set(ctl->record, "columns",
		 answer->columns ? json_object_get(answer->columns) : json_object_new_array());
	json_set_num(ctl->record, "nr_rows", answer->rows);
	json_set(ctl->record, "rows", text_json_stored(answer->stored));
}

static enum status query_verb_run(struct ctl *ctl)
{
	const char *trace = NULL;
	char *text AUTO_FREE = query_verb_text(ctl, &trace);
	char *path AUTO_FREE = ctl->err.code  ? NULL :
			       opt.trace_path ? xstrdup(opt.trace_path) :
						viewing_path(ctl, trace);
	struct query_answer answer = { .ctl = ctl };
	const struct query_output output = { query_verb_begin, query_verb_row, query_verb_end,
					     &answer };
	struct query *query = NULL;
	enum status status = STATUS_ERROR;

	if (path)
		query = query_new(path, memory_mib << 20, query_verb_warn, ctl, &ctl->err);
	if (query && ctl->json) {
		answer.stored = fdopen(memfd_create("rows", MFD_CLOEXEC), "w+");
		if (!answer.stored)
			err_errno(&ctl->err, ERR_OUTPUT, errno, "no file in memory for the rows");
	}
	if (query && !ctl->err.code && text)
		(void)!query_run(query, text, &output, &ctl->err);
	else if (query && !ctl->err.code)
		query_verb_shell(ctl, query, &output);
	if (query && !ctl->err.code && answer.stored && answer.results > 1)
		err_set(&ctl->err, ERR_INVALID, "--json: only one result at a time");
	if (query && !ctl->err.code) {
		status = query_verb_note(ctl, query);
		if (answer.stored)
			query_verb_record(ctl, &answer);
	}
	if (query)
		ctl->below_error = TAKE(query->place);
	query_free(query);
	json_object_put(answer.columns);
	return ctl->err.code ? STATUS_ERROR : status;
}

const struct verb verb_query = {
	.name = "query",
	.operands = "['SQL'] [SESSION | DIR]",
	.help = "Answer SQL on the events, spans and losses of a trace",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = 2,
	.check = query_verb_check,
	.run = query_verb_run,
};
