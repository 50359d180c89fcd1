/*
 * The writer of .limpet files.  One lock around the chunks: the collector's thread and its owner
 * both write.
 */
#include "host/recording/recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/core/room.h"
#include "host/recording/async_writer.h"

/* The fastest: a recording costs time that the target needs. */
#define COMPRESSION_LEVEL 1
#define WORTH_COMPRESSING 128u
#define NAME_TRIES        1000u

struct recording {
	struct async_writer *async_writer;
	pthread_mutex_t lock;
	ZSTD_CCtx *compressor;
	struct bytes compressed;
	uint64_t size; /* of all chunks so far */
	uint32_t process_count, thread_count, metric_count;
	uint32_t *function_counts; /* of each process */
	size_t function_counts_room;
	int failure;        /* the first one; nothing is written after it */
	bool begins_beside; /* there was an earlier file */
	char path[256];
};

static void recording_free(struct recording *recording)
{
	struct recorded_contents ignored;

	if (recording->async_writer)
		async_writer_close(recording->async_writer, &ignored);
	ZSTD_freeCCtx(recording->compressor);
	bytes_done(&recording->compressed);
	free(recording->function_counts);
	pthread_mutex_destroy(&recording->lock);
	free(recording);
}

DEFINE_CLEANUP(struct recording *, recording_free)

static int writer_explain(const struct recording *recording,
			  const struct recorded_contents *written, struct err *err)
{
	err_set(err, recording->failure, "write '%s': %s", recording->path,
		strerror(-recording->failure));
	if (recording->begins_beside && !written->records && !written->samples && !written->windows)
		err_why(err, "nothing was recorded; the file that was there stays as it was");
	else
		err_why(err,
			"the recording ends here; what it holds so far (%llu bytes) is readable",
			(unsigned long long)written->bytes);
	if (recording->failure == -ENOSPC || recording->failure == -EDQUOT)
		err_fix(err, "record to another disk with -o FILE, or free some space");
	if (recording->failure == -EFBIG)
		err_fix(err, "allow larger files: ulimit -f unlimited");
	return err->code;
}

static void writer_seal_chunk(struct chunk_head *head, const void *stored)
{
	head->checksum = checksum_of(stored, head->length);
	head->head_checksum = checksum_of(head, offsetof(struct chunk_head, head_checksum));
}

/* The compressed payload, or NULL when it is better stored as it is. */
static const void *writer_compress(struct recording *recording, const struct bytes *payload,
				   struct chunk_head *head)
{
	size_t bound = ZSTD_compressBound(payload->size), size;
	unsigned char *into;

	recording->compressed.size = 0;
	into = payload->size < WORTH_COMPRESSING ? NULL
						 : bytes_reserve(&recording->compressed, bound);
	if (!into)
		return NULL;
	size = ZSTD_compressCCtx(recording->compressor, into, bound, payload->data, payload->size,
				 COMPRESSION_LEVEL);
	if (ZSTD_isError(size) || size >= payload->size)
		return NULL;
	head->length = (uint32_t)size;
	head->raw_length = (uint32_t)payload->size;
	return into;
}

static int put_counted(struct recording *recording, enum chunk_kind kind,
		       const struct bytes *payload, const struct recorded_contents *adds)
{
	struct chunk_head head = { .magic = CHUNK_MAGIC,
				   .kind = (uint16_t)kind,
				   .version = CHUNK_VERSION,
				   .length = (uint32_t)payload->size };
	const void *stored;
	struct part parts[2];
	int r;

	if (recording->failure)
		return recording->failure;
	if (payload->has_failed || payload->size > CHUNK_BYTES_MAX)
		return recording->failure = payload->has_failed ? -ENOMEM : -E2BIG;
	stored = writer_compress(recording, payload, &head);
	stored = stored ? stored : payload->data;
	writer_seal_chunk(&head, stored);
	parts[0] = (struct part){ &head, sizeof(head) };
	parts[1] = (struct part){ stored, head.length };
	r = async_writer_put(recording->async_writer, parts, adds);
	if (r)
		return recording->failure = r;
	recording->size += sizeof(head) + head.length;
	return 0;
}

static int put_locked(struct recording *recording, enum chunk_kind kind,
		      const struct bytes *payload)
{
	return put_counted(recording, kind, payload, &(struct recorded_contents){ 0 });
}

/* Releases the lock; returns the reason of a failure. */
static int writer_settle(struct recording *recording, int r, struct err *err)
{
	struct recorded_contents written;

	if (r) {
		written = async_writer_written(recording->async_writer);
		writer_explain(recording, &written, err);
	}
	pthread_mutex_unlock(&recording->lock);
	return r;
}

