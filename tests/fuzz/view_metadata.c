/* SPDX-License-Identifier: GPL-2.0-only */
/* The metadata's packets and TSDL. */
#include <stdlib.h>
#include <string.h>

#include "read/metadata.h"
#include "read/tsdl/tsdl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metadata_remarks remarks;
	struct reporter reporter = { 0 };
	struct ctf_trace_class *tc;
	struct arena arena = { 0 };
	char *text = malloc(size + 1);
	size_t len = size, usable = 0;

	if (size)
		memcpy(text, data, size);
	if (metadata_unpack(text, &len, "m", &reporter) == 0 &&
	    tsdl_parse(text, len, "m", &arena, &reporter, &tc) == 0 && tc->streams) {
		for (const struct ctf_stream_class *sc = tc->streams; sc; sc = sc->next)
			usable += !sc->broken;
		if (!usable)
			abort();
	}
	metadata_remarks(text, len, &remarks);
	metadata_remarks_fini(&remarks);
	arena_fini(&arena);
	free(text);
	return 0;
}
