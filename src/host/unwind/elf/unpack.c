/*
 * Uncompresses sections.
 */
#include "host/unwind/elf/unpack.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#define OLD_MAGIC        "ZLIB" /* then the size, big endian, then zlib's bytes */
#define OLD_HEAD         12u
#define TYPE_ZLIB        1u /* ELFCOMPRESS_... */
#define TYPE_ZSTD        2u
#define SECTION_NAME_MAX 64

struct packed {
	const unsigned char *bytes;
	uint64_t size, unpacked_size;
	unsigned type;
};

static int unpack_zlib(const struct packed *packed, unsigned char *into)
{
	uLongf size = packed->unpacked_size;

	return uncompress(into, &size, packed->bytes, packed->size) == Z_OK &&
			       size == packed->unpacked_size
		       ? 0
		       : -EBADMSG;
}

static int unpack_zstd(const struct packed *packed, unsigned char *into)
{
	size_t size = ZSTD_decompress(into, packed->unpacked_size, packed->bytes, packed->size);

	return !ZSTD_isError(size) && size == packed->unpacked_size ? 0 : -EBADMSG;
}

static int (*const unpackers[])(const struct packed *packed, unsigned char *into) = {
	[TYPE_ZLIB] = unpack_zlib,
	[TYPE_ZSTD] = unpack_zstd,
};

static int part_unpack(const struct packed *packed, struct object_part *ret, void **ret_owned)
{
	unsigned char *into;
	int r;

	if (packed->type >= ARRAY_SIZE(unpackers) || !unpackers[packed->type])
		return -EBADMSG;
	if (packed->unpacked_size > UNPACKED_MAX)
		return -EFBIG;
	into = malloc(MAX(packed->unpacked_size, 1u));
	if (!into)
		return -ENOMEM;
	r = unpackers[packed->type](packed, into);
	if (r) {
		free(into);
		return r;
	}
	ret->bytes = into;
	ret->size = packed->unpacked_size;
	*ret_owned = into;
	return 0;
}

static int unpack_new(struct object_part *part, void **ret_owned)
{
	Elf64_Chdr head;

	if (part->size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, part->bytes, sizeof(head));
	return part_unpack(&(struct packed){ part->bytes + sizeof(head), part->size - sizeof(head),
					     head.ch_size, head.ch_type },
			   part, ret_owned);
}

int object_unpack(const struct object *object, const char *name, struct object_part *ret,
		  void **ret_owned)
{
	char old[SECTION_NAME_MAX];
	bool is_packed;
	uint64_t size;

	*ret_owned = NULL;
	if (!object_section_raw(object, name, ret, &is_packed))
		return is_packed ? unpack_new(ret, ret_owned) : 0;
	snprintf(old, sizeof(old), ".z%s", name + 1);
	if (object_section_raw(object, old, ret, &is_packed))
		return -ENOENT;
	if (ret->size < OLD_HEAD || memcmp(ret->bytes, OLD_MAGIC, strlen(OLD_MAGIC)) != 0)
		return -EBADMSG;
	memcpy(&size, ret->bytes + strlen(OLD_MAGIC), sizeof(size));
	return part_unpack(&(struct packed){ ret->bytes + OLD_HEAD, ret->size - OLD_HEAD,
					     be64toh(size), TYPE_ZLIB },
			   ret, ret_owned);
}
