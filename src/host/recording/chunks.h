/*
 * The payload of each kind of chunk but records: written, and read as foreign bytes.  Each read
 * returns 0, or -EPROTO for an invalid payload; unknown data at the end is allowed.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/recording/facts.h"

void session_put(struct bytes *bytes, const struct recorded_session *session);
void process_put(struct bytes *bytes, const struct recorded_process *process);
void thread_put(struct bytes *bytes, const struct recorded_thread *thread);
void clock_put(struct bytes *bytes, const struct clock_point *clock);
void drops_put(struct bytes *bytes, const struct recorded_drops *drops);
void end_put(struct bytes *bytes, const struct recorded_end *end);
void syscalls_put(struct bytes *bytes, const struct recorded_syscalls *syscalls);

int session_take(struct cursor cursor, struct recorded_session *ret) MUST_CHECK;
int process_take(struct cursor cursor, struct recorded_process *ret) MUST_CHECK;
int thread_take(struct cursor cursor, struct recorded_thread *ret) MUST_CHECK;
int clock_take(struct cursor cursor, struct clock_point *ret) MUST_CHECK;
int drops_take(struct cursor cursor, struct recorded_drops *ret) MUST_CHECK;
int end_take(struct cursor cursor, struct recorded_end *ret) MUST_CHECK;
int syscalls_take(struct cursor cursor, struct recorded_syscalls *ret) MUST_CHECK;

/* A list: its head, then one entry each. */
struct list_head {
	uint32_t process;
	uint32_t first; /* number of its first entry */
	uint32_t count;
};

void list_put(struct bytes *bytes, const struct list_head *head);
void function_put(struct bytes *bytes, const struct trace_function *function);
void module_put(struct bytes *bytes, const struct recorded_module *module);
void file_put(struct bytes *bytes, const struct recorded_file *file);
void variable_put(struct bytes *bytes, const struct recorded_variable *variable);
void counter_put(struct bytes *bytes, const struct recorded_counter *counter);

int list_take(struct cursor *cursor, struct list_head *ret) MUST_CHECK;
int function_take(struct cursor *cursor, struct trace_function *ret) MUST_CHECK;
/* Its size, its bytes. */
int build_id_take(struct cursor *cursor, unsigned char ret[BUILD_ID_MAX],
		  uint32_t *ret_size) MUST_CHECK;
int module_take(struct cursor *cursor, struct recorded_module *ret) MUST_CHECK;
int file_take(struct cursor *cursor, struct recorded_file *ret) MUST_CHECK;
int counter_take(struct cursor *cursor, struct recorded_counter *ret) MUST_CHECK;
int variable_take(struct cursor *cursor, struct recorded_variable *ret) MUST_CHECK;

/* Precedes packed records. */
struct records_head {
	uint32_t thread;
	uint32_t sequence; /* of this thread's chunks, from 0: a gap means that one is missing */
	uint32_t count;
	uint32_t reserved;
};

_Static_assert(sizeof(struct records_head) == RECORDS_HEAD_BYTES, "as written down");

int records_take(struct cursor *cursor, struct records_head *ret) MUST_CHECK;

/* Makes an entry that a target wrote harmless: texts end, numbers are within their bounds. */
void function_tame(struct trace_function *function);
