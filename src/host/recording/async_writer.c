/*
 * A queue of pieces and the thread that writes them.
 */
#include "host/recording/async_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/threads/worker.h"

/* The limit of waiting data: some seconds of a program that writes very much. */
#define WAITING_MAX (64u << 20)

struct piece {
	struct piece *next;
	struct recorded_contents adds;
	unsigned char bytes[];
};

struct async_writer {
	struct output_begun file;
	struct worker worker; /* its lock guards what follows */
	struct piece *first, **end;
	size_t waiting; /* bytes of all pieces in the queue, that being written included */
	off_t begin;    /* of this recording, in the file */
	struct recorded_contents written;
	int failure; /* the first one; nothing is written after it */
	struct bytes last_words;
};

static void async_writer_free(struct async_writer *self)
{
	output_end(&self->file);
	bytes_done(&self->last_words);
	worker_done(&self->worker);
	free(self);
}

DEFINE_CLEANUP(struct async_writer *, async_writer_free)

/* A pipe cannot be cut back, nor can it hold a torn piece for long. */
static void cut_back(struct async_writer *self)
{
	off_t whole = self->begin + (off_t)self->written.bytes;

	if (ftruncate(self->file.fd, whole) || lseek(self->file.fd, whole, SEEK_SET) < 0)
		return;
	if (!descriptor_write(self->file.fd, self->last_words.data, self->last_words.size))
		self->written.bytes += self->last_words.size;
	else
		(void)!ftruncate(self->file.fd, whole);
}

static void async_writer_count(struct async_writer *self, const struct recorded_contents *adds)
{
	self->written.bytes += adds->bytes;
	self->written.records += adds->records;
	self->written.samples += adds->samples;
	self->written.windows += adds->windows;
}

static int put_piece(struct async_writer *self, const struct piece *piece)
{
	bool has_data = piece->adds.records || piece->adds.samples || piece->adds.windows;
	int r = descriptor_write(self->file.fd, piece->bytes, piece->adds.bytes);

	return !r && has_data ? output_publish(&self->file) : r;
}

static void write_piece(struct async_writer *self, const struct piece *piece)
{
	int r = self->failure ? 0 : put_piece(self, piece);

	worker_lock(&self->worker);
	if (!self->failure && !r)
		async_writer_count(self, &piece->adds);
	if (r) {
		self->failure = r;
		cut_back(self);
	}
	self->waiting -= piece->adds.bytes;
	worker_notify(&self->worker);
	worker_unlock(&self->worker);
}

/* Removes the next one from the queue; NULL when no more will follow. */
static struct piece *next_piece(struct async_writer *self)
{
	struct piece *piece;

	worker_lock(&self->worker);
	while (!self->first && !self->worker.is_stopping)
		worker_wait(&self->worker);
	piece = self->first;
	if (piece) {
		self->first = piece->next;
		if (!self->first)
			self->end = &self->first;
	}
	worker_unlock(&self->worker);
	return piece;
}

static void *async_writer_run(void *argument)
{
	struct async_writer *self = argument;
	struct piece *piece;

	while ((piece = next_piece(self))) {
		write_piece(self, piece);
		free(piece);
	}
	return NULL;
}

/* A redirected stdout may stand anywhere; a pipe stands nowhere. */
static off_t begin_of(int fd, size_t written)
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	return at < (off_t)written ? 0 : at - (off_t)written;
}

static int begin_file(struct async_writer *self, const char *path, const struct bytes *first,
		      struct err *err)
{
	int r = descriptor_write(self->file.fd, first->data, first->size);

	if (r) {
		output_abandon(&self->file);
		return output_explain(r, path, err);
	}
	self->written.bytes = first->size;
	self->begin = begin_of(self->file.fd, first->size);
	r = worker_start(&self->worker, async_writer_run, self);
	if (r)
		return err_set(err, r, "start the thread that writes '%s': %s", path, strerror(-r));
	return 0;
}

int async_writer_open(struct output_begun *file, const char *path, const struct bytes *first,
		      const struct bytes *last_words, struct async_writer **ret, struct err *err)
{
	CLEANUP(async_writer_free) struct async_writer *self = calloc(1, sizeof(*self));

	if (!self) {
		output_end(file);
		return err_set(err, -ENOMEM, "record to '%s': no memory", path);
	}
	self->file = *file;
	*file = OUTPUT_BEGUN_NONE;
	self->end = &self->first;
	worker_init(&self->worker);
	bytes_put(&self->last_words, last_words->data, last_words->size);
	if (first->has_failed || last_words->has_failed || self->last_words.has_failed)
		return err_set(err, -ENOMEM, "record to '%s': no memory", path);
	if (begin_file(self, path, first, err))
		return err->code;
	*ret = TAKE(self);
	return 0;
}

static struct piece *piece_new(const struct part parts[2], const struct recorded_contents *adds)
{
	size_t size = parts[0].size + parts[1].size;
	struct piece *piece = malloc(sizeof(*piece) + size);

	if (!piece)
		return NULL;
	piece->next = NULL;
	piece->adds = *adds;
	piece->adds.bytes = size;
	memcpy(piece->bytes, parts[0].bytes, parts[0].size);
	memcpy(piece->bytes + parts[0].size, parts[1].bytes, parts[1].size);
	return piece;
}

int async_writer_put(struct async_writer *self, const struct part parts[2],
		     const struct recorded_contents *adds)
{
	CLEANUP(free) struct piece *piece = piece_new(parts, adds);
	int r;

	if (!piece)
		return -ENOMEM;
	worker_lock(&self->worker);
	while (!self->failure && self->waiting && self->waiting + piece->adds.bytes > WAITING_MAX)
		worker_wait(&self->worker);
	r = self->failure;
	if (!r) {
		self->waiting += piece->adds.bytes;
		*self->end = piece;
		self->end = &TAKE(piece)->next;
		worker_notify(&self->worker);
	}
	worker_unlock(&self->worker);
	return r;
}

struct recorded_contents async_writer_written(struct async_writer *self)
{
	struct recorded_contents written;

	worker_lock(&self->worker);
	written = self->written;
	worker_unlock(&self->worker);
	return written;
}

int async_writer_close(struct async_writer *async_writer, struct recorded_contents *written)
{
	CLEANUP(async_writer_free) struct async_writer *self = async_writer;
	int r, closed;

	worker_stop(&self->worker);
	r = self->failure;
	*written = self->written;
	written->leaves_old_file = self->file.draft[0];
	/* Some file systems report a lack of space only at close. */
	closed = output_end(&self->file);
	return r ? r : closed;
}
