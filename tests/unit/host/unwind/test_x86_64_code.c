/*
 * Rules by instructions of x86-64, on pieces of code that are made here: the same on each machine.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "host/unwind/arch/code.h"

#define CODE 0x1000u
#define SAME UNWIND_FP_SAME

static struct rows rows;
static unsigned char names[64];
static bool is_whole; /* each function has a name */

static int hear(void *context, uint64_t address, const struct rules *rules)
{
	const struct unwind_row none = { .kind = UNWIND_NONE, .fp = SAME };
	const struct unwind_row signal = { .kind = UNWIND_SIGNAL, .fp = SAME };
	uint32_t pc = (uint32_t)(address - CODE);

	(void)context;
	if (rules->kind == RULES_FRAME)
		return rows_add_rules(&rows, pc, rules);
	return rows_add(&rows, pc, rules->kind == RULES_SIGNAL ? signal : none);
}

static void read_bytes(const unsigned char *bytes, size_t size)
{
	const struct object_part piece = { bytes, size, CODE, true };
	const struct code_begins begins = {
		.first = CODE, .count = sizeof(names) * 8, .named = names, .is_whole = is_whole
	};
	const struct rules_listener listener = { hear, NULL };

	rows_done(&rows);
	rows.machine = unwind_machine_of(EM_X86_64);
	assert_int_equal(code_of_x86_64.read(&piece, &begins, &listener), 0);
}

#define READ(bytes) read_bytes(bytes, sizeof(bytes))

static const struct unwind_row *row_at(uint32_t pc)
{
	size_t at = 0;

	assert_true(rows.count > 0 && rows.items[0].pc <= pc);
	while (at + 1 < rows.count && rows.items[at + 1].pc <= pc)
		at++;
	return &rows.items[at];
}

static void assert_row(uint32_t pc, unsigned kind, unsigned cfa, int fp)
{
	const struct unwind_row *row = row_at(pc);

	assert_int_equal(row->kind, kind);
	assert_int_equal(row->cfa, cfa);
	assert_int_equal(row->fp, fp);
}

static void assert_nothing_known(void)
{
	for (size_t i = 0; i < rows.count; i++)
		assert_int_equal(rows.items[i].kind, UNWIND_NONE);
}

/* A loop of vectors, as codecs have it: a register more than calls may change, and room. */
static void follows_pushes_and_pops(void **state)
{
	static const unsigned char code[] = {
		0x53,                         /*  0 push %rbx */
		0x55,                         /*  1 push %rbp */
		0x48, 0x83, 0xec, 0x20,       /*  2 sub $32, %rsp */
		0x89, 0xd5,                   /*  6 mov %edx, %ebp */
		0xc5, 0xfd, 0xfe, 0x04, 0x0e, /*  8 vpaddd (%rsi,%rcx), %ymm0, %ymm0 */
		0xff, 0xcd,                   /* 13 dec %ebp */
		0x75, 0xf7,                   /* 15 jne 8 */
		0x48, 0x83, 0xc4, 0x20,       /* 17 add $32, %rsp */
		0x5d,                         /* 21 pop %rbp */
		0x5b,                         /* 22 pop %rbx */
		0xc5, 0xf8, 0x77,             /* 23 vzeroupper */
		0xc3,                         /* 26 ret */
	};

	(void)state;
	READ(code);
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_row(1, UNWIND_SP, 2, SAME);
	assert_row(2, UNWIND_SP, 3, -3);
	assert_row(6, UNWIND_SP, 7, -3);
	assert_row(16, UNWIND_SP, 7, -3);
	assert_row(21, UNWIND_SP, 3, -3);
	assert_row(22, UNWIND_SP, 2, SAME);
	assert_row(26, UNWIND_SP, 1, SAME);
}

