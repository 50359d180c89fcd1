/*
 * The reader of .limpet files; nothing in the file is trusted.
 */
#include "host/recording/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

struct recording_reader {
	int fd;
	uint64_t at, size;
	uint64_t unpacked, unpacked_max;
	struct reader_buffers buffers;
	ZSTD_DCtx *decompressor;
	struct reader_damage damage;
};

void reader_close(struct recording_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	ZSTD_freeDCtx(reader->decompressor);
	reader_buffers_done(&reader->buffers);
	free(reader);
}

static bool read_at(const struct recording_reader *reader, uint64_t at, void *into, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t r = pread(reader->fd, (char *)into + done, size - done, (off_t)(at + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}

static int check_head(const struct recording_reader *reader, const char *name, struct err *err)
{
	struct recording_head head;

	if (!read_at(reader, 0, &head, sizeof(head)) ||
	    memcmp(head.magic, RECORDING_MAGIC, sizeof(head.magic)) != 0) {
		err_set(err, -EPROTO, "'%s' is not a recording of limpet", name);
		return err_fix(err, "limpet record -p PID -o FILE makes one");
	}
	if (head.version > RECORDING_VERSION) {
		err_set(err, -EPROTO, "'%s' has format version %u; this limpet knows %u", name,
			head.version, RECORDING_VERSION);
		return err_fix(err, "read it with the limpet that wrote it, or a newer one");
	}
	return 0;
}

int reader_follow(struct recording_reader *self)
{
	struct stat stat;

	if (fstat(self->fd, &stat) < 0)
		return -errno;
	self->size = (uint64_t)stat.st_size;
	self->unpacked_max =
		READER_UNPACKED_LEAST +
		MIN(self->size, UINT64_MAX / 2 / READER_UNPACKED_RATIO) * READER_UNPACKED_RATIO;
	return 0;
}

static int reader_init(struct recording_reader *self, const char *name, struct err *err)
{
	int r;

	self->at = sizeof(struct recording_head);
	self->decompressor = ZSTD_createDCtx();
	if (!self->decompressor)
		return err_set(err, -ENOMEM, "read '%s': no memory", name);
	r = reader_follow(self);
	return r ? err_set(err, r, "read '%s': %s", name, strerror(-r))
		 : check_head(self, name, err);
}

int reader_open_fd(int fd, const char *name, struct recording_reader **ret, struct err *err)
{
	struct recording_reader *self = calloc(1, sizeof(*self));
	int r;

	if (!self) {
		close(fd);
		return err_set(err, -ENOMEM, "read '%s': no memory", name);
	}
	self->fd = fd;
	r = reader_init(self, name, err);
	if (r)
		reader_close(self);
	else
		*ret = self;
	return r;
}

int reader_open(const char *path, struct recording_reader **ret, struct err *err)
{
	/* Opening a pipe without a writer would block, and no pipe is a recording: O_NONBLOCK. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), code = -errno;

	if (fd >= 0)
		return reader_open_fd(fd, path, ret, err);
	err_set(err, code, "open '%s': %s", path, strerror(-code));
	if (code != -EACCES)
		return code;
	err_why(err, "recordings are readable by their owner only");
	err_fix(err, "sudo chown $USER FILE, or read it with sudo");
	return err_exit(err, EXIT_NOT_PERMITTED);
}

static bool head_is_sound(const struct recording_reader *reader, uint64_t at,
			  const struct chunk_head *head)
{
	return head->magic == CHUNK_MAGIC && head->length <= CHUNK_BYTES_MAX &&
	       head->raw_length <= CHUNK_BYTES_MAX &&
	       head->length <= reader->size - at - sizeof(*head) &&
	       head->head_checksum == checksum_of(head, offsetof(struct chunk_head, head_checksum));
}

static bool read_head(struct recording_reader *reader, uint64_t at, struct chunk_head *ret)
{
	return at <= reader->size && reader->size - at >= sizeof(*ret) &&
	       read_at(reader, at, ret, sizeof(*ret)) && head_is_sound(reader, at, ret);
}

static bool reader_decompress(struct recording_reader *reader, const struct chunk_head *head,
			      struct cursor *ret)
{
	unsigned char *into;
	size_t size;

	reader->buffers.raw.size = 0;
	into = bytes_reserve(&reader->buffers.raw, head->raw_length);
	if (!into)
		return false;
	size = ZSTD_decompressDCtx(reader->decompressor, into, head->raw_length,
				   reader->buffers.stored.data, head->length);
	*ret = (struct cursor){ into, into + head->raw_length, false };
	return size == head->raw_length;
}

static bool read_payload(struct recording_reader *reader, uint64_t at,
			 const struct chunk_head *head, struct cursor *ret)
{
	unsigned char *into;

	reader->buffers.stored.size = 0;
	into = bytes_reserve(&reader->buffers.stored, head->length);
	if (!into || !read_at(reader, at, into, head->length) ||
	    checksum_of(into, head->length) != head->checksum)
		return false;
	if (head->raw_length)
		return reader_decompress(reader, head, ret);
	*ret = (struct cursor){ into, into + head->length, false };
	return true;
}

uint64_t reader_size(const struct recording_reader *reader)
{
	return reader->size;
}

int reader_copy(const struct recording_reader *reader, int to)
{
	off_t at = 0;

	while ((uint64_t)at < reader->size) {
		ssize_t r = sendfile(to, reader->fd, &at, reader->size - (uint64_t)at);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0)
			return -EIO; /* it was cut meanwhile */
	}
	return 0;
}

void reader_believe(struct recording_reader *reader)
{
	reader->unpacked_max = UINT64_MAX;
}

/* Uncompressed payloads need no check. */
static bool is_believed(struct recording_reader *reader, const struct chunk_head *head)
{
	if (head->raw_length > reader->unpacked_max - reader->unpacked) {
		reader->damage.beyond++;
		return false;
	}
	reader->unpacked += head->raw_length;
	return true;
}

int reader_next(struct recording_reader *reader, struct chunk *ret)
{
	struct chunk_head head;

	while (read_head(reader, reader->at, &head)) {
		*ret = (struct chunk){ .kind = head.kind,
				       .version = head.version,
				       .at = reader->at };
		reader->at += sizeof(head) + head.length;
		if (!is_believed(reader, &head))
			continue;
		if (read_payload(reader, ret->at + sizeof(head), &head, &ret->payload))
			return 1;
		reader->damage.chunks++;
	}
	reader->damage.cut_bytes = reader->size > reader->at ? reader->size - reader->at : 0;
	return 0;
}

int reader_at(struct recording_reader *reader, uint64_t at, struct chunk *ret)
{
	struct chunk_head head;

	if (!read_head(reader, at, &head))
		return -EPROTO;
	*ret = (struct chunk){ .kind = head.kind, .version = head.version, .at = at };
	return read_payload(reader, at + sizeof(head), &head, &ret->payload) ? 0 : -EPROTO;
}

void reader_swap(struct recording_reader *reader, struct reader_buffers *buffers)
{
	struct reader_buffers others = *buffers;

	*buffers = reader->buffers;
	reader->buffers = others;
}

void reader_buffers_done(struct reader_buffers *buffers)
{
	bytes_done(&buffers->stored);
	bytes_done(&buffers->raw);
}

struct reader_damage reader_damage(const struct recording_reader *reader)
{
	return reader->damage;
}
