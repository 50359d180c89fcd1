/*
 * Runs on threads of ours, one at a time.
 */
#include "target/hooks/words.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>

#define WORDS_MAX   131072u
#define WORDS_BYTES (WORDS_MAX * sizeof(struct word))

static struct word *words;
static uint32_t count;

int words_open(void)
{
	long r = raw6(SYS_mmap, 0, WORDS_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (r < 0 && r > -4096)
		return -ENOMEM;
	words = (void *)r;
	count = 0;
	return 0;
}

void words_close(void)
{
	if (words)
		raw2(SYS_munmap, words, WORDS_BYTES);
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

static bool store(uint64_t *at, uint64_t old, uint64_t now)
{
	/* Eight bytes at once; release: who jumps there finds the hook whole. */
	return __atomic_compare_exchange_n(at, &old, now, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

static struct word *find(const uint64_t *at)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i].at == at)
			return &words[i];
	return NULL;
}

int word_change(const struct word *word, bool is_new)
{
	struct word *known = is_new ? NULL : find(word->at);

	if (!known && count == WORDS_MAX)
		return -ENOSPC;
	/* Noted before it is done. */
	if (!known)
		words[count++] = *word;
	else
		*known = *word;
	if (store(word->at, word->old, word->now))
		return 0;
	if (!known)
		count--;
	return -EAGAIN;
}

static bool is_held(const struct word *word)
{
	return __atomic_load_n(word->at, __ATOMIC_RELAXED) == word->now;
}

static void restore(struct word *word, struct words_left *left)
{
	if ((is_held(word) && store(word->at, word->now, word->old)) ||
	    __atomic_load_n(word->at, __ATOMIC_RELAXED) == word->old)
		left->restored++;
	else
		left->foreign++;
	word->at = NULL;
}

void words_restore(uint64_t owner, struct words_left *left)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i].owner == owner && words[i].at)
			restore(&words[i], left);
}

bool word_is_known(const uint64_t *at)
{
	return find(at) != NULL;
}

uint64_t word_old(const uint64_t *at)
{
	const struct word *word = find(at);

	return word ? word->old : 0;
}

void word_restore(uint64_t *at, struct words_left *left)
{
	struct word *word = find(at);

	if (word)
		restore(word, left);
}

void words_each(uint64_t owner, void (*visit)(uint64_t *, struct words_left *),
		struct words_left *left)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i].owner == owner && words[i].at)
			visit(words[i].at, left);
}

uint32_t words_held(uint64_t owner, uint64_t start, uint64_t end)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < count; i++)
		held += words[i].owner == owner && words[i].at && (uint64_t)words[i].at >= start &&
			(uint64_t)words[i].at < end && is_held(&words[i]);
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
