/* SPDX-License-Identifier: MIT */
/*
 * provider.c - a log library that describes its events while the program runs: each line of the
 * standard input, "LEVEL TEXT", is an event "log:LEVEL" with the text and the number of the line.
 *
 *   cc -o provider provider.c $(pkg-config --cflags --libs ltt)
 *   printf 'INFO hello\nERROR no space\n' | lttctl record -- ./provider
 */
#include <stdio.h>
#include <string.h>

#include <ltt/provider.h>

static const struct ltt_field fields[] = {
	{ "line", NULL, 0, LTT_KIND_INT, 32, 0, 10, 0, 0 },
	{ "text", NULL, 0, LTT_KIND_STRING, 0, 0, 0, 0, 0 },
};

static const struct ltt_provider_event events[] = {
	{ sizeof(struct ltt_provider_event), 2, LTT_ERR, 0, "ERROR", fields, NULL, NULL },
	{ sizeof(struct ltt_provider_event), 2, LTT_INFO, 0, "INFO", fields, NULL, NULL },
};

static void emit(struct ltt_provider *log, uint32_t event, unsigned int line, const char *text)
{
	struct ltt_pieces pieces;

	ltt_pieces_begin(&pieces, log, event);
	ltt_pieces_uint(&pieces, line);
	ltt_pieces_text(&pieces, text, strcspn(text, "\n"));
	if (ltt_pieces_end(&pieces) != 0)
		fprintf(stderr, "line %u is not recorded\n", line);
}

int main(void)
{
	struct ltt_provider *log;
	char text[1024];

	if (ltt_provider_add("log", events, 2, &log) != 0)
		return 1;
	for (unsigned int line = 1; fgets(text, sizeof(text), stdin); line++)
		for (uint32_t i = 0; i < 2; i++) {
			const size_t len = strlen(events[i].name);

			if (strncmp(text, events[i].name, len) == 0 && text[len] == ' ')
				emit(log, i, line, text + len + 1);
		}
	ltt_provider_remove(log);
	return 0;
}
