/*
 * A program that passes for a Python interpreter: its symbols, and a state of the runtime that
 * leads anywhere.  Compiled with the VERSION that it claims to be.
 *
 *   argument: cycle     frames that lead to each other
 *             garbage   code objects and texts whose sizes and addresses make no sense
 *             changing  the same, written over all the time
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))

extern const unsigned long Py_Version;
extern uint64_t _PyRuntime[64], PyCode_Type[64];
EXPORTED const unsigned long Py_Version = VERSION;
EXPORTED uint64_t _PyRuntime[64], PyCode_Type[64];

/* Where 3.10 and 3.11 have what, in words. */
enum {
#if VERSION >> 16 == 0x030a
	RUNTIME_INTERPRETER = 4,
	INTERPRETER_THREAD = 1,
	THREAD_FRAME = 3,
	THREAD_ID = 22,
	THREAD_NUMBER = 31, /* it has none */
	FRAME_PREVIOUS = 3,
	FRAME_AT = 12,
	FRAME_MARK = 15,
	CODE_TEXTS = 13,
#else
	RUNTIME_INTERPRETER = 5,
	INTERPRETER_THREAD = 2,
	THREAD_FRAME = 7,
	THREAD_ID = 19,
	THREAD_NUMBER = 20,
	FRAME_PREVIOUS = 6,
	FRAME_AT = 7,
	FRAME_MARK = 8,
	CODE_TEXTS = 14,
#endif
	FRAME_CODE = 4,
};

static uint64_t interpreter[8], thread[32], control[4], frames[8][16], codes[8][32], texts[8][16];

static const uint64_t odd_values[] = {
	0, 1, UINT64_MAX, INT64_MAX, INT64_MIN, 0x7fffffff, 0xffffffff, 1ull << 47, 0x5059ull << 48,
};

static uint64_t odd(unsigned i)
{
	uint64_t inside[] = { (uintptr_t)frames, (uintptr_t)codes, (uintptr_t)texts,
			      (uintptr_t)odd };

	i %= (unsigned)(sizeof(odd_values) / 8 + sizeof(inside) / 8);
	return i < sizeof(odd_values) / 8 ? odd_values[i] : inside[i - sizeof(odd_values) / 8];
}

/* is_lost: what tells which thread it is leads anywhere most of the time. */
static void lay_out(unsigned turn, bool is_lost)
{
	for (unsigned i = 0; i < 8; i++) {
		frames[i][FRAME_CODE] = (uintptr_t)codes[i];
		frames[i][FRAME_PREVIOUS] = (uintptr_t)frames[(i + 1) % 8];
		frames[i][FRAME_AT] = (uintptr_t)codes[i] + 184 + turn % 64;
		frames[i][FRAME_MARK] = (uint64_t)(i & 1) << 32;
		codes[i][1] = (uintptr_t)PyCode_Type;
		for (unsigned k = CODE_TEXTS; k < CODE_TEXTS + 4; k++)
			codes[i][k] = (turn + i + k) % 3 ? (uintptr_t)texts[i] : odd(turn + i + k);
		for (unsigned k = 2; k < 16; k++)
			texts[i][k] = odd(turn + i * k);
		texts[i][4] = (turn + i) % 256;
	}
	control[1] = (uintptr_t)frames[0];
	thread[THREAD_FRAME] = VERSION >> 16 == 0x030a ? control[1] : (uintptr_t)control;
	thread[THREAD_ID] = is_lost && turn % 3 ? odd(turn) : (uint64_t)pthread_self();
	thread[THREAD_NUMBER] = is_lost && turn % 3 ? odd(turn) : (uint64_t)gettid();
	interpreter[INTERPRETER_THREAD] = (uintptr_t)thread;
	_PyRuntime[RUNTIME_INTERPRETER] = (uintptr_t)interpreter;
}

EXPORTED void _PyEval_EvalFrameDefault(int is_changing);

EXPORTED __attribute__((noinline)) void _PyEval_EvalFrameDefault(int is_changing)
{
	for (unsigned turn = 1;; turn++)
		if (is_changing && turn % 1000 == 0)
			lay_out(turn / 1000, true);
		else
			__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "cycle";

	lay_out(7, false);
	if (!strcmp(mode, "cycle"))
		memset(codes, 0, sizeof(codes));
	_PyEval_EvalFrameDefault(!strcmp(mode, "changing"));
	return 0;
}