/* As gcc does, with the place of the frame's begin in r10. */
static void follows_an_aligned_stack(void **state)
{
	static const unsigned char code[] = {
		0x4c, 0x8d, 0x54, 0x24, 0x08, /*  0 lea 8(%rsp), %r10 */
		0x48, 0x83, 0xe4, 0xc0,       /*  5 and $-64, %rsp */
		0x41, 0xff, 0x72, 0xf8,       /*  9 push -8(%r10) */
		0x55,                         /* 13 push %rbp */
		0x48, 0x89, 0xe5,             /* 14 mov %rsp, %rbp */
		0x41, 0x52,                   /* 17 push %r10 */
		0x48, 0x29, 0xc4,             /* 19 sub %rax, %rsp */
		0xe8, 0x00, 0x10, 0x00, 0x00, /* 22 call elsewhere */
		0x4c, 0x8b, 0x55, 0xf8,       /* 27 mov -8(%rbp), %r10 */
		0xc9,                         /* 31 leave */
		0x49, 0x8d, 0x62, 0xf8,       /* 32 lea -8(%r10), %rsp */
		0xc3,                         /* 36 ret */
	};

	(void)state;
	READ(code);
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_int_equal(rows.specials[row_at(9)->cfa].base, UNWIND_BASE_REGISTER + 10);
	assert_int_equal(rows.specials[row_at(14)->cfa].fp_saved, UNWIND_SAVED_NOT);
	assert_int_equal(rows.specials[row_at(22)->cfa].base, UNWIND_BASE_FP);
	assert_int_equal(rows.specials[row_at(22)->cfa].fp_saved, UNWIND_SAVED_AT_BASE);
	assert_int_equal(rows.specials[row_at(32)->cfa].fp_saved, UNWIND_SAVED_NOT);
	assert_row(36, UNWIND_SP, 1, SAME);
}

static void counts_from_the_frame_pointer(void **state)
{
	static const unsigned char code[] = {
		0x55,                         /*  0 push %rbp */
		0x48, 0x89, 0xe5,             /*  1 mov %rsp, %rbp */
		0x48, 0x29, 0xc4,             /*  4 sub %rax, %rsp */
		0xe8, 0x00, 0x10, 0x00, 0x00, /*  7 call elsewhere */
		0xc9,                         /* 12 leave */
		0xc3,                         /* 13 ret */
	};

	(void)state;
	READ(code);
	assert_row(1, UNWIND_SP, 2, -2);
	assert_row(4, UNWIND_FP, 2, -2);
	assert_row(11, UNWIND_FP, 2, -2);
	assert_row(13, UNWIND_SP, 1, SAME);
}

/* As x264 has it: rsp is rounded down, and what it was lies in the frame. */
static void finds_a_stack_pointer_that_is_kept(void **state)
{
	static const unsigned char code[] = {
		0x48, 0x89, 0xe0,             /*  0 mov %rsp, %rax */
		0x48, 0x83, 0xe4, 0xc0,       /*  3 and $-64, %rsp */
		0x48, 0x83, 0xec, 0x40,       /*  7 sub $64, %rsp */
		0x48, 0x89, 0x44, 0x24, 0x20, /* 11 mov %rax, 32(%rsp) */
		0x31, 0xc0,                   /* 16 xor %eax, %eax */
		0x48, 0x8b, 0x64, 0x24, 0x20, /* 18 mov 32(%rsp), %rsp */
		0xc3,                         /* 23 ret */
	};
	const struct unwind_special *special;

	(void)state;
	READ(code);
	assert_row(3, UNWIND_SP, 1, SAME);
	assert_int_equal(row_at(7)->kind, UNWIND_SPECIAL);
	special = &rows.specials[row_at(7)->cfa];
	assert_int_equal(special->base, UNWIND_BASE_REGISTER + 0);
	assert_int_equal(special->offset, 8);
	assert_int_equal(row_at(18)->kind, UNWIND_SPECIAL);
	special = &rows.specials[row_at(18)->cfa];
	assert_int_equal(special->base, UNWIND_BASE_SP);
	assert_true(special->is_dereferenced);
	assert_int_equal(special->offset, 32);
	assert_int_equal(special->addition, 8);
	assert_row(23, UNWIND_SP, 1, SAME);
}

/* Code that pops what it has not pushed is the middle of a function. */
static void does_not_believe_an_epilogue_alone(void **state)
{
	static const unsigned char code[] = { 0x31, 0xc0, 0x5b, 0x5d, 0xc3 };

	(void)state;
	READ(code);
	assert_nothing_known();
}

static void does_not_believe_a_return_with_a_frame(void **state)
{
	static const unsigned char code[] = { 0x53, 0x31, 0xc0, 0xc3 };

	(void)state;
	READ(code);
	assert_nothing_known();
}

/* Compilers call with an aligned stack, so this is a block of a function that has pushed before,
 * and the call does not return: another function follows. */
