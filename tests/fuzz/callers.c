/*
 * Fuzzes what a target says of the callers of its traced calls: return addresses, and copies of
 * its stack.  The target is this program.  Of the words in the bytes some become addresses of its
 * code, or of the copied stack: chance finds neither.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/recorder/tracing/callers.h"
#include "host/unwind/space.h"

#define STACK        0x7ffc00000000u
#define ROUNDS_MAX   512u /* of one recording */
#define HEAD_WORDS   3u
#define CODE_SPREAD  24u
#define ADDRESS_BITS 8u

enum word {
	WORD_CODE = 1,
	WORD_STACK,
	WORDS = 4, /* all others are as they come */
};

struct fuzzed {
	struct recording *recording;
	struct programs programs;
	struct callers *callers;
	struct space *space; /* to know where code is */
	unsigned rounds;
};

static void fuzzed_open(struct fuzzed *self)
{
	CLEANUP(close) int fd = memfd_create("recording", MFD_CLOEXEC);
	struct err err = { 0 };
	uint32_t process;
	char path[32];

	must(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(!recording_create(path, &self->recording, &err));
	must(!recording_clock(self->recording, &err));
	must(!programs_init(&self->programs, self->recording, /* with_files */ false,
			    /* variables */ NULL));
	must(!programs_number(&self->programs, getpid(), &process, &err));
	must(!callers_new(&self->callers, &self->programs, getpid(), process, NULL, &err));
	must(!space_open(&self->space, getpid(), &err) && self->space->count);
	self->rounds = 0;
}

static void fuzzed_close(struct fuzzed *self)
{
	struct err err = { 0 };

	must(!callers_finish(self->callers, &err));
	callers_free(self->callers);
	space_close(self->space);
	programs_done(&self->programs);
	recording_abandon(self->recording);
}

static uint64_t word_address(const struct fuzzed *self, uint64_t word, size_t stack_size)
{
	const struct space_range *range = &self->space->ranges[(word >> 2) % self->space->count];

	if (word % WORDS == WORD_CODE)
		return range->start +
		       (word >> ADDRESS_BITS) % (range->end - range->start + CODE_SPREAD);
	if (word % WORDS == WORD_STACK)
		return STACK + (word >> ADDRESS_BITS) % (stack_size + CODE_SPREAD);
	return word;
}

static size_t words_read(const struct fuzzed *self, const uint8_t *bytes, size_t size,
			 uint64_t *words, size_t most)
{
	size_t count = MIN(size / sizeof(*words), most);

	memcpy(words, bytes, count * sizeof(*words));
	for (size_t i = 0; i < count; i++)
		words[i] = word_address(self, words[i], count * sizeof(*words));
	return count;
}

static void number_check(const struct record_stack_number *number)
{
	must(number->head.kind == RECORD_STACK_NUMBER && number->head.size == sizeof(*number));
	must(number->head.count < STACK_ENDS);
}

static void frames_try(const struct fuzzed *self, const uint8_t *bytes, size_t size)
{
	const struct collect_callers source = callers_source(self->callers);
	uint64_t frames[RECORD_FRAMES_MAX];
	size_t count = words_read(self, bytes, size, frames, RECORD_FRAMES_MAX);
	struct record_stack_number number;
	struct err err = { 0 };
	const struct collect_stack stack = { .frames = frames, .frame_count = count };

	must(!source.number(source.context, &stack, &number, &err));
	number_check(&number);
}

/* The registers come first; the end of the copy may be missing. */
static void copy_try(const struct fuzzed *self, const uint8_t *bytes, size_t size)
{
	const struct collect_callers source = callers_source(self->callers);
	static uint64_t words[HEAD_WORDS + STACK_COPY_MAX / sizeof(uint64_t)];
	size_t count = words_read(self, bytes, size, words, ARRAY_SIZE(words));
	struct record_stack_part caller = { .pc = words[0], .sp = STACK, .fp = words[1] };
	struct collect_stack stack = { .caller = &caller, .copy = words + HEAD_WORDS };
	struct record_stack_number number;
	struct err err = { 0 };

	if (count < HEAD_WORDS)
		return;
	caller.sp += words[2] % 64;
	count -= HEAD_WORDS;
	caller.bytes = (uint32_t)(count * sizeof(*words));
	stack.size = caller.bytes;
	must(!source.unwind(source.context, &stack, &number, &err));
	number_check(&number);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct fuzzed fuzzed;

	if (!fuzzed.callers)
		fuzzed_open(&fuzzed);
	if (size && bytes[0] % 2)
		copy_try(&fuzzed, bytes + 1, size - 1);
	else if (size)
		frames_try(&fuzzed, bytes + 1, size - 1);
	if (++fuzzed.rounds < ROUNDS_MAX)
		return 0;
	fuzzed_close(&fuzzed);
	fuzzed = (struct fuzzed){ 0 };
	return 0;
}
