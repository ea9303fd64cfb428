/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A USDT note of any content: the result is in the language of --fetch, which the
 * daemon understands. The first byte: the width of its addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/sdt.h"
#include "must_hold.h"
#include "sessiond/domain/kernel/fetch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool resolve(void *data, const char *symbol, uint64_t *ret)
{
	(void)data;
	*ret = strlen(symbol) * 0x100;
	return *symbol != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_fetch fetches[LTT_KMOD_ARGS_MAX];
	struct sdt_arg args[SDT_MAX_ARGS];
	struct sdt_note note;
	struct err err = { 0 };
	void *desc = NULL;
	unsigned int nr;

	if (size < 1)
		return 0;
	desc = malloc(size); /* of exactly its size, so that ASan detects reads behind it */
	memcpy(desc, data + 1, size - 1);
	if (sdt_note_parse(desc, size - 1, *data & 1, &note)) {
		nr = sdt_args_parse(note.args, note.pc, resolve, NULL, args);
		MUST_HOLD(nr <= SDT_MAX_ARGS && note.provider < note.name && note.name < note.args);
		for (unsigned int i = 0; i < nr; i++) {
			MUST_HOLD(args[i].bytes && args[i].bytes <= 8);
			if (*args[i].value)
				MUST_HOLD(kernel_fetch_parse(args[i].value, fetches, &err) == 1);
		}
	}
	free(desc);
	return 0;
}
