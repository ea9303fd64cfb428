/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prototool - generates C, texts and seeds from the .def tables.
 *
 *   prototool header TABLE   the table's messages in C: gen/proto_TABLE.h
 *   prototool manual         the protocol manual, Markdown, on stdout
 *   prototool rows           one line a row: TABLE KIND NAME ACCESS
 *   prototool seeds TABLE    one sample message a row, each behind its length
 *                            (u32, little-endian): seeds for the fuzzers
 *
 * Run at build and test time only, on the machine that builds; not installed.
 */
#include <stdio.h>
#include <string.h>

#include "proto/codec.h"

/* --- rows as data: every word of the language prints itself --------------------- */

enum word {
	MESSAGE_ROW, COMMAND_ROW, FIELD, LIST_FIELD, INPUT, INPUT_LIST, OUTPUT, OUTPUT_LIST, END,
};

struct row {
	enum word word;
	const char *name;
	const char *type; /* of a field; record of a list; sender or access of a row */
	unsigned int number;
	const char *doc;
};

static const struct row app_rows[] = {
#include "rows.h"
#include "proto/app.def"
};
static const struct row client_rows[] = {
#include "rows.h"
#include "proto/client.def"
};
static const struct row consumer_rows[] = {
#include "rows.h"
#include "proto/consumer.def"
};
static const struct row keeper_rows[] = {
#include "rows.h"
#include "proto/keeper.def"
};
static const struct row relay_rows[] = {
#include "rows.h"
#include "proto/relay.def"
};
static const struct row archive_rows[] = {
#include "rows.h"
#include "proto/archive.def"
};
static const struct row segment_rows[] = {
#include "rows.h"
#include "proto/segment.def"
};
static const struct row state_rows[] = {
#include "rows.h"
#include "sessiond/state/state.def"
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const struct table {
	const char *name;
	const char *title; /* in the manual; NULL: no protocol */
	const struct row *rows;
	size_t nr;
} tables[] = {
	{ "client", "Clients and the session daemon (`client.sock`)", client_rows, NR(client_rows) },
	{ "app", "Applications and the session daemon (`apps.sock`)", app_rows, NR(app_rows) },
	{ "consumer", "The session daemon and its consumer (a socketpair)", consumer_rows,
	  NR(consumer_rows) },
	{ "keeper", "The session daemon and the keeper of its buffers (`keeper.sock`)", keeper_rows,
	  NR(keeper_rows) },
	{ "relay", "The consumer and a relay (TCP, each message behind its length as u32)",
	  relay_rows, NR(relay_rows) },
	{ "archive", "A relay and its archive process (a socketpair, each message behind its length as u32)",
	  archive_rows, NR(archive_rows) },
	{ "segment", "The footer of a segment, an object of an archive", segment_rows,
	  NR(segment_rows) },
	{ "state", NULL, state_rows, NR(state_rows) },
};

static const char intro[] =
	"# The protocols\n"
	"\n"
	"Made from `src/common/proto/*.def` by `prototool manual` (`make doc`): do not edit.\n"
	"\n"
	"Every conversation but the relay's two runs over Unix SOCK_SEQPACKET sockets, one message a packet of at\n"
	"most 65,536 bytes and 4 descriptors. A message begins with `u16 type`, `u16 flags`\n"
	"(1: the last answer to a command, 2: an item of an answer), `u32 serial` (chosen by the\n"
	"asker, repeated in the answers); then come its fields in order, packed, little-endian.\n"
	"\n"
	"| type | bytes |\n"
	"| --- | --- |\n"
	"| u8, u32, u64, i64 | 1, 4, 8, 8 |\n"
	"| str | u32 length without the NUL, the bytes, a NUL |\n"
	"| blob | u32 length, the bytes |\n"
	"| fd | u8: 1 if a descriptor (SCM_RIGHTS, in order) belongs to it, else 0 |\n"
	"| list of R | u32 records, u32 bytes, then each record: u32 length, the fields of R |\n"
	"\n"
	"Fields are only ever appended: a missing tail is zero, an unknown tail is skipped.\n"
	"The last answer to a command begins with `u32 code` (enum err_code; 0 is success) and\n"
	"`str text` (a sentence for people); the outputs follow where the code is 0.\n";

static int is_row(const struct row *row)
{
	return row->word == MESSAGE_ROW || row->word == COMMAND_ROW;
}

static void print_field(const struct row *row)
{
	static const char *const direction[] = {
		[FIELD] = "", [LIST_FIELD] = "", [INPUT] = "in ", [INPUT_LIST] = "in ",
		[OUTPUT] = "out ", [OUTPUT_LIST] = "out ",
	};
	int list = row->word == LIST_FIELD || row->word == INPUT_LIST || row->word == OUTPUT_LIST;

	printf("| %s`%s` | %s%s | %s |\n", direction[row->word], row->name, list ? "list of " : "",
	       row->type, row->doc);
}

static void print_row(const struct row *row)
{
	if (row->number)
		printf("\n### %s (%u)\n\n%s: %s. ", row->name, row->number,
		       row->word == COMMAND_ROW ? "Access, answer" : "Sent by", row->type);
	else
		printf("\n### %s\n\nNested record. ", row->name);
	printf("%s\n", row->doc);
	if (row[1].word != END)
		printf("\n| field | type | |\n| --- | --- | --- |\n");
}

static int manual(void)
{
	fputs(intro, stdout);
	for (size_t t = 0; t < NR(tables) && tables[t].title; t++) {
		printf("\n## %s\n", tables[t].title);
		for (size_t i = 0; i < tables[t].nr; i++) {
			const struct row *row = &tables[t].rows[i];

			if (is_row(row))
				print_row(row);
			else if (row->word != END)
				print_field(row);
		}
	}
	return 0;
}

static int rows(void)
{
	for (size_t t = 0; t < NR(tables) && tables[t].title; t++)
		for (size_t i = 0; i < tables[t].nr; i++) {
			const struct row *row = &tables[t].rows[i];

			if (is_row(row))
				printf("%s %s %s %s\n", tables[t].name,
				       row->word == COMMAND_ROW ? "command" : "message", row->name,
				       row->type);
		}
	return 0;
}

/* --- C ------------------------------------------------------------------------------- */

/* The rows of a struct: the fields of a message, the inputs or the outputs of a command. */
struct part {
	const char *prefix;
	enum word field, list;
};

static const struct part message_part = { "msg", FIELD, LIST_FIELD };
static const struct part request_part = { "req", INPUT, INPUT_LIST };
static const struct part reply_part = { "rep", OUTPUT, OUTPUT_LIST };

static const char *c_type(const char *type)
{
	static const char *const types[][2] = {
		{ "u8", "uint8_t " }, { "u32", "uint32_t " },	  { "u64", "uint64_t " },
		{ "i64", "int64_t " }, { "str", "const char *" }, { "blob", "struct blob " },
	};

	for (size_t i = 0; i < NR(types); i++)
		if (strcmp(types[i][0], type) == 0)
			return types[i][1];
	return "int "; /* fd */
}

/* The next row after @row that belongs to @part, or NULL. */
static const struct row *next_field(const struct row *row, const struct part *part)
{
	for (row++; row->word != END; row++)
		if (row->word == part->field || row->word == part->list)
			return row;
	return NULL;
}

static void c_struct(const struct row *row, const struct part *part)
{
	printf("\n/** %s */\nstruct %s_%s {\n", row->doc, part->prefix, row->name);
	for (const struct row *f = row; (f = next_field(f, part)) != NULL;) {
		if (f->word == part->list)
			printf("\tstruct list %s; /**< of %s%s%s */\n", f->name, f->type,
			       *f->doc ? ": " : "", f->doc);
		else
			printf(*f->doc ? "\t%s%s; /**< %s */\n" : "\t%s%s;\n", c_type(f->type),
			       f->name, f->doc);
	}
	printf("};\n");
}

static void c_codec(const struct row *row, const struct part *part)
{
	printf("static inline void %1$s_%2$s_encode(struct encoder *enc, const struct %1$s_%2$s *m)\n"
	       "{\n\t(void)enc, (void)m;\n",
	       part->prefix, row->name);
	for (const struct row *f = row; (f = next_field(f, part)) != NULL;)
		printf("\tencode_%s(enc, m->%s);\n", f->word == part->list ? "list" : f->type, f->name);
	printf("}\n"
	       "static inline int %1$s_%2$s_decode(struct decoder *dec, struct %1$s_%2$s *m)\n"
	       "{\n\t(void)m;\n",
	       part->prefix, row->name);
	for (const struct row *f = row; (f = next_field(f, part)) != NULL;)
		printf("\tm->%s = decode_%s(dec);\n", f->name, f->word == part->list ? "list" : f->type);
	printf("\treturn decoder_finish(dec);\n}\n");
}

/* A message may be a record of a list. */
static void c_record(const char *name)
{
	printf("static inline void msg_%1$s_add(struct encoder *enc, const struct msg_%1$s *m)\n"
	       "{\n"
	       "\tsize_t mark = record_begin(enc);\n"
	       "\n"
	       "\tmsg_%1$s_encode(enc, m);\n"
	       "\trecord_end(enc, mark);\n"
	       "}\n"
	       "static inline bool msg_%1$s_next(struct list *list, struct msg_%1$s *m)\n"
	       "{\n"
	       "\tstruct decoder record;\n"
	       "\n"
	       "\treturn list_next(list, &record) && msg_%1$s_decode(&record, m) == 0;\n"
	       "}\n",
	       name);
}

static int header(const struct table *table)
{
	printf("/* SPDX-License-Identifier: %s */\n"
	       "/* The messages of %s.def in C (see proto/codec.h). Made by `prototool header %s`: do\n"
	       " * not edit. */\n"
	       "#include \"proto/codec.h\"\n\nenum {\n",
	       table->title ? "LGPL-2.1-or-later" : "GPL-2.0-only", table->name, table->name);
	for (const struct row *row = table->rows; row < table->rows + table->nr; row++)
		if (is_row(row))
			printf("\tMSG_%s = %u,\n", row->name, row->number);
	printf("};\n");
	for (const struct row *row = table->rows; row < table->rows + table->nr; row++) {
		if (row->word == MESSAGE_ROW) {
			c_struct(row, &message_part);
			c_codec(row, &message_part);
			c_record(row->name);
		} else if (row->word == COMMAND_ROW) {
			c_struct(row, &request_part);
			c_codec(row, &request_part);
			c_struct(row, &reply_part);
			c_codec(row, &reply_part);
		}
	}
	return 0;
}

/* --- seeds --------------------------------------------------------------------------- */

static void sample_field(struct encoder *enc, const char *type)
{
	static const uint8_t sixteen[16] = "0123456789abcdef";

	if (strcmp(type, "u8") == 0)
		encode_u8(enc, 1);
	else if (strcmp(type, "u32") == 0)
		encode_u32(enc, 2);
	else if (strcmp(type, "u64") == 0)
		encode_u64(enc, 4096);
	else if (strcmp(type, "i64") == 0)
		encode_i64(enc, -1);
	else if (strcmp(type, "str") == 0)
		encode_str(enc, "web:*");
	else if (strcmp(type, "blob") == 0)
		encode_blob(enc, (struct blob){ sixteen, sizeof(sixteen) });
	else
		encode_u8(enc, 0); /* no descriptor */
}

static void sample_list(struct encoder *enc, const struct table *table, const char *record);

/* The input fields of the row that begins at @row. */
static void sample_fields(struct encoder *enc, const struct table *table, const struct row *row)
{
	for (row++; row->word != END; row++) {
		if (row->word == FIELD || row->word == INPUT)
			sample_field(enc, row->type);
		else if (row->word == LIST_FIELD || row->word == INPUT_LIST)
			sample_list(enc, table, row->type);
	}
}

static void sample_list(struct encoder *enc, const struct table *table, const char *record)
{
	uint8_t bytes[1024];
	struct encoder one;
	size_t mark;

	encoder_init(&one, bytes, sizeof(bytes));
	for (size_t i = 0; i < table->nr; i++) {
		if (table->rows[i].word != MESSAGE_ROW || strcmp(table->rows[i].name, record) != 0)
			continue;
		mark = record_begin(&one);
		sample_fields(&one, table, &table->rows[i]);
		record_end(&one, mark);
	}
	encode_list(enc, encoder_list(&one));
}

static int seeds(const struct table *table)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct row *row = &table->rows[i];
		uint8_t bytes[4096];
		struct encoder enc;
		uint32_t len;

		if (!is_row(row) || !row->number)
			continue;
		encoder_init(&enc, bytes, sizeof(bytes));
		encode_header(&enc, (uint16_t)row->number, 0, 7);
		sample_fields(&enc, table, row);
		len = (uint32_t)enc.len;
		if (encoder_finish(&enc) < 0)
			return 1;
		fwrite(&len, sizeof(len), 1, stdout);
		fwrite(bytes, 1, len, stdout);
	}
	return 0;
}

/* Print @what of the table with this name. */
static int of_table(int (*what)(const struct table *table), const char *name)
{
	for (size_t t = 0; t < NR(tables); t++)
		if (strcmp(tables[t].name, name) == 0)
			return what(&tables[t]);
	fprintf(stderr, "prototool: no table '%s'; there are client, app, consumer, keeper, relay, segment and state\n",
		name);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "manual") == 0)
		return manual();
	if (argc == 2 && strcmp(argv[1], "rows") == 0)
		return rows();
	if (argc == 3 && strcmp(argv[1], "header") == 0)
		return of_table(header, argv[2]);
	if (argc == 3 && strcmp(argv[1], "seeds") == 0)
		return of_table(seeds, argv[2]);
	fputs("usage: prototool header TABLE | manual | rows | seeds TABLE\n", stderr);
	return 2;
}
