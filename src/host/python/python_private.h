/*
 * Private to the Python of a process: python.c reads its code, merge.c merges its stacks.
 */
#pragma once

#include "host/python/binary.h"
#include "host/python/code.h"
#include "host/python/python.h"

/* The name of a function whose code object was freed before it could be read. */
#define PYTHON_GONE "[python code that is gone]"

struct python_thread {
	pid_t tid;
	uint64_t state; /* where it was found the last time */
};

struct python {
	pid_t pid;
	struct python_binary binary;
	struct python_layout layout;
	void *codes; /* a tree, by address */
	size_t code_count;
	size_t bytes;                  /* of the cache, or more */
	struct python_thread *threads; /* ascending tids */
	size_t thread_count, thread_room;
};

struct python_memory python_memory_of(const struct python *python);

/* A word of its memory; 0 where none can be read. */
uint64_t python_word(const struct python *python, uint64_t address);
/* The state of a thread, by its number in its own namespace; 0: it runs no Python. */
uint64_t python_thread_state(struct python *python, pid_t tid);
/* The address of the frame that called all others of a thread, and that of its code; 0: none. */
uint64_t python_outermost_frame(struct python *python, pid_t tid, uint64_t *ret_code);
