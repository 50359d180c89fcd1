/*
 * The bodies of callees.h.
 */
#include "callees.h"

#include <errno.h>
#include <stdarg.h>

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx")))
#else
#define WIDE
#endif

#define MIX_0  1
#define MIX_1  MIX_0 + 3 * a1
#define MIX_2  MIX_1 + 5 * a2
#define MIX_3  MIX_2 + 7 * a3
#define MIX_4  MIX_3 + 11 * a4
#define MIX_5  MIX_4 + 13 * a5
#define MIX_6  MIX_5 + 17 * a6
#define MIX_7  MIX_6 + 19 * a7
#define MIX_8  MIX_7 + 23 * a8
#define MIX_9  MIX_8 + 29 * a9
#define MIX_10 MIX_9 + 31 * a10
#define MIX_11 MIX_10 + 37 * a11
#define MIX_12 MIX_11 + 41 * a12
#define MIX_13 MIX_12 + 43 * a13
#define MIX_14 MIX_13 + 47 * a14

#define DEFINE_INTEGERS(n)                           \
	int64_t integers_##n(ARGUMENTS_##n(int64_t)) \
	{                                            \
		return MIX_##n;                      \
	}
#define DEFINE_BYTES(n)                         \
	int8_t bytes_##n(ARGUMENTS_##n(int8_t)) \
	{                                       \
		return (int8_t)(MIX_##n);       \
	}
#define DEFINE_DOUBLES(n)                         \
	double doubles_##n(ARGUMENTS_##n(double)) \
	{                                         \
		return MIX_##n;                   \
	}
#define DEFINE_FLOATS(n)                       \
	float floats_##n(ARGUMENTS_##n(float)) \
	{                                      \
		return MIX_##n;                \
	}
ALL_COUNTS(DEFINE_INTEGERS)
ALL_COUNTS(DEFINE_BYTES)
ALL_COUNTS(DEFINE_DOUBLES)
ALL_COUNTS(DEFINE_FLOATS)

vector4 vectors_8(ARGUMENTS_8(vector4))
{
	return a1 + 2 * a2 + 3 * a3 + 4 * a4 + 5 * a5 + 6 * a6 + 7 * a7 + 8 * a8;
}

vector4 vectors_14(ARGUMENTS_14(vector4))
{
	return a1 + 2 * a2 + 3 * a3 + 4 * a4 + 5 * a5 + 6 * a6 + 7 * a7 + 8 * a8 + 9 * a9 +
	       10 * a10 + 11 * a11 + 12 * a12 + 13 * a13 + 14 * a14;
}

vector2 vector_pairs(vector2 a, int64_t b, vector2 c, double d)
{
	return a * (double)b + c * d;
}

WIDE wide4 wides(wide4 a, wide4 b)
{
	return a * 3 + b;
}

long double long_doubles(long double a, int64_t b, long double c, long double d)
{
	return a * 3 + (long double)b * 5 + c * 7 + d * 11;
}

_Complex double complexes(_Complex double a, _Complex double b)
{
	return a * 3 + b;
}

_Complex float complex_floats(_Complex float a, _Complex float b)
{
	return a * 3 + b;
}

_Complex long double complex_long_doubles(_Complex long double a, int64_t b)
{
	return a * 3 + (long double)b;
}

__int128 larges(__int128 a, int64_t b, __int128 c)
{
	return a * 3 + b * 5 + c * 7;
}

struct pair pairs(struct pair a, struct pair b)
{
	return (struct pair){ a.a + 3 * b.b, a.b - 5 * b.a };
}

struct doubles2 two_doubles(struct doubles2 a, struct doubles2 b)
{
	return (struct doubles2){ a.a + 3 * b.b, a.b - 5 * b.a };
}

struct floats4 four_floats(struct floats4 a, struct floats4 b)
{
	return (struct floats4){ a.a + b.d, a.b + 2 * b.c, a.c + 3 * b.b, a.d + 4 * b.a };
}

struct doubles4 four_doubles(struct doubles4 a, struct doubles4 b)
{
	return (struct doubles4){ a.a + b.d, a.b + 2 * b.c, a.c + 3 * b.b, a.d + 4 * b.a };
}

struct mixed mixes(struct mixed a, int64_t b, struct mixed c)
{
	return (struct mixed){ a.a + c.a, a.b + 3 * c.b + (int32_t)b, a.c - c.c };
}

struct three threes(struct three a, int64_t b, struct three c)
{
	return (struct three){ a.a + b, a.b - c.b * 3, a.c + c.a + c.c };
}

struct big bigs(int64_t a, struct big b, int64_t c)
{
	for (int i = 0; i < 8; i++)
		b.words[i] = b.words[i] * a + c;
	return b;
}

double interleaved(int64_t a, double b, int64_t c, double d, int64_t e, double f, int64_t g,
		   double h, int64_t i, double j, int64_t k, double l, int64_t m, double n,
		   int64_t o, double p, int64_t q, double r)
{
	return (double)(a + 2 * c + 3 * e + 4 * g + 5 * i + 6 * k + 7 * m + 8 * o + 9 * q) + b +
	       2 * d + 3 * f + 4 * h + 5 * j + 6 * l + 7 * n + 8 * p + 9 * r;
}

int64_t sum_integers(int count, ...)
{
	int64_t sum = 0;
	va_list list;

	va_start(list, count);
	for (int i = 1; i <= count; i++)
		sum += i * va_arg(list, int64_t);
	va_end(list);
	return sum;
}

double sum_doubles(int count, ...)
{
	double sum = 0;
	va_list list;

	va_start(list, count);
	for (int i = 1; i <= count; i++)
		sum += i * va_arg(list, double);
	va_end(list);
	return sum;
}

double sum_both(int count, ...)
{
	double sum = 0;
	va_list list;

	va_start(list, count);
	for (int i = 1; i <= count; i++) {
		sum += (double)(i * va_arg(list, int64_t));
		sum += i * va_arg(list, double);
	}
	va_end(list);
	return sum;
}

/* Each calls the other through the table of imports, which is hooked too. */
int64_t deep(int64_t depth, double value)
{
	return depth ? deeper(depth - 1, value + 1) + depth : (int64_t)value;
}

int64_t deeper(int64_t depth, double value)
{
	return depth ? deep(depth - 1, value + 2) + depth : (int64_t)value;
}

int64_t call_back(int64_t (*function)(int64_t, double), int64_t a, double b)
{
	return 3 * function(a, b);
}

int set_errno(int number)
{
	errno = number;
	return -1;
}
