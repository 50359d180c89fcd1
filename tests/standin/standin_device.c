/*
 * STAND-IN, for tests only.
 */
#include "standin_device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUES_MAX  256
#define KERNELS_MAX 64

/* Numbers of the protocol between AMD's runtime and a tracer. */
enum { DOMAIN_COMMANDS = 2, DOMAIN_CALLS = 3 };
enum { COMMAND_KERNEL, COMMAND_COPY };
enum {
	KIND_KERNEL = 0x11f0,
	KIND_GRAPH = 0x11f1,
	KIND_READ = 0x11f3,
	KIND_WRITE = 0x11f4,
	KIND_COPY = 0x11f5
};
#define SIGN_OF_COMMITMENT ((void *)1)
#define CALL_DATA_BYTES    2048

/* What a tracer is told. */
struct report {
	uint32_t domain, kind, command;
	uint64_t correlation, begin_ns, end_ns;
	int device;
	uint64_t queue;
	union {
		size_t bytes;
		const char *kernel;
	};
};

struct command {
	struct command *next;
	const char *kernel; /* NULL: a copy */
	void *to;
	const void *from;
	size_t size;
	uint32_t kind;
	bool is_traced;
};

struct queue {
	int device;
	uint64_t index;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct command *first, *last;
	uint64_t made, done;
	bool is_free;
};

static device_tracer *tracer;
static struct queue *queues[QUEUES_MAX];
static uint64_t queue_count;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static __thread int selected;
static bool is_released;
static struct {
	const void *function;
	const char *name;
} kernels[KERNELS_MAX];
static unsigned kernel_count;

void device_report_to(device_tracer *function)
{
	__atomic_store_n(&tracer, function, __ATOMIC_RELEASE);
}

void device_release(void)
{
	__atomic_store_n(&is_released, true, __ATOMIC_RELEASE);
}

static device_tracer *tracer_now(void)
{
	return __atomic_load_n(&tracer, __ATOMIC_ACQUIRE);
}

/* Who wants a call must fill in functions whose index depends on the version: a tracer that comes
 * from outside cannot know them. */
void device_call(uint32_t call)
{
	uint64_t data[CALL_DATA_BYTES / 8];
	device_tracer *ask = tracer_now();

	memset(data, 0xab, sizeof(data)); /* as in the real one, nothing is filled in */
	if (ask && !ask(DOMAIN_CALLS, call, data))
		abort();
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void report(const struct queue *queue, const struct command *command, uint64_t begin,
		   uint64_t end)
{
	uint32_t kind = command->kernel ? COMMAND_KERNEL : COMMAND_COPY;
	struct report record = { .domain = DOMAIN_COMMANDS,
				 .kind = command->kind,
				 .command = kind,
				 .begin_ns = begin,
				 .end_ns = end,
				 .device = queue->device + 1,
				 .queue = queue->index };
	device_tracer *tell = tracer_now();

	if (command->kernel)
		record.kernel = command->kernel;
	else
		record.bytes = command->size;
	if (tell)
		tell(DOMAIN_COMMANDS, kind, &record);
}

static void perform(const struct queue *queue, const struct command *command)
{
	uint64_t begin = now();

	while (command->kernel && !strcmp(command->kernel, "endless") &&
	       !__atomic_load_n(&is_released, __ATOMIC_ACQUIRE))
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	if (!command->kernel)
		memcpy(command->to, command->from, command->size);
	if (command->is_traced)
		report(queue, command, begin, now());
}

static struct command *next_command(struct queue *queue)
{
	struct command *command;

	pthread_mutex_lock(&queue->lock);
	while (!queue->first)
		pthread_cond_wait(&queue->changed, &queue->lock);
	command = queue->first;
	queue->first = command->next;
	pthread_mutex_unlock(&queue->lock);
	return command;
}

static void *work(void *argument)
{
	struct queue *queue = argument;

	for (;;) {
		struct command *command = next_command(queue);

		perform(queue, command);
		free(command);
		pthread_mutex_lock(&queue->lock);
		queue->done++;
		pthread_cond_broadcast(&queue->changed);
		pthread_mutex_unlock(&queue->lock);
	}
	return NULL;
}

static struct queue *find_free(int device)
{
	for (uint64_t i = 0; i < queue_count; i++)
		if (queues[i]->is_free && queues[i]->device == device)
			return queues[i];
	return NULL;
}

static struct queue *make_queue(int device)
{
	struct queue *queue = calloc(1, sizeof(*queue));
	pthread_t thread;

	if (!queue || queue_count == QUEUES_MAX)
		return NULL;
	queue->device = device;
	queue->index = queue_count;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	if (pthread_create(&thread, NULL, work, queue))
		return NULL;
	pthread_detach(thread);
	queues[queue_count++] = queue;
	return queue;
}

void *device_queue_new(void)
{
	struct queue *queue;

	pthread_mutex_lock(&making);
	queue = find_free(selected);
	if (queue)
		queue->is_free = false;
	else
		queue = make_queue(selected);
	pthread_mutex_unlock(&making);
	return queue;
}

/* Used again by the next one on its device, under the address that it had, as memory is. */
void device_queue_free(void *given)
{
	struct queue *queue = given;

	device_wait(queue);
	pthread_mutex_lock(&making);
	queue->is_free = true;
	pthread_mutex_unlock(&making);
}

static struct queue *resolve(void *given)
{
	static struct queue *defaults[STANDIN_DEVICES];
	struct queue *queue = given;

	if (queue)
		return queue;
	pthread_mutex_lock(&making);
	if (!defaults[selected])
		defaults[selected] = make_queue(selected);
	queue = defaults[selected];
	pthread_mutex_unlock(&making);
	if (!queue)
		abort();
	return queue;
}

static void wait_for(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->done < queue->made)
		pthread_cond_wait(&queue->changed, &queue->lock);
	pthread_mutex_unlock(&queue->lock);
}

