/*
 * Device work as records: the announced functions, and the names of numbers. The thread that finds
 * out about the work writes between writer_begin() and writer_end().
 */
#pragma once

#include "shared/wire/record.h"
#include "target/hooks/hook.h"
#include "target/hooks/writer.h"

#define DEVICE_UNKNOWN UINT64_MAX

/* Each runtime numbers its devices, queues and streams within its own range. Names of numbers below
 * this limit are remembered here. Device 0 is the host. */
#define WORK_NUMBERS 256u

/* Announces the function of a domain, once a session; false when the list is full. */
bool work_start(enum trace_domain domain);

/* Writes one record of a domain; values as in its function, see work.c. */
bool work_write(struct writer *writer, enum trace_domain domain, uint64_t begin, uint64_t end,
		const uint64_t *values);

/* Returns the number of a kernel's name; writes the name if it is new. */
uint64_t work_kernel(struct writer *writer, const char *name);

/* The same of that many bytes of a name, by a hash of them. */
uint64_t work_kernel_hashed(struct writer *writer, const char *name, uint64_t hash, size_t room);
/* Never 0. */
uint64_t work_hash(const char *name, size_t room);

/* True if the name was written in this session. */
bool work_kernel_is_named(uint64_t number);

/* Returns the next dispatch number; counted there from now on. */
uint64_t work_dispatch(void);
void work_dispatch_use(uint64_t *counter);

/* Writes the name of a number below WORK_NUMBERS, once a session. */
void work_name(struct writer *writer, enum name_space space, uint64_t id, const char *text);
