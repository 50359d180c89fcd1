/*
 * Finds separate debug files.  A file is used only when it is proven to match: by its build-id, or
 * by the checksum in the stripped file.  Unpacks .gnu_debugdata, with bounds: few bytes can stand
 * for very many.
 */
#include "host/symbols/elf/debug_file.h"

#include "host/core/notes.h"
#include "host/core/self/interrupt.h"
#include "host/process/foreign_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_FOLDER  "/usr/lib/debug"
#define READ_AT_ONCE  65536u
#define CHECKSUM_MAX  ((uint64_t)4 << 30)
#define BUILD_ID_TEXT 128u
#define UNPACKED_MAX  (256u << 20)
#define MEMORY_MAX    (128u << 20) /* of the decoder */
#define FIRST_ROOM    (1u << 20)

struct search {
	Elf *stripped;
	const char *path;
	pid_t pid; /* in its root; 0: limpet's */
	const unsigned char *build_id;
	size_t build_id_size;
	const char *link; /* NULL: none */
	uint32_t link_checksum;
};

/* Only files that can be read as a whole in a moment: another user may have made a huge one as a
 * trap. */
static bool is_small_enough(int fd, const char *path)
{
	struct stat file;
	uint64_t max;

	if (fstat(fd, &file) < 0)
		return false;
	max = foreign_file_limit(fd, CHECKSUM_MAX);
	if ((uint64_t)file.st_size <= max)
		return true;
	note_add("debug file %s is ignored: it has %" PRIu64
		 " MiB, and the checksum of up to %" PRIu64 " MiB is looked at%s",
		 path, (uint64_t)file.st_size >> 20, max >> 20,
		 max < CHECKSUM_MAX ? ", as it has little on disk" : "");
	return false;
}

static bool has_checksum(int fd, const char *path, uint32_t wanted)
{
	unsigned char bytes[READ_AT_ONCE];
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	if (!is_small_enough(fd, path))
		return false;
	while ((got = pread(fd, bytes, sizeof(bytes), at)) > 0 && (uint64_t)at < CHECKSUM_MAX) {
		if (interrupt_is_waiting()) {
			note_add("debug file %s is ignored: interrupted", path);
			return false;
		}
		sum = crc32(sum, bytes, (uInt)got);
		at += got;
	}
	return got == 0 && sum == wanted;
}

static int try_file(struct elf_source *ret, const struct search *search, const char *path,
		    bool is_linked)
{
	int r = elf_source_open(ret, search->pid, path);

	if (r == -EINVAL)
		note_add("debug file %s is ignored: it is no regular file", path);
	if (r)
		return r;
	if (elf_has_build_id(ret->elf, search->build_id, search->build_id_size) ||
	    (is_linked && !search->build_id_size &&
	     has_checksum(ret->fd, path, search->link_checksum)))
		return 0;
	elf_source_close(ret);
	return -ENOENT;
}

static int try_build_id(struct elf_source *ret, const struct search *search)
{
	char path[PATH_MAX], text[BUILD_ID_TEXT];
	size_t size = MIN(search->build_id_size, sizeof(text) / 2 - 1);

	if (size < 2)
		return -ENOENT;
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", search->build_id[i]);
	snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", text, text + 2);
	return try_file(ret, search, path, /* is_linked */ false);
}

static int try_link(struct elf_source *ret, const struct search *search)
{
	static const struct {
		const char *before, *after;
	} folders[] = { { "", "/" }, { "", "/.debug/" }, { DEBUG_FOLDER, "/" } };
	const char *slash = strrchr(search->path, '/');
	int folder = slash ? (int)(slash - search->path) : 0, r = -ENOENT;
	char path[PATH_MAX];

	if (!search->link || !search->link[0] || strchr(search->link, '/'))
		return -ENOENT;
	for (size_t i = 0; r && i < ARRAY_SIZE(folders); i++) {
		int length = snprintf(path, sizeof(path), "%s%.*s%s%s", folders[i].before, folder,
				      search->path, folders[i].after, search->link);

		if (length > 0 && (size_t)length < sizeof(path))
			r = try_file(ret, search, path, /* is_linked */ true);
	}
	return r;
}

static int try_root(struct elf_source *ret, struct search *search)
{
	int r = try_build_id(ret, search);

	return r ? try_link(ret, search) : 0;
}

/* A name, a zero, up to three more zeros, a checksum. */
static void read_link(struct search *search)
{
	struct elf_part part;
	size_t length;

	if (!elf_section_part(search->stripped, ".gnu_debuglink", &part))
		return;
	length = ALIGN_UP(strnlen((const char *)part.bytes, part.size) + 1, 4);
	if (length > part.size || part.size - length < sizeof(search->link_checksum))
		return;
	search->link = (const char *)part.bytes;
	memcpy(&search->link_checksum, part.bytes + length, sizeof(search->link_checksum));
}

int debug_file_open(struct elf_source *ret, Elf *stripped, const char *path, pid_t pid)
{
	struct search search = { .stripped = stripped, .path = path };
	int r;

	search.build_id = elf_build_id(stripped, &search.build_id_size);
	read_link(&search);
	r = try_root(ret, &search);
	if (!r || pid <= 0)
		return r;
	search.pid = pid;
	return try_root(ret, &search);
}

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
	struct elf_part part;
	size_t size;
	char *unpacked;

	if (!elf_section_part(elf, ".gnu_debugdata", &part))
		return -ENODATA;
	unpacked = debugdata_unpack(part.bytes, part.size, &size);
	return !unpacked || elf_source_in(ret, unpacked, size) ? -ENODATA : 0;
}
