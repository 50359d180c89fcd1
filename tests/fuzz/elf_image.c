/*
 * Fuzzes the reader of ELF objects: the bytes are the memory of a process, from BASE on.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "shared/arch/elf.h"
#include "shared/elf/image.h"

#define BASE      0x10000u
#define READS_MAX 2000000u /* many times what a sound object of this size needs */

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned reads;
};

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	struct memory *memory = context;

	must(memory->reads++ < READS_MAX);
	if (address < BASE || address - BASE > memory->size ||
	    size > memory->size - (address - BASE))
		return -EFAULT;
	memcpy(into, memory->bytes + (address - BASE), size);
	return 0;
}

static void look_for_code(const struct elf_image *image, const struct memory *memory)
{
	static const char code[] = ARCH_SYSCALL_RETURN;
	uint64_t at;

	if (elf_image_find(image, code, sizeof(code) - 1, &at))
		return;
	must(at >= BASE && at % ARCH_CODE_ALIGNMENT == 0);
	must(!memcmp(memory->bytes + (at - BASE), code, sizeof(code) - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct memory memory = { bytes, size, 0 };
	struct memory_reader reader = { read_memory, &memory };
	struct elf_image image;
	uint64_t address;
	int64_t offset;

	if (elf_image_open(&image, &reader, BASE))
		return 0;
	must(image.code_count <= ELF_CODE_RANGES_MAX);
	must(image.tls_file_size <= image.tls_memory_size);
	(void)!elf_image_symbol(&image, "one", &address);
	(void)!elf_image_symbol(&image, "two", &address);
	(void)!elf_image_tls_offset(&image, &offset);
	look_for_code(&image, &memory);
	return 0;
}
