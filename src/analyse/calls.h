/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - the call trees of a trace's threads, from the entries and exits of functions that
 * `--wrap=cyg-profile` and LTTng-UST's library record. Owned by one reader.
 */
#ifndef ANALYSE_CALLS_H
#define ANALYSE_CALLS_H

#include "base/idmap.h"
#include "read/host.h"
#include "span.h"

#define CALLS_EVENTS "*cyg_profile*:func_*"
#define CALLS_TREE_DEPTH 80u	     /* of the trees: jq 1.6 stacks 256 words, three a level */
#define CALLS_STACK_DEPTH (1u << 16) /* deeper calls are only counted */
#define CALLS_STACKS_MOST 4096u	     /* of a thread, that are not empty */
#define CALLS_STACKS_NEAR 8192u	     /* bytes: so near to where it was left, a stack goes on */

struct objects;

/** @total_ns: without the calls in which it calls itself. @self_ns: without the functions that it
 *  calls, and not while the thread was on another stack. @lossy: calls during which events of the
 *  trace were lost. */
struct calls_sum {
	uint64_t calls, total_ns, self_ns, lossy;
};

/**
 * struct calls_function - of all processes, by its place in an object's file.
 * @label: its name, or that of the object with an offset, or its address.
 * @object: path; NULL: unknown.
 */
struct calls_function {
	struct idmap_node node;
	struct calls_function *next;
	char *key;
	char *label;
	const char *object;
	struct symbol symbol;
	struct calls_sum sum;
};

/** struct calls_node - a function as called by those above it. @function: NULL: the root. */
struct calls_node {
	struct idmap_node node;
	const struct calls_node *parent;
	struct calls_node *first, *next, *next_all;
	struct calls_function *function;
	uint32_t depth;
	struct calls_sum sum;
};

struct calls_thread {
	struct idmap_node node;
	struct calls_thread *next;
	char *procname;
	uint32_t source; /* number */
	uint64_t pid, tid;
	bool has_pid;
	struct calls_node root; /* sum: of the outermost calls */
	/* of calls.c */
	struct calls_stack *stack, *left, *spare;
	uint32_t nr_stacks;
	uint64_t from, to, site; /* of a change of the stack that the next event shows; 0: none */
	const struct calls_function *function;
	int64_t last_ns, lossy_until_ns;
	struct idmap addresses, active;
	struct calls_address *all_addresses;
	struct calls_active *all_active;
};

/** struct calls_call - a call that has returned. @self_ns: as in struct calls_sum. @depth: of calls
 *  on its stack that it is in. */
struct calls_call {
	struct span span;
	const struct calls_function *function;
	uint64_t self_ns;
	uint32_t depth;
};

typedef void (*calls_fn)(void *priv, const struct calls_call *call);

/**
 * struct calls
 * @left: calls without an exit, as longjmp() and exceptions leave them; @alone: exits without an
 *      entry; @open: calls that had not returned at the end.
 * @stacks: those that threads had besides their first ones: of coroutines, or signal handlers.
 * @nowhere: events without a thread; @deep: calls below CALLS_STACK_DEPTH or CALLS_TREE_DEPTH.
 */
struct calls {
	struct calls_thread *threads;
	struct calls_function *functions;
	struct calls_node *nodes;
	uint64_t left, alone, open, nowhere, deep, stacks;
	struct idmap threads_map, functions_map, nodes_map;
	struct objects *objects;
	const struct view_host *host;
	calls_fn fn;
	void *priv;
};

/** @objects, @host: to name functions; they outlive the calls. */
struct calls *calls_new(struct objects *objects, const struct view_host *host);
void calls_free(struct calls *calls);
/** calls_on_return() - have @fn called with each call that returns, as soon as it does. */
void calls_on_return(struct calls *calls, calls_fn fn, void *priv);

/** The event is the next one in time, of CALLS_EVENTS. */
void calls_take(struct calls *calls, const struct event *event);
/** After the last event: calls that have not returned end with it; trees are sorted by time. */
void calls_end(struct calls *calls);
/** calls_merge() - add the trees of all threads to @root, which is zero; sorted. */
void calls_merge(struct calls *calls, struct calls_node *root);
/** The nodes below this one. */
uint64_t calls_count(const struct calls_node *parent);
/** calls_least() - a call takes no longer than its caller: those of this time or more are a tree,
 *  of about @most nodes, the longest ones. @most: 0: all. */
uint64_t calls_least(const struct calls_node *root, uint64_t most);
/** The functions, sorted by the time in them; allocated. */
struct calls_function **calls_flat(const struct calls *calls, size_t *ret_nr);

#endif
