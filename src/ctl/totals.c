/* SPDX-License-Identifier: GPL-2.0-only */
#include "totals.h"

#include "record.h"
#include "text.h"

const char *totals_count(struct json_object *totals, const char *key, char *buf)
{
	return totals ? text_count(buf, record_num(totals, key)) : "?";
}

void totals_text(FILE *out, struct json_object *totals)
{
	uint64_t recorded = record_num(totals, "recorded");
	bool unknown = record_num(totals, "lost_buffers") || record_num(totals, "unrecorded");
	char buf[TEXT_BYTES];

	if (!totals)
		return;
	fprintf(out, "%s event%s recorded", text_count(buf, recorded), text_plural(recorded));
	if (unknown && !record_num(totals, "lost"))
		fputs(", an unknown number lost", out);
	else
		fprintf(out, ", %s%s lost", unknown ? "at least " : "",
			text_count(buf, record_num(totals, "lost")));
	if (record_num(totals, "not_sampled"))
		fprintf(out, ", %s not sampled",
			text_count(buf, record_num(totals, "not_sampled")));
	if (record_num(totals, "overwritten"))
		fprintf(out, ", %s overwritten",
			text_count(buf, record_num(totals, "overwritten")));
	fprintf(out, ", %s written", text_size(buf, record_num(totals, "bytes")));
	if (record_num(totals, "waiting"))
		fprintf(out, ", %s events still in the buffers",
			text_count(buf, record_num(totals, "waiting")));
}

void totals_end(FILE *out, struct json_object *totals)
{
	if (totals)
		fputs(": ", out);
	totals_text(out, totals);
	fputc('\n', out);
}