static void does_not_believe_a_call_without_a_frame(void **state)
{
	static const unsigned char code[] = { 0xbf, 1,    0,    0,    0, /*  0 mov $1, %edi */
					      0x31, 0xc0, 0x31, 0xd2, 0x31, 0xf6, /*  5 xor ... */
					      0xe8, 0,    0x10, 0,    0, /* 11 call elsewhere */
					      0x31, 0xc0, 0xc3 };        /* 16 */

	(void)state;
	READ(code);
	assert_int_equal(row_at(0)->kind, UNWIND_NONE);
	assert_int_equal(row_at(15)->kind, UNWIND_NONE);
}

static void believes_a_name(void **state)
{
	static const unsigned char code[] = { 0xc3, 0xe8, 0, 0x10, 0, 0, 0xff, 0xe0 };

	(void)state;
	names[0] = 2;
	READ(code);
	assert_row(1, UNWIND_SP, 1, SAME);
	assert_row(7, UNWIND_SP, 1, SAME);
}

/* A part of a larger function that is called: its caller has saved rbp. */
static void leads_nowhere_by_a_frame_pointer_that_is_lost(void **state)
{
	static const unsigned char code[] = { 0x31, 0xed, 0x01, 0xfd, 0xc3 };

	(void)state;
	READ(code);
	assert_nothing_known();
	names[0] = 1;
	READ(code);
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_row(2, UNWIND_SP, 1, -1); /* what lies there is no frame */
	assert_row(4, UNWIND_SP, 1, -1);
}

static void says_nothing_where_two_frames_meet(void **state)
{
	static const unsigned char code[] = {
		0x85, 0xff,             /* 0 test %edi, %edi */
		0x74, 0x04,             /* 2 je 8 */
		0x48, 0x83, 0xec, 0x08, /* 4 sub $8, %rsp */
		0x31, 0xc0,             /* 8 xor %eax, %eax */
		0xc3,
	};

	(void)state;
	READ(code);
	assert_nothing_known();
}

/* As in GMP: the first keeps rbp and goes on in the second, which has something else in it by then.
 */
static void shares_code_of_functions_that_know_less(void **state)
{
	static const unsigned char code[] = {
		0x55,       /*  0 push %rbp */
		0xeb, 0x04, /*  1 jmp 7 */
		0x90,       /*  3 nop */
		0x55,       /*  4 push %rbp */
		0x31, 0xed, /*  5 xor %ebp, %ebp */
		0x31, 0xc0, /*  7 xor %eax, %eax */
		0x5d,       /*  9 pop %rbp */
		0xc3,       /* 10 ret */
	};

	(void)state;
	names[0] = 0x11;
	READ(code);
	assert_row(1, UNWIND_SP, 2, -2);
	assert_row(4, UNWIND_SP, 1, SAME);
	assert_row(5, UNWIND_SP, 2, -2);
	assert_row(7, UNWIND_SP, 2, -2);
	assert_row(10, UNWIND_SP, 1, SAME);
}

/* The second is none, since it returns with another frame. */
static void keeps_what_it_believed_before(void **state)
{
	static const unsigned char code[] = {
		0x55,       /*  0 push %rbp */
		0xeb, 0x06, /*  1 jmp 9 */
		0x90,       /*  3 nop */
		0x55,       /*  4 push %rbp */
		0x31, 0xed, /*  5 xor %ebp, %ebp */
		0x74, 0x04, /*  7 je 13 */
		0x31, 0xc0, /*  9 xor %eax, %eax */
		0x5d,       /* 11 pop %rbp */
		0xc3,       /* 12 ret */
		0xc3,       /* 13 ret */
	};

	(void)state;
	names[0] = 0x11;
	READ(code);
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_int_equal(row_at(5)->kind, UNWIND_NONE);
	assert_row(9, UNWIND_SP, 2, -2);
	assert_row(12, UNWIND_SP, 1, SAME);
}

/* As GMP's mpn_mul_basecase, with nothing but a register that says where it goes on. */
static void follows_jumps_to_addresses_that_were_taken(void **state)
{
	static const unsigned char code[] = {
		0x53,                                     /*  0 push %rbx */
		0x4c, 0x8d, 0x35, 0x06, 0x00, 0x00, 0x00, /*  1 lea 14(%rip), %r14 */
		0x31, 0xdb,                               /*  8 xor %ebx, %ebx */
		0x41, 0xff, 0xe6,                         /* 10 jmp *%r14 */
		0x90,                                     /* 13 nop */
		0x31, 0xc0,                               /* 14 xor %eax, %eax */
		0x5b,                                     /* 16 pop %rbx */
		0xc3,                                     /* 17 ret */
	};

	(void)state;
	names[0] = 1;
	READ(code);
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_row(1, UNWIND_SP, 2, SAME);
	assert_row(12, UNWIND_SP, 2, SAME);
	assert_row(14, UNWIND_SP, 2, SAME);
	assert_row(17, UNWIND_SP, 1, SAME);
}

