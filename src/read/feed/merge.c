/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "merge.h"

#include "base/mem.h"

void merge_add(struct merge *m, struct feed *feed)
{
	struct merge_entry entry = { .feed = feed };
	size_t i = m->nr++;

	if (m->nr > m->size) {
		m->size = MAX(2 * m->size, (size_t)16);
		m->heap = xrealloc(m->heap, m->size * sizeof(*m->heap));
	}
	merge_set(&entry);
	for (; i && merge_is_before(&entry, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = entry;
}

void merge_move_first(struct merge *m)
{
	const struct merge_entry entry = m->heap[0];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < m->nr; i = child) {
		if (child + 1 < m->nr && merge_is_before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!merge_is_before(&m->heap[child], &entry))
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = entry;
}

void merge_remove_first(struct merge *m)
{
	m->heap[0] = m->heap[--m->nr];
	if (m->nr)
		merge_move_first(m);
}

void merge_fini(struct merge *m)
{
	free(m->heap);
	*m = (struct merge){ NULL, 0, 0 };
}
