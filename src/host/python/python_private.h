/*
 * The insides of a process's Python: python.c knows its code, merge.c its stacks.
 */
#pragma once

#include "host/python/binary.h"
#include "host/python/code.h"
#include "host/python/python.h"

/* The name of a function whose code object was gone before it could be read. */
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
	size_t bytes;                  /* of what is known of them, or more */
	struct python_thread *threads; /* ascending tids */
	size_t thread_count, thread_room;
};

/* Where a frame is; 0: no memory. */
uint64_t python_place_of(struct python *python, const struct kernel_python_frame *frame);
