/*
 * Functions of every shape, in a library of their own: what a thunk that knows no prototype must
 * hand on unchanged.  Each mixes its arguments so that one in a wrong position, or a changed one,
 * shows.
 */
#pragma once

#include <complex.h>
#include <stdint.h>

typedef float vector4 __attribute__((vector_size(16)));
typedef double vector2 __attribute__((vector_size(16)));
typedef int64_t wide4 __attribute__((vector_size(32)));

struct pair {
	int32_t a, b;
};
struct doubles2 {
	double a, b;
};
struct floats4 {
	float a, b, c, d;
};
struct doubles4 {
	double a, b, c, d;
};
struct mixed {
	float a;
	int32_t b;
	double c;
};
struct three {
	int64_t a, b, c;
};
struct big {
	int64_t words[8];
};

/* FIRST(i) says what the first arguments are called; ARGUMENTS(n, T) are n of them. */
#define ARGUMENTS_0(T)  void
#define ARGUMENTS_1(T)  T a1
#define ARGUMENTS_2(T)  ARGUMENTS_1(T), T a2
#define ARGUMENTS_3(T)  ARGUMENTS_2(T), T a3
#define ARGUMENTS_4(T)  ARGUMENTS_3(T), T a4
#define ARGUMENTS_5(T)  ARGUMENTS_4(T), T a5
#define ARGUMENTS_6(T)  ARGUMENTS_5(T), T a6
#define ARGUMENTS_7(T)  ARGUMENTS_6(T), T a7
#define ARGUMENTS_8(T)  ARGUMENTS_7(T), T a8
#define ARGUMENTS_9(T)  ARGUMENTS_8(T), T a9
#define ARGUMENTS_10(T) ARGUMENTS_9(T), T a10
#define ARGUMENTS_11(T) ARGUMENTS_10(T), T a11
#define ARGUMENTS_12(T) ARGUMENTS_11(T), T a12
#define ARGUMENTS_13(T) ARGUMENTS_12(T), T a13
#define ARGUMENTS_14(T) ARGUMENTS_13(T), T a14

/* Runs through all counts of arguments, for one type; M(n) is used for each. */
#define ALL_COUNTS(M) \
	M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14)

#define DECLARE_INTEGERS(n) int64_t integers_##n(ARGUMENTS_##n(int64_t));
#define DECLARE_BYTES(n)    int8_t bytes_##n(ARGUMENTS_##n(int8_t));
#define DECLARE_DOUBLES(n)  double doubles_##n(ARGUMENTS_##n(double));
#define DECLARE_FLOATS(n)   float floats_##n(ARGUMENTS_##n(float));
ALL_COUNTS(DECLARE_INTEGERS)
ALL_COUNTS(DECLARE_BYTES)
ALL_COUNTS(DECLARE_DOUBLES)
ALL_COUNTS(DECLARE_FLOATS)

vector4 vectors_8(ARGUMENTS_8(vector4));
vector4 vectors_14(ARGUMENTS_14(vector4)); /* six on the stack: twelve words */
vector2 vector_pairs(vector2 a, int64_t b, vector2 c, double d);
wide4 wides(wide4 a, wide4 b);
long double long_doubles(long double a, int64_t b, long double c, long double d);
_Complex double complexes(_Complex double a, _Complex double b);
_Complex float complex_floats(_Complex float a, _Complex float b);
_Complex long double complex_long_doubles(_Complex long double a, int64_t b);
__int128 larges(__int128 a, int64_t b, __int128 c);
struct pair pairs(struct pair a, struct pair b);
struct doubles2 two_doubles(struct doubles2 a, struct doubles2 b);
struct floats4 four_floats(struct floats4 a, struct floats4 b);
struct doubles4 four_doubles(struct doubles4 a, struct doubles4 b);
struct mixed mixes(struct mixed a, int64_t b, struct mixed c);
struct three threes(struct three a, int64_t b, struct three c);
struct big bigs(int64_t a, struct big b, int64_t c);
double interleaved(int64_t a, double b, int64_t c, double d, int64_t e, double f, int64_t g,
		   double h, int64_t i, double j, int64_t k, double l, int64_t m, double n,
		   int64_t o, double p, int64_t q, double r);
int64_t sum_integers(int count, ...);
double sum_doubles(int count, ...);
double sum_both(int count, ...); /* pairs of an integer and a double */
int64_t deep(int64_t depth, double value);
int64_t deeper(int64_t depth, double value);
int64_t call_back(int64_t (*function)(int64_t, double), int64_t a, double b);
int set_errno(int number);