/* As GMP's mpn_sqr_basecase: by a table, to what an endbr64 marks. */
static void follows_jumps_to_marked_places(void **state)
{
	static const unsigned char code[] = {
		0xf3, 0x0f, 0x1e, 0xfa, /*  0 endbr64 */
		0x53,                   /*  4 push %rbx */
		0xff, 0xe0,             /*  5 jmp *%rax */
		0xf3, 0x0f, 0x1e, 0xfa, /*  7 endbr64 */
		0x5b,                   /* 11 pop %rbx */
		0xc3,                   /* 12 ret */
		0xf3, 0x0f, 0x1e, 0xfa, /* 13 endbr64 */
		0x31, 0xdb,             /* 17 xor %ebx, %ebx */
		0x5b,                   /* 19 pop %rbx */
		0xc3,                   /* 20 ret */
	};

	(void)state;
	names[0] = 1;
	READ(code);
	assert_row(5, UNWIND_SP, 2, SAME);
	assert_row(7, UNWIND_SP, 2, SAME);
	assert_row(12, UNWIND_SP, 1, SAME);
	assert_row(13, UNWIND_SP, 2, SAME);
	assert_row(20, UNWIND_SP, 1, SAME);
}

/* It saves rbp, and on this way needs it for nothing. */
static void returns_without_what_it_saved(void **state)
{
	static const unsigned char code[] = {
		0x55,                   /* 0 push %rbp */
		0x48, 0x83, 0xc4, 0x08, /* 1 add $8, %rsp */
		0xc3,                   /* 5 ret */
	};

	(void)state;
	names[0] = 1;
	READ(code);
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_row(1, UNWIND_SP, 2, -2);
	assert_row(5, UNWIND_SP, 1, SAME);
}

/* One of the places returns with the frame that was made: nothing of this is understood. */
static void does_not_believe_jumps_to_another_frame(void **state)
{
	static const unsigned char code[] = {
		0x53,                   /*  0 push %rbx */
		0xff, 0xe0,             /*  1 jmp *%rax */
		0xf3, 0x0f, 0x1e, 0xfa, /*  3 endbr64 */
		0x5b,                   /*  7 pop %rbx */
		0xc3,                   /*  8 ret */
		0xf3, 0x0f, 0x1e, 0xfa, /*  9 endbr64 */
		0xc3,                   /* 13 ret */
	};

	(void)state;
	names[0] = 1;
	READ(code);
	assert_nothing_known();
}

/* `switch` of a compiler: its table is data, and leads to each block that nothing else leads to. */
static void follows_tables_of_compilers(void **state)
{
	static const unsigned char code[] = {
		0x53,             /*  0 push %rbx */
		0x48, 0x01, 0xc8, /*  1 add %rcx, %rax */
		0xff, 0xe0,       /*  4 jmp *%rax */
		0x90,             /*  6 nop */
		0x31, 0xdb,       /*  7 xor %ebx, %ebx */
		0xeb, 0x02,       /*  9 jmp 13 */
		0x31, 0xc0,       /* 11 xor %eax, %eax */
		0x5b,             /* 13 pop %rbx */
		0xc3,             /* 14 ret */
		0x53,             /* 15 push %rbx, of the next function */
	};

	(void)state;
	names[0] = 1;
	names[1] = 0x80;
	READ(code);
	assert_int_equal(row_at(7)->kind, UNWIND_NONE);
	is_whole = true;
	READ(code);
	assert_row(4, UNWIND_SP, 2, SAME);
	assert_row(7, UNWIND_SP, 2, SAME);
	assert_row(11, UNWIND_SP, 2, SAME);
	assert_row(14, UNWIND_SP, 1, SAME);
}

/* What lies behind returns with another frame: the jump has left the function. */
static void does_not_believe_tables_to_another_frame(void **state)
{
	static const unsigned char code[] = {
		0xff, 0xe0, /* 0 jmp *%rax */
		0x5b,       /* 2 pop %rbx */
		0xc3,       /* 3 ret */
	};

	(void)state;
	names[0] = 1;
	is_whole = true;
	READ(code);
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_int_equal(row_at(2)->kind, UNWIND_NONE);
}

