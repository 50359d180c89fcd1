/*
 * The words of the program that we have changed, each with what it held before.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct word {
	uint64_t *at;
	uint64_t old, now;
	uint64_t owner; /* by which its module is known; 0: none */
};

struct words_left {
	uint32_t restored;
	uint32_t foreign;    /* changed by somebody else meanwhile, and left so */
	uint32_t unwritable; /* still ours: they cannot be written any more */
};

/* Room for words; -ENOMEM. */
int words_open(void) MUST_CHECK;
void words_close(void);

/* May the word be written now?  Nothing is changed by asking. */
bool word_is_writable(uint64_t *at);

/* Changes a word that holds `old`; -EAGAIN when it does not any more, -ENOSPC. */
int word_change(const struct word *word) MUST_CHECK;

/* Puts back the words of one owner that lie between the two addresses. */
void words_restore(uint64_t owner, uint64_t start, uint64_t end, struct words_left *left);

/* Was this word changed by us? */
bool word_is_known(const uint64_t *at);
/* What it held before; 0 for a word that we do not know. */
uint64_t word_old(const uint64_t *at);

/* Every word of an owner; to put one back. */
void words_each(uint64_t owner, void (*visit)(struct word *word, struct words_left *left),
		struct words_left *left);
void word_restore(struct word *word, bool is_writable, struct words_left *left);

/* How many of an owner's words that lie between the two addresses still hold what we stored. */
uint32_t words_held(uint64_t owner, uint64_t start, uint64_t end);

/* They are gone with their owner. */
void words_forget(uint64_t owner);

/* How many words are changed, and how many of this owner's. */
uint32_t words_count(void);
bool words_has(uint64_t owner);
