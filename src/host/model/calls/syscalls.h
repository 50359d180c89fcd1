/*
 * System calls: failures by error, and time by file.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"
#include "host/model/statistics.h"

/* Of all processes. */
struct syscall_error_row {
	const struct trace_function *function;
	int error; /* positive */
	uint64_t calls;
};

struct syscall_file_row {
	const char *name; /* the model's; "": not known */
	uint64_t errors, read_bytes, written_bytes;
	struct statistics statistics;
};

struct syscalls {
	struct syscall_error_row *errors;
	uint32_t error_count;
	struct syscall_file_row *files;
	uint32_t file_count;
	uint64_t *thread_errors; /* by number */
	uint64_t files_ns;       /* of all files */
	bool has_calls;
	struct row_index by_error; /* (hash of the function's name, error) */
	struct row_index by_file;  /* (hash of the name, 0) */
	struct table by_name;      /* (hash of the function's name, 0): errors of all kinds */
};

int syscalls_init(struct syscalls *ret, const struct model *model) MUST_CHECK;
int syscalls_add(struct syscalls *syscalls, const struct call *call) MUST_CHECK;
/* Errors by calls, files by time. */
void syscalls_sort(struct syscalls *syscalls);
/* How many calls of functions of this name have failed. */
uint64_t syscalls_errors_of(const struct syscalls *syscalls, const char *name);
void syscalls_done(struct syscalls *syscalls);

/* "ENOENT", or "error 999" in the buffer. */
const char *syscall_error_name(int error, char buffer[32]);
