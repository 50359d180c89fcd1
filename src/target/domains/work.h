/*
 * What devices do, as records: their functions, and the names of their numbers.  Written by
 * whichever thread learns of it, between writer_begin() and writer_end().
 */
#pragma once

#include "shared/wire/record.h"
#include "target/hooks/hook.h"
#include "target/hooks/writer.h"

#define DEVICE_UNKNOWN UINT64_MAX

/* Devices, queues and streams are numbers that their runtime gives, of a range of its own; names of
 * those below this one are remembered here.  Device 0 is the host. */
#define WORK_NUMBERS 256u

/* Announces the function of a domain, once a session; false when the list is full. */
bool work_start(enum trace_domain domain);

/* One record of a domain; values as its function has them, see work.c. */
bool work_write(struct writer *writer, enum trace_domain domain, uint64_t begin, uint64_t end,
		const uint64_t *values);

/* The number of a kernel's name, told to the host when it is new. */
uint64_t work_kernel(struct writer *writer, const char *name);

/* Was the host told that name in this session? */
bool work_kernel_is_told(uint64_t number);

/* Counts kernels. */
uint64_t work_dispatch(void);

/* Tells what a number below WORK_NUMBERS is called, once a session. */
void work_name(struct writer *writer, enum name_space space, uint64_t id, const char *text);
