/*
 * STAND-IN, for tests only, of NVIDIA's libcupti.so.13: one subscriber; callbacks around the
 * driver's calls; records of what the device does in buffers that the client gives, which come back
 * late, on a thread of its own or when it is asked, and in the order in which work was enqueued,
 * not in that in which it was done.  It counts who breaks its rules.  In no way NVIDIA's.
 *
 *   STANDIN_CUPTI_VERSION=N   tells that version
 *   STANDIN_CUPTI_HELD=1      another profiler is there
 *   STANDIN_CUDA_DEVICE=N     all work is that device's, the last of as many
 *   STANDIN_CUPTI_MISLEADS=1  in every session but the first, kernels of graphs have the number of
 *                             the call before
 *   STANDIN_CUPTI_TIMELESS=N  kernels after the first N of a session have no times
 *
 *   STANDIN_CUPTI_SLOW=1      calls that enqueue work take longer
 *   STANDIN_CUPTI_LATE=1      takes its time before it gives buffers back
 *
 * It counts who switches record kinds while work is enqueued, and who writes to a buffer that it
 * gave back by force, with records of work that is not done; a graph that is launched unseen writes
 * the end of its kernels over those of its last launch that was recorded.
 *
 * cuptiFinalize frees what graphs write to that were launched while kernels were recorded.
 */
#include "standin_cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STANDIN_VERSION 130001u
#define BUFFERS         256u
#define RECORD_BYTES    216u
#define PERIOD_US       20000
#define END_US          400000
#define CONTEXT         1u
#define HELD            39
#define NO_MORE         21
#define PATCHES         64u
#define WRONG           1
#define NODES           64u
#define UNSEEN          UINT32_MAX /* the life of work that is not recorded */
#define LATE_US         30000
#define ENQUEUE_US      300

enum { KIND_COPY = 1, KIND_MEMSET = 2, KIND_KERNEL = 10, KIND_MEMORY = 49, KINDS = 64 };

/* As the public header lays them out. */
struct kernel_record {
	uint32_t kind;
	uint8_t cache, shared_config;
	uint16_t registers;
	uint32_t cache_requested, cache_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3], static_shared, dynamic_shared;
	uint32_t local_each, local_all, correlation;
	int64_t grid_id;
	const char *name;
	uint8_t between[32];
	uint64_t graph_node;
	uint8_t rest[64];
};
struct copy_record {
	uint32_t kind;
	uint8_t copy_kind, from_kind, to_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint8_t rest[168];
};
struct memory_record {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t process, device, context, stream;
	uint8_t rest[152];
};
_Static_assert(sizeof(struct kernel_record) == RECORD_BYTES, "one size for all");
_Static_assert(sizeof(struct copy_record) == RECORD_BYTES, "one size for all");
_Static_assert(sizeof(struct memory_record) == RECORD_BYTES, "one size for all");
_Static_assert(offsetof(struct kernel_record, correlation) == 92, "as in the header");
_Static_assert(offsetof(struct kernel_record, name) == 104, "as in the header");
_Static_assert(offsetof(struct kernel_record, graph_node) == 144, "as in the header");

struct buffer {
	uint8_t *bytes;
	size_t size, used;
	uint32_t pending; /* records that are not whole */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[BUFFERS]; /* the last one that is used is being filled */
static unsigned buffer_count;
static callback *subscriber;
static void *subscriber_user;
static buffer_requested *on_requested;
static buffer_completed *on_completed;
static uint8_t callbacks_on[CB_COUNT];
static uint8_t kinds_on[KINDS];
static uint32_t correlations, lives, finalized, broken;
static volatile bool is_over;
static uint64_t dropped, session_kernels;
static struct kernel_record *nodes[NODES]; /* of graphs, as they were launched */
static unsigned node_count;
static struct standin_patch patches[PATCHES]; /* the last is used, the others are freed */
static bool has_worker;
static __thread unsigned exits; /* callbacks of this thread at the end of a call */
static uint32_t inside;         /* callbacks under way */
static uint32_t enqueuing;      /* calls that enqueue work, between their callbacks */
static __thread bool is_enqueuing;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Under the lock: room for a record; NULL where the client gave none. */
static void *record_new(void)
{
	struct buffer *last = buffer_count ? &buffers[buffer_count - 1] : NULL;
	size_t most;
	void *record;

	if (!last || last->used + RECORD_BYTES > last->size) {
		if (buffer_count == BUFFERS)
			return NULL;
		last = &buffers[buffer_count];
		*last = (struct buffer){ 0 };
		on_requested(&last->bytes, &last->size, &most);
		if (!last->bytes)
			return NULL;
		buffer_count++;
	}
	record = last->bytes + last->used;
	last->used += RECORD_BYTES;
	return record;
}

static struct buffer *buffer_of(const void *record)
{
	for (unsigned i = 0; i < buffer_count; i++)
		if ((const uint8_t *)record >= buffers[i].bytes &&
		    (const uint8_t *)record < buffers[i].bytes + buffers[i].size)
			return &buffers[i];
	return NULL;
}

static void deliver(unsigned index)
{
	struct buffer buffer = buffers[index];

	memmove(&buffers[index], &buffers[index + 1], (--buffer_count - index) * sizeof(*buffers));
	pthread_mutex_unlock(&lock);
	on_completed(NULL, 0, buffer.bytes, buffer.size, buffer.used);
	pthread_mutex_lock(&lock);
}

static bool is_ready(const struct buffer *buffer, bool only_full, bool is_forced)
{
	if (only_full && buffer->used + RECORD_BYTES <= buffer->size)
		return false;
	return is_forced || !buffer->pending;
}

static void deliver_ready(bool only_full, bool is_forced)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < buffer_count;)
		if (is_ready(&buffers[i], only_full, is_forced)) {
			deliver(i);
			i = 0;
		} else {
			i++;
		}
	pthread_mutex_unlock(&lock);
}

