/*
 * What an attach needs of the target's libc, found in its memory while it runs.
 */
#pragma once

#include "host/attach/facts/modules.h"

struct facts {
	enum boot_way way;
	struct boot_libc libc;
	uint64_t syscall_return, sigreturn, thread_exit, open_signals;
	uint64_t init_word, libc_start, libc_end;
	/* Of glibc's thread block. */
	uint32_t tid_offset, block_size;
	uint32_t has_tls_offsets,
		tls_offset_field; /* in a link map: the offset of its static TLS */
	int64_t libc_tls_offset;
	struct elf_range calloc; /* see docs/attach.md, "One thread becomes two" */
	/* fork and _Fork, and the caller of main; see "A process that was just born" there. */
	struct elf_range forks[JOB_FORKS_MAX], start;
	bool has_flag_in_block; /* each thread's block has a flag for "there are others" */
	struct job_single single;
	struct elf_range create, heap; /* pthread_create; the allocator */
	int64_t rseq_offset;           /* from the thread pointer; 0: unknown */
};

/* init_word, libc_start and libc_end only: they show whether libc is initialised. */
int facts_read_init(const struct target *target, const struct modules *modules, struct facts *ret,
		    struct err *err) MUST_CHECK;

int facts_read(const struct target *target, const struct modules *modules, struct facts *ret,
	       struct err *err) MUST_CHECK;