static int writer_put(struct recording *recording, enum chunk_kind kind,
		      const struct bytes *payload, struct err *err)
{
	pthread_mutex_lock(&recording->lock);
	return writer_settle(recording, put_locked(recording, kind, payload), err);
}

/* For a file that cannot grow any more: an end with that reason. */
static void put_last_words(struct bytes *ret)
{
	CLEANUP(bytes_done) struct bytes payload = { 0 };
	const struct recorded_end end = { .reason = RECORDING_NO_SPACE };
	struct chunk_head head = { .magic = CHUNK_MAGIC,
				   .kind = CHUNK_END,
				   .version = CHUNK_VERSION };

	item_put(&payload, CHUNK_END, &end);
	head.length = (uint32_t)payload.size;
	if (!payload.has_failed)
		writer_seal_chunk(&head, payload.data);
	bytes_put(ret, &head, sizeof(head));
	bytes_put(ret, payload.data, payload.size);
	ret->has_failed |= payload.has_failed;
}

static int open_async_writer(struct recording *self, struct output_begun *file, struct err *err)
{
	CLEANUP(bytes_done) struct bytes first = { 0 }, last_words = { 0 };
	const struct recording_head head = { RECORDING_MAGIC, RECORDING_VERSION, 0 };

	bytes_put(&first, &head, sizeof(head));
	put_last_words(&last_words);
	self->size = first.size;
	return async_writer_open(file, self->path, &first, &last_words, &self->async_writer, err);
}

static struct recording *recording_new(const char *path)
{
	CLEANUP(recording_free) struct recording *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	pthread_mutex_init(&self->lock, NULL);
	snprintf(self->path, sizeof(self->path), "%s", path);
	self->compressor = ZSTD_createCCtx();
	return self->compressor ? TAKE(self) : NULL;
}

/* Owns the file also when this fails. */
static int writer_create(struct output_begun *file, const char *path, struct recording **ret,
			 struct err *err)
{
	CLEANUP(recording_free) struct recording *self = recording_new(path);

	if (!self) {
		output_end(file);
		return err_set(err, -ENOMEM, "record to '%s': no memory", path);
	}
	self->begins_beside = file->draft[0];
	if (open_async_writer(self, file, err))
		return err->code;
	*ret = TAKE(self);
	return 0;
}

int recording_unused_path(pid_t pid, char *ret, size_t room, struct err *err)
{
	char whose[16] = "all";
	int r = -EEXIST;

	if (pid)
		snprintf(whose, sizeof(whose), "%d", (int)pid);
	for (unsigned i = 1; r == -EEXIST && i < NAME_TRIES; i++) {
		if (i == 1)
			snprintf(ret, room, "limpet-%s.limpet", whose);
		else
			snprintf(ret, room, "limpet-%s-%u.limpet", whose, i);
		r = output_begin_new(ret);
	}
	if (r >= 0)
		return r;
	err_set(err, r, "create '%s': %s", ret, strerror(-r));
	return err_fix(err, "-o FILE names another one");
}

int recording_create_in(int given, const char *path, struct recording **ret, struct err *err)
{
	struct output_begun file = OUTPUT_BEGUN_NONE;

	file.fd = given;
	return writer_create(&file, path, ret, err);
}

int recording_create(const char *path, struct recording **ret, struct err *err)
{
	struct output_begun file;
	int r = output_begin(&file, path, RECORDING_MAGIC, strlen(RECORDING_MAGIC), err);

	return r ? r : writer_create(&file, path, ret, err);
}

int recording_item(struct recording *recording, enum chunk_kind kind, const void *item,
		   struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };

	item_put(&bytes, kind, item);
	return writer_put(recording, kind, &bytes, err);
}

int recording_list(struct recording *recording, enum chunk_kind kind, const struct list_head *which,
		   const void *items, struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };

	list_put(&bytes, which);
	for (uint32_t i = 0; i < which->count; i++)
		item_put(&bytes, kind, (const char *)items + i * item_size(kind));
	return writer_put(recording, kind, &bytes, err);
}

/* Numbers are assigned under the lock: their order is that of the file. */
int recording_process(struct recording *recording, struct recorded_process *process,
		      struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	int r;

	pthread_mutex_lock(&recording->lock);
	process->number = recording->process_count;
	item_put(&bytes, CHUNK_PROCESS, process);
	r = make_room(&recording->function_counts, process->number,
		      &recording->function_counts_room, sizeof(*recording->function_counts));
	if (r) {
		pthread_mutex_unlock(&recording->lock);
		return err_set(err, r, "no memory for the recording");
	}
	recording->function_counts[process->number] = 0;
	r = put_locked(recording, CHUNK_PROCESS, &bytes);
	recording->process_count += !r;
	return writer_settle(recording, r, err);
}

