/*
 * STAND-IN, for tests only, of NVIDIA's libcuda.so.1.  A device that has a thread for each of its
 * streams, and takes a few microseconds for everything.  In no way NVIDIA's.
 */
#include "standin_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STREAMS  8u
#define QUEUED   1024u
#define VERSION  13000
#define NS_PER_S 1000000000ull
#define SLOW_MS  400 /* of a kernel that is called so; STANDIN_SLOW_MS=N: other */

struct stream {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct standin_work items[QUEUED];
	void *to[QUEUED];
	const void *from[QUEUED];
	uint64_t put, taken;
	bool is_begun;
};

static struct stream streams[STREAMS];
static const struct standin_instrument *instrument;
static bool is_begun, has_failed;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

STANDIN_EXPORT void standin_instrument(const struct standin_instrument *given)
{
	__atomic_store_n(&instrument, given, __ATOMIC_RELEASE);
}

static const struct standin_instrument *instrument_now(void)
{
	return __atomic_load_n(&instrument, __ATOMIC_ACQUIRE);
}

bool standin_has_failed(void)
{
	return __atomic_load_n(&has_failed, __ATOMIC_ACQUIRE);
}

struct standin_patch *standin_patch(void)
{
	const struct standin_instrument *told = instrument_now();

	return told ? told->patch() : NULL;
}

static void patch_write(struct standin_patch *patch)
{
	if (!__atomic_load_n(&patch->is_freed, __ATOMIC_ACQUIRE))
		return;
	__atomic_fetch_add(&patch->faults, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&has_failed, true, __ATOMIC_RELEASE);
}