static void *worker_run(void *unused)
{
	(void)unused;
	for (;;) {
		usleep(PERIOD_US);
		deliver_ready(true, false);
	}
	return NULL;
}

static bool enqueues(uint32_t function)
{
	return function == CB_cuLaunchKernel || function == CB_cuGraphLaunch ||
	       function == CB_cuMemsetD8_v2 || function == CB_cuMemcpyHtoDAsync_v2 ||
	       function == CB_cuMemcpyDtoHAsync_v2;
}

/* False where nobody is told. */
static bool call_back(uint32_t site, uint32_t function, uint32_t correlation, int *result)
{
	static __thread uint64_t word;
	struct callback_data data = { .site = site,
				      .function = "",
				      .result = result,
				      .context_number = CONTEXT,
				      .correlation_data = &word,
				      .correlation = correlation };
	callback *told = __atomic_load_n(&subscriber, __ATOMIC_ACQUIRE);

	if (!site)
		word = 0;
	if (!told || !__atomic_load_n(&callbacks_on[function], __ATOMIC_ACQUIRE))
		return false;
	__atomic_fetch_add(&inside, 1, __ATOMIC_ACQ_REL);
	exits += site;
	told(subscriber_user, 1, function, &data);
	exits -= site;
	__atomic_fetch_sub(&inside, 1, __ATOMIC_ACQ_REL);
	return true;
}

static uint32_t take_enter(uint32_t function)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);

	is_enqueuing = call_back(0, function, correlation, NULL) && enqueues(function);
	__atomic_fetch_add(&enqueuing, is_enqueuing, __ATOMIC_ACQ_REL);
	if (is_enqueuing && getenv("STANDIN_CUPTI_SLOW"))
		usleep(ENQUEUE_US);
	return correlation;
}

static void take_leave(uint32_t function, uint32_t correlation, int result)
{
	__atomic_fetch_sub(&enqueuing, is_enqueuing, __ATOMIC_ACQ_REL);
	is_enqueuing = false;
	call_back(1, function, correlation, &result);
}

static void fill_kernel(struct kernel_record *record, const struct standin_work *work)
{
	*record = (struct kernel_record){ .kind = KIND_KERNEL,
					  .device = standin_device(),
					  .context = CONTEXT,
					  .stream = work->stream,
					  .dynamic_shared = (int32_t)work->shared,
					  .correlation = work->correlation,
					  .name = work->name,
					  .graph_node = work->graph_node };
	if (work->graph_node && lives > 1 && getenv("STANDIN_CUPTI_MISLEADS"))
		record->correlation--;
	for (unsigned i = 0; i < 3; i++) {
		record->grid[i] = (int32_t)work->grid[i];
		record->block[i] = (int32_t)work->block[i];
	}
}

static void fill_copy(struct copy_record *record, const struct standin_work *work)
{
	*record = (struct copy_record){ .kind = work->kind == WORK_MEMSET ? KIND_MEMSET : KIND_COPY,
					.copy_kind = work->kind == WORK_TO_HOST ? 2 : 1,
					.bytes = work->bytes,
					.device = standin_device(),
					.context = CONTEXT,
					.stream = work->stream,
					.correlation = work->correlation };
}

