/*
 * Memory that is taken and given back.  Every call, or a sample by bytes: then each thread counts
 * down, the allocation that crosses zero is written with its call stack, its address is remembered,
 * and of the calls that give memory back only those of remembered addresses are written.
 */
#include "shared/arch/syscall.h"
#include "target/domains/domain.h"
#include "target/hooks/stack.h"
#include "target/hooks/writer.h"

#include <string.h>
#include <sys/mman.h>

#define BUCKET_SLOTS  8u /* a cache line */
#define BUCKETS       8192u
#define SAMPLED_BYTES (BUCKETS * BUCKET_SLOTS * sizeof(uint64_t))

static uint64_t sample_bytes; /* 0: all */
static bool has_stacks;
static uint64_t *sampled; /* addresses, in buckets */

static uint64_t *bucket_of(uint64_t address)
{
	return sampled + (address * 0x9e3779b97f4a7c15u >> 51) % BUCKETS * BUCKET_SLOTS;
}

/* Relaxed: the address itself is all that is handed on, and the program's own passing of it from
 * the thread that takes to the one that gives back orders the two. */
static bool swap(uint64_t address, uint64_t from, uint64_t to)
{
	uint64_t *bucket = bucket_of(address);

	for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
		uint64_t expected = from;

		if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&bucket[i], &expected, to, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void write_stack(struct writer *writer, const struct hook_frame *frame)
{
	uint64_t frames[RECORD_FRAMES_MAX];

	writer_stack(writer, frames, stack_collect(&frame->link, frames, RECORD_FRAMES_MAX));
}

static void write_whole(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end)
{
	if (hook_write_call(writer, hook, frame, end) && (has_stacks || sample_bytes))
		write_stack(writer, frame);
}

/* Is this the allocation that is taken for all since the last one? */
static bool is_sample(struct writer *writer, uint64_t address, uint64_t size)
{
	writer->sample_left -= (int64_t)MIN(size, (uint64_t)INT64_MAX / 2);
	if (writer->sample_left >= 0 || !address)
		return false;
	if (!swap(address, 0, address))
		return false; /* where no place is free the next one will do */
	writer->sample_left = (int64_t)sample_bytes;
	return true;
}

static void take(struct writer *writer, const struct hook *hook, const struct hook_frame *frame,
		 uint64_t end, uint64_t size, uint64_t address)
{
	if (!sample_bytes || is_sample(writer, address, size))
		write_whole(writer, hook, frame, end);
}

static void write_size0(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end)
{
	take(writer, hook, frame, end, frame->arguments[0], frame->results[0]);
}

static void write_size1(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end)
{
	take(writer, hook, frame, end, frame->arguments[1], frame->results[0]);
}

static void write_product(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	take(writer, hook, frame, end, frame->arguments[0] * frame->arguments[1],
	     frame->results[0]);
}

static void write_memalign(struct writer *writer, const struct hook *hook,
			   const struct hook_frame *frame, uint64_t end)
{
	uint64_t address = (int32_t)frame->results[0] ? 0 : *(const uint64_t *)frame->arguments[0];

	take(writer, hook, frame, end, frame->arguments[2], address);
}

/* Written when the old address or the new one is a sample. */
static void write_realloc(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	uint64_t old = frame->arguments[0], address = frame->results[0];
	bool has_moved = address || !frame->arguments[1];

	if (!sample_bytes || (old && has_moved && swap(old, old, 0))) {
		write_whole(writer, hook, frame, end);
		if (sample_bytes && address)
			swap(address, 0, address);
		return;
	}
	take(writer, hook, frame, end, frame->arguments[1], address);
}

/* The address was free for others before we could look: where another thread has got it already and
 * it was sampled there, the two are taken for one. */
static void write_free(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end)
{
	uint64_t address = frame->arguments[0];

	if (!sample_bytes || (address && swap(address, address, 0)))
		(void)hook_write_call(writer, hook, frame, end);
}

static void write_mapping(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	uint64_t address = frame->results[0];

	take(writer, hook, frame, end, frame->arguments[1], address == UINT64_MAX ? 0 : address);
}

static bool start(const struct trace_request *request)
{
	long r;

	sample_bytes = request->alloc_sample;
	has_stacks = request->alloc_stacks;
	if (!sample_bytes)
		return true;
	if (sampled) { /* what was sampled by an earlier session is nobody's any more */
		memset(sampled, 0, SAMPLED_BYTES);
		return true;
	}
	r = raw6(SYS_mmap, 0, SAMPLED_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	sampled = (uint64_t *)r; /* stays: a call may be on its way through us long after detach */
	return true;
}

#define ALLOC(symbol, name, write, ...)                                              \
	{                                                                            \
		symbol, name, DOMAIN_ALLOC, HOOK_REGISTERS, write, NULL, __VA_ARGS__ \
	}
#define TAKES(symbol, name, write, size) \
	ALLOC(symbol, name, write, 2, { { VALUE_SIZE, size }, { VALUE_ADDRESS, CAPTURE_RESULT } })
#define GIVES(symbol, name) \
	ALLOC(symbol, name, write_free, 1, { { VALUE_OLD_ADDRESS, CAPTURE_ARG0 } })
#define REALLOCS(symbol, size)                       \
	ALLOC(symbol, NULL, write_realloc, 3,        \
	      { { VALUE_OLD_ADDRESS, CAPTURE_ARG0 }, \
		{ VALUE_SIZE, size },                \
		{ VALUE_ADDRESS, CAPTURE_RESULT } })

static const struct traced calls[] = {
	TAKES("malloc", NULL, write_size0, CAPTURE_ARG0),
	TAKES("calloc", NULL, write_product, CAPTURE_PRODUCT01),
	REALLOCS("realloc", CAPTURE_ARG1),
	REALLOCS("reallocarray", CAPTURE_PRODUCT12),
	GIVES("free", NULL),
	GIVES("cfree", NULL),
	ALLOC("posix_memalign", NULL, write_memalign, 2,
	      { { VALUE_SIZE, CAPTURE_ARG2 }, { VALUE_ADDRESS, CAPTURE_POINTED0 } }),
	TAKES("aligned_alloc", NULL, write_size1, CAPTURE_ARG1),
	TAKES("memalign", NULL, write_size1, CAPTURE_ARG1),
	TAKES("valloc", NULL, write_size0, CAPTURE_ARG0),
	TAKES("pvalloc", NULL, write_size0, CAPTURE_ARG0),
	TAKES("_Znwm", "operator new", write_size0, CAPTURE_ARG0),
	TAKES("_Znam", "operator new[]", write_size0, CAPTURE_ARG0),
	TAKES("_ZnwmRKSt9nothrow_t", "operator new", write_size0, CAPTURE_ARG0),
	TAKES("_ZnamRKSt9nothrow_t", "operator new[]", write_size0, CAPTURE_ARG0),
	TAKES("_ZnwmSt11align_val_t", "operator new", write_size0, CAPTURE_ARG0),
	TAKES("_ZnamSt11align_val_t", "operator new[]", write_size0, CAPTURE_ARG0),
	TAKES("_ZnwmSt11align_val_tRKSt9nothrow_t", "operator new", write_size0, CAPTURE_ARG0),
	TAKES("_ZnamSt11align_val_tRKSt9nothrow_t", "operator new[]", write_size0, CAPTURE_ARG0),
	GIVES("_ZdlPv", "operator delete"),
	GIVES("_ZdaPv", "operator delete[]"),
	GIVES("_ZdlPvm", "operator delete"),
	GIVES("_ZdaPvm", "operator delete[]"),
	GIVES("_ZdlPvRKSt9nothrow_t", "operator delete"),
	GIVES("_ZdaPvRKSt9nothrow_t", "operator delete[]"),
	GIVES("_ZdlPvSt11align_val_t", "operator delete"),
	GIVES("_ZdaPvSt11align_val_t", "operator delete[]"),
	GIVES("_ZdlPvmSt11align_val_t", "operator delete"),
	GIVES("_ZdaPvmSt11align_val_t", "operator delete[]"),
	GIVES("_ZdlPvSt11align_val_tRKSt9nothrow_t", "operator delete"),
	GIVES("_ZdaPvSt11align_val_tRKSt9nothrow_t", "operator delete[]"),
	ALLOC("mmap", NULL, write_mapping, 3,
	      { { VALUE_SIZE, CAPTURE_ARG1 },
		{ VALUE_ADDRESS, CAPTURE_RETURN_LONG },
		{ VALUE_DESCRIPTOR, CAPTURE_INT4 } }),
	ALLOC("mmap64", "mmap", write_mapping, 3,
	      { { VALUE_SIZE, CAPTURE_ARG1 },
		{ VALUE_ADDRESS, CAPTURE_RETURN_LONG },
		{ VALUE_DESCRIPTOR, CAPTURE_INT4 } }),
	ALLOC("munmap", NULL, write_free, 3,
	      { { VALUE_OLD_ADDRESS, CAPTURE_ARG0 },
		{ VALUE_SIZE, CAPTURE_ARG1 },
		{ VALUE_RESULT, CAPTURE_RETURN_INT } }),
};

const struct domain domain_alloc = { "alloc", calls, ARRAY_SIZE(calls), start };