/* Behind a call that does not return another function begins. */
static void sees_that_a_call_does_not_return(void **state)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08,       /*  0 sub $8, %rsp */
		0x85, 0xff,                   /*  4 test %edi, %edi */
		0x74, 0x08,                   /*  6 je 16 */
		0xe8, 0x00, 0x10, 0x00, 0x00, /*  8 call elsewhere */
		0x0f, 0x1f, 0x00,             /* 13 nop */
		0x48, 0x83, 0xc4, 0x08,       /* 16 add $8, %rsp */
		0xc3,                         /* 20 ret */
	};

	(void)state;
	READ(code);
	assert_row(4, UNWIND_SP, 2, SAME);
	assert_int_equal(row_at(12)->kind, UNWIND_NONE);
	assert_row(16, UNWIND_SP, 2, SAME);
	assert_row(20, UNWIND_SP, 1, SAME);
}

static void knows_the_trampoline_of_signals(void **state)
{
	static const unsigned char code[] = {
		0xc3, 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05, 0x90, 0x90, 0x90,
	};

	(void)state;
	READ(code);
	assert_row(0, UNWIND_SIGNAL, 0, SAME);  /* callers are looked up one byte before */
	assert_row(10, UNWIND_SIGNAL, 0, SAME); /* in the call */
	assert_int_equal(row_at(11)->kind, UNWIND_NONE);
}

static void ends_with_bytes_that_are_cut(void **state)
{
	static const unsigned char code[] = { 0x53, 0x48, 0x83 };

	(void)state;
	READ(code);
	assert_nothing_known();
}

/* Codecs keep rsp in rcx while they call helpers of their own; these bytes are the helper's. */
static void read_caller_of(const unsigned char helper[8])
{
	unsigned char code[] = {
		0x48, 0x89, 0xe1,                               /*  0 mov %rsp, %rcx */
		0x48, 0x83, 0xe4, 0xe0,                         /*  3 and $-32, %rsp */
		0x48, 0x83, 0xec, 0x60,                         /*  7 sub $96, %rsp */
		0xe8, 0x10, 0,    0,    0,                      /* 11 call 32 */
		0xc5, 0xfd, 0xfe, 0xc0,                         /* 16 vpaddd %ymm0, %ymm0, %ymm0 */
		0x48, 0x89, 0xcc,                               /* 20 mov %rcx, %rsp */
		0xc3,                                           /* 23 ret */
		0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, /* 24 */
		0,    0,    0,    0,    0,    0,    0,    0,    /* 32 */
	};

	memcpy(code + 32, helper, 8);
	READ(code);
}

static void keeps_what_a_helper_leaves_alone(void **state)
{
	const struct unwind_special *special;

	(void)state;
	read_caller_of((const unsigned char[]){ 0xc5, 0xfd, 0xfe, 0xc1, 0x75, 0xfa, 0xc3, 0xcc });
	assert_row(0, UNWIND_SP, 1, SAME);
	assert_row(23, UNWIND_SP, 1, SAME);
	assert_int_equal(row_at(12)->kind, UNWIND_SPECIAL);
	special = &rows.specials[row_at(12)->cfa];
	assert_int_equal(special->base, UNWIND_BASE_REGISTER + 2);
	assert_int_equal(special->offset, 8);
	assert_true(special->is_kept);
	assert_int_equal(row_at(11)->kind, UNWIND_SPECIAL);
	assert_false(rows.specials[row_at(11)->cfa].is_kept);
	assert_false(rows.specials[row_at(16)->cfa].is_kept);
}

static void loses_what_a_helper_may_change(void **state)
{
	static const unsigned char helpers[][8] = {
		{ 0x31, 0xc9, 0xc3 },                         /* xor %ecx, %ecx */
		{ 0xb1, 0x01, 0xc3 },                         /* mov $1, %cl */
		{ 0xf3, 0xaa, 0xc3 },                         /* rep stos */
		{ 0xe2, 0xfe, 0xc3 },                         /* loop */
		{ 0x66, 0x0f, 0x3a, 0x63, 0xc1, 0x00, 0xc3 }, /* pcmpistri */
		{ 0xff, 0xd0, 0xc3 },                         /* call *%rax */
		{ 0x74, 0xd0, 0xc3 },                         /* je elsewhere */
		{ 0x74, 0x02, 0xc3, 0xcc, 0xc3 },             /* je behind the return */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++) {
		read_caller_of(helpers[i]);
		assert_int_equal(row_at(0)->kind, UNWIND_NONE);
		assert_int_equal(row_at(16)->kind, UNWIND_NONE);
	}
}

