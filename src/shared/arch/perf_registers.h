/*
 * The registers that perf_event_open() can copy, and how DWARF counts them: PERF_REGISTERS lists
 * { perf's number, DWARF's number } by ascending perf numbers, in the order of a sample.
 */
#pragma once

#define PERF_REGISTER_PC 64 /* in place of a DWARF number */

#if defined(__x86_64__)
/* ax bx cx dx si di bp sp ip, r8 to r15 */
#define PERF_REGISTERS                                                                             \
	{ 0, 0 }, { 1, 3 }, { 2, 2 }, { 3, 1 }, { 4, 4 }, { 5, 5 }, { 6, 6 }, { 7, 7 },            \
		{ 8, PERF_REGISTER_PC }, { 16, 8 }, { 17, 9 }, { 18, 10 }, { 19, 11 }, { 20, 12 }, \
		{ 21, 13 }, { 22, 14 }, { 23, 15 },
#define PERF_DWARF_FP 6
#define PERF_DWARF_SP 7
#elif defined(__aarch64__)
/* x0 to x30, sp, pc */
#define PERF_REGISTERS                                                                            \
	{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 }, { 6, 6 }, { 7, 7 }, { 8, 8 }, \
		{ 9, 9 }, { 10, 10 }, { 11, 11 }, { 12, 12 }, { 13, 13 }, { 14, 14 }, { 15, 15 }, \
		{ 16, 16 }, { 17, 17 }, { 18, 18 }, { 19, 19 }, { 20, 20 }, { 21, 21 },           \
		{ 22, 22 }, { 23, 23 }, { 24, 24 }, { 25, 25 }, { 26, 26 }, { 27, 27 },           \
		{ 28, 28 }, { 29, 29 }, { 30, 30 }, { 31, 31 }, { 32, PERF_REGISTER_PC },
#define PERF_DWARF_FP 29
#define PERF_DWARF_SP 31
#define PERF_DWARF_LR 30
#endif
