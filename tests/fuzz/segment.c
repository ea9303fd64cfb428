/* SPDX-License-Identifier: GPL-2.0-only */
/* The footer of a segment (seg_footer): any bytes are decoded or refused, and the parts of those
 * that are decoded lie within the object. */
#include <stdint.h>
#include <string.h>

#include "archive/segment.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segment_footer footer;
	uint8_t *bytes = xalloc(size + 1);
	const uint64_t room = 1u << 20;

	memcpy(bytes, data, size);
	if (!segment_decode(&footer, bytes, size, room)) {
		for (uint32_t i = 0; i < footer.nr_parts; i++) {
			const struct msg_seg_part *part = &footer.parts[i];

			if (part->at > room || part->bytes > room - part->at ||
			    (part->content.len && part->content.len != SEGMENT_CONTENT_BYTES) ||
			    (part->kind != SEGMENT_FILE && part->trace >= footer.nr_traces))
				__builtin_trap();
		}
	}
	segment_footer_fini(&footer);
	return 0;
}
