/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program's file of any content, in which a function and a USDT probe are searched: there are
 * places, or an error.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "place/elf_place.h"
#include "must_hold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void found(int code, const struct err *err, struct elf_places *places)
{
	MUST_HOLD(code == (int)err->code && (code || places->nr) && places->nr <= ELF_MAX_PLACES);
	for (size_t i = 0; i < places->nr; i++)
		MUST_HOLD(places->all[i].nr_args <= SDT_MAX_ARGS);
	elf_places_fini(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd AUTO_FD = memfd_create("program", MFD_CLOEXEC);
	struct elf_places places = { 0 };
	struct err err = { 0 };

	MUST_HOLD(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	found(elf_find_function(fd, "program", "sell", &places, &err), &err, &places);
	err = (struct err){ 0 };
	found(elf_find_usdt(fd, "program", "shop", "sold", &places, &err), &err, &places);
	return 0;
}
