#!/usr/bin/env python3
"""Writes a C program of chains of calls, each of other frames: c03_a calls c03_b, which calls c03_c, and so on.

usage: make_shapes.py [ROUNDS] > FILE

Each function is called by one other only, which its name tells.  What its frame looks like is the shape of the
chain; the compiler and its options do the rest.  It stops itself (int3, brk) before and behind one turn when it is
given an argument, for each_instruction; else it turns until it is ended, for samplers.
"""

import sys

HEAD = r"""
#include <alloca.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#define APART __attribute__((noinline, noclone, used))
#else
#define APART __attribute__((noinline, used))
#endif
#ifdef __x86_64__
#define STOP __asm__ volatile("int3" ::: "memory")
#else
#define STOP __asm__ volatile("brk #0" ::: "memory")
#endif
#define KEEP(x) __asm__ volatile("" : "+r"(x) :: "memory")
#define TOUCH(p) __asm__ volatile("" :: "r"(p) : "memory")

typedef long word;
struct large { word values[40]; };
static int rounds = 1;
volatile word never;

static inline __attribute__((always_inline)) word work(word x)
{
	for (int i = 0; i < rounds; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		KEEP(x);
	}
	return x;
}
"""

# What stands around the call of the next function: {call} is it, with `x` as its argument.
SHAPES = {
    "plain": "x = work(x); x += {call}; x = work(x); return x + 1;",
    "saved": "word a = work(x), b = work(a), c = work(b), d = work(c), e = work(d), f = work(e), g = work(f); x = {call};"
             " return work(a ^ b) + c + d * e + f + g + x;",
    "large": "char room[5000]; TOUCH(room); room[x & 4095] = 1; x += {call}; TOUCH(room); return x + room[17];",
    "huge": "char room[300000]; room[x & 0xffff] = 1; TOUCH(room); x += {call}; TOUCH(room); return x + room[17];",
    "alloca": "char *room = alloca((x & 255) + 16); TOUCH(room); room[3] = 4; x += {call}; TOUCH(room); return x + room[3];",
    "vla": "word count = (x & 31) + 2; word room[count]; TOUCH(room); room[1] = x; x = {call}; TOUCH(room); return x + room[1];",
    "aligned": "_Alignas(64) char room[128]; TOUCH(room); room[5] = (char)x; x += {call}; TOUCH(room); return x + room[5];",
    "aligned_vla": "_Alignas(64) char room[128]; word count = (x & 31) + 2; word more[count]; TOUCH(room); TOUCH(more);"
                   " x += {call}; TOUCH(more); return x + room[5] + more[1];",
    "early": "if (never) return x; if ((x & 7) == 5) return work(x) + 3; x = {call}; if (x & 1) return x * 3;"
             " if (x & 2) return work(x) + 1; return x + 7;",
    "shrunk": "if (x == 77) return 5; if (never) return 6; word a = work(x), b = work(a); x += {call}; x += a * b;"
              " if (never == 3) return work(x); return x;",
    "cases": "switch (x & 15) {{ case 0: x += 3; break; case 1: x = work(x); break; case 2: x ^= 5; break; case 3: return {call} + 4;"
             " case 4: x = {call}; return x + 9; case 5: x -= 9; break; case 6: x = -x; break; case 7: return work({call}); default: x++; }}"
             " x += {call}; return x + 2;",
    "floats": "double a = (double)(x & 1023), b = sqrt(a + 1), c = a * b, d = c - a; x += {call}; return x + (word)(a + b * c - d);",
    "large_value": "struct large all; memset(&all, (int)x, sizeof(all)); TOUCH(&all); x += {call}; TOUCH(&all);"
                   " return x + all.values[x & 31];",
    "jump": "jmp_buf here; volatile word kept = x; if (setjmp(here)) return kept + 1; TOUCH(here); x += {call};"
            " if (never) longjmp(here, 1); return x + kept;",
    "loop": "word sum = 0; for (int i = 0; i < 2; i++) {{ sum += {call}; x = work(x + i); }} return sum + x;",
    "many": "return many(x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9) + {call};",
    "never_back": "if (never == 5) abort(); x += {call}; if (never == 6) exit(3); return x + 1;",
    "bare": "x ^= x >> 7; return {call} + x;",
}
DEPTH = 4
LETTERS = "abcdefgh"

