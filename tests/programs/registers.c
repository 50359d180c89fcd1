/*
 * Programs whose only data lives in registers: general ones with the flags (and the red zone on
 * x86-64), vector, mask and x87 ones with their control words, while computing and inside a call.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#define SPIN_TURNS    50000
#define GENERAL_WORDS 32

void registers_general_spin(const uint64_t *in, uint64_t *out, uint64_t turns);
void registers_general_sleep(const uint64_t *in, uint64_t *out, const struct timespec *time);

/* The kernel keeps all registers over a call; only those that carry it are its own. */
void registers_general_ppoll(const uint64_t *in, uint64_t *out, struct timespec *time);

enum how { HOW_SPIN, HOW_SLEEP, HOW_PPOLL };

static const struct timespec pause_time = { 0, 20 * NS_PER_MS };

static void pattern_fill(void *bytes, size_t size, unsigned int seed)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] = (unsigned char)rand_r(&seed);
}

#ifdef __aarch64__

#define FLAG_WORD  31
#define FLAG_MASK  0xf0000000ULL
#define CALL_WORD  8 /* the kernel puts the number of restart_syscall here */
#define FPSR_FLAGS 0x0800009fULL

struct vector_state {
	unsigned char v[32][16];
	uint64_t fpcr, fpsr;
};

void registers_vector_spin(const void *in, void *out, uint64_t turns);
void registers_vector_sleep(const void *in, void *out, const struct timespec *time);
void registers_vector_ppoll(const void *in, void *out, struct timespec *time);
void registers_sve_spin(const void *z, const void *p, void *z_out, void *p_out, uint64_t turns);
uint64_t registers_sve_length(void);

static bool general_equal(const uint64_t *in, const uint64_t *out, enum how how)
{
	int carriers = how == HOW_SPIN ? 0 : how == HOW_SLEEP ? 1 : 4;

	for (int i = 1; i < 31; i++) {
		if (i <= carriers || (i == CALL_WORD && how != HOW_SPIN))
			continue;
		if (in[i] != out[i])
			return false;
	}
	return out[0] == 0 && (in[FLAG_WORD] & FLAG_MASK) == (out[FLAG_WORD] & FLAG_MASK);
}

static void vector_fill(struct vector_state *state, unsigned int seed)
{
	memset(state, 0, sizeof(*state));
	pattern_fill(state->v, sizeof(state->v), seed);
	state->fpcr = (uint64_t)(seed & 3) << 22; /* rounding mode */
	state->fpsr = seed & FPSR_FLAGS;
}

static void vector_turn(const struct vector_state *in, struct vector_state *out, enum how how)
{
	struct timespec left = pause_time;

	if (how == HOW_PPOLL)
		registers_vector_ppoll(in, out, &left);
	else if (how == HOW_SLEEP)
		registers_vector_sleep(in, out, &pause_time);
	else
		registers_vector_spin(in, out, SPIN_TURNS);
}

#define SVE_MAX 256 /* bytes of one z register */

struct sve_state {
	unsigned char z[32 * SVE_MAX];
	unsigned char p[17 * SVE_MAX / 8]; /* ffr, p0..p15 */
};

/* ffr holds ones up to the first fault and zeros from there, by its definition. */
static void sve_fill(struct sve_state *state, uint64_t length, unsigned int seed)
{
	pattern_fill(state, sizeof(*state), seed);
	memset(state->p, 0, length / 8);
	memset(state->p, 0xff, length / 16);
}

static void sve_turn(unsigned int seed)
{
	static struct sve_state in, out;
	uint64_t length = registers_sve_length();

	sve_fill(&in, length, seed);
	registers_sve_spin(in.z, in.p, out.z, out.p, SPIN_TURNS);
	if (memcmp(in.z, out.z, 32 * length) != 0 || memcmp(in.p, out.p, 17 * length / 8) != 0)
		workload_corrupt("registers: SVE");
}

#ifndef HWCAP_SVE
#define HWCAP_SVE (1 << 22)
#endif

static void extra_turn(unsigned int seed)
{
	if (getauxval(AT_HWCAP) & HWCAP_SVE)
		sve_turn(seed);
}

#else

#define FLAG_WORD 14
#define FLAG_MASK 0xcd5ULL /* carry, parity, adjust, zero, sign, direction, overflow */
#define ZONE_WORD 15

struct vector_state {
	unsigned char v[32][64];
	uint64_t k[8];
	unsigned char x87[8][16];
	uint32_t mxcsr;
	uint16_t control, unused;
};

typedef void vector_spin(const void *in, void *out, uint64_t turns);
typedef void vector_sleep(const void *in, void *out, const struct timespec *time);
typedef void vector_ppoll(const void *in, void *out, struct timespec *time);

