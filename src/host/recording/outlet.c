/*
 * A queue of pieces and the thread that writes them.  Host only.
 */
#include "host/recording/outlet.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/quiet_thread.h"

/* What may wait to be written: some seconds of a program that writes very much. */
#define WAITING_MAX (64u << 20)

struct piece {
	struct piece *next;
	struct recorded_contents adds;
	unsigned char bytes[];
};

struct outlet {
	struct output_begun file;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_ending;
	struct piece *first, **end;
	size_t waiting; /* bytes of all pieces in the queue, that being written included */
	off_t begin;    /* of what is ours, in the file */
	struct recorded_contents written;
	int failure; /* the first one; nothing is written after it */
	struct bytes last_words;
};

static void outlet_free(struct outlet *self)
{
	output_end(&self->file);
	bytes_done(&self->last_words);
	pthread_cond_destroy(&self->changed);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

DEFINE_CLEANUP(struct outlet *, outlet_free)

/* A pipe cannot be cut back, nor can it hold a torn piece for long. */
static void cut_back(struct outlet *self)
{
	off_t whole = self->begin + (off_t)self->written.bytes;

	if (ftruncate(self->file.fd, whole) || lseek(self->file.fd, whole, SEEK_SET) < 0)
		return;
	if (!descriptor_write(self->file.fd, self->last_words.data, self->last_words.size))
		self->written.bytes += self->last_words.size;
	else
		(void)!ftruncate(self->file.fd, whole);
}

static void count(struct outlet *self, const struct recorded_contents *adds)
{
	self->written.bytes += adds->bytes;
	self->written.records += adds->records;
	self->written.samples += adds->samples;
}

static int put_piece(struct outlet *self, const struct piece *piece)
{
	int r = descriptor_write(self->file.fd, piece->bytes, piece->adds.bytes);

	return !r && (piece->adds.records || piece->adds.samples) ? output_take_name(&self->file)
								  : r;
}

static void write_piece(struct outlet *self, const struct piece *piece)
{
	int r = self->failure ? 0 : put_piece(self, piece);

	pthread_mutex_lock(&self->lock);
	if (!self->failure && !r)
		count(self, &piece->adds);
	if (r) {
		self->failure = r;
		cut_back(self);
	}
	self->waiting -= piece->adds.bytes;
	pthread_cond_broadcast(&self->changed);
	pthread_mutex_unlock(&self->lock);
}

/* The next one, out of the queue; NULL when no more will come. */
static struct piece *next_piece(struct outlet *self)
{
	struct piece *piece;

	pthread_mutex_lock(&self->lock);
	while (!self->first && !self->is_ending)
		pthread_cond_wait(&self->changed, &self->lock);
	piece = self->first;
	if (piece) {
		self->first = piece->next;
		if (!self->first)
			self->end = &self->first;
	}
	pthread_mutex_unlock(&self->lock);
	return piece;
}

static void *run(void *argument)
{
	struct outlet *self = argument;
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

static int begin_file(struct outlet *self, const char *path, const struct bytes *first,
		      struct err *err)
{
	int r = descriptor_write(self->file.fd, first->data, first->size);

	if (r) {
		output_abandon(&self->file);
		return output_explain(r, path, err);
	}
	self->written.bytes = first->size;
	self->begin = begin_of(self->file.fd, first->size);
	r = quiet_thread(&self->thread, run, self);
	if (r)
		return err_set(err, r, "start the thread that writes '%s': %s", path, strerror(-r));
	return 0;
}

int outlet_open(struct output_begun *file, const char *path, const struct bytes *first,
		const struct bytes *last_words, struct outlet **ret, struct err *err)
{
	CLEANUP(outlet_free) struct outlet *self = calloc(1, sizeof(*self));

	if (!self) {
		output_end(file);
		return err_set(err, -ENOMEM, "record to '%s': no memory", path);
	}
	self->file = *file;
	*file = OUTPUT_BEGUN_NONE;
	self->end = &self->first;
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->changed, NULL);
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

static bool has_room(const struct outlet *self, size_t size)
{
	return !self->waiting || self->waiting + size <= WAITING_MAX;
}

int outlet_put(struct outlet *self, const struct part parts[2],
	       const struct recorded_contents *adds)
{
	CLEANUP(free) struct piece *piece = piece_new(parts, adds);
	int r;

	if (!piece)
		return -ENOMEM;
	pthread_mutex_lock(&self->lock);
	while (!self->failure && !has_room(self, piece->adds.bytes))
		pthread_cond_wait(&self->changed, &self->lock);
	r = self->failure;
	if (!r) {
		self->waiting += piece->adds.bytes;
		*self->end = piece;
		self->end = &TAKE(piece)->next;
		pthread_cond_broadcast(&self->changed);
	}
	pthread_mutex_unlock(&self->lock);
	return r;
}

struct recorded_contents outlet_written(struct outlet *self)
{
	struct recorded_contents written;

	pthread_mutex_lock(&self->lock);
	written = self->written;
	pthread_mutex_unlock(&self->lock);
	return written;
}

static void end_thread(struct outlet *self)
{
	pthread_mutex_lock(&self->lock);
	self->is_ending = true;
	pthread_cond_broadcast(&self->changed);
	pthread_mutex_unlock(&self->lock);
	pthread_join(self->thread, NULL);
}

int outlet_close(struct outlet *outlet, struct recorded_contents *written)
{
	CLEANUP(outlet_free) struct outlet *self = outlet;
	int r, closed;

	end_thread(self);
	r = self->failure;
	*written = self->written;
	written->leaves_old_file = self->file.draft[0];
	/* Some file systems tell only here that there was no room. */
	closed = output_end(&self->file);
	return r ? r : closed;
}
