/*
 * Unpacks .gnu_debugdata, with bounds: few bytes can stand for very many.
 */
#include "host/symbols/debugdata.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#define UNPACKED_MAX (256u << 20)
#define MEMORY_MAX   (128u << 20) /* of the decoder */
#define FIRST_ROOM   (1u << 20)

/* Doubles the room; false at the bound. */
static bool debugdata_widen(lzma_stream *stream, char **memory, size_t *room)
{
	size_t used = (size_t)stream->total_out, wider = *room ? *room * 2 : FIRST_ROOM;
	char *longer = wider <= UNPACKED_MAX ? realloc(*memory, wider) : NULL;

	if (!longer)
		return false;
	*memory = longer;
	*room = wider;
	stream->next_out = (uint8_t *)longer + used;
	stream->avail_out = wider - used;
	return true;
}

static char *debugdata_unpack(const unsigned char *bytes, size_t size, size_t *ret_size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	char *memory = NULL;
	size_t room = 0;
	lzma_ret r = lzma_stream_decoder(&stream, MEMORY_MAX, 0);

	stream.next_in = bytes;
	stream.avail_in = size;
	while (r == LZMA_OK && (stream.avail_out || debugdata_widen(&stream, &memory, &room)))
		r = lzma_code(&stream, LZMA_FINISH);
	*ret_size = (size_t)stream.total_out;
	lzma_end(&stream);
	if (r == LZMA_STREAM_END)
		return memory;
	free(memory);
	return NULL;
}

int debugdata_open(struct elf_source *ret, Elf *elf)
{
	const unsigned char *bytes;
	size_t size, unpacked_size;
	char *unpacked;

	if (!elf_section(elf, ".gnu_debugdata", &bytes, &size))
		return -ENODATA;
	unpacked = debugdata_unpack(bytes, size, &unpacked_size);
	if (!unpacked)
		return -ENODATA;
	return elf_source_in(ret, unpacked, unpacked_size) ? -ENODATA : 0;
}