void device_wait(void *queue)
{
	wait_for(resolve(queue));
}

void device_wait_all(void)
{
	for (uint64_t i = 0; i < __atomic_load_n(&queue_count, __ATOMIC_ACQUIRE); i++)
		wait_for(queues[i]);
}

bool device_select(int device)
{
	if (device < 0 || device >= STANDIN_DEVICES)
		return false;
	selected = device;
	return true;
}

int device_now(void)
{
	return selected;
}

static struct command *make_command(uint32_t kind)
{
	struct command *command = calloc(1, sizeof(*command));
	device_tracer *ask = tracer_now();

	if (!command)
		abort();
	command->is_traced = ask && !ask(DOMAIN_COMMANDS, kind, NULL);
	return command;
}

static void submit(struct queue *queue, struct command *command)
{
	device_tracer *tell = tracer_now();

	if (command->is_traced && tell)
		tell(DOMAIN_COMMANDS, command->kernel ? COMMAND_KERNEL : COMMAND_COPY,
		     SIGN_OF_COMMITMENT);
	pthread_mutex_lock(&queue->lock);
	if (queue->first)
		queue->last->next = command;
	else
		queue->first = command;
	queue->last = command;
	queue->made++;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

bool device_launch(void *queue, const char *name)
{
	struct command *command = make_command(COMMAND_KERNEL);

	if (!name) {
		free(command);
		return false;
	}
	command->kernel = name;
	command->kind = KIND_KERNEL;
	submit(resolve(queue), command);
	return true;
}

void device_graph(void *queue, const char *name, unsigned count)
{
	device_tracer *ask = tracer_now();
	bool is_traced = ask && !ask(DOMAIN_COMMANDS, COMMAND_KERNEL, NULL);

	for (unsigned i = 0; i < count; i++) {
		struct command *command = calloc(1, sizeof(*command));

		if (!command)
			abort();
		command->is_traced = is_traced;
		command->kernel = name;
		command->kind = KIND_GRAPH;
		submit(resolve(queue), command);
	}
}

void device_copy(void *queue, void *to, const void *from, size_t size, enum device_copy_kind kind)
{
	static const uint32_t kinds[] = { [COPY_TO_DEVICE] = KIND_WRITE,
					  [COPY_TO_HOST] = KIND_READ,
					  [COPY_ON_DEVICE] = KIND_COPY };
	struct command *command = make_command(COMMAND_COPY);

	command->to = to;
	command->from = from;
	command->size = size;
	command->kind = kinds[kind];
	submit(resolve(queue), command);
}

void device_kernel_register(const void *function, const char *name)
{
	if (kernel_count < KERNELS_MAX) {
		kernels[kernel_count].function = function;
		kernels[kernel_count++].name = name;
	}
}

const char *device_kernel_name(const void *function)
{
	for (unsigned i = 0; i < kernel_count; i++)
		if (kernels[i].function == function)
			return kernels[i].name;
	return NULL;
}
