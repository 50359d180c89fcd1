/*
 * A table is its size in bytes followed by that many pointers into the runtime's code; HSA's begins
 * with a version and points to such tables.  No other data of a program has that shape by chance
 * for hundreds of slots; a small table counts only if its shape is found exactly once.  What is
 * read is foreign.
 */
#include "host/session/steps.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/process/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_MAX        (64u << 20) /* of one piece */
#define HSA_ROOT_MAJORS 3
#define HSA_HEAD_BYTES  16u
#define HSA_CORE_SLOTS  100u

struct slots {
	unsigned least, most;
};

/* Which library has which tables, and how many slots each part has. */
static const struct shape {
	const char *library, *name;
	unsigned part_count;
	struct slots parts[TABLE_PARTS_MAX];
} shapes[] = {
	{ "libamdhip64.so", "hip", 1, { { 442, 1024 } } },
	{ "libamdhip64.so", "hip_compiler", 1, { { 9, 9 } } },
	{ "libroctx64.so", "roctx", 3, { { 6, 6 }, { 2, 2 }, { 4, 4 } } },
	{ "librocprofiler-sdk-roctx.so", "roctx", 3, { { 6, 6 }, { 2, 2 }, { 4, 4 } } },
	{ "librccl.so", "rccl", 1, { { 37, 64 } } },
	{ "librocdecode.so", "rocdecode", 1, { { 11, 64 } } },
	{ "librocjpeg.so", "rocjpeg", 1, { { 9, 64 } } },
};

/* One writable piece of a module. */
struct piece {
	const struct module *module;
	uint64_t start;
	const uint64_t *words;
	size_t count;
};

typedef bool looks_like_function(const struct piece *piece, size_t at, const void *wanted);

/* The searched shape, and where it was found. */
struct search {
	uint64_t *budget_bytes;
	looks_like_function *looks_like;
	const void *wanted;
	unsigned hits;
	uint64_t address;
};

struct scan {
	const struct target *target;
	const struct module *module;
	uint64_t *budget_bytes;
};

static bool is_code(const struct module *module, uint64_t address)
{
	for (unsigned i = 0; i < module->image.code_count; i++)
		if (address - module->image.code[i].start < module->image.code[i].size)
			return true;
	return false;
}

static bool are_code(const struct piece *piece, size_t at, size_t count)
{
	if (count > piece->count - at)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_code(piece->module, piece->words[at + i]))
			return false;
	return true;
}

static bool is_sized_table(const struct piece *piece, size_t at, const void *wanted)
{
	const struct slots *slots = wanted;
	uint64_t size = piece->words[at], count = size / 8 - 1;

	return size % 8 == 0 && size > 8 && count >= slots->least && count <= slots->most &&
	       are_code(piece, at + 1, count);
}

/* {u32 major, u32 size, u32 step, u32 reserved}, then pointers to tables of the same head. */
static bool is_hsa_root(const struct piece *piece, size_t at, const void *wanted)
{
	uint64_t head = piece->words[at], core, size = head >> 32;
	size_t index;

	(void)wanted;
	if ((uint32_t)head != HSA_ROOT_MAJORS || size % 8 || size < HSA_HEAD_BYTES + 16 ||
	    size > 256 || at + 2 >= piece->count)
		return false;
	core = piece->words[at + 2];
	index = (size_t)((core - piece->start) / 8);
	return core >= piece->start && index + 2 < piece->count &&
	       piece->words[index] >> 32 >= HSA_HEAD_BYTES + 8 * HSA_CORE_SLOTS &&
	       are_code(piece, index + 2, HSA_CORE_SLOTS);
}

static void search_piece(const struct piece *piece, struct search *search)
{
	for (size_t i = 0; i + 1 < piece->count; i++) {
		if (!search->looks_like(piece, i, search->wanted))
			continue;
		search->hits++;
		search->address = piece->start + 8 * i;
	}
}

static void search_range(const struct target *target, const struct module *module, uint64_t start,
			 uint64_t end, struct search *search)
{
	CLEANUP(free) uint64_t *words = NULL;
	size_t size = end - start;

	if (size > DATA_MAX || size > *search->budget_bytes)
		return;
	*search->budget_bytes -= size;
	words = malloc(size);
	if (words && memory_read(target->memory, start, words, size))
		search_piece(&(struct piece){ module, start, words, size / 8 }, search);
}

/* The kernel merges .bss with anonymous memory of others right behind it. */
static bool is_data(const struct module *module, const struct mapping *mapping)
{
	return mapping->writable && mapping->start >= module->image.base &&
	       mapping->start < module->image.end;
}

/* Neighbouring mappings are one piece: .data of the file, .bss behind it. */
static uint64_t find_only(const struct scan *scan, looks_like_function *looks_like,
			  const void *wanted)
{
	const struct target *target = scan->target;
	const struct module *module = scan->module;
	const struct maps *maps = &target->process.maps;
	struct search search = { scan->budget_bytes, looks_like, wanted, 0, 0 };
	uint64_t end = ALIGN_UP(module->image.end, sizeof(uint64_t));

	for (size_t i = 0; i < maps->count; i++) {
		uint64_t start = maps->items[i].start;

		if (!is_data(module, &maps->items[i]))
			continue;
		while (i + 1 < maps->count && is_data(module, &maps->items[i + 1]) &&
		       maps->items[i + 1].start == maps->items[i].end)
			i++;
		search_range(target, module, start, MIN(maps->items[i].end, end), &search);
	}
	return search.hits == 1 ? search.address : 0;
}

static bool is_named(const struct module *module, const char *library)
{
	const char *path = module->mapping ? module->mapping->path : "";

	return !strncmp(path_base_name(path), library, strlen(library));
}

static bool find_shape(const struct scan *scan, const struct shape *shape, struct found_table *ret)
{
	snprintf(ret->name, sizeof(ret->name), "%s", shape->name);
	ret->part_count = shape->part_count;
	for (unsigned i = 0; i < shape->part_count; i++) {
		ret->parts[i] = find_only(scan, is_sized_table, &shape->parts[i]);
		if (!ret->parts[i])
			return false;
	}
	return true;
}

static bool find_hsa(const struct scan *scan, struct found_table *ret)
{
	snprintf(ret->name, sizeof(ret->name), "hsa");
	ret->part_count = 1;
	ret->parts[0] = find_only(scan, is_hsa_root, NULL);
	return ret->parts[0] != 0;
}

size_t table_scan(const struct target *target, const struct module *module, uint64_t *budget_bytes,
		  struct found_table ret[FOUND_TABLES_MAX])
{
	const struct scan scan = { target, module, budget_bytes };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (is_named(module, shapes[i].library))
			count += find_shape(&scan, &shapes[i], &ret[count]);
	if (is_named(module, "libhsa-runtime64.so"))
		count += find_hsa(&scan, &ret[count]);
	return count;
}
