/*
 * The frames and stacks of a recording, each with a number: they are written once, at first use,
 * and named at the end.  Samples and traced calls share them.  Any thread: each function acquires
 * the list's lock, except stack_list_init() and stack_list_done().
 */
#pragma once

#include "host/core/table.h"
#include "host/recorder/base/code_list.h"

#include <pthread.h>

/* A list of numbered items on its way into a recording: a head, then packed items. */
struct pending {
	struct bytes bytes;
	struct numbered_head head; /* its count: the items behind it */
	struct sample_packer packer;
};

/* Before each item is put; the first one of a chunk has this number. */
void pending_add(struct pending *pending, uint32_t number);
/* Writes nothing where there is no item. */
int pending_write(struct pending *pending, enum chunk_kind kind, struct recording *recording,
		  struct err *err) MUST_CHECK;

struct stack_list {
	pthread_mutex_t lock; /* guards what follows */
	struct code_list *codes;
	struct table frame_numbers; /* (code, version and is_return, address) */
	struct table stack_numbers; /* (caller, frame) */
	struct recorded_frame *frames;
	size_t frame_count, frame_room;
	size_t named_count; /* frames that have names in the file */
	uint32_t stack_count;
	struct pending new_frames, new_names, new_stacks;
};

/* The outermost frames of a thread's last stack: the next stack often shares them. */
struct last_stack {
	const struct space *space;
	unsigned generation;
	size_t count, room;
	struct known_frame {
		uint64_t address;
		uint32_t stack;
		bool is_lasting; /* else another function may get this address */
	} * frames;              /* outermost first */
};

int stack_list_init(struct stack_list *ret) MUST_CHECK; /* -ENOMEM */
void stack_list_done(struct stack_list *list);

/* The number of a sample's stack.  `process`: the number of its process in the recording; `last`:
 * its thread's, owned by the caller.  -ENOMEM. */
int stack_list_find(struct stack_list *list, uint32_t process, const struct sample *sample,
		    const struct space *space, struct last_stack *last, uint32_t *ret) MUST_CHECK;

/* Writes what is not in the file yet. */
int stack_list_write(struct stack_list *list, struct recording *recording,
		     struct err *err) MUST_CHECK;

/* See code_list.h. */
void stack_list_follow(struct stack_list *list);
void stack_list_read(struct stack_list *list);

/* The limit for resolving lines at the end: the user waits for it. */
#define NAMING_LINES_NS 2000000000u

/* The result of naming. */
struct naming {
	uint64_t frames, named; /* frames, and those of them that have a name */
	uint64_t without_lines; /* lines not resolved: the time was over */
};

/* Names all frames that have none yet.  Resolves lines and inlined functions until that has taken
 * `lines_ns` of processor time. */
int stack_list_name(struct stack_list *list, struct recording *recording, uint64_t lines_ns,
		    struct naming *ret, struct err *err) MUST_CHECK;
