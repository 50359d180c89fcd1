/*
 * STAND-IN, for tests only.  What the stand-ins of AMD's runtimes share: they have the tables of
 * the real ones, with the same number of slots, and register them as the real ones do, but there is
 * no GPU behind them.
 */
#pragma once

#include <rocprofiler-register/rocprofiler-register.h>

#define STANDIN_EXPORT    __attribute__((visibility("default")))
#define STANDIN_PARTS_MAX 6

/* One call of rocprofiler_register_library_api_table, before and after. */
struct standin_registration {
	const char *name;
	uint32_t version;
	rocprofiler_register_import_func_t import;
	unsigned part_count;
	void *parts[STANDIN_PARTS_MAX];    /* what is registered */
	unsigned slots[STANDIN_PARTS_MAX]; /* function pointers in each */
	int code;                          /* -1: not yet registered */
	uint64_t handle;
};

/* What a slot holds that nobody uses here: answers 0. */
int standin_nothing(void);

/*
 * Registers, with the library that this one was linked with, or with the one whose path is in
 * STANDIN_REGISTER_name (a program may have two copies mapped).
 */
void standin_register(struct standin_registration *self);

/* "table NAME PART ADDRESS SLOTS" for each part, and "registered NAME CODE HANDLE". */
void standin_print(const struct standin_registration *self);
