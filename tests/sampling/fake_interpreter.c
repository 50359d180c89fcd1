/*
 * A program that passes for an interpreter of PHP, Ruby, Perl or Lua: its symbols, and a state
 * that leads anywhere.  Compiled with what it claims to be: PHP_API, RUBY_VERSION, PERL_VERSION,
 * LUA_VERSION.
 *
 *   argument: cycle     frames and threads that lead to each other
 *             garbage   functions and texts whose sizes and addresses make no sense
 *             changing  the same, written over all the time
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))

#ifdef RUBY_VERSION
extern const char ruby_version[];
extern uint64_t *ruby_current_vm_ptr;
EXPORTED const char ruby_version[] = RUBY_VERSION;
static uint64_t machine[8];
EXPORTED uint64_t *ruby_current_vm_ptr = machine;
static uint64_t ring[2][16], stack[64], holder[8];
#elif defined(PERL_VERSION)
extern const char PL_version;
extern uint64_t *PL_curinterp, PL_ppaddr[512];
extern void Perl_runops_standard(void);
EXPORTED const char PL_version = PERL_VERSION;
static uint64_t state[64], stacks[2][8];
EXPORTED uint64_t *PL_curinterp = state, PL_ppaddr[512];
EXPORTED void Perl_runops_standard(void)
{
}
#elif defined(LUA_VERSION)
extern const char lua_ident[];
EXPORTED const char lua_ident[] =
	"$LuaVersion: Lua " LUA_VERSION "  Copyright and more than that $";
static uint64_t state[32], shared[64], values[8][8];
#define STATE state
#else
extern uint64_t executor_globals[225], module_registry[7];
EXPORTED uint64_t executor_globals[225], module_registry[7];
static uint64_t bucket[4], module[4];
#endif

#ifndef STATE
#define STATE 0
#endif

static uint64_t frames[8][16], functions[8][32], texts[8][16];

static const uint64_t odd_values[] = {
	0, 1, UINT64_MAX, INT64_MAX, INT64_MIN, 0x7fffffff, 0xffffffff, 1ull << 47, 0x5059ull << 48,
};

static uint64_t odd(unsigned i)
{
	uint64_t inside[] = { (uintptr_t)frames, (uintptr_t)functions, (uintptr_t)texts,
			      (uintptr_t)odd };

	i %= (unsigned)(sizeof(odd_values) / 8 + sizeof(inside) / 8);
	return i < sizeof(odd_values) / 8 ? odd_values[i] : inside[i - sizeof(odd_values) / 8];
}

#ifdef PHP_API
#define FUNCTION(turn) ((turn) % 4)
#define TEXT(turn)     (6ull << 32)
static void lay_out_frames(unsigned turn)
{
	for (unsigned i = 0; i < 8; i++) {
		frames[i][0] = odd(turn + i);
		frames[i][3] = (uintptr_t)functions[i];
		frames[i][5] = (uint64_t)(turn + i) % 2 << 17;
		frames[i][6] = (uintptr_t)frames[(i + 1) % 8];
	}
	executor_globals[61] = (uintptr_t)frames[0];
	module[0] = (uint64_t)PHP_API << 32;
	bucket[0] = (uintptr_t)module;
	module_registry[2] = (uintptr_t)bucket;
}
#elif defined(PERL_VERSION)
#define FUNCTION(turn) (uintptr_t) functions[(turn) % 8]
#define TEXT(turn)     ((uint64_t)(turn) << 32 | (turn) % 300)
static void lay_out_frames(unsigned turn)
{
	for (unsigned i = 0; i < 8; i++) {
		uint64_t *context = frames[0] + 13 * i;

		functions[i][1] = 1 | (turn % 2 ? 13ull : 9ull) << 32;
		context[0] = 9;
		context[2] = turn % 3 ? (uintptr_t)functions[i] : odd(turn);
		context[6] = turn % 2;
		context[9] = turn % 5 ? (uintptr_t)functions[i] : odd(turn);
	}
	for (unsigned i = 0; i < 2; i++) {
		stacks[i][1] = (uintptr_t)frames;
		stacks[i][2] = (uintptr_t)stacks[1 - i];
		stacks[i][4] = turn % 7 ? 7 : odd(turn / 7);
	}
	state[26] = (uintptr_t)functions[0];
	state[28] = (uintptr_t)stacks[0];
}
#elif defined(LUA_VERSION)
#define FUNCTION(turn) (turn)
#define TEXT(turn)     (turn)
static void lay_out_frames(unsigned turn)
{
	for (unsigned i = 0; i < 8; i++) {
		functions[i][1] = 10;
		functions[i][3] = turn % 3 ? turn : odd(turn) << 32 | (uint32_t)odd(turn / 3);
		texts[i][1] = turn % 5 ? 4 : odd(turn);
		values[i][0] = (uintptr_t)&values[i][2];
		values[i][1] = 0x46;
		values[i][3] = 6;
		values[i][5] = turn % 7 ? (uintptr_t)functions[i] : odd(turn / 7);
		frames[i][0] = (uintptr_t)values[i];
		frames[i][2] = (uintptr_t)frames[(i + 1) % 8];
		frames[i][4] = odd(turn + i);
		frames[i][7] = (uint64_t)turn << 50;
	}
	state[1] = 8;
	state[3] = (uintptr_t)shared;
	state[4] = (uintptr_t)frames[0];
	state[11] = turn % 2 ? 0 : odd(turn);
	shared[33] = (uintptr_t)state;
}
#else
#define FUNCTION(turn) 0x701a
#define TEXT(turn)     (0x5 | (turn) << 13)
static void lay_out_frames(unsigned turn)
{
	for (unsigned i = 0; i < 8; i++) {
		stack[i * 8] = (uintptr_t)functions[i] + turn % 64;
		stack[i * 8 + 2] = turn % 5 ? (uintptr_t)functions[i] : odd(turn);
		stack[i * 8 + 4] = turn % 7 ? (uintptr_t)texts[i] : odd(turn / 7);
	}
	holder[0] = (uintptr_t)stack;
	holder[1] = turn % 3 ? 64 : odd(turn);
	holder[2] = (uintptr_t)stack;
	for (unsigned i = 0; i < 2; i++) {
		ring[i][0] = (uintptr_t)ring[1 - i];
		ring[i][5] = (uintptr_t)holder;
	}
	ring[1][11] = (uint64_t)getpid();
	machine[5] = (uintptr_t)ring[0];
}
#endif

static void lay_out(unsigned turn)
{
	for (unsigned i = 0; i < 8; i++) {
		for (unsigned k = 0; k < 32; k++)
			functions[i][k] =
				(turn + i + k) % 3 ? (uintptr_t)texts[i] : odd(turn + i + k);
		functions[i][0] = FUNCTION(turn);
		functions[i][2] = (uintptr_t)functions[(i + 1) % 8];
		for (unsigned k = 0; k < 16; k++)
			texts[i][k] = odd(turn + i * k);
		texts[i][0] = TEXT(turn);
		texts[i][1] = 0;
	}
	lay_out_frames(turn);
}

EXPORTED void execute_ex(int is_changing);

EXPORTED __attribute__((noinline)) void execute_ex(int is_changing)
{
	uint64_t *volatile here = STATE;

	for (unsigned turn = 1; here || turn; turn++)
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
		memset(functions, 0, sizeof(functions));
	execute_ex(!strcmp(mode, "changing"));
	return 0;
}