static void sleep_ms(const char *given)
{
	long ms = given ? atol(given) : SLOW_MS;

	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void work_do(const struct standin_work *work, void *to, const void *from)
{
	const struct standin_instrument *told = instrument_now();
	uint64_t begin = now_ns();

	if (to)
		memcpy(to, from, work->bytes);
	if (work->name && strcmp(work->name, STANDIN_SLOW) == 0)
		sleep_ms(getenv("STANDIN_SLOW_MS"));
	if (work->patch)
		patch_write(work->patch);
	if (told)
		told->done(work, begin, now_ns());
}

static void *stream_run(void *context)
{
	struct stream *stream = context;

	for (;;) {
		uint64_t at;

		pthread_mutex_lock(&stream->lock);
		while (stream->taken == stream->put)
			pthread_cond_wait(&stream->changed, &stream->lock);
		at = stream->taken % QUEUED;
		pthread_mutex_unlock(&stream->lock);
		work_do(&stream->items[at], stream->to[at], stream->from[at]);
		pthread_mutex_lock(&stream->lock);
		stream->taken++;
		pthread_cond_broadcast(&stream->changed);
		pthread_mutex_unlock(&stream->lock);
	}
	return NULL;
}

static struct stream *stream_of(void *handle)
{
	struct stream *stream = &streams[(uintptr_t)handle % STREAMS];
	pthread_t thread;

	pthread_mutex_lock(&stream->lock);
	if (!stream->is_begun && !pthread_create(&thread, NULL, stream_run, stream)) {
		pthread_detach(thread);
		stream->is_begun = true;
	}
	pthread_mutex_unlock(&stream->lock);
	return stream;
}

void standin_enqueue(void *handle, const struct standin_work *given, void *to, const void *from)
{
	struct stream *stream = stream_of(handle);
	const struct standin_instrument *told = instrument_now();
	struct standin_work work = *given;

	work.stream = (uint32_t)(uintptr_t)handle;
	if (told)
		told->enqueued(&work);
	pthread_mutex_lock(&stream->lock);
	while (stream->put - stream->taken == QUEUED)
		pthread_cond_wait(&stream->changed, &stream->lock);
	stream->items[stream->put % QUEUED] = work;
	stream->to[stream->put % QUEUED] = to;
	stream->from[stream->put % QUEUED] = from;
	stream->put++;
	pthread_cond_broadcast(&stream->changed);
	pthread_mutex_unlock(&stream->lock);
}

uint32_t standin_enter(uint32_t function)
{
	const struct standin_instrument *told = instrument_now();

	return told ? told->enter(function) : 0;
}

int standin_leave(uint32_t function, uint32_t correlation, int result)
{
	const struct standin_instrument *told = instrument_now();

	if (told)
		told->leave(function, correlation, result);
	return result;
}

STANDIN_EXPORT int cuInit(unsigned flags)
{
	(void)flags;
	for (unsigned i = 0; !is_begun && i < STREAMS; i++) {
		pthread_mutex_init(&streams[i].lock, NULL);
		pthread_cond_init(&streams[i].changed, NULL);
	}
	is_begun = true;
	return CUDA_SUCCESS;
}

STANDIN_EXPORT int cuDriverGetVersion(int *version)
{
	uint32_t call = standin_enter(CB_cuDriverGetVersion);

	*version = VERSION;
	return standin_leave(CB_cuDriverGetVersion, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuDeviceGetCount(int *count)
{
	*count = (int)standin_device() + 1;
	return is_begun ? CUDA_SUCCESS : CUDA_NOT_INITIALIZED;
}

/* The second one of the stand-in of libnvidia-ml.so.1: CUDA may see fewer than there are. */
STANDIN_EXPORT int cuDeviceGetPCIBusId(char *ret, int room, int device)
{
	snprintf(ret, (size_t)room, "0000:02:00.0");
	return device ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

STANDIN_EXPORT int cuGetErrorString(int result, const char **ret)
{
	*ret = "an error of the stand-in";
	return result ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

STANDIN_EXPORT int cuDeviceGet(int *device, int ordinal)
{
	uint32_t call = standin_enter(CB_cuDeviceGet);

	*device = ordinal;
	return standin_leave(CB_cuDeviceGet, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuDeviceGetName(char *name, int room, int device)
{
	snprintf(name, (size_t)room, "Stand-in GPU %d", device);
	return CUDA_SUCCESS;
}

STANDIN_EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute;
	return CUDA_SUCCESS;
}

STANDIN_EXPORT int cuMemAlloc_v2(uint64_t *address, size_t size)
{
	uint32_t call = standin_enter(CB_cuMemAlloc_v2);
	const struct standin_instrument *told = instrument_now();

	*address = (uint64_t)(uintptr_t)malloc(size);
	if (told)
		told->memory(call, false, *address, size);
	return standin_leave(CB_cuMemAlloc_v2, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuMemFree_v2(uint64_t address)
{
	uint32_t call = standin_enter(CB_cuMemFree_v2);
	const struct standin_instrument *told = instrument_now();

	free((void *)(uintptr_t)address);
	if (told)
		told->memory(call, true, address, 0);
	return standin_leave(CB_cuMemFree_v2, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuMemsetD8_v2(uint64_t address, unsigned char byte, size_t size)
{
	uint32_t call = standin_enter(CB_cuMemsetD8_v2);
	struct standin_work work = { .kind = WORK_MEMSET, .correlation = call, .bytes = size };

	memset((void *)(uintptr_t)address, byte, size);
	standin_enqueue((void *)7, &work, NULL, NULL);
	return standin_leave(CB_cuMemsetD8_v2, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream)
{
	uint32_t call = standin_enter(CB_cuMemcpyHtoDAsync_v2);
	struct standin_work work = { .kind = WORK_TO_DEVICE, .correlation = call, .bytes = size };

	standin_enqueue(stream, &work, (void *)(uintptr_t)to, from);
	return standin_leave(CB_cuMemcpyHtoDAsync_v2, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream)
{
	uint32_t call = standin_enter(CB_cuMemcpyDtoHAsync_v2);
	struct standin_work work = { .kind = WORK_TO_HOST, .correlation = call, .bytes = size };

	standin_enqueue(stream, &work, to, (const void *)(uintptr_t)from);
	return standin_leave(CB_cuMemcpyDtoHAsync_v2, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuStreamSynchronize(void *handle)
{
	uint32_t call = standin_enter(CB_cuStreamSynchronize);
	struct stream *stream = stream_of(handle);

	pthread_mutex_lock(&stream->lock);
	while (stream->taken != stream->put)
		pthread_cond_wait(&stream->changed, &stream->lock);
	pthread_mutex_unlock(&stream->lock);
	return standin_leave(CB_cuStreamSynchronize, call,
			     standin_has_failed() ? CUDA_LAUNCH_FAILED : CUDA_SUCCESS);
}

STANDIN_EXPORT int cuLaunchKernel(const char *function, unsigned grid_x, unsigned grid_y,
				  unsigned grid_z, unsigned block_x, unsigned block_y,
				  unsigned block_z, unsigned shared, void *stream, void **arguments,
				  void **extra)
{
	uint32_t call = standin_enter(CB_cuLaunchKernel);
	struct standin_work work = { .kind = WORK_KERNEL,
				     .correlation = call,
				     .name = function,
				     .grid = { grid_x, grid_y, grid_z },
				     .block = { block_x, block_y, block_z },
				     .shared = shared };

	(void)arguments;
	(void)extra;
	if (!function[0])
		return standin_leave(CB_cuLaunchKernel, call, CUDA_NOT_FOUND);
	standin_enqueue(stream, &work, NULL, NULL);
	return standin_leave(CB_cuLaunchKernel, call, CUDA_SUCCESS);
}

static void await_streams(void)
{
	for (unsigned i = 0; i < STREAMS; i++) {
		pthread_mutex_lock(&streams[i].lock);
		while (streams[i].taken != streams[i].put)
			pthread_cond_wait(&streams[i].changed, &streams[i].lock);
		pthread_mutex_unlock(&streams[i].lock);
	}
}

STANDIN_EXPORT int cuCtxDestroy_v2(void *context)
{
	uint32_t call = standin_enter(CB_cuCtxDestroy_v2);

	(void)context;
	await_streams();
	return standin_leave(CB_cuCtxDestroy_v2, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
	uint32_t call = standin_enter(CB_cuDevicePrimaryCtxReset_v2);

	(void)device;
	await_streams();
	return standin_leave(CB_cuDevicePrimaryCtxReset_v2, call, CUDA_SUCCESS);
}
