/*
 * The letters of a name of Rust and the text made from them; rust_v0.c has the grammar.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct v0_name {
	const char *at, *begin, *end;
	char *text;
	size_t size, room;
	unsigned depth, steps;
	unsigned silent;    /* read, but not printed */
	uint64_t lifetimes; /* bound by the surrounding items */
	bool is_bad;
};

struct v0_identifier {
	const char *bytes;
	size_t size;
	bool is_punycode;
	uint64_t number; /* distinguishes those of the same name */
};

typedef void v0_printer(struct v0_name *name);

/* Nothing is read or printed any more.  False. */
bool v0_fail(struct v0_name *name);
bool v0_enter(struct v0_name *name);
void v0_leave(struct v0_name *name);

/* The next letter; '\0' at the end. */
char v0_peek(const struct v0_name *name);
bool v0_eat(struct v0_name *name, char wanted);
char v0_next(struct v0_name *name);
int v0_digit_62(char c);
bool v0_multiply_add(struct v0_name *name, uint64_t *number, uint64_t base, uint64_t digit);
/* "_" is 0, "0_" is 1. */
uint64_t v0_read_base_62(struct v0_name *name);
/* 0 where the letter is not there, else the number behind it and one. */
uint64_t v0_read_optional(struct v0_name *name, char letter);
struct v0_identifier v0_read_plain_identifier(struct v0_name *name);
struct v0_identifier v0_read_identifier(struct v0_name *name);
/* Jumps to the target of a reference, whose "B" was read.  Returns where to continue; NULL: no
 * jump. */
const char *v0_jump(struct v0_name *name);

void v0_put(struct v0_name *name, const char *text, size_t size);
void v0_print(struct v0_name *name, const char *text);
void v0_print_number(struct v0_name *name, const char *before, uint64_t number, const char *after);
void v0_print_identifier(struct v0_name *name, const struct v0_identifier *identifier);
void v0_print_lifetime(struct v0_name *name, uint64_t number);
/* "for<'a, 'b> "; how many there are. */
uint64_t v0_open_binder(struct v0_name *name);
/* Prints an earlier part of the name once more. */
void v0_follow_reference(struct v0_name *name, v0_printer *printer);
/* Up to "E", with a separator between them; how many there were. */
unsigned v0_print_list(struct v0_name *name, v0_printer *printer, const char *separator);
