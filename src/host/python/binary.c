/*
 * Finds an interpreter in the files of an address space.  The files are foreign bytes.
 */
#include "host/python/binary.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define JUMPS_MIN 8u         /* from the loop into code elsewhere, for it to be the loop's */
#define LOOP_MAX  (4u << 20) /* bytes; known ones have some 50,000 */

enum wanted_symbol {
	WANTED_RUNTIME,
	WANTED_LOOP,
	WANTED_VERSION,
	WANTED_CODE_TYPE,
	WANTED_COUNT,
};

static const char *const wanted_names[WANTED_COUNT] = {
	[WANTED_RUNTIME] = "_PyRuntime",
	[WANTED_LOOP] = "_PyEval_EvalFrameDefault",
	[WANTED_VERSION] = "Py_Version",
	[WANTED_CODE_TYPE] = "PyCode_Type",
};

struct found {
	struct python_part parts[WANTED_COUNT]; /* addresses of the file; 0: not found */
	struct python_part cold;
};

/* The part after "python3", or NULL. */
static const char *behind_name(const char *path)
{
	const char *name = path_base_name(path);

	if (!strncmp(name, "lib", 3))
		name += 3;
	return strncmp(name, "python3", 7) ? NULL : name + 7;
}

bool python_is_name(const char *path)
{
	return behind_name(path);
}

static int take_symbol(Elf *elf, const GElf_Sym *symbol, const char *name, void *context)
{
	struct found *found = context;

	(void)elf;
	if (!name || symbol->st_shndx == SHN_UNDEF || !symbol->st_value)
		return 0;
	for (unsigned i = 0; i < WANTED_COUNT; i++)
		if (!strcmp(name, wanted_names[i]))
			found->parts[i] =
				(struct python_part){ symbol->st_value,
						      symbol->st_value + symbol->st_size };
	return 0;
}

#if defined(__x86_64__)

/* The target of a conditional jump at these bytes, 0 when there is none.  They need not begin an
 * instruction: a false jump leads anywhere. */
static uint64_t jump_at(const unsigned char *bytes, uint64_t address)
{
	int32_t distance;

	if (bytes[0] != 0x0f || (bytes[1] & 0xf0) != 0x80)
		return 0;
	memcpy(&distance, bytes + 2, sizeof(distance));
	return address + 6 + (uint64_t)(int64_t)distance;
}

#define JUMP_BYTES 6u

#else

static uint64_t jump_at(const unsigned char *bytes, uint64_t address)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	if (address & 3 || (word & 0xff000010) != 0x54000000)
		return 0;
	return address + (uint64_t)((int64_t)((uint64_t)(word >> 5 & 0x7ffff) << 45) >> 43);
}

#define JUMP_BYTES 4u

#endif

/* The function into the middle of which a jump leads; only its own parts jump there. */
static const struct symbol *jumped_into(const struct symbol_table *starts,
					const struct python_part *loop, uint64_t target)
{
	const struct symbol *symbol;

	if (!target || (target >= loop->start && target < loop->end))
		return NULL;
	symbol = symbol_table_find(starts, target);
	return symbol && symbol->address != target ? symbol : NULL;
}

/* Compilers put cold code elsewhere, without a name of its own: it is the most frequent target of
 * the loop's jumps. */
static void find_cold(const struct elf_part *text, const struct symbol_table *starts,
		      struct found *found)
{
	const struct python_part *loop = &found->parts[WANTED_LOOP];
	const unsigned char *bytes = text->bytes + (loop->start - text->address);
	size_t size = (size_t)(loop->end - loop->start), votes = 0, count = 0;
	const struct symbol *most = NULL;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i + JUMP_BYTES <= size; i++) {
			const struct symbol *into =
				jumped_into(starts, loop, jump_at(bytes + i, loop->start + i));

			if (!into)
				continue;
			if (pass) {
				count += into == most;
				continue;
			}
			if (!votes)
				most = into;
			votes += into == most ? 1 : (size_t)-1;
		}
	if (most && count >= JUMPS_MIN)
		found->cold = (struct python_part){ most->address, most->end };
}

static void look_for_cold(Elf *elf, struct found *found)
{
	const struct python_part *loop = &found->parts[WANTED_LOOP];
	struct symbol_table starts = { 0 };
	struct elf_part text;

	if (elf_section_part(elf, ".text", &text) && loop->start >= text.address &&
	    loop->start - text.address <= text.size &&
	    loop->end - loop->start <= MIN(text.size - (loop->start - text.address), LOOP_MAX) &&
	    !elf_starts_add(elf, &starts)) {
		symbol_table_finish(&starts);
		find_cold(&text, &starts, found);
	}
	symbol_table_done(&starts);
}

static int look_into(const struct module *module, struct found *ret)
{
	CLEANUP(elf_source_close) struct elf_source source = { 0 };

	*ret = (struct found){ 0 };
	if (!module->image_path || elf_source_open_again(&source, module->image_path, module->path))
		return -ENOENT;
	(void)elf_symbols_each(source.elf, take_symbol, ret);
	if (!ret->parts[WANTED_RUNTIME].start ||
	    ret->parts[WANTED_LOOP].end <= ret->parts[WANTED_LOOP].start)
		return -ENOENT;
	look_for_cold(source.elf, ret);
	return 0;
}

/* "python3.9", "libpython3.9.so.1.0". */
static unsigned minor_of(const char *path)
{
	const char *behind = behind_name(path);

	return behind && behind[0] == '.' ? (unsigned)strtoul(behind + 1, NULL, 10) : 0;
}

static struct python_part part_moved(struct python_part part, uint64_t bias)
{
	return (struct python_part){ part.start ? part.start + bias : 0,
				     part.start ? part.end + bias : 0 };
}

int python_binary_find(const struct space *space, struct python_binary *ret)
{
	const struct module *last = NULL;

	for (size_t i = 0; i < space->count; i++) {
		const struct space_range *range = &space->ranges[i];
		struct found found;

		if (range->module->kind != MODULE_FILE || range->module == last ||
		    !python_is_name(range->module->path))
			continue;
		last = range->module;
		if (look_into(last, &found))
			continue;
		*ret = (struct python_binary){
			.path = last->path,
			.minor = minor_of(last->path),
			.version = part_moved(found.parts[WANTED_VERSION], range->bias).start,
			.runtime = part_moved(found.parts[WANTED_RUNTIME], range->bias).start,
			.code_type = part_moved(found.parts[WANTED_CODE_TYPE], range->bias).start,
			.loop = { part_moved(found.parts[WANTED_LOOP], range->bias),
				  part_moved(found.cold, range->bias) },
		};
		return 0;
	}
	return -ENOENT;
}
