/*
 * Walks the calling thread's Python frames in the interpreter's memory. Runs inside application
 * calls: no libc, no waiting. The host walks the interpreter's lists of threads, which other
 * threads change, from outside; here only the state that it found is read, and only while it has
 * this thread's identity: its frames change only when this thread runs. The host interprets frames.
 */
#include "target/hooks/python_stack.h"

#include "shared/arch/syscall.h"
#include "shared/base/hash.h"
#include "target/runtime/slot.h"

#include <string.h>
#include <sys/uio.h>

#define STACKS       16384u
#define PROBES_MAX   16u
#define BLOCK        1024u /* part of a page: copying a whole page costs the kernel more */
#define BLOCKS       6u    /* kept while frames are walked */
#define WRITTEN_MAX  4u    /* maximum number of records of one stack */
#define HINTS        64u   /* number of threads whose last blocks are remembered */
#define ADDRESS_MASK ((1ull << INTERPRETED_MARK_SHIFT) - 1)

_Static_assert(RECORD_PYTHON_FRAMES_MAX * sizeof(struct interpreted_frame) <=
		       RECORD_MAX_BYTES - sizeof(struct record_name),
	       "a stack is one record");

/* By their hash; a slot has one stack in a session. */
static struct {
	uint64_t hash;
	uint32_t is_written;
} stacks[STACKS];

static uint32_t is_stopped;

void python_stacks_allow(void)
{
	__atomic_store_n(&is_stopped, 0, __ATOMIC_SEQ_CST);
}

void python_stacks_forget(void)
{
	memset(stacks, 0, sizeof(stacks));
}

void python_stacks_stop(void)
{
	__atomic_store_n(&is_stopped, 1, __ATOMIC_SEQ_CST);
}

/* The blocks that a thread read last time, which it mostly needs again. A wrong hint, or two
 * threads sharing an index, costs only time. */
static uint64_t hints[HINTS][BLOCKS];

/* Blocks copied by the kernel: another thread may finalize the interpreter and unmap them. */
struct reading {
	int32_t tid;
	unsigned count, next; /* number of valid blocks; index for the next one */
	uint64_t blocks[BLOCKS];
	bool is_used[BLOCKS];
	uint64_t words[BLOCKS][BLOCK / sizeof(uint64_t)];
};

/* Returns the number of copied blocks, from the first on. Passes this thread's ID: the process's
 * first thread, whose ID is the process ID, may have ended. */
static unsigned blocks_copy(const struct reading *reading, void *into, const uint64_t *blocks,
			    unsigned count)
{
	struct iovec whole = { into, count * BLOCK };
	struct iovec from[BLOCKS];
	long copied;

	for (unsigned i = 0; i < count; i++)
		from[i] = (struct iovec){ (void *)(uintptr_t)blocks[i], BLOCK };
	copied = raw6(SYS_process_vm_readv, reading->tid, &whole, 1, from, count, 0);
	return copied > 0 ? (unsigned)copied / BLOCK : 0;
}

/* One system call copies all blocks that were needed last time. */
static void reading_begin(struct reading *reading, int32_t tid)
{
	const uint64_t *hint = hints[(uint32_t)tid % HINTS];
	unsigned count = 0;

	reading->tid = tid;
	while (count < BLOCKS &&
	       (reading->blocks[count] = __atomic_load_n(&hint[count], __ATOMIC_RELAXED)))
		reading->is_used[count++] = false;
	reading->count = count ? blocks_copy(reading, reading->words, reading->blocks, count) : 0;
	reading->next = reading->count % BLOCKS;
}

static void reading_end(const struct reading *reading)
{
	uint64_t *hint = hints[(uint32_t)reading->tid % HINTS];
	unsigned kept = 0;

	for (unsigned i = 0; i < reading->count; i++)
		if (reading->is_used[i])
			__atomic_store_n(&hint[kept++], reading->blocks[i], __ATOMIC_RELAXED);
	if (kept < BLOCKS)
		__atomic_store_n(&hint[kept], 0, __ATOMIC_RELAXED);
}

static unsigned block_find(const struct reading *reading, uint64_t block)
{
	unsigned i = 0;

	while (i < reading->count && reading->blocks[i] != block)
		i++;
	return i;
}

/* NULL: unreadable. */
static const uint64_t *block_read(struct reading *reading, uint64_t address)
{
	uint64_t block = address & ~(uint64_t)(BLOCK - 1);
	unsigned i = block_find(reading, block);

	if (!block)
		return NULL;
	if (i == reading->count) {
		i = reading->next;
		reading->blocks[i] = 0;
		if (!blocks_copy(reading, reading->words[i], &block, 1))
			return NULL;
		reading->blocks[i] = block;
		reading->next = (i + 1) % BLOCKS;
		reading->count = MAX(reading->count, i + 1);
	}
	reading->is_used[i] = true;
	return reading->words[i];
}

static bool read_word(struct reading *reading, uint64_t address, uint64_t *ret)
{
	const uint64_t *words = address % sizeof(*ret) ? NULL : block_read(reading, address);

	if (words)
		*ret = words[address % BLOCK / sizeof(*ret)];
	return words;
}

static bool read_byte(struct reading *reading, uint64_t address, uint8_t *ret)
{
	const uint64_t *words = block_read(reading, address);

	if (words)
		*ret = ((const uint8_t *)words)[address % BLOCK];
	return words;
}