/* The record of the node's last launch that was recorded, while the client does not have it. */
static struct kernel_record *node_last(uint64_t node)
{
	for (unsigned i = 0; i < NODES && i < node_count; i++) {
		struct kernel_record *record = nodes[(node_count - 1 - i) % NODES];

		if (buffer_of(record) && record->graph_node == node)
			return record;
	}
	return NULL;
}

static void take_enqueued(struct standin_work *work)
{
	static const uint8_t kinds[] = { KIND_KERNEL, KIND_COPY, KIND_COPY, KIND_MEMSET };
	void *record;

	work->record = NULL;
	pthread_mutex_lock(&lock);
	if (work->graph_node && !kinds_on[KIND_KERNEL])
		work->record = node_last(work->graph_node);
	if (work->record) {
		work->life = UNSEEN;
		pthread_mutex_unlock(&lock);
		return;
	}
	record = kinds_on[kinds[work->kind]] ? record_new() : NULL;
	dropped += !record && kinds_on[kinds[work->kind]];
	if (record && work->kind == WORK_KERNEL)
		fill_kernel(record, work);
	else if (record)
		fill_copy(record, work);
	if (record)
		buffers[buffer_count - 1].pending++;
	if (record && work->graph_node)
		nodes[node_count++ % NODES] = record;
	work->record = record;
	work->life = lives;
	pthread_mutex_unlock(&lock);
}

static bool has_times(void)
{
	const char *most = getenv("STANDIN_CUPTI_TIMELESS");

	return !most || session_kernels < strtoul(most, NULL, 10);
}

/* CUPTI goes on with a record also where it has given back its buffer by force. */
static bool is_own_record(const struct standin_work *work)
{
	const struct kernel_record *record = work->record;

	return record->kind == KIND_KERNEL && record->correlation == work->correlation;
}

/* Not of a buffer that is gone: it was taken away by force, or by an end. */
static void take_done(const struct standin_work *work, uint64_t begin_ns, uint64_t end_ns)
{
	struct buffer *buffer;

	pthread_mutex_lock(&lock);
	if (work->life == UNSEEN && buffer_of(work->record))
		((struct kernel_record *)work->record)->end = end_ns;
	buffer = work->record && work->life == lives ? buffer_of(work->record) : NULL;
	if (work->kind == WORK_KERNEL && work->record && work->life != UNSEEN && !buffer)
		broken += !is_own_record(work);
	if (buffer && work->kind == WORK_KERNEL && !has_times()) {
		session_kernels++;
	} else if (buffer && work->kind == WORK_KERNEL) {
		session_kernels++;
		((struct kernel_record *)work->record)->start = begin_ns;
		((struct kernel_record *)work->record)->end = end_ns;
	} else if (buffer) {
		((struct copy_record *)work->record)->start = begin_ns;
		((struct copy_record *)work->record)->end = end_ns;
	}
	if (buffer && buffer->pending)
		buffer->pending--;
	pthread_mutex_unlock(&lock);
}

static void take_memory(uint32_t correlation, bool is_release, uint64_t address, size_t size)
{
	struct memory_record *record;

	pthread_mutex_lock(&lock);
	record = kinds_on[KIND_MEMORY] ? record_new() : NULL;
	if (record)
		*record = (struct memory_record){ .kind = KIND_MEMORY,
						  .operation = is_release ? 2 : 1,
						  .memory_kind = 3,
						  .correlation = correlation,
						  .address = address,
						  .bytes = size,
						  .time = now_ns(),
						  .device = standin_device(),
						  .context = CONTEXT };
	pthread_mutex_unlock(&lock);
}

static struct standin_patch *take_patch(void)
{
	return kinds_on[KIND_KERNEL] ? &patches[finalized % PATCHES] : NULL;
}

static const struct standin_instrument instrument = { take_enter, take_leave,  take_enqueued,
						      take_done,  take_memory, take_patch };

STANDIN_EXPORT int cuptiGetVersion(uint32_t *version)
{
	const char *given = getenv("STANDIN_CUPTI_VERSION");

	*version = given ? (uint32_t)atoi(given) : STANDIN_VERSION;
	return 0;
}

STANDIN_EXPORT int cuptiGetTimestamp(uint64_t *ret)
{
	*ret = now_ns();
	return 0;
}

STANDIN_EXPORT int cuptiSubscribe(void **ret, callback *given, void *user)
{
	if (getenv("STANDIN_CUPTI_HELD") || subscriber)
		return HELD;
	subscriber_user = user;
	__atomic_store_n(&subscriber, given, __ATOMIC_RELEASE);
	*ret = (void *)&subscriber;
	standin_instrument(&instrument);
	session_kernels = 0;
	lives++;
	return 0;
}

