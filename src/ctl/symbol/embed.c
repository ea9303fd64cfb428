/* SPDX-License-Identifier: GPL-2.0-only */
#include "embed.h"

#include "analyse/symbol/names.h"
#include "ctl/record/run.h"
#include "read/event.h"
#include "show/show.h"
#include "symbols.h"

#define EMBED_STEP 4096 /* events; then the time is checked */

/* Some readers take an address for that behind a call. */
static void embed_name(void *priv, const struct object *object, uint64_t address,
		       struct symbol *ret)
{
	struct symbol before = { 0 };

	symbols_name(priv, object, address, ret);
	if (address)
		symbols_name(priv, object, address - 1, &before);
}

/* Return: as event_next(). */
static int embed_read(struct view *view, struct names *names, uint64_t most_ns, bool *ret_cut)
{
	const struct view_select all = { 0 };
	uint64_t begin_ns = run_now_ns(), nr = 0;
	struct name found[NAMES_MOST];
	struct event event;
	int r = 0;

	while (!*ret_cut && (r = event_next(view, &all, &event)) > 0) {
		names_find(names, &event, found);
		*ret_cut = most_ns && ++nr % EMBED_STEP == 0 && run_now_ns() - begin_ns > most_ns;
	}
	return *ret_cut ? 0 : r;
}

int embed_symbols(const char *trace, const struct show_options *options, uint64_t most_ns,
		  struct embedded *ret, struct err *err)
{
	struct symbols *symbols = symbols_new(options, trace);
	const struct view_host host = { .name = embed_name, .names_priv = symbols };
	struct names names = { .host = &host };
	struct view *view = NULL;
	int r;

	*ret = (struct embedded){ 0 };
	if (show_objects(trace, false, &names.objects, err) == 0 &&
	    show_open(trace, false, NULL, NULL, &view, err) == 0) {
		r = embed_read(view, &names, most_ns, &ret->cut);
		if (r < 0)
			err_errno(err, ERR_OUTPUT, -r, "can't read %s", trace);
		else
			(void)!symbols_write(symbols, trace, ret, err);
	}
	view_free(view);
	objects_free(names.objects);
	symbols_free(symbols);
	return err->code;
}
