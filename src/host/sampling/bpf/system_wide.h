/*
 * The part of the sampler "bpf" for all processes of the machine: the user did not choose them, so
 * their cost is limited.
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
#define SYSTEM_FILES_MAX       32768u              /* mapped executable */
#define SYSTEM_TABLE_BYTES_MAX ((size_t)256 << 20) /* for unwind tables, besides the kernel's */
#define SYSTEM_DESCRIPTORS_MAX 128u                /* of files without a name here */
/* Processor time for reading mappings: a tenth of one processor, and this at the beginning. */
#define SYSTEM_READING_SHARE 10u
#define SYSTEM_READING_NS    5000000000ull

struct system_wide {
	uint64_t begun_ns;
	uint64_t read_ns; /* processor time spent on reading */
	uint64_t seen;    /* processes, and the programs that they executed */
};

/* Called before the first clock. */
void system_begin(struct bpf_sampler *self);

/* Handles KERNEL_EVENT_APPEARED. */
void system_appeared(struct bpf_sampler *self, const struct sample *record);

/* Is there processor time for a reading now?  Always true for processes that the user chose. */
bool system_may_read(const struct bpf_sampler *self);
/* Charges the time of a reading since then. */
void system_charge(struct bpf_sampler *self, uint64_t since_cpu_ns);

/* The recording has the maximum of processes. */
bool system_is_full(const struct bpf_sampler *self);

/* Frees ranges: the kernel programs drop processes without recent samples, and send them anew with
 * their next sample.  The list of processes stays.  False: there was none to drop. */
bool system_make_room(struct bpf_sampler *self);

/* Marks a record of an unknown process as such. */
const struct sample *system_mark(struct bpf_sampler *self, const struct sample *record);