STANDIN_EXPORT int cuptiUnsubscribe(void *handle)
{
	memset(callbacks_on, 0, sizeof(callbacks_on));
	__atomic_store_n(&subscriber, NULL, __ATOMIC_RELEASE);
	return handle == (void *)&subscriber ? 0 : WRONG;
}

STANDIN_EXPORT int cuptiEnableCallback(uint32_t is_on, void *handle, int domain, uint32_t function)
{
	if (handle != (void *)&subscriber || domain != 1 || function >= CB_COUNT)
		return WRONG;
	__atomic_store_n(&callbacks_on[function], (uint8_t)is_on, __ATOMIC_RELEASE);
	return 0;
}

STANDIN_EXPORT int cuptiGetCallbackName(int domain, uint32_t function, const char **ret)
{
	if (domain != 1 || (function != CB_cuDriverGetVersion && function != CB_cuDeviceGet))
		return WRONG;
	*ret = function == CB_cuDeviceGet ? "cuDeviceGet" : "cuDriverGetVersion";
	return 0;
}

STANDIN_EXPORT int cuptiEnableDomain(uint32_t is_on, void *handle, int domain)
{
	for (uint32_t i = 0; i < CB_COUNT; i++)
		cuptiEnableCallback(is_on, handle, domain, i);
	return 0;
}

STANDIN_EXPORT int cuptiActivityRegisterCallbacks(buffer_requested *requested,
						  buffer_completed *completed)
{
	pthread_t thread;

	on_requested = requested;
	on_completed = completed;
	if (!has_worker && !pthread_create(&thread, NULL, worker_run, NULL)) {
		pthread_detach(thread);
		has_worker = true;
	}
	return 0;
}

STANDIN_EXPORT int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
	(void)value;
	return attribute == 5 && *size == 1 ? 0 : WRONG;
}

static void kind_switch(int kind, uint8_t is_on)
{
	__atomic_fetch_add(&broken, __atomic_load_n(&enqueuing, __ATOMIC_ACQUIRE) > 0,
			   __ATOMIC_RELAXED);
	kinds_on[kind % KINDS] = is_on;
}

STANDIN_EXPORT int cuptiActivityEnable(int kind)
{
	if (!on_requested)
		return WRONG;
	kind_switch(kind, 1);
	return 0;
}

STANDIN_EXPORT int cuptiActivityDisable(int kind)
{
	kind_switch(kind, 0);
	return 0;
}

/* As a library of C++ takes itself down in exit(): who calls it then crashes. */
static void end(void)
{
	is_over = true;
	if (getenv("STANDIN_SLOW_END"))
		usleep(END_US);
}

__attribute__((constructor)) static void begin(void)
{
	atexit(end);
}

STANDIN_EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
	if (is_over)
		_exit(99);
	if (getenv("STANDIN_CUPTI_LATE"))
		usleep(LATE_US);
	if (!on_completed)
		return WRONG;
	deliver_ready(false, flags & 1);
	return 0;
}

STANDIN_EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
	uint8_t *next = *record ? *record + RECORD_BYTES : buffer;

	if (next + RECORD_BYTES > buffer + valid)
		return NO_MORE;
	*record = next;
	return 0;
}

STANDIN_EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret)
{
	(void)context;
	(void)stream;
	pthread_mutex_lock(&lock);
	*ret = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* At the end of a call of the driver's, with all that was asked for taken back and told. */
STANDIN_EXPORT int cuptiFinalize(void)
{
	bool is_busy = false;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < KINDS; i++)
		is_busy |= kinds_on[i];
	broken += !exits || is_busy || buffer_count || inside != 1;
	memset(kinds_on, 0, sizeof(kinds_on));
	buffer_count = 0;
	__atomic_store_n(&patches[finalized % PATCHES].is_freed, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	standin_instrument(NULL);
	cuptiUnsubscribe((void *)&subscriber);
	finalized++;
	return 0;
}

STANDIN_EXPORT void standin_cupti_state(struct standin_cupti_state *ret)
{
	*ret = (struct standin_cupti_state){ .is_subscribed = subscriber != NULL,
					     .buffers_out = buffer_count,
					     .broken = broken,
					     .finalized = finalized,
					     .sessions = lives };
	for (unsigned i = 0; i < PATCHES; i++)
		ret->faults += __atomic_load_n(&patches[i].faults, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < CB_COUNT; i++)
		ret->callbacks += callbacks_on[i];
	for (unsigned i = 0; i < KINDS; i++)
		ret->kinds += kinds_on[i];
}
