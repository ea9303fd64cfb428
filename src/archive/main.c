/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-archive: keeps sessions in an object store, as segments (segment.h), and makes plain
 * traces of them again. ltt-relayd --store starts it, too (follow.h).
 */
#include <popt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/stdfds.h"
#include "base/str.h"
#include "follow.h"
#include "verbs.h"

#define MAX_HOURS (366u * 24)

static struct {
	char *store, *segment, *hours, *period, *begin, *end;
	int fetch, begins, list, json, parquet, follow, relay_fd, version;
} opt = { .relay_fd = -1 };

static const struct poptOption options[] = {
	{ "store", 's', POPT_ARG_STRING, &opt.store, 0,
	  "archive the sessions in and below the directories there: s3://BUCKET/PREFIX or "
	  "file:///DIR",
	  "URL" },
	{ "segment-size", 0, POPT_ARG_STRING, &opt.segment, 0, "size of an object (default: 8M)",
	  "SIZE" },
	{ "parquet", 0, POPT_ARG_NONE, &opt.parquet, 0,
	  "with --store: the events as Parquet, too, for DuckDB, ClickHouse and others", NULL },
	{ "fetch", 0, POPT_ARG_NONE, &opt.fetch, 0,
	  "make plain traces of the sessions below URL, in directory DIR", NULL },
	{ "json", 0, POPT_ARG_NONE, &opt.json, 0,
	  "with --fetch: print a JSON object for each session", NULL },
	{ "begin", 0, POPT_ARG_STRING, &opt.begin, 0,
	  "with --fetch: no packets that end before; ns since 1970", "NS" },
	{ "end", 0, POPT_ARG_STRING, &opt.end, 0, "with --fetch: and none behind the next event",
	  "NS" },
	{ "begins", 0, POPT_ARG_NONE, &opt.begins, 0,
	  "with --fetch: of each stream, the packets up to its first event", NULL },
	{ "list", 0, POPT_ARG_NONE, &opt.list, 0,
	  "print the hours, hosts and sessions of which data was archived", NULL },
	{ "hours", 0, POPT_ARG_STRING, &opt.hours, 0, "with --list: how many hours (default: 24)",
	  "N" },
	{ "follow", 0, POPT_ARG_NONE, &opt.follow, 0,
	  "archive what a relay receives; ltt-relayd --store starts it so", NULL },
	{ "relay-fd", 0, POPT_ARG_INT, &opt.relay_fd, 0, "with --follow: the relay's socket",
	  "FD" },
	{ "period", 0, POPT_ARG_STRING, &opt.period, 0,
	  "with --follow: longest time until data is put (default: 60s)", "PERIOD" },
	{ "version", 'V', POPT_ARG_NONE, &opt.version, 0, "print the version and exit", NULL },
	POPT_AUTOHELP POPT_TABLEEND
};

static int archive_usage(const char *problem)
{
	log_error("%s: use --store=URL DIR..., --fetch URL DIR or --list URL; see ltt-archive(1)",
		  problem);
	return 2;
}

static int run_follow(const char *dir, uint64_t segment_bytes)
{
	struct follow_config config = { .url = opt.store,
					.dir = dir,
					.relay_fd = opt.relay_fd,
					.segment_bytes = segment_bytes,
					.period_us = 60000000u };

	if (opt.period && parse_period(opt.period, &config.period_us) < 0) {
		log_error("--period=%s: this is not a period, as 60s", opt.period);
		return 2;
	}
	return verb_follow(&config);
}

/* @ret_has: untouched if @text is NULL. */
static int take_ns(const char *name, const char *text, bool *ret_has, int64_t *ret)
{
	uint64_t ns;

	if (!text)
		return 0;
	if (parse_u64(text, &ns) < 0 || ns > INT64_MAX) {
		log_error("--%s=%s: this is no number of nanoseconds since 1970", name, text);
		return 2;
	}
	*ret_has = true;
	*ret = (int64_t)ns;
	return 0;
}

static int run_fetch(const char *const *words, size_t nr)
{
	struct excerpt excerpt = { .begins = opt.begins };

	if (nr != 2)
		return archive_usage("--fetch needs an URL and a directory");
	if (take_ns("begin", opt.begin, &excerpt.has_begin, &excerpt.begin_ns) ||
	    take_ns("end", opt.end, &excerpt.has_end, &excerpt.end_ns))
		return 2;
	return verb_fetch(words[0], words[1], &excerpt, opt.json);
}

static int archive_run(const char *const *words, size_t nr)
{
	struct archive archive = { .segment_bytes = ARCHIVE_SEGMENT_BYTES };
	uint64_t hours = 24;

	if (opt.segment && (parse_size(opt.segment, &archive.segment_bytes) < 0 ||
			    archive.segment_bytes < 4096 || archive.segment_bytes > 1u << 30)) {
		log_error("--segment-size=%s: this is not a size from 4k to 1G", opt.segment);
		return 2;
	}
	if (opt.hours && (parse_u64(opt.hours, &hours) < 0 || !hours || hours > MAX_HOURS)) {
		log_error("--hours=%s: this is not a number from 1 to %u", opt.hours, MAX_HOURS);
		return 2;
	}
	if (!!opt.store + opt.fetch + opt.list != 1)
		return archive_usage("one of --store, --fetch and --list is needed");
	if ((opt.json || opt.begin || opt.end || opt.begins) && !opt.fetch)
		return archive_usage("--json, --begin, --end and --begins are for --fetch");
	if (opt.parquet && (!opt.store || opt.follow))
		return archive_usage("--parquet is for --store with directories");
	if (opt.hours && !opt.list)
		return archive_usage("--hours is for --list");
	if (opt.fetch)
		return run_fetch(words, nr);
	if (opt.list)
		return nr == 1 ? verb_list(words[0], (unsigned int)hours) :
				 archive_usage("--list needs an URL");
	if (opt.follow)
		return nr == 1 && opt.relay_fd >= 0 ? run_follow(words[0], archive.segment_bytes) :
						      archive_usage("--follow is for ltt-relayd");
	return nr ? verb_put(opt.store, &archive, opt.parquet, words) :
		    archive_usage("--store needs directories");
}

int main(int argc, char **argv)
{
	poptContext ctx = poptGetContext("ltt-archive", argc, (const char **)argv, options, 0);
	const char *const none[] = { NULL };
	const char *const *words;
	size_t nr = 0;
	int rc, ret;

	stdfds_open();
	log_init("ltt-archive", LOG_WARN);
	poptSetOtherOptionHelp(ctx, "--store=URL DIR... | --fetch URL DIR | --list URL");
	while ((rc = poptGetNextOpt(ctx)) > 0)
		;
	if (rc < -1) {
		log_error("%s: %s; see --help", poptBadOption(ctx, POPT_BADOPTION_NOALIAS),
			  poptStrerror(rc));
		ret = 2;
	} else if (opt.version) {
		printf("ltt-archive %s\n", LTT_VERSION);
		ret = 0;
	} else {
		words = poptGetArgs(ctx);
		words = words ? words : none;
		while (words[nr])
			nr++;
		ret = archive_run(words, nr);
	}
	poptFreeContext(ctx);
	return ret;
}
