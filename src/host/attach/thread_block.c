/*
 * Lays out the data part of the region (shared/wire/boot.h).  The starter thread gets a complete
 * static TLS, so that a preloaded allocator finds its variables, and a DTV long enough that libc
 * never wants to grow it.  Addresses inside the region are offsets here; the injector adds the
 * region's address.
 */
#include "host/attach/attachment.h"

#include "host/attach/facts/facts.h"
#include "host/process/memory.h"
#include "shared/arch/elf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DTV_SLOTS       500
#define DTV_UNALLOCATED (~0ull)
#define BLOCK_ALIGNMENT 64
#define RSEQ_CPU_ID     4 /* offset of the field in struct rseq */

struct dtv_slot {
	uint64_t value, to_free;
};

/* The parts of the image, as offsets into it. */
struct layout {
	uint32_t dtv, pointer, block;
	uint64_t below, above; /* bytes of static TLS on either side of the thread pointer */
};

static void put_word(struct job *job, uint32_t offset, uint64_t word)
{
	memcpy(job->image + offset, &word, sizeof(word));
}

/* Writes the address of something in the data part. */
static void put_address(struct job *job, uint32_t offset, uint32_t in_image)
{
	put_word(job, offset, REGION_DATA + in_image);
	job->fixups[job->fixup_count++].offset = offset;
}

static struct boot_context *put_context(const struct target *target, const struct facts *facts,
					struct job *job)
{
	struct boot_context *boot = (void *)(job->image + DATA_CONTEXT);

	put_address(job, DATA_START_WORDS, DATA_CONTEXT);
	*boot = (struct boot_context){
		.magic = BOOT_MAGIC,
		.libc = facts->libc,
		.syscall_return = facts->places.syscall_return,
		.thread_exit = facts->thread_exit,
		.open_signals = facts->open_signals,
		.way = facts->way,
		.socket = -1,
		/* The target checks that the host lives, where it sees the host's number. */
		.host_pid = target->process.namespaces.pid == SAME_YES ? getpid() : 0,
	};
	job->fixups[job->fixup_count++].offset =
		DATA_CONTEXT + offsetof(struct boot_context, region);
	return boot;
}

/* Where this module's static TLS begins, counted from the thread pointer; false when it has none.
 */
static bool tls_start(const struct target *target, const struct facts *facts,
		      const struct module *module, int64_t *ret)
{
	uint64_t offset;

	if (!module->image.tls_memory_size)
		return false;
	if (module->image.base == facts->places.begin) {
		*ret = facts->libc_tls_offset;
		return true;
	}
	if (!facts->has_tls_offsets ||
	    !memory_read(target->memory, module->link_map + facts->tls_offset_field, &offset,
			 sizeof(offset)))
		return false;
	/* 0: not static; -1 and -2: glibc's marks for "none" and "must stay dynamic". */
	if (!offset || offset >= -2ull)
		return false;
	*ret = ARCH_TLS_ABOVE ? (int64_t)offset : -(int64_t)offset;
	return true;
}

static void measure_tls(const struct target *target, const struct facts *facts,
			const struct modules *modules, struct layout *layout)
{
	for (size_t i = 0; i < modules->count; i++) {
		int64_t start;

		if (!tls_start(target, facts, &modules->items[i], &start))
			continue;
		if (start < 0)
			layout->below = MAX(layout->below, (uint64_t)-start);
		else
			layout->above =
				MAX(layout->above,
				    (uint64_t)start + modules->items[i].image.tls_memory_size);
	}
}

/* x86-64: [static TLS][pointer: struct pthread]; aarch64: [struct pthread][pointer: two words,
 * static TLS]. */
static int thread_block_lay_out(const struct facts *facts, struct layout *layout, struct job *job,
				struct err *err)
{
	uint64_t at, end;

	layout->dtv = DATA_THREAD;
	at = layout->dtv + sizeof(struct dtv_slot) * (DTV_SLOTS + 2);
	if (ARCH_TLS_ABOVE) {
		at = ALIGN_UP(at + facts->block_size, BLOCK_ALIGNMENT);
		layout->block = (uint32_t)at - facts->block_size;
		end = at + MAX(layout->above, 16ull);
	} else {
		at = ALIGN_UP(at + layout->below, BLOCK_ALIGNMENT);
		layout->block = (uint32_t)at;
		end = at + facts->block_size;
	}
	if (end > JOB_IMAGE_MAX) {
		err_set(err, -E2BIG, "its thread-local storage is too large (%lu bytes)",
			end - layout->dtv);
		return err_exit(err, EXIT_NOT_ATTACHABLE);
	}
	layout->pointer = (uint32_t)at;
	job->image_size = (uint32_t)ALIGN_UP(end, 16);
	return 0;
}

