/*
 * The variables of other processes, and the table of those with ranks.  A launcher's child may set
 * its rank itself: libc's `environ` is found by name in the mapped ELF objects.  Runs on nodes;
 * stops nothing.  What is read is foreign.
 */
#include "host/fleet/find/rank_variables.h"

#include "host/core/bytes.h"
#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/fleet/rank.h"
#include "host/process/maps.h"
#include "shared/elf/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the kernel allows at exec: three quarters of its largest stack, 6 MiB. */
#define ENVIRON_MAX ((size_t)8 << 20)
#define ENTRIES_MAX 4096u
#define ENTRY_MAX   4096u

const struct rank_variable rank_variables[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMIX_RANK", "SLURM_NTASKS" },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "PALS_RANKID", NULL },
	{ "FLUX_TASK_RANK", "FLUX_JOB_SIZE" },
	{ "RANK", "WORLD_SIZE" },
	{ "SLURM_PROCID", "SLURM_NTASKS" },
	{ "JOB_COMPLETION_INDEX", NULL },
	{ 0 },
};

_Static_assert(ARRAY_SIZE(rank_variables) <= RANK_VARIABLES_MAX, "there is room for all");

int variables_read(struct variables *ret, pid_t pid)
{
	char path[64];

	*ret = (struct variables){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	return text_read_file(path, ENVIRON_MAX, &ret->text, &ret->size);
}

void variables_done(struct variables *variables)
{
	free(variables->text);
	*variables = (struct variables){ 0 };
}

/* The last entry may lack its zero, but the text has one. */
const char *variables_value(const struct variables *variables, const char *name)
{
	const char *end = variables->text + variables->size;
	size_t length = strlen(name);

	for (const char *at = variables->text; at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

/* Reads a text up to its zero; false: it is not terminated, unreadable, or too long. */
static bool entry_read(int memory, uint64_t address, struct bytes *into)
{
	char text[ENTRY_MAX];
	size_t size = 0;

	while (size < sizeof(text)) {
		/* Within the page: the next one may not be mapped. */
		size_t part = MIN(4096 - (address + size) % 4096, sizeof(text) - size);
		const char *end;

		if (!memory_read(memory, address + size, text + size, part))
			return false;
		end = memchr(text + size, '\0', part);
		if (end) {
			bytes_put(into, text, (size_t)(end - text) + 1);
			return true;
		}
		size += part;
	}
	return false;
}

static int entries_read(int memory, uint64_t list, struct bytes *into)
{
	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		uint64_t entry;

		if (!memory_read(memory, list + i * sizeof(entry), &entry, sizeof(entry)))
			return -EFAULT;
		if (!entry)
			return into->has_failed ? -ENOMEM : 0;
		(void)!entry_read(memory, entry, into);
	}
	return 0;
}

int variables_read_live(struct variables *ret, pid_t pid)
{
	CLEANUP(close) int memory = memory_open(pid);
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	uint64_t address, list;
	int r = memory < 0 ? memory : mapped_symbol_find(pid, memory, "environ", &address);

	*ret = (struct variables){ 0 };
	if (r)
		return r;
	if (!memory_read(memory, address, &list, sizeof(list)))
		return -EFAULT;
	r = entries_read(memory, list, &bytes);
	bytes_put(&bytes, "", 1);
	if (r || bytes.has_failed)
		return r ? r : -ENOMEM;
	ret->text = (char *)bytes.data;
	ret->size = bytes.size - 1;
	bytes = (struct bytes){ 0 };
	return 0;
}

static bool number_read(const struct variables *variables, const char *name, uint64_t max,
			uint32_t *ret)
{
	const char *text = name ? variables_value(variables, name) : NULL;
	uint64_t value;

	if (!text || text_parse_number(text, max, &value))
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool rank_variable_read(const struct variables *variables, const struct rank_variable *variable,
			uint32_t *ret_rank, uint32_t *ret_size)
{
	*ret_size = 0;
	if (!variables->text || !number_read(variables, variable->name, RANK_MAX, ret_rank))
		return false;
	(void)number_read(variables, variable->size_name, (uint64_t)RANK_MAX + 1, ret_size);
	return true;
}

static int memory_reader_read(void *context, uint64_t address, void *into, size_t size)
{
	return memory_read(*(const int *)context, address, into, size) ? 0 : -EFAULT;
}

static bool is_object(const struct mapping *mapping)
{
	return mapping->path[0] == '/' && mapping->offset == 0 && mapping->readable;
}

int mapped_symbol_find(pid_t pid, int memory, const char *name, uint64_t *ret)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	const struct memory_reader reader = { memory_reader_read, &memory };
	struct err ignored = { 0 };
	int r = maps_read(pid, &maps, &ignored);

	for (size_t i = 0; !r && i < maps.count; i++) {
		struct elf_image image;

		if (is_object(&maps.items[i]) &&
		    !elf_image_open(&image, &reader, maps.items[i].start) &&
		    !elf_image_symbol(&image, name, ret))
			return 0;
	}
	return r ? r : -ENOENT;
}
