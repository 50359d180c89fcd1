/*
 * Calls every function of callees.h.
 */
#include "rounds.h"

#include "callees.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx")))
#else
#define WIDE
#endif

struct fold {
	uint64_t state, hash;
};

static int64_t next(struct fold *fold)
{
	fold->state = fold->state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)(fold->state >> 40) - (1 << 23);
}

/* Not inlined: there are hundreds of calls, and compilers would take minutes for them. */
static __attribute__((noinline)) void add(struct fold *fold, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size--)
		fold->hash = (fold->hash ^ *at++) * 0x100000001b3u;
}

#define ADD(fold, value)                            \
	do {                                        \
		__typeof__(value) result = (value); \
		add(fold, &result, sizeof(result)); \
	} while (0)

#define N next(fold)

#define GIVEN_0
#define GIVEN_1  N
#define GIVEN_2  GIVEN_1, N
#define GIVEN_3  GIVEN_2, N
#define GIVEN_4  GIVEN_3, N
#define GIVEN_5  GIVEN_4, N
#define GIVEN_6  GIVEN_5, N
#define GIVEN_7  GIVEN_6, N
#define GIVEN_8  GIVEN_7, N
#define GIVEN_9  GIVEN_8, N
#define GIVEN_10 GIVEN_9, N
#define GIVEN_11 GIVEN_10, N
#define GIVEN_12 GIVEN_11, N
#define GIVEN_13 GIVEN_12, N
#define GIVEN_14 GIVEN_13, N

#define CALL_INTEGERS(n) ADD(fold, integers_##n(GIVEN_##n));
#define CALL_BYTES(n)    ADD(fold, bytes_##n(GIVEN_##n));
#define CALL_DOUBLES(n)  ADD(fold, doubles_##n(GIVEN_##n));
#define CALL_FLOATS(n)   ADD(fold, floats_##n(GIVEN_##n));

#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsequence-point"

static void call_counts(struct fold *fold)
{
	ALL_COUNTS(CALL_INTEGERS)
	ALL_COUNTS(CALL_BYTES)
	ALL_COUNTS(CALL_DOUBLES)
	ALL_COUNTS(CALL_FLOATS)
}

static vector4 vector(struct fold *fold)
{
	float value = (float)N;

	return (vector4){ value, value + 1, value + 2, value + 3 };
}

#define V vector(fold)

static void call_vectors(struct fold *fold)
{
	vector2 two = { (double)N, 2 };

	ADD(fold, vectors_8(V, V, V, V, V, V, V, V));
	ADD(fold, vectors_14(V, V, V, V, V, V, V, V, V, V, V, V, V, V));
	ADD(fold, vector_pairs(two, N, two + 1, (double)N));
}

/* What is in the upper halves of vector registers must survive, too. */
WIDE static void call_wides(struct fold *fold)
{
	wide4 a = { N, N, N, N }, b = { N, N, N, N };

	ADD(fold, wides(a, b));
	ADD(fold, wides(b, a + 1));
}

static bool has_wides(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx");
#else
	return true;
#endif
}

/* The padding of these is not compared. */
static void call_long_doubles(struct fold *fold)
{
	_Complex long double both = complex_long_doubles((long double)N + 2.0L * I, N);

	ADD(fold, (double)long_doubles((long double)N, N, (long double)N, (long double)N));
	ADD(fold, (double)long_doubles(1.5L, N, (long double)N, -2.25L));
	ADD(fold, (double)creall(both));
	ADD(fold, (double)cimagl(both));
}

static void call_numbers(struct fold *fold)
{
	__int128 large = (__int128)N << 64 | (uint64_t)N;

	ADD(fold, complexes((double)N + 3.0 * I, (double)N - 1.0 * I));
	ADD(fold, complex_floats((float)N + 3.0f * I, (float)N - 1.0f * I));
	ADD(fold, larges(large, N, large + 1));
	ADD(fold, larges(-large, N, 7));
	ADD(fold, interleaved(N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N));
}

static void call_structures(struct fold *fold)
{
	struct pair pair = { (int32_t)N, (int32_t)N };
	struct doubles2 two = { (double)N, (double)N };
	struct floats4 floats = { (float)N, (float)N, (float)N, (float)N };
	struct doubles4 doubles = { (double)N, (double)N, (double)N, (double)N };
	struct mixed mixed = { (float)N, (int32_t)N, (double)N };
	struct three three = { N, N, N };
	struct big big = { { N, N, N, N, N, N, N, N } };

	ADD(fold, pairs(pair, (struct pair){ 1, (int32_t)N }));
	ADD(fold, two_doubles(two, (struct doubles2){ 1, (double)N }));
	ADD(fold, four_floats(floats, (struct floats4){ 1, 2, 3, (float)N }));
	ADD(fold, four_doubles(doubles, (struct doubles4){ 1, 2, 3, (double)N }));
	ADD(fold, mixes(mixed, N, (struct mixed){ 1, 2, (double)N }));
	ADD(fold, threes(three, N, (struct three){ 1, N, 3 }));
	ADD(fold, bigs(N, big, N));
}

static void call_variadics(struct fold *fold)
{
	ADD(fold, sum_integers(0));
	ADD(fold, sum_integers(4, N, N, N, N));
	ADD(fold, sum_integers(14, N, N, N, N, N, N, N, N, N, N, N, N, N, N));
	ADD(fold, sum_doubles(3, (double)N, (double)N, (double)N));
	ADD(fold, sum_doubles(12, 1., 2., 3., 4., 5., 6., 7., 8., 9., (double)N, 11., (double)N));
	ADD(fold, sum_both(7, N, 1., N, 2., N, 3., N, 4., N, 5., N, 6., N, (double)N));
}

static int64_t called_back(int64_t a, double b)
{
	return a + (int64_t)b * 5;
}

static void call_others(struct fold *fold)
{
	errno = 7;
	ADD(fold, deep(ROUND_DEPTH, 2.5));
	ADD(fold, call_back(called_back, N, 4.0));
	ADD(fold, errno);
	ADD(fold, set_errno(42));
	ADD(fold, errno);
}

uint64_t round_of(uint64_t seed)
{
	struct fold fold = { seed, 0xcbf29ce484222325u };

	call_counts(&fold);
	call_vectors(&fold);
	if (has_wides())
		call_wides(&fold);
	call_long_doubles(&fold);
	call_numbers(&fold);
	call_structures(&fold);
	call_variadics(&fold);
	call_others(&fold);
	return fold.hash;
}