static void put_tls(const struct target *target, const struct facts *facts,
		    const struct modules *modules, const struct layout *layout, struct job *job)
{
	for (size_t i = 0; i < modules->count; i++) {
		const struct elf_image *image = &modules->items[i].image;
		unsigned char *to;
		int64_t start;

		if (!tls_start(target, facts, &modules->items[i], &start) ||
		    image->tls_file_size > image->tls_memory_size)
			continue;
		to = job->image + layout->pointer + start;
		if (image->tls_file_size &&
		    !memory_read(target->memory, image->tls_image, to, image->tls_file_size))
			memset(to, 0, image->tls_file_size);
	}
}

static void put_dtv_and_block(const struct facts *facts, const struct layout *layout,
			      struct job *job)
{
	uint32_t dtv = layout->dtv + sizeof(struct dtv_slot);
	int64_t rseq = (int64_t)layout->pointer + facts->places.rseq_offset + RSEQ_CPU_ID;

	put_word(job, layout->dtv, DTV_SLOTS);
	for (uint32_t i = 2; i < DTV_SLOTS + 2; i++)
		put_word(job, layout->dtv + i * (uint32_t)sizeof(struct dtv_slot), DTV_UNALLOCATED);
	if (ARCH_TLS_ABOVE) {
		put_address(job, layout->pointer, dtv);
	} else {
		put_address(job, layout->pointer, layout->pointer);
		put_address(job, layout->pointer + 8, dtv);
		put_address(job, layout->pointer + 16, layout->pointer);
	}
	if (facts->job.has_flag_in_block) /* not alone: libc must use locks and real atomics */
		memcpy(job->image + layout->block + ARCH_FLAG_OFFSET, &(uint32_t){ 1 }, 4);
	if (ARCH_GUARD_SIZE)
		job->guard_offset = layout->pointer + ARCH_GUARD_OFFSET;
	/* "Not registered": libc then calls the kernel for the processor number. */
	if (facts->places.rseq_offset && rseq >= DATA_THREAD && rseq + 4 <= job->image_size)
		memset(job->image + rseq, 0xff, 4);
	job->thread_pointer = REGION_DATA + layout->pointer;
	job->tid_word = REGION_DATA + layout->block + facts->tid_offset;
}

/* A table of its own needs a starter that can stay (musl has none). */
static enum boot_table choose_table(const struct target *target)
{
	if (flushed_files_are_open(target))
		return BOOT_TABLE_SHARED;
	return threads_can_be_opened() ? BOOT_TABLE_OWN : BOOT_TABLE_LATER;
}

int image_build(const struct target *target, const struct modules *modules,
		const struct facts *facts, struct job *job, struct err *err)
{
	struct boot_context *boot = put_context(target, facts, job);
	struct layout layout = { 0 };
	int r;

	job->image_size = DATA_THREAD;
	if (facts->way == BOOT_WAY_CALL)
		return 0;
	measure_tls(target, facts, modules, &layout);
	r = thread_block_lay_out(facts, &layout, job, err);
	if (r)
		return r;
	put_tls(target, facts, modules, &layout, job);
	put_dtv_and_block(facts, &layout, job);
	boot->thread_pointer = job->thread_pointer;
	boot->tid_word = job->tid_word;
	boot->table = choose_table(target);
	return 0;
}

void image_build_again(const struct target *target, const struct facts *facts,
		       const struct boot_context *old, struct job *job)
{
	struct boot_context *boot = put_context(target, facts, job);

	boot->agent_handle = old->agent_handle;
	boot->agent_entry = old->agent_entry;
	boot->starter_has_data = old->starter_has_data;
	boot->thread_pointer = old->thread_pointer;
	boot->tid_word = old->tid_word;
	boot->single_due = old->single_due;
	boot->table = facts->way == BOOT_WAY_THREAD ? choose_table(target) : BOOT_TABLE_SHARED;
	job->thread_pointer = old->thread_pointer;
	job->tid_word = old->tid_word;
	job->image_size = DATA_FORKS;
	job->region = old->region;
	job->mode = JOB_AGAIN;
}