vector_spin registers_zmm_spin, registers_ymm_spin, registers_xmm_spin;
vector_sleep registers_zmm_sleep, registers_ymm_sleep, registers_xmm_sleep;
vector_ppoll registers_zmm_ppoll, registers_ymm_ppoll, registers_xmm_ppoll;

/* Registers that a system call changes by itself: rax, rcx, r11, and those that carry arguments. */
static bool is_changed_by_call(int i, enum how how)
{
	if (how == HOW_PPOLL && (i == 2 || i == 6 || i == 8))
		return true;
	return how != HOW_SPIN && (i == 0 || i == 3 || i == 4 || i == 9);
}

static bool general_equal(const uint64_t *in, const uint64_t *out, enum how how)
{
	for (int i = 0; i < FLAG_WORD; i++) {
		if (in[i] != out[i] && !is_changed_by_call(i, how))
			return false;
	}
	for (int i = 16; i < GENERAL_WORDS; i++) {
		if (out[i] != in[ZONE_WORD])
			return false;
	}
	return (in[FLAG_WORD] & FLAG_MASK) == (out[FLAG_WORD] & FLAG_MASK);
}

/* x87 values are made from integers: any 80 bits would hold unnormal numbers, which trap. */
static void vector_fill(struct vector_state *state, unsigned int seed)
{
	memset(state, 0, sizeof(*state));
	pattern_fill(state->v, sizeof(state->v), seed);
	pattern_fill(state->k, sizeof(state->k), seed + 1);
	for (int i = 0; i < 8; i++) {
		long double value = (long double)(seed + 1) * (i + 3) / 7;

		memcpy(state->x87[i], &value, 10);
	}
	state->mxcsr = 0x1f80 | (seed & 3) << 13;
	state->control = (uint16_t)(0x037f | (seed & 3) << 10);
}

static void vector_turn(const struct vector_state *in, struct vector_state *out, enum how how)
{
	bool has_zmm = __builtin_cpu_supports("avx512bw");
	bool has_ymm = __builtin_cpu_supports("avx");
	vector_spin *spin = has_ymm ? registers_ymm_spin : registers_xmm_spin;
	vector_sleep *sleep = has_ymm ? registers_ymm_sleep : registers_xmm_sleep;
	vector_ppoll *ppoll = has_ymm ? registers_ymm_ppoll : registers_xmm_ppoll;
	struct timespec left = pause_time;

	/* What the narrower functions do not touch counts as equal. */
	memcpy(out, in, sizeof(*out));
	if (how == HOW_PPOLL)
		(has_zmm ? registers_zmm_ppoll : ppoll)(in, out, &left);
	else if (how == HOW_SLEEP)
		(has_zmm ? registers_zmm_sleep : sleep)(in, out, &pause_time);
	else
		(has_zmm ? registers_zmm_spin : spin)(in, out, SPIN_TURNS);
}

static void extra_turn(unsigned int seed)
{
	(void)seed;
}

#endif

static void general_turn(const uint64_t *in, uint64_t *out, enum how how)
{
	struct timespec left = pause_time;

	if (how == HOW_PPOLL)
		registers_general_ppoll(in, out, &left);
	else if (how == HOW_SLEEP)
		registers_general_sleep(in, out, &pause_time);
	else
		registers_general_spin(in, out, SPIN_TURNS);
}

static void general_run(const void *data)
{
	enum how how = *(const enum how *)data;
	uint64_t in[GENERAL_WORDS], out[GENERAL_WORDS];

	workload_ready();
	for (unsigned int seed = 1;; seed++) {
		pattern_fill(in, sizeof(in), seed);
		in[FLAG_WORD] &= FLAG_MASK;
		memset(out, 0, sizeof(out));
		general_turn(in, out, how);
		if (!general_equal(in, out, how))
			workload_corrupt("registers: general");
		workload_turn();
	}
}

static void vector_run(const void *data)
{
	enum how how = *(const enum how *)data;
	static struct vector_state in, out;

	workload_ready();
	for (unsigned int seed = 1;; seed++) {
		vector_fill(&in, seed);
		memset(&out, 0, sizeof(out));
		vector_turn(&in, &out, how);
		if (memcmp(&in, &out, sizeof(in)) != 0)
			workload_corrupt("registers: vector");
		if (how == HOW_SPIN)
			extra_turn(seed);
		workload_turn();
	}
}

#define HOW(value) (&(const enum how){ value })

const struct workload workloads[] = {
	{ "general", general_run, HOW(HOW_SPIN) },
	{ "general_call", general_run, HOW(HOW_SLEEP) },
	{ "general_ppoll", general_run, HOW(HOW_PPOLL) },
	{ "vector", vector_run, HOW(HOW_SPIN) },
	{ "vector_call", vector_run, HOW(HOW_SLEEP) },
	{ "vector_ppoll", vector_run, HOW(HOW_PPOLL) },
	{ NULL, NULL, NULL },
};
