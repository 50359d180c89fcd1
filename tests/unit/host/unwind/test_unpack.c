/*
 * Packed sections of ELF files: files that are made here.
 */
#include "unit.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "host/unwind/elf/object.h"

#define CONTENT_SIZE 4096u
#define HEADERS_AT   (sizeof(Elf64_Ehdr))
#define NAMES_AT     (HEADERS_AT + 3 * sizeof(Elf64_Shdr))
#define CONTENT_AT   (NAMES_AT + 64)

static unsigned char file[16384], content[CONTENT_SIZE];

/* One section of this name and these bytes. */
static struct object make(const char *name, uint64_t flags, const void *bytes, size_t size)
{
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_shoff = HEADERS_AT,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 3,
			      .e_shstrndx = 2 };
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = flags,
		  .sh_offset = CONTENT_AT,
		  .sh_size = size },
		{ .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = 64 },
	};
	struct object object;

	memset(file, 0, sizeof(file));
	memcpy(file, &header, sizeof(header));
	memcpy(file + HEADERS_AT, sections, sizeof(sections));
	memcpy(file + NAMES_AT + 1, name, strlen(name));
	memcpy(file + CONTENT_AT, bytes, size);
	assert_int_equal(object_open(&object, file, sizeof(file)), 0);
	return object;
}

static size_t pack(unsigned type, uint64_t said, unsigned char *into, size_t room)
{
	const Elf64_Chdr head = { .ch_type = type, .ch_size = said };
	uLongf size = room - sizeof(head);

	memcpy(into, &head, sizeof(head));
	if (type == ELFCOMPRESS_ZLIB)
		compress(into + sizeof(head), &size, content, sizeof(content));
	else
		size = ZSTD_compress(into + sizeof(head), size, content, sizeof(content), 1);
	return sizeof(head) + size;
}

static int unpack(unsigned type, uint64_t said, uint64_t flags)
{
	unsigned char packed[8192];
	size_t size = pack(type, said, packed, sizeof(packed));
	struct object object = make(".debug_frame", flags, packed, size);
	struct object_part part;
	void *owned;
	int r = object_unpack(&object, ".debug_frame", &part, &owned);

	if (!r && flags) {
		assert_int_equal(part.size, sizeof(content));
		assert_memory_equal(part.bytes, content, sizeof(content));
	}
	free(owned);
	return r;
}

static void unpacks_what_linkers_pack(void **state)
{
	(void)state;
	assert_int_equal(unpack(ELFCOMPRESS_ZLIB, CONTENT_SIZE, SHF_COMPRESSED), 0);
	assert_int_equal(unpack(2 /* zstd */, CONTENT_SIZE, SHF_COMPRESSED), 0);
	assert_int_equal(unpack(ELFCOMPRESS_ZLIB, CONTENT_SIZE, 0), 0); /* as it is */
}

static void unpacks_names_of_old(void **state)
{
	unsigned char packed[8192] = "ZLIB";
	uint64_t said = htobe64(CONTENT_SIZE);
	uLongf size = sizeof(packed) - 12;
	struct object object;
	struct object_part part;
	void *owned;

	(void)state;
	memcpy(packed + 4, &said, sizeof(said));
	compress(packed + 12, &size, content, sizeof(content));
	object = make(".zdebug_frame", 0, packed, size + 12);
	assert_int_equal(object_unpack(&object, ".debug_frame", &part, &owned), 0);
	assert_memory_equal(part.bytes, content, sizeof(content));
	free(owned);
	assert_int_equal(object_unpack(&object, ".debug_info", &part, &owned), -ENOENT);
}

/* A few bytes may say that they are many. */
static void refuses_too_much(void **state)
{
	(void)state;
	assert_int_equal(unpack(ELFCOMPRESS_ZLIB, UNPACKED_MAX + 1, SHF_COMPRESSED), -EFBIG);
	assert_int_equal(unpack(ELFCOMPRESS_ZLIB, UINT64_MAX, SHF_COMPRESSED), -EFBIG);
	assert_int_equal(unpack(ELFCOMPRESS_ZLIB, CONTENT_SIZE / 2, SHF_COMPRESSED), -EBADMSG);
	assert_int_equal(unpack(ELFCOMPRESS_ZLIB, CONTENT_SIZE * 2, SHF_COMPRESSED), -EBADMSG);
	assert_int_equal(unpack(2, CONTENT_SIZE / 2, SHF_COMPRESSED), -EBADMSG);
	assert_int_equal(unpack(99, CONTENT_SIZE, SHF_COMPRESSED), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacks_what_linkers_pack),
		cmocka_unit_test(unpacks_names_of_old),
		cmocka_unit_test(refuses_too_much),
	};

	for (unsigned i = 0; i < sizeof(content); i++)
		content[i] = (unsigned char)(i / 7);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
