/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list.h - intrusive doubly-linked list with a head. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>

#include "macros.h"

struct list_node {
	struct list_node *prev, *next;
};

#define LIST_INIT(head) { &(head), &(head) }

static inline void list_init(struct list_node *head)
{
	head->prev = head->next = head;
}

static inline bool list_empty(const struct list_node *head)
{
	return head->next == head;
}

static inline void list_append(struct list_node *head, struct list_node *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

/** Remove and make empty: removing twice does no harm. */
static inline void list_remove(struct list_node *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

#define list_entry(node, type, member) container_of(node, type, member)
#define list_first(head, type, member)                                                         \
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))

#define list_for_each(pos, head, member)                                                       \
	for (pos = list_entry((head)->next, __typeof__(*pos), member); &pos->member != (head);  \
	     pos = list_entry(pos->member.next, __typeof__(*pos), member))

/** The entry may be removed and freed in the body. */
#define list_for_each_safe(pos, tmp, head, member)                                             \
	for (pos = list_entry((head)->next, __typeof__(*pos), member),                         \
	    tmp = list_entry(pos->member.next, __typeof__(*pos), member);                      \
	     &pos->member != (head);                                                           \
	     pos = tmp, tmp = list_entry(pos->member.next, __typeof__(*pos), member))

#endif
