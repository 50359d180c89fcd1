/*
 * An arena is recognised by its bins: 127 heads of lists, each of which points at itself while it
 * is empty, or at a chunk that points back; behind them a map of them, and the link to the next
 * arena in a ring.  The thread's word is the one in libc's thread-local storage that leads to one.
 * The program runs meanwhile, so a few bins may be read in the middle of a change.
 */
#include "host/attach/facts/facts.h"

#include "host/process/memory.h"
#include "shared/arch/elf.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TLS_BYTES_MAX   4096u
#define BLOCK_BYTES_MAX 0x2000u
#define POINTER_STEP    (ARCH_TLS_ABOVE ? 16u : 64u)
#define BINS            127u
#define BINS_BYTES      (BINS * 16u)
#define BINS_MOVING_MAX 8u
#define BINS_EMPTY_MIN  4u
#define LOOKS           4u
#define BINMAP_BYTES    16u
#define HEAD_BYTES_MAX  256u /* of an arena, before its bins */
#define ARENA_BYTES     (HEAD_BYTES_MAX + BINS_BYTES + BINMAP_BYTES + 8)
#define CHUNK_FD        16u /* a bin's links lie at this offset, as in a chunk */
#define CHUNK_BK        24u
#define RING_MAX        4096u
#define CODE_BELOW      0x6000u /* private functions: 0x4230 bytes in Debian's 2.36 for x86-64 */
#define CODE_ABOVE      0x2000u

static uint64_t read_word(const struct target *target, uint64_t address)
{
	uint64_t word = 0;

	return memory_read(target->memory, address, &word, sizeof(word)) ? word : 0;
}

static bool is_block(const struct target *target, const struct facts *facts, uint64_t block)
{
	int32_t tid;

	if (!ARCH_TLS_ABOVE && read_word(target, block) != block)
		return false;
	return memory_read(target->memory, block + facts->tid_offset, &tid, sizeof(tid)) &&
	       tid == target->process.status.inner_pid;
}

/* Finds the first thread's block by its pointer to itself, around the thread's list of robust
 * mutexes, which the kernel knows; 0: none, or several. */
static uint64_t first_thread_pointer(const struct target *target, const struct facts *facts)
{
	void *list = NULL;
	size_t size;
	uint64_t inside, found = 0;

	if (syscall(SYS_get_robust_list, target->process.pid, &list, &size) || !list ||
	    facts->block_size > BLOCK_BYTES_MAX)
		return 0;
	inside = (uint64_t)list;
	for (uint64_t at = ALIGN_DOWN(inside, POINTER_STEP); at + facts->block_size > inside;
	     at -= POINTER_STEP) {
		if (!is_block(target, facts, at))
			continue;
		if (found)
			return 0;
		found = at;
	}
	return found && ARCH_TLS_ABOVE ? found + facts->block_size : found;
}

struct arena {
	uint64_t address;
	unsigned char bytes[ARENA_BYTES];
};

static uint64_t word_at(const struct arena *arena, size_t offset)
{
	uint64_t word;

	memcpy(&word, arena->bytes + offset, sizeof(word));
	return word;
}

static bool is_empty_bin(const struct arena *arena, size_t offset)
{
	uint64_t head = arena->address + offset - CHUNK_FD;

	return word_at(arena, offset) == head && word_at(arena, offset + 8) == head;
}

/* Reads each time anew: a program that is in its allocator all the time changes it meanwhile. */
static bool is_bin(const struct target *target, const struct arena *arena, size_t offset)
{
	uint64_t head = arena->address + offset - CHUNK_FD, links[2];

	if (is_empty_bin(arena, offset))
		return true;
	for (unsigned i = 0; i < LOOKS; i++) {
		if (!memory_read(target->memory, arena->address + offset, links, sizeof(links)))
			return false;
		if ((links[0] == head && links[1] == head) ||
		    (links[0] && links[1] && read_word(target, links[0] + CHUNK_BK) == head &&
		     read_word(target, links[1] + CHUNK_FD) == head))
			return true;
	}
	return false;
}

/* At least the bins for the largest chunks are empty. */
static bool has_empty_bins(const struct arena *arena, size_t offset)
{
	unsigned count = 0;

	for (size_t at = offset; at < offset + BINS_BYTES; at += 16)
		count += is_empty_bin(arena, at);
	return count >= BINS_EMPTY_MIN;
}

static bool are_bins(const struct target *target, const struct arena *arena, size_t offset)
{
	unsigned wrong = 0;

	for (size_t at = offset; at < offset + BINS_BYTES && wrong <= BINS_MOVING_MAX; at += 16)
		wrong += !is_bin(target, arena, at);
	return wrong <= BINS_MOVING_MAX;
}

/* Follows the ring of arenas by this link, and returns the one arena in libc itself; 0: it is no
 * ring, or does not have exactly one such arena. */
static uint64_t ring_main(const struct target *target, const struct facts *facts,
			  const struct arena *arena, size_t link)
{
	uint64_t at = word_at(arena, link), found = 0;

	for (unsigned i = 0; at && at % 8 == 0 && i < RING_MAX; i++) {
		if (at >= facts->places.begin && at < facts->places.end) {
			if (found)
				return 0;
			found = at;
		}
		if (at == arena->address)
			return found;
		at = read_word(target, at + link);
	}
	return 0;
}

/* The main arena, if this is the address of an arena; else 0. */
static uint64_t arena_main(const struct target *target, const struct facts *facts, uint64_t address)
{
	struct arena arena = { .address = address };

	if (!memory_read(target->memory, address, arena.bytes, sizeof(arena.bytes)))
		return 0;
	for (size_t bins = 16; bins <= HEAD_BYTES_MAX; bins += 8) {
		size_t link = bins + BINS_BYTES + BINMAP_BYTES;
		uint64_t found =
			has_empty_bins(&arena, bins) ? ring_main(target, facts, &arena, link) : 0;

		if (found && are_bins(target, &arena, bins))
			return found;
	}
	return 0;
}

void heap_find(const struct target *target, const struct module *libc, struct facts *facts)
{
	size_t size = libc->image.tls_memory_size;
	uint64_t pointer = first_thread_pointer(target, facts);
	uint64_t words[TLS_BYTES_MAX / 8];

	if (!pointer || size > sizeof(words) ||
	    !memory_read(target->memory, pointer + (uint64_t)facts->libc_tls_offset, words, size))
		return;
	for (size_t i = 0; i < size / sizeof(words[0]); i++) {
		uint64_t found = words[i] % 16 ? 0 : arena_main(target, facts, words[i]);

		if (found && facts->libc.arena) { /* two candidates: neither is proved */
			facts->libc.arena = 0;
			return;
		}
		if (!found)
			continue;
		facts->libc.arena = found;
		facts->libc.arena_word = facts->libc_tls_offset + (int64_t)(i * sizeof(words[0]));
	}
}

struct job_code heap_code(const struct module *libc)
{
	static const char *const names[] = { "malloc",      "free",           "calloc",  "realloc",
					     "malloc_info", "posix_memalign", "memalign" };
	uint64_t start = UINT64_MAX, end = 0;
	struct elf_range range;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (elf_image_symbol_range(&libc->image, names[i], &range))
			continue;
		start = MIN(start, range.start);
		end = MAX(end, range.start + range.size);
	}
	return end ? (struct job_code){ start - CODE_BELOW, end + CODE_ABOVE }
		   : (struct job_code){ 0, 0 };
}