/* As the loader's resolver is found by rbx. */
static bool find_saving_call(const unsigned char callee[8], struct saving_call *call)
{
	unsigned char code[16] = { 0x90, 0xe8, 2, 0, 0, 0, 0x90, 0xc3 }; /* 1 call 8 */
	const struct object_part piece = { code, 8, CODE, true };
	const struct object object = {
		.bytes = code,
		.size = sizeof(code),
		.segments = { { .p_type = PT_LOAD, .p_vaddr = CODE, .p_filesz = sizeof(code) } },
		.segment_count = 1,
	};

	memcpy(code + 8, callee, 8);
	*call = (struct saving_call){ 0 };
	return code_of_x86_64.find_saving_call(&object, &piece, 3, call);
}

static void finds_where_a_call_saves_a_register(void **state)
{
	static const unsigned char saving[8] = {
		0x41, 0x55, 0x45, 0x31, 0xc9, 0x53, 0xc3
	}; /* push %r13; push %rbx */
	static const unsigned char others[][8] = {
		{ 0x41, 0x55, 0x31, 0xdb, 0x53, 0xc3 },       /* xor %ebx, %ebx */
		{ 0x48, 0x83, 0xec, 0x08, 0x53, 0xc3 },       /* sub $8, %rsp */
		{ 0x74, 0x01, 0x55, 0x53, 0xc3 },             /* je over a push */
		{ 0x41, 0x55, 0xc3, 0x53 },                   /* returns first */
		{ 0x58, 0x50, 0x53, 0xc3 },                   /* pop %rax */
		{ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 }, /* the end */
	};
	struct saving_call call;

	(void)state;
	assert_true(find_saving_call(saving, &call));
	assert_int_equal(call.start, 1);
	assert_int_equal(call.end, 6);
	assert_int_equal(call.saved, -24);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(find_saving_call(others[i], &call));
}

static void keep_target(void *context, uint64_t target)
{
	*(uint64_t *)context = target;
}

static void tells_where_calls_lead(void **state)
{
	/* mov $0xe8, %eax; call CODE + 0x30; a call that is cut */
	static const unsigned char code[] = { 0xb8, 0xe8, 0, 0, 0, 0xe8, 0x26, 0, 0, 0, 0xe8, 0 };
	const struct object_part piece = { code, sizeof(code), CODE, true };
	uint64_t target = 0;

	(void)state;
	assert_int_equal(code_of_x86_64.each_call(&piece, 0, keep_target, &target), sizeof(code));
	assert_int_equal(target, CODE + 0x30);
	assert_int_equal(code_of_x86_64.each_call(&piece, 2, keep_target, &target), 10);
}

static int forget_names(void **state)
{
	(void)state;
	is_whole = false;
	memset(names, 0, sizeof(names));
	return 0;
}

static int clear(void **state)
{
	(void)state;
	rows_done(&rows);
	return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, forget_names)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(follows_pushes_and_pops),
		CASE(follows_an_aligned_stack),
		CASE(counts_from_the_frame_pointer),
		CASE(finds_a_stack_pointer_that_is_kept),
		CASE(does_not_believe_an_epilogue_alone),
		CASE(does_not_believe_a_return_with_a_frame),
		CASE(does_not_believe_a_call_without_a_frame),
		CASE(believes_a_name),
		CASE(leads_nowhere_by_a_frame_pointer_that_is_lost),
		CASE(says_nothing_where_two_frames_meet),
		CASE(shares_code_of_functions_that_know_less),
		CASE(keeps_what_it_believed_before),
		CASE(follows_jumps_to_addresses_that_were_taken),
		CASE(follows_jumps_to_marked_places),
		CASE(returns_without_what_it_saved),
		CASE(does_not_believe_jumps_to_another_frame),
		CASE(follows_tables_of_compilers),
		CASE(does_not_believe_tables_to_another_frame),
		CASE(sees_that_a_call_does_not_return),
		CASE(knows_the_trampoline_of_signals),
		CASE(ends_with_bytes_that_are_cut),
		CASE(keeps_what_a_helper_leaves_alone),
		CASE(loses_what_a_helper_may_change),
		CASE(finds_where_a_call_saves_a_register),
		CASE(tells_where_calls_lead),
	};

	return cmocka_run_group_tests(tests, NULL, clear);
}