/* Returns the innermost frame; 0: the state is not this thread's, or runs no Python. */
static uint64_t first_frame(struct reading *reading, const struct kernel_python *layout,
			    struct ring *ring)
{
	uint64_t identity, found, frame = 0, state = ring_python(ring, &identity);

	if (!state || !read_word(reading, state + layout->thread_id, &found) || found != identity) {
		ring_ask_python(ring);
		return 0;
	}
	if (!read_word(reading, state + layout->thread_frame, &frame) || !frame)
		return 0;
	if (layout->has_control && !read_word(reading, frame + layout->control_frame, &frame))
		return 0;
	return frame;
}

static bool read_frame(struct reading *reading, const struct kernel_python *layout, uint64_t *frame,
		       struct interpreted_frame *ret)
{
	uint64_t code, at, previous;
	uint8_t mark;

	if (!read_word(reading, *frame + layout->frame_code, &code) ||
	    !read_word(reading, *frame + layout->frame_at, &at) ||
	    !read_byte(reading, *frame + layout->frame_mark, &mark) ||
	    !read_word(reading, *frame + layout->frame_previous, &previous))
		return false;
	*ret = (struct interpreted_frame){ code, (at & ADDRESS_MASK) |
							 (uint64_t)mark << INTERPRETED_MARK_SHIFT };
	*frame = previous;
	return true;
}

/* Reads up to one record of frames; *frame is the first, then the one after the last. */
static unsigned frames_read(struct reading *reading, const struct kernel_python *layout,
			    uint64_t *frame, struct interpreted_frame *ret)
{
	unsigned count = 0;

	while (*frame && count < RECORD_PYTHON_FRAMES_MAX &&
	       read_frame(reading, layout, frame, &ret[count]))
		count++;
	return count;
}

static unsigned frames_collect(const struct writer *writer, struct interpreted_frame *ret)
{
	const struct kernel_python *layout = &writer->rings->python;
	struct ring *ring = writer->ring.ring;
	struct reading reading; /* large, so not cleared */
	unsigned count;
	uint64_t frame;

	reading_begin(&reading, ring->tid);
	frame = first_frame(&reading, layout, ring);
	count = frames_read(&reading, layout, &frame, ret);
	reading_end(&reading);
	return count;
}

static uint64_t hash_of(const struct interpreted_frame *frames, unsigned count)
{
	uint64_t hash = HASH_SEED;

	for (unsigned i = 0; i < count; i++) {
		hash = (hash ^ frames[i].code) * 0x9e3779b97f4a7c15u;
		hash = (hash ^ hash >> 29 ^ frames[i].at) * 0xbf58476d1ce4e5b9u;
		hash ^= hash >> 32;
	}
	return hash ? hash : 1;
}

/* If the record is dropped, the next call writes it again. */
static void stack_write(struct writer *writer, uint64_t number, uint32_t *is_written,
			const struct interpreted_frame *frames, unsigned count)
{
	if (__atomic_load_n(is_written, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(is_written, 1, __ATOMIC_RELAXED))
		return;
	if (!writer_name(writer, NAME_CALL_STACK, number, (const char *)frames,
			 count * sizeof(*frames)))
		__atomic_store_n(is_written, 0, __ATOMIC_RELAXED);
}

uint64_t python_stack(struct writer *writer)
{
	struct interpreted_frame frames[RECORD_PYTHON_FRAMES_MAX];
	unsigned count =
		__atomic_load_n(&is_stopped, __ATOMIC_RELAXED) ? 0 : frames_collect(writer, frames);
	uint64_t hash = hash_of(frames, count);

	for (uint32_t i = 0; count && i < PROBES_MAX; i++) {
		uint32_t at = (uint32_t)(hash + i) % STACKS;
		uint64_t number = (uint64_t)writers_session() << 16 | (at + 1);

		if (!slot_claim(&stacks[at].hash, hash))
			continue;
		stack_write(writer, number, &stacks[at].is_written, frames, count);
		return number;
	}
	return 0;
}

/* Not inlined: it needs 7 KiB of the thread's stack. */
static __attribute__((noinline)) void frames_write(struct writer *writer)
{
	const struct kernel_python *layout = &writer->rings->python;
	struct interpreted_frame frames[RECORD_PYTHON_FRAMES_MAX];
	struct ring *ring = writer->ring.ring;
	struct reading reading; /* large, so not cleared */
	unsigned count = RECORD_PYTHON_FRAMES_MAX;
	uint64_t frame;

	reading_begin(&reading, ring->tid);
	frame = first_frame(&reading, layout, ring);
	for (unsigned i = 0; frame && count == RECORD_PYTHON_FRAMES_MAX && i < WRITTEN_MAX; i++) {
		count = frames_read(&reading, layout, &frame, frames);
		writer_python(writer, frames, count, frame);
	}
	reading_end(&reading);
}

/* A thread that runs no Python has no state, and needs no stack space here. */
void python_frames_write(struct writer *writer)
{
	struct ring *ring = writer->ring.ring;
	uint64_t identity;

	if (__atomic_load_n(&is_stopped, __ATOMIC_RELAXED))
		return;
	if (ring_python(ring, &identity))
		frames_write(writer);
	else
		ring_ask_python(ring);
}
