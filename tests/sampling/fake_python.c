/*
 * A program that passes for a Python interpreter: its symbols, and a state of the runtime that
 * leads anywhere.  Compiled with the VERSION that it claims to be.
 *
 *   argument: cycle     frames that lead to each other
 *             garbage   code objects and texts whose sizes and addresses make no sense
 *             changing  the same, written over all the time
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default"), used))

extern const unsigned long Py_Version;
extern uint64_t _PyRuntime[64], PyCode_Type[64];
EXPORTED const unsigned long Py_Version = VERSION;
EXPORTED uint64_t _PyRuntime[64], PyCode_Type[64];

/* As 3.11 has them, in words. */
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

static void lay_out(unsigned turn)
{
	for (unsigned i = 0; i < 8; i++) {
		frames[i][4] = (uintptr_t)codes[i];
		frames[i][6] = (uintptr_t)frames[(i + 1) % 8];
		frames[i][7] = (uintptr_t)codes[i] + 184 + turn % 64;
		frames[i][8] = (uint64_t)(i & 1) << 32;
		codes[i][1] = (uintptr_t)PyCode_Type;
		for (unsigned k = 14; k < 18; k++)
			codes[i][k] = (turn + i + k) % 3 ? (uintptr_t)texts[i] : odd(turn + i + k);
		for (unsigned k = 2; k < 16; k++)
			texts[i][k] = odd(turn + i * k);
		texts[i][4] = (turn + i) % 256;
	}
	control[1] = (uintptr_t)frames[0];
	thread[7] = (uintptr_t)control;
	thread[19] = (uint64_t)pthread_self();
	interpreter[2] = (uintptr_t)thread;
	_PyRuntime[5] = (uintptr_t)interpreter;
}

EXPORTED void _PyEval_EvalFrameDefault(int is_changing);

EXPORTED __attribute__((noinline)) void _PyEval_EvalFrameDefault(int is_changing)
{
	for (unsigned turn = 1;; turn++)
		if (is_changing && turn % 1000 == 0)
			lay_out(turn / 1000);
		else
			__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "cycle";

	lay_out(7);
	if (!strcmp(mode, "cycle"))
		memset(codes, 0, sizeof(codes));
	_PyEval_EvalFrameDefault(!strcmp(mode, "changing"));
	return 0;
}
