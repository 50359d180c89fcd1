/*
 * Memory that is taken and given back.  Every call, or a sample by bytes: then each thread counts
 * down, the allocation that crosses zero is written with its call stack, its address is remembered,
 * and of the calls that give memory back only those of remembered addresses are written, without a
 * stack.
 *
 * The distance from one sample to the next is random, exponential with the mean that was asked for.
 * So each byte has the same chance whatever the program does in turn, and how many bytes a sample
 * of a given size stands for is known exactly on average: size / (1 - exp(-size / mean)).  Equal
 * distances would fall in step with loops and see the same one of their allocations every time.
 */
#include "shared/arch/syscall.h"
#include "target/domains/domain.h"
#include "target/hooks/stack.h"
#include "target/hooks/wants.h"
#include "target/hooks/writer.h"

#include <dlfcn.h>
#include <elf.h>
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

/* In parts of 1/65536, by squaring: there are no floating point registers here to use. */
static uint64_t log2_fixed(uint64_t value)
{
	unsigned zeros = (unsigned)__builtin_clzll(value);
	uint64_t mantissa = value << zeros, result = 63 - zeros;

	for (unsigned i = 0; i < 16; i++) {
		unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
		bool is_two = square >> 127;

		mantissa = (uint64_t)(square >> (is_two ? 64 : 63));
		result = result << 1 | is_two;
	}
	return result;
}

#define LN2_FIXED 45426u /* in parts of 1/65536 */

/* -ln(random in (0, 1]) times the mean, rounded up. */
static int64_t next_distance(struct writer *writer)
{
	unsigned __int128 distance;

	writer->random ^= writer->random << 13;
	writer->random ^= writer->random >> 7;
	writer->random ^= writer->random << 17;
	distance = (unsigned __int128)sample_bytes * ((64u << 16) - log2_fixed(writer->random)) *
		   LN2_FIXED;
	return (int64_t)MIN((uint64_t)(distance >> 32), (uint64_t)INT64_MAX / 2) + 1;
}

/* Is this the allocation that is taken for all since the last one? */
static bool is_sample(struct writer *writer, const struct hook_frame *frame, uint64_t address,
		      uint64_t size)
{
	if (!writer->random) {
		writer->random = (frame->begin ^ (uint64_t)writer) * 0x9e3779b97f4a7c15u | 1;
		writer->sample_left = next_distance(writer);
	}
	writer->sample_left -= (int64_t)MIN(size, (uint64_t)INT64_MAX / 2);
	if (writer->sample_left > 0)
		return false;
	writer->sample_left = next_distance(writer);
	/* Where no place is free nobody will hear that it was given back. */
	(void)swap(address, 0, address);
	return true;
}

/*
 * operator new calls malloc, and both come by here.  libstdc++ has no frame pointers, so a stack
 * from within lacks who called it: the outer one is taken.  Where that is not known, the inner one,
 * and the outer one is known by its answer.
 */
static struct code {
	uint64_t begin, size;
} operators[8];
static unsigned operator_count; /* 0 in a program without C++ */

static bool is_counted_elsewhere(struct writer *writer, const struct hook_frame *frame,
				 uint64_t address)
{
	const struct hook_frame *outer = hook_outer(frame);

	if (outer && outer->hook->traced->domain == DOMAIN_ALLOC)
		return true;
	for (unsigned i = 0; i < operator_count; i++)
		if (frame->address - operators[i].begin < operators[i].size)
			return true;
	if (address == writer->last_address && writer->last_begin >= frame->begin)
		return true;
	writer->last_address = address;
	writer->last_begin = frame->begin;
	return false;
}

static bool is_chosen(struct writer *writer, const struct hook_frame *frame, uint64_t address,
		      uint64_t size)
{
	return address && !is_counted_elsewhere(writer, frame, address) &&
	       is_sample(writer, frame, address, size);
}

static void take(struct writer *writer, const struct hook *hook, const struct hook_frame *frame,
		 uint64_t end, uint64_t size, uint64_t address)
{
	if (!sample_bytes || is_chosen(writer, frame, address, size))
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

/* A stack says that the new address is a sample; without one, only the old address was. */
static void move(struct writer *writer, const struct hook *hook, const struct hook_frame *frame,
		 uint64_t end, uint64_t size)
{
	uint64_t old = frame->arguments[0], address = frame->results[0];
	bool has_moved = address || !size;
	bool was_sample = sample_bytes && old && has_moved && swap(old, old, 0);

	if (!sample_bytes || is_chosen(writer, frame, address, size))
		write_whole(writer, hook, frame, end);
	else if (was_sample)
		(void)hook_write_call(writer, hook, frame, end);
}

static void write_realloc(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	move(writer, hook, frame, end, frame->arguments[1]);
}

static void write_reallocarray(struct writer *writer, const struct hook *hook,
			       const struct hook_frame *frame, uint64_t end)
{
	move(writer, hook, frame, end, frame->arguments[1] * frame->arguments[2]);
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

/* Those of the C++ library only: a program's own may be called without our seeing it. */
static struct code find_operator(const char *symbol)
{
	int (*find)(const void *, Dl_info *, void **, int) = domain_find_symbol("dladdr1");
	const void *function = domain_find_symbol(symbol);
	void *entry = NULL;
	Dl_info module;

	if (!find || !function || !find(function, &module, &entry, RTLD_DL_SYMENT) || !entry ||
	    !module.dli_fname || !pattern_matches("*/lib*c++.so*", 13, module.dli_fname))
		return (struct code){ 0, 0 };
	return (struct code){ (uint64_t)function, ((const Elf64_Sym *)entry)->st_size };
}

static void find_operators(void)
{
	static const char *const symbols[ARRAY_SIZE(operators)] = {
		"_Znwm",
		"_Znam",
		"_ZnwmRKSt9nothrow_t",
		"_ZnamRKSt9nothrow_t",
		"_ZnwmSt11align_val_t",
		"_ZnamSt11align_val_t",
		"_ZnwmSt11align_val_tRKSt9nothrow_t",
		"_ZnamSt11align_val_tRKSt9nothrow_t",
	};

	operator_count = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(operators); i++) {
		struct code code = find_operator(symbols[i]);

		if (code.size)
			operators[operator_count++] = code;
	}
}

static bool start(const struct trace_request *request)
{
	long r;

	sample_bytes = request->alloc_sample;
	has_stacks = request->alloc_stacks;
	if (!sample_bytes)
		return true;
	find_operators();
	if (sampled) {
		memset(sampled, 0, SAMPLED_BYTES); /* those of an earlier session */
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
#define REALLOCS(symbol, write, size)                \
	ALLOC(symbol, NULL, write, 3,                \
	      { { VALUE_OLD_ADDRESS, CAPTURE_ARG0 }, \
		{ VALUE_SIZE, size },                \
		{ VALUE_ADDRESS, CAPTURE_RESULT } })

static const struct traced calls[] = {
	TAKES("malloc", NULL, write_size0, CAPTURE_ARG0),
	TAKES("calloc", NULL, write_product, CAPTURE_PRODUCT01),
	REALLOCS("realloc", write_realloc, CAPTURE_ARG1),
	REALLOCS("reallocarray", write_reallocarray, CAPTURE_PRODUCT12),
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
