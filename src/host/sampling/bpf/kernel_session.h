/*
 * The programs of src/kernel, loaded: several files that share their maps.  Closing the descriptors
 * unloads all of them, also at the death of this process.
 */
#pragma once

#include "host/core/err.h"
#include "shared/wire/kernel.h"

#include <bpf/libbpf.h>

enum kernel_file {
	KERNEL_SAMPLE,    /* a stack at each tick of the clock; fork, exec, exit */
	KERNEL_SWITCH,    /* a stack when a thread leaves the processor, the time when it returns */
	KERNEL_THREADS,   /* a stack of each existing thread */
	KERNEL_NAMESPACE, /* limpet's own pid namespace */
	KERNEL_SYSCALLS,  /* system calls: entry and return */
	KERNEL_FILES,
};

/* The numbers of entries of the shared maps. */
struct kernel_sizes {
	uint32_t rows, pages, specials, ranges, off_cpu_threads;
	uint32_t ring_bytes; /* a power of two */
	uint32_t processes;  /* 0: KERNEL_PROCESSES_MAX */
};

struct kernel_session {
	struct kernel_settings settings;
	struct kernel_sizes sizes;
	struct bpf_object *files[KERNEL_FILES]; /* NULL while not loaded */
};

/* Does this kernel support it, and is limpet allowed to?  -EPERM, -ENOSYS, -EOPNOTSUPP with the
 * reason and the fix. */
int kernel_session_probe(struct err *err) MUST_CHECK;

/* The same for system calls, which need less of a kernel. */
int kernel_session_probe_syscalls(struct err *err) MUST_CHECK;

/* settings: all but level and pid_space, which are found here. */
int kernel_session_init(struct kernel_session *ret, const struct kernel_settings *settings,
			const struct kernel_sizes *sizes, struct err *err) MUST_CHECK;
void kernel_session_done(struct kernel_session *session);

/* Loads a file; it shares the maps of earlier files that have the same name. */
int kernel_session_load(struct kernel_session *session, enum kernel_file file,
			struct err *err) MUST_CHECK;
void kernel_session_unload(struct kernel_session *session, enum kernel_file file);

/* Descriptors, -1 when there is none; they live as long as the session. */
int kernel_session_map(const struct kernel_session *session, const char *name);
int kernel_session_program(const struct kernel_session *session, enum kernel_file file,
			   const char *name);

/* Opens the map "ring" of the loaded files, for the caller to free.  NULL: err has the error. */
struct ring_buffer *kernel_session_ring(const struct kernel_session *session,
					ring_buffer_sample_fn on_record, void *context,
					struct err *err) MUST_CHECK;

/* Attaches a program to its hook in the kernel; the caller detaches it by bpf_link__destroy(). */
int kernel_session_start(const struct kernel_session *session, enum kernel_file file,
			 const char *name, struct bpf_link **ret, struct err *err) MUST_CHECK;
