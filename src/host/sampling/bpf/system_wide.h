/*
 * The part of the sampler "bpf" that is about every process of the machine: nobody has chosen them,
 * so what they can cost is bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_sampler;
struct followed;
struct sample;

#define SYSTEM_SEEN_MAX        65536u              /* processes and programs in one recording */
#define SYSTEM_RANGES_MAX      1024u               /* executable mappings of one process */
#define SYSTEM_FILES_MAX       32768u              /* that are mapped executable */
#define SYSTEM_TABLE_BYTES_MAX ((size_t)256 << 20) /* for unwind tables, beside the kernel's */
#define SYSTEM_DESCRIPTORS_MAX 128u                /* of files that have no name here */
/* Processor time for reading what is mapped: a tenth of one processor, and this at the beginning.
 */
#define SYSTEM_READING_SHARE 10u
#define SYSTEM_READING_NS    5000000000ull

struct system_wide {
	uint64_t begun_ns;
	uint64_t read_ns; /* processor time that reading has taken */
	uint64_t seen;    /* processes, and the programs that they executed */
};

/* Before the first clock. */
void system_begin(struct bpf_sampler *self);

/* KERNEL_EVENT_APPEARED. */
void system_appeared(struct bpf_sampler *self, const struct sample *record);

/* Is there processor time for reading something now?  Always where a process was chosen. */
bool system_may_read(const struct bpf_sampler *self);
/* What was read since then took that long. */
void system_charge(struct bpf_sampler *self, uint64_t since_cpu_ns);

/* Another process would be one too many in the recording. */
bool system_is_full(const struct bpf_sampler *self);

/* Room for ranges: the kernel programs forget who has had no sample lately, and send that one anew
 * when it has its next.  The list of processes stays as it is.  False: there was nobody. */
bool system_make_room(struct bpf_sampler *self);

/* The record of a process of which nothing is known says so. */
const struct sample *system_mark(struct bpf_sampler *self, const struct sample *record);