EXTRA = r"""
APART static word many(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j)
{
	return work(a + b) + c * d + e + f + g * h + i + j;
}

APART static word listed(int count, ...)
{
	va_list list;
	word sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, word);
	va_end(list);
	return work(sum);
}

APART static double mixed(double a, word b, double c, word d)
{
	return a * (double)work(b) + c / (double)(d | 1);
}
"""

# As glibc's __memcpy_chk: its last instruction may go on, through the space before the next function.
FALLING = r"""
#ifdef __x86_64__
word falls(word x, word least);
word falls_further(word x);
__asm__(".text\n.p2align 4\n.type falls, @function\nfalls: .cfi_startproc\n cmp %rsi, %rdi\n jl fallen\n .cfi_endproc\n.size falls, . - falls\n"
        " .byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n.p2align 4\n"
        ".type falls_further, @function\nfalls_further: .cfi_startproc\n lea 1(%rdi), %rax\n ret\n .cfi_endproc\n.size falls_further, . - falls_further\n"
        ".type fallen, @function\nfallen: .cfi_startproc\n xor %eax, %eax\n ret\n .cfi_endproc\n.size fallen, . - fallen");
#else
static word falls(word x, word least) { return x > least ? x + 1 : 0; }
#endif
"""


def function(name, shape, callee):
    call = f"{callee}(x + 1)" if callee else "(word)work(x)"
    return f"APART word {name}(word x)\n{{\n\t{SHAPES[shape].format(call=call)}\n}}\n"


def chain(number, shapes):
    names = [f"c{number:02}_{letter}" for letter in LETTERS[:len(shapes)]]
    callees = [*names[1:], None]
    return "\n".join(reversed([function(*of) for of in zip(names, shapes, callees)]))


def tail_chain(number):
    """The last but one jumps to the last: its frame may be gone by then, which its name tells."""
    a, b, c = (f"c{number:02}_{letter}" for letter in ("a", "b_tail", "c"))
    return (f"APART word {c}(word x)\n{{\n\tword a = work(x), b = work(a);\n\n\treturn work(a ^ b) + a;\n}}\n\n"
            f"APART word {b}(word x)\n{{\n\tchar room[64];\n\n\tTOUCH(room);\n\troom[x & 63] = 1;\n\tx += many(x, 1, 2, 3, 4, 5, 6, 7, 8, 9) + room[1];\n"
            f"\treturn {c}(x);\n}}\n\n"
            f"APART word {a}(word x)\n{{\n\treturn {b}(x + 1) + 1;\n}}\n")


def last_chain(number):
    a = f"c{number:02}_a"
    return (f"APART word {a}(word x)\n{{\n\tx += listed(3, x, x + 1, x + 2) + listed(12, x, x, x, x, x, x, x, x, x, x, x, x);\n"
            f"\tx += falls(x & 1023, -1);\n\treturn x + (word)mixed(1.5, x, 2.5, x + 1) + many(x, 1, 2, 3, 4, 5, 6, 7, 8, 9);\n}}\n")


def chains():
    names = list(SHAPES)
    for number, name in enumerate(names):
        yield chain(number, [names[(number + step * (number % 5 + 1)) % len(names)] for step in range(DEPTH)])
    yield tail_chain(len(names))
    yield last_chain(len(names) + 1)


def main():
    every = list(chains())
    print(HEAD + EXTRA + FALLING)
    print("\n".join(every))
    print("APART word turn(word x)\n{")
    print("\n".join(f"\tx += c{number:02}_a(x);" for number in range(len(every))))
    print("\treturn x;\n}\n")
    print("""int main(int argc, char **argv)
{
	word x = 1;

	if (argc > 1) {
		STOP;
		x = turn(x) + turn(x + 5);
		STOP;
		return (int)x;
	}
	rounds = 40;
	for (;;)
		x = turn(x);
}""")


if __name__ == "__main__":
    main()
