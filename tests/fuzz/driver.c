/*
 * Runs a fuzz target without libFuzzer: first the seeds of a directory, then so many mutations of
 * them.  The mutations are the same in every run, so a failure can be repeated; a sanitizer build
 * does the finding.
 *
 *   usage: fuzz_NAME SEED_DIRECTORY [THOUSANDS_OF_MUTATIONS]
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"

#define MAX_SEEDS 256
#define MAX_BYTES (64 * 1024)

struct seeds {
	struct {
		char *bytes;
		size_t size;
	} items[MAX_SEEDS];
	size_t count;
};

struct input {
	unsigned char bytes[MAX_BYTES];
	size_t size;
};

/* xorshift64: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t below(uint64_t *state, size_t limit)
{
	return limit ? (size_t)(next_random(state) % limit) : 0;
}

static void flip_bit(struct input *input, uint64_t *state)
{
	input->bytes[below(state, input->size)] ^= (unsigned char)(1u << below(state, 8));
}

static void set_byte(struct input *input, uint64_t *state)
{
	static const unsigned char telling[] = { 0,   '\n', ' ', '-', ':',  '0',
						 '9', 'f',  '=', '/', 0x7f, 0xff };

	input->bytes[below(state, input->size)] = telling[below(state, sizeof(telling))];
}

static void cut(struct input *input, uint64_t *state)
{
	size_t at = below(state, input->size), size = 1 + below(state, MIN(input->size - at, 32));

	memmove(input->bytes + at, input->bytes + at + size, input->size - at - size);
	input->size -= size;
}

static void repeat(struct input *input, uint64_t *state)
{
	size_t at = below(state, input->size), size = 1 + below(state, MIN(input->size - at, 64));

	if (input->size + size > MAX_BYTES)
		return;
	memmove(input->bytes + at + size, input->bytes + at, input->size - at);
	input->size += size;
}

static void cut_the_end(struct input *input, uint64_t *state)
{
	input->size = below(state, input->size + 1);
}

static void (*const mutations[])(struct input *input, uint64_t *state) = {
	flip_bit, set_byte, cut, repeat, cut_the_end,
};

/* In a block of its exact size, so that a sanitizer sees the first byte read too far. */
static void run_exactly(const unsigned char *bytes, size_t size)
{
	CLEANUP(free) unsigned char *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
}

static void mutate(const struct seeds *seeds, struct input *input, uint64_t *state)
{
	size_t seed = below(state, seeds->count);

	input->size = MIN(seeds->items[seed].size, MAX_BYTES);
	memcpy(input->bytes, seeds->items[seed].bytes, input->size);
	for (size_t steps = 1 + below(state, 8); steps > 0 && input->size > 0; steps--)
		mutations[below(state, ARRAY_SIZE(mutations))](input, state);
}

static int read_seeds(const char *path, struct seeds *ret)
{
	struct dirent **names;
	int count = scandir(path, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && ret->count < MAX_SEEDS &&
		    text_read_file(file, MAX_BYTES, &ret->items[ret->count].bytes,
				   &ret->items[ret->count].size) == 0)
			ret->count++;
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return ret->count ? 0 : -1;
}

int main(int argc, char **argv)
{
	static struct seeds seeds;
	static struct input input;
	uint64_t state = 0x9e3779b97f4a7c15, rounds = 20;

	if (argc < 2 || read_seeds(argv[1], &seeds) < 0 ||
	    (argc > 2 && text_parse_number(argv[2], 1000000, &rounds) < 0)) {
		fprintf(stderr, "usage: %s SEED_DIRECTORY [THOUSANDS_OF_MUTATIONS]\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < seeds.count; i++)
		run_exactly((unsigned char *)seeds.items[i].bytes, seeds.items[i].size);
	for (uint64_t i = 0; i < rounds * 1000; i++) {
		mutate(&seeds, &input, &state);
		run_exactly(input.bytes, input.size);
	}
	printf("%zu seeds, %llu mutations\n", seeds.count, (unsigned long long)rounds * 1000);
	for (size_t i = 0; i < seeds.count; i++)
		free(seeds.items[i].bytes);
	return 0;
}
