/*
 * Runs on threads of ours, one at a time.
 */
#include "target/hooks/words.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>

#ifndef WORDS_MAX
#define WORDS_MAX 131072u
#endif
#define SLOTS_MAX  (2 * WORDS_MAX)
#define PAGE_BYTES 4096u

struct tables {
	struct word words[WORDS_MAX];
	uint32_t slots[SLOTS_MAX]; /* by address; number of the word and one */
};

static struct tables *tables;
static struct word *words;
static uint32_t count;

int words_open(void)
{
	long r = raw6(SYS_mmap, 0, sizeof(*tables), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (r <= 0 && r > -4096)
		return -ENOMEM;
	tables = (void *)r;
	words = tables->words;
	count = 0;
	return 0;
}

void words_close(void)
{
	if (tables)
		raw2(SYS_munmap, tables, sizeof(*tables));
	tables = NULL;
	words = NULL;
	count = 0;
}

/* The kernel adds nothing to it, on our behalf and atomically: that needs the right to write. */
bool word_is_writable(uint64_t *at)
{
	uint32_t unused = 0;

	return raw6(SYS_futex, &unused, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, at,
		    FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static bool word_store(uint64_t *at, uint64_t old, uint64_t now)
{
	/* Eight bytes at once; release: who jumps there finds the hook whole. */
	return __atomic_compare_exchange_n(at, &old, now, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

/* Where the number of the word is, or is to be.  Words that were forgotten keep their slots. */
static uint32_t *slot_of(const uint64_t *at)
{
	uint32_t first = (uint32_t)((uint64_t)at / sizeof(*at) * 0x9e3779b97f4a7c15u >> 40);

	for (;; first++) {
		uint32_t *slot = &tables->slots[first % SLOTS_MAX];

		if (!*slot || words[*slot - 1].at == at)
			return slot;
	}
}

int word_change(const struct word *word)
{
	uint32_t *slot = slot_of(word->at);

	if (!*slot) {
		if (count == WORDS_MAX)
			return -ENOSPC;
		*slot = ++count;
	}
	/* Noted before it is done. */
	words[*slot - 1] = *word;
	if (word_store(word->at, word->old, word->now))
		return 0;
	words[*slot - 1].at = NULL;
	return -EAGAIN;
}

static bool is_held(const struct word *word)
{
	return __atomic_load_n(word->at, __ATOMIC_RELAXED) == word->now;
}

static bool is_between(const struct word *word, uint64_t start, uint64_t end)
{
	return word->at && (uint64_t)word->at >= start && (uint64_t)word->at < end;
}

static bool put_back(const struct word *word)
{
	return (is_held(word) && word_store(word->at, word->now, word->old)) ||
	       __atomic_load_n(word->at, __ATOMIC_RELAXED) == word->old;
}

void word_restore(struct word *word, bool is_writable, struct words_left *left)
{
	if (!is_writable)
		left->unwritable++;
	else if (put_back(word))
		left->restored++;
	else
		left->foreign++;
	word->at = NULL;
}

void words_restore(uint64_t owner, uint64_t start, uint64_t end, struct words_left *left)
{
	uint64_t page = 0;
	bool is_writable = false;

	for (uint32_t i = 0; i < count; i++) {
		struct word *word = &words[i];

		if (word->owner != owner || !is_between(word, start, end))
			continue;
		if ((uint64_t)word->at / PAGE_BYTES != page)
			is_writable = word_is_writable(word->at);
		page = (uint64_t)word->at / PAGE_BYTES;
		word_restore(word, is_writable, left);
	}
}

static const struct word *word_find(const uint64_t *at)
{
	uint32_t slot = *slot_of(at);

	return slot ? &words[slot - 1] : NULL;
}

bool word_is_known(const uint64_t *at)
{
	return word_find(at) != NULL;
}

uint64_t word_old(const uint64_t *at)
{
	const struct word *word = word_find(at);

	return word ? word->old : 0;
}

void words_each(uint64_t owner, void (*visit)(struct word *, struct words_left *),
		struct words_left *left)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i].owner == owner && words[i].at)
			visit(&words[i], left);
}

uint32_t words_held(uint64_t owner, uint64_t start, uint64_t end)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < count; i++)
		held += words[i].owner == owner && is_between(&words[i], start, end) &&
			is_held(&words[i]);
	return held;
}

void words_forget(uint64_t owner)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i].owner == owner)
			words[i].at = NULL;
}

uint32_t words_count(void)
{
	return count;
}

bool words_has(uint64_t owner)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i].owner == owner && words[i].at)
			return true;
	return false;
}
