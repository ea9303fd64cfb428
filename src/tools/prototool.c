/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prototool - generates texts and seeds from the .def tables, besides the code.
 *
 *   prototool manual         the protocol manual, Markdown, on stdout
 *   prototool rows           one line a row: TABLE KIND NAME ACCESS
 *   prototool seeds TABLE    one sample message a row, each behind its length
 *                            (u32, little-endian): seeds for the fuzzers
 *
 * Run at build and test time only; not installed.
 */
#include <stdio.h>
#include <string.h>

#include "proto/app.h"
#include "proto/client.h"
#include "proto/consumer.h"
#include "proto/keeper.h"
#include "proto/relay.h"

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

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const struct table {
	const char *name;
	const char *title;
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
};

static const char intro[] =
	"# The protocols\n"
	"\n"
	"Made from `src/common/proto/*.def` by `prototool manual` (`make doc`): do not edit.\n"
	"\n"
	"Every conversation but the relay's runs over Unix SOCK_SEQPACKET sockets, one message a packet of at\n"
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
	for (size_t t = 0; t < NR(tables); t++) {
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
	for (size_t t = 0; t < NR(tables); t++)
		for (size_t i = 0; i < tables[t].nr; i++) {
			const struct row *row = &tables[t].rows[i];

			if (is_row(row))
				printf("%s %s %s %s\n", tables[t].name,
				       row->word == COMMAND_ROW ? "command" : "message", row->name,
				       row->type);
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

static int seeds(const char *name)
{
	for (size_t t = 0; t < NR(tables); t++) {
		if (strcmp(tables[t].name, name) != 0)
			continue;
		for (size_t i = 0; i < tables[t].nr; i++) {
			const struct row *row = &tables[t].rows[i];
			uint8_t bytes[4096];
			struct encoder enc;
			uint32_t len;

			if (!is_row(row) || !row->number)
				continue;
			encoder_init(&enc, bytes, sizeof(bytes));
			encode_header(&enc, (uint16_t)row->number, 0, 7);
			sample_fields(&enc, &tables[t], row);
			len = (uint32_t)enc.len;
			if (encoder_finish(&enc) < 0)
				return 1;
			fwrite(&len, sizeof(len), 1, stdout);
			fwrite(bytes, 1, len, stdout);
		}
		return 0;
	}
	fprintf(stderr, "prototool: no table '%s'; there are client, app, consumer, keeper and relay\n", name);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "manual") == 0)
		return manual();
	if (argc == 2 && strcmp(argv[1], "rows") == 0)
		return rows();
	if (argc == 3 && strcmp(argv[1], "seeds") == 0)
		return seeds(argv[2]);
	fputs("usage: prototool manual | rows | seeds TABLE\n", stderr);
	return 2;
}
