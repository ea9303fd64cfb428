/* SPDX-License-Identifier: GPL-2.0-only */
/* Metadata of CTF 2, and some bytes read as the scopes that it declares. */
#include <stdlib.h>
#include <string.h>

#include "read/ctf2/ctf2.h"
#include "read/decode/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_scope(const struct ctf_trace_class *tc, const struct ctf_type *type,
		       const uint8_t *bytes, size_t len)
{
	struct values values = { .at = NULL };
	struct reader r = { .bytes = bytes, .end = 8 * len };

	r.slots = calloc(tc->nr_slots, sizeof(*r.slots));
	r.values = &values;
	if (reader_struct(&r, type) == READ_OK && type && values.nr &&
	    value_behind(values.at) != values.at + values.nr)
		abort();
	values_fini(&values);
	free(r.slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reporter reporter = { 0 };
	struct ctf_trace_class *tc;
	struct arena arena = { 0 };
	char *text = malloc(size + 1);

	if (size)
		memcpy(text, data, size);
	if (ctf2_parse(text, size, "m", &arena, &reporter, &tc) == 0) {
		for (const struct ctf_stream_class *sc = tc->streams; sc; sc = sc->next) {
			if (sc->broken)
				continue;
			read_scope(tc, sc->packet_context, data, size);
			read_scope(tc, sc->header, data, size);
			for (uint32_t i = 0; i < sc->nr_sorted; i++)
				read_scope(tc, sc->sorted[i]->fields, data, size);
		}
	}
	arena_fini(&arena);
	free(text);
	return 0;
}
