/*
 * Finds the scheduler's address.  Compilers add a suffix to the name of a variant of a function;
 * those called cold are parts in another location.
 */
#include "host/sampling/bpf/scheduler.h"

#include "host/symbols/kernel_symbols.h"
#include "shared/wire/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "__schedule"

static bool is_scheduler(const char *name)
{
	size_t length = sizeof(NAME) - 1;

	return !strncmp(name, NAME, length) && (!name[length] || name[length] == '.') &&
	       !strstr(name, ".cold");
}

bool scheduler_find(struct scheduler *ret, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	*ret = (struct scheduler){ 0 };
	/* The function ends where the next one begins: the kernel's own symbols are sorted. */
	while (file && !ret->end && (length = getline(&line, &room, file)) > 0) {
		struct symbol symbol;

		line[length - 1] = 0;
		if (!kallsyms_line(line, &symbol))
			continue;
		if (ret->start && symbol.address > ret->start)
			ret->end = symbol.address;
		else if (!ret->start && is_scheduler(symbol.name))
			ret->start = symbol.address;
	}
	free(line);
	if (file)
		fclose(file);
	return ret->end != 0;
}

/* Frames are return addresses: one may be just behind the last instruction. */
static size_t count_inner(const struct scheduler *scheduler, const struct sample *sample)
{
	for (size_t i = 0; i < sample->kernel_count; i++)
		if (sample->frames[i] > scheduler->start && sample->frames[i] <= scheduler->end)
			return i;
	return 0;
}

void scheduler_cut(const struct scheduler *scheduler, struct sample *sample)
{
	size_t inner = count_inner(scheduler, sample);
	size_t count = (size_t)sample->kernel_count + sample->user_count - inner;

	memmove(sample->frames, sample->frames + inner, count * sizeof(*sample->frames));
	sample->kernel_count = (uint16_t)(sample->kernel_count - inner);
}