int recording_thread(struct recording *recording, struct recorded_thread *thread, struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	int r;

	pthread_mutex_lock(&recording->lock);
	thread->number = recording->thread_count;
	item_put(&bytes, CHUNK_THREAD, thread);
	r = put_locked(recording, CHUNK_THREAD, &bytes);
	recording->thread_count += !r;
	return writer_settle(recording, r, err);
}

int recording_functions(struct recording *recording, struct list_head *which,
			const struct trace_function *functions, struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	uint32_t *known;
	int r;

	pthread_mutex_lock(&recording->lock);
	if (which->process >= recording->process_count) {
		pthread_mutex_unlock(&recording->lock);
		return err_set(err, -EINVAL, "functions of no process");
	}
	known = &recording->function_counts[which->process];
	which->first = *known;
	list_put(&bytes, which);
	for (uint32_t i = 0; i < which->count; i++)
		function_put(&bytes, &functions[i]);
	r = put_locked(recording, CHUNK_FUNCTIONS, &bytes);
	*known += r ? 0 : which->count;
	return writer_settle(recording, r, err);
}

int recording_clock(struct recording *recording, struct err *err)
{
	struct clock_point now;

	clock_now(&now);
	return recording_item(recording, CHUNK_CLOCK, &now, err);
}

int recording_records(struct recording *recording, const struct records_head *head,
		      struct bytes *payload, struct err *err)
{
	const struct recorded_contents adds = { .records = head->count };

	memcpy(payload->data, head, sizeof(*head));
	pthread_mutex_lock(&recording->lock);
	return writer_settle(recording, put_counted(recording, CHUNK_RECORDS, payload, &adds), err);
}

int recording_samples(struct recording *recording, enum chunk_kind kind,
		      const struct bytes *payload, struct err *err)
{
	struct cursor cursor = { payload->data, payload->data + payload->size };
	struct recorded_contents adds = { 0 };
	struct numbered_head head;

	if (kind == CHUNK_SAMPLES && !payload->has_failed && !numbered_read(&cursor, &head))
		adds.samples = head.count;
	pthread_mutex_lock(&recording->lock);
	return writer_settle(recording, put_counted(recording, kind, payload, &adds), err);
}

int recording_metrics(struct recording *recording, struct recorded_metric *metrics, uint32_t count,
		      struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	struct numbered_head head = { .count = count };
	int r;

	pthread_mutex_lock(&recording->lock);
	head.first = recording->metric_count;
	bytes_put(&bytes, &head, sizeof(head));
	for (uint32_t i = 0; i < count; i++) {
		metrics[i].number = head.first + i;
		item_put(&bytes, CHUNK_METRICS, &metrics[i]);
	}
	r = put_locked(recording, CHUNK_METRICS, &bytes);
	recording->metric_count += r ? 0 : count;
	return writer_settle(recording, r, err);
}

int recording_windows(struct recording *recording, const struct recorded_window *windows,
		      uint32_t count, struct err *err)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	const struct recorded_contents adds = { .windows = count };
	const struct numbered_head head = { .count = count };
	struct window_packer packer = { 0 };

	bytes_put(&bytes, &head, sizeof(head));
	for (uint32_t i = 0; i < count; i++)
		window_pack(&bytes, &packer, &windows[i]);
	pthread_mutex_lock(&recording->lock);
	return writer_settle(recording, put_counted(recording, CHUNK_WINDOWS, &bytes, &adds), err);
}

bool recording_begins_beside(const struct recording *recording)
{
	return recording->begins_beside;
}

uint64_t recording_size(struct recording *recording)
{
	uint64_t size;

	pthread_mutex_lock(&recording->lock);
	size = recording->failure ? async_writer_written(recording->async_writer).bytes
				  : recording->size;
	pthread_mutex_unlock(&recording->lock);
	return size;
}

int recording_end(struct recording *self, const struct recorded_end *end,
		  struct recorded_contents *ret, struct err *err)
{
	int r = end ? recording_clock(self, err) : 0, closed;

	if (!r && end)
		r = recording_item(self, CHUNK_END, end, err);
	closed = async_writer_close(TAKE(self->async_writer), ret);
	if (r || !closed)
		return r;
	self->failure = closed;
	return writer_explain(self, ret, err);
}

int recording_close(struct recording *recording, const struct recorded_end *end, struct err *err)
{
	CLEANUP(recording_free) struct recording *self = recording;
	struct recorded_contents ignored;

	return recording_end(self, end, &ignored, err);
}

void recording_abandon(struct recording *recording)
{
	if (recording)
		recording_free(recording);
}
