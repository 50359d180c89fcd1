/*
 * STAND-IN, for tests only.
 */
#include "standin_hsa_device.h"

#include "standin_bank.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HSA_ERROR = 0x1000, HSA_INVALID = 0x1001, HSA_MEMORY = 0x1008 };
enum { HANDLERS_MAX = 32768, FIRST_GPU = 1, LOADER = 0x201 };
enum { PACKET_VENDOR = 0, PACKET_INVALID = 1, PACKET_KERNEL = 2, PACKET_BARRIER = 3 };
enum { EXECUTABLES = 2, KERNELS = 3, EXECUTABLE = 7000, OBJECT = 0x10000 };
#define POISON 0xdd

/* The handle of a signal is its address; what a program may look at comes first. */
struct signal {
	int64_t value;
	uint64_t begin_ns, end_ns;
	bool has_copy_time, is_doorbell;
	pid_t owner;   /* of a doorbell: a page of the device's, which no child has */
	unsigned life; /* of the runtime, in which it was made */
};

struct queue {
	struct hsa_queue public;
	struct queue *core; /* itself, or the one that it is a borrower's handle of */
	uint64_t agent, write, read;
	uint32_t node;
	bool is_profiled, is_over;
	bool is_counted;  /* its waves are, by the counters of its device */
	bool is_inactive; /* after a fault */
	int orders;       /* packets of a profiler's */
	void (*on_fault)(int, struct hsa_queue *, void *);
	void *fault_data;
	pthread_t thread;
};

struct handler {
	struct signal *signal;
	uint32_t condition;
	int64_t value;
	bool (*call)(int64_t, void *);
	void *data;
};

static struct handler handlers[HANDLERS_MAX];
static unsigned handler_count;
static pthread_mutex_t handling = PTHREAD_MUTEX_INITIALIZER;
static bool is_calling; /* a handler */
static bool has_copy_times, is_released, is_frozen[EXECUTABLES] = { true, false };

static unsigned life, agents_life;

static uint64_t now(void)
{
	struct timespec time;

	/* Not by libc, which reads a counter that the program may have forbidden its thread. */
	syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void rest(void)
{
	nanosleep(&(struct timespec){ 0, 20000 }, NULL);
}

uint64_t standin_hsa_handle(uint32_t kind, uint32_t node)
{
	return kind + node + (uint64_t)agents_life * HANDLES;
}

/* Those of a runtime that was shut down are deleted: the real one reads whatever is there now. */
uint32_t standin_hsa_node(uint32_t kind, uint64_t handle)
{
	uint64_t node = handle - standin_hsa_handle(kind, 0);

	if (node >= AGENTS)
		abort();
	return (uint32_t)node;
}

static int create_signal(int64_t value, uint32_t count, const void *consumers, uint64_t *ret)
{
	struct signal *signal = standin_hsa_is_open() ? calloc(1, sizeof(*signal)) : NULL;

	(void)count, (void)consumers;
	if (!signal)
		return standin_hsa_is_open() ? HSA_MEMORY : HSA_CLOSED;
	signal->value = value;
	signal->life = life;
	*ret = (uint64_t)signal;
	return 0;
}

/* A runtime that was shut down took its signals with it. */
static void check_life(uint64_t signal)
{
	if (((const struct signal *)signal)->life != life)
		abort();
}

/* Its memory stays, so that whoever uses it afterwards is found out. */
static int destroy_signal(uint64_t signal)
{
	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	check_life(signal);
	memset((void *)signal, POISON, sizeof(struct signal));
	return 0;
}

static void check_destroyed(uint64_t signal)
{
	struct signal destroyed;

	memset(&destroyed, POISON, sizeof(destroyed));
	if (((const struct signal *)signal)->begin_ns == destroyed.begin_ns)
		abort();
}

static int64_t load_signal(uint64_t signal)
{
	check_destroyed(signal);
	check_life(signal);
	return __atomic_load_n((int64_t *)signal, __ATOMIC_ACQUIRE);
}

/* Of a doorbell the highest counts. */
static void store_signal(uint64_t signal, int64_t value)
{
	int64_t there = load_signal(signal);

	if (!((struct signal *)signal)->is_doorbell) {
		__atomic_store_n((int64_t *)signal, value, __ATOMIC_RELEASE);
		return;
	}
	if (((struct signal *)signal)->owner != getpid())
		abort();
	while (there < value &&
	       !__atomic_compare_exchange_n((int64_t *)signal, &there, value, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

static bool holds(int64_t value, uint32_t condition, int64_t wanted)
{
	return condition == 0   ? value == wanted
	       : condition == 1 ? value != wanted
	       : condition == 2 ? value < wanted
				: value >= wanted;
}

static int64_t wait_signal(uint64_t signal, uint32_t condition, int64_t wanted, uint64_t timeout,
			   int state)
{
	(void)timeout, (void)state;
	while (!holds(load_signal(signal), condition, wanted))
		rest();
	return load_signal(signal);
}

static bool take_ready(struct handler *ret)
{
	static unsigned turn;
	bool is_found = false;

	pthread_mutex_lock(&handling);
	for (unsigned n = handler_count; !is_found && n; n--) {
		unsigned i = turn++ % handler_count;

		if (holds(handlers[i].signal->value, handlers[i].condition, handlers[i].value)) {
			*ret = handlers[i];
			handlers[i] = handlers[--handler_count];
			is_found = true;
		}
	}
	__atomic_store_n(&is_calling, is_found, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&handling);
	return is_found;
}

static int add_handler(uint64_t signal, uint32_t condition, int64_t value,
		       bool (*call)(int64_t, void *), void *data);

static void *call_handlers(void *unused)
{
	struct handler ready;

	(void)unused;
	for (;;) {
		if (!take_ready(&ready))
			rest();
		else if (ready.call(load_signal((uint64_t)ready.signal), ready.data))
			add_handler((uint64_t)ready.signal, ready.condition, ready.value,
				    ready.call, ready.data);
	}
	return NULL;
}

static int add_handler(uint64_t signal, uint32_t condition, int64_t value,
		       bool (*call)(int64_t, void *), void *data)
{
	static bool has_thread;
	pthread_t thread;
	int r = HSA_MEMORY;

	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	check_life(signal);
	pthread_mutex_lock(&handling);
	if (!has_thread)
		has_thread = !pthread_create(&thread, NULL, call_handlers, NULL);
	if (has_thread && handler_count < HANDLERS_MAX) {
		handlers[handler_count++] =
			(struct handler){ (struct signal *)signal, condition, value, call, data };
		r = 0;
	}
	pthread_mutex_unlock(&handling);
	return r;
}

static void finish(const struct queue *queue, uint64_t completion, uint64_t begin)
{
	struct signal *signal = (struct signal *)completion;

	if (!signal)
		return;
	if (queue->is_profiled) {
		signal->begin_ns = begin;
		signal->end_ns = now();
	}
	__atomic_fetch_sub(&signal->value, 1, __ATOMIC_ACQ_REL);
}

/* The runtime has taken it away, with all that it had in it. */
static bool is_dead(const struct queue *queue)
{
	return ((const struct signal *)queue->public.doorbell)->life !=
	       __atomic_load_n(&life, __ATOMIC_ACQUIRE);
}

/* Or the program has: with whatever it was at. */
static bool is_cut_off(const struct queue *queue)
{
	return is_dead(queue) || __atomic_load_n(&queue->is_over, __ATOMIC_ACQUIRE);
}

/* A kernel without arguments takes no time, others as many nanoseconds as their address says. */
static void run_kernel(struct queue *queue, const struct hsa_packet *packet)
{
	uint64_t begin = now();
	struct timespec time = { 0, (long)packet->arguments };

	while (packet->kernel == STANDIN_ENDLESS && !is_cut_off(queue) &&
	       !__atomic_load_n(&is_released, __ATOMIC_ACQUIRE))
		rest();
	if (packet->arguments && packet->arguments < 1000000000)
		nanosleep(&time, NULL);
	standin_bank_count(queue->node, packet, queue->is_counted, now() - begin);
}

/* A queue that the program serves: it knows kernels only. */
static bool is_soft(const struct queue *queue)
{
	return queue->public.id & STANDIN_SOFT;
}

static void do_packet(struct queue *queue, const struct hsa_packet *packet)
{
	if (is_soft(queue) && (packet->header & 0xff) == PACKET_VENDOR)
		abort();
	if ((packet->header & 0xff) == PACKET_KERNEL)
		run_kernel(queue, packet);
	if ((packet->header & 0xff) == PACKET_VENDOR)
		standin_bank_obey(queue->node, packet, &queue->is_counted);
}

/* STANDIN_SLOW: milliseconds that the device needs for a packet of the profiler's. */
static void take_time(const struct hsa_packet *packet)
{
	const char *text = getenv("STANDIN_SLOW");

	if (text && (packet->header & 0xff) == PACKET_VENDOR)
		usleep(1000 * (useconds_t)atoi(text));
}

static void perform(struct queue *queue, struct hsa_packet *packet)
{
	uint64_t begin, completion;

	while ((__atomic_load_n(&packet->header, __ATOMIC_ACQUIRE) & 0xff) == PACKET_INVALID) {
		if (__atomic_load_n(&queue->is_over, __ATOMIC_ACQUIRE))
			return;
		rest();
	}
	begin = now();
	take_time(packet);
	if (is_cut_off(queue))
		return;
	do_packet(queue, packet);
	if (packet->kernel == STANDIN_ENDLESS && is_cut_off(queue))
		return;
	/* Whoever sees it done may use its place. */
	completion = packet->completion;
	__atomic_store_n(&packet->header, PACKET_INVALID, __ATOMIC_RELEASE);
	__atomic_fetch_add(&queue->read, 1, __ATOMIC_ACQ_REL);
	finish(queue, completion, begin);
}

/* Where STANDIN_FAULT says so, the device cannot do that packet of the profiler's, counted from 1.
 * The runtime tells who made the queue; where that is nobody, it aborts, as AMD's does. */
static bool queue_faults(struct queue *queue, const struct hsa_packet *packet)
{
	const char *which = getenv("STANDIN_FAULT");

	if (!which || (packet->header & 0xff) != PACKET_VENDOR || ++queue->orders != atoi(which))
		return false;
	if (!queue->on_fault)
		abort();
	queue->on_fault(HSA_INVALID, &queue->public, queue->fault_data);
	return true;
}

/* Its own: nobody asks a device whether the runtime is still there. */
static int64_t rung_for(const struct queue *queue)
{
	return __atomic_load_n((const int64_t *)queue->public.doorbell, __ATOMIC_ACQUIRE);
}

static void *process(void *argument)
{
	struct queue *queue = argument;
	struct hsa_packet *ring = (struct hsa_packet *)queue->public.base;

	while (!is_cut_off(queue)) {
		if (queue->is_inactive ||
		    ((int64_t)queue->read <= rung_for(queue) &&
		     queue_faults(queue, &ring[queue->read % queue->public.size]))) {
			queue->is_inactive = true;
			rest();
		} else if ((int64_t)queue->read <= rung_for(queue))
			perform(queue, &ring[queue->read % queue->public.size]);
		else
			rest();
	}
	return NULL;
}

/* STANDIN_REUSE: milliseconds that a queue takes to be destroyed after its doorbell is free, which
 * the next queue then has, as with AMD's runtime. */
static uint64_t spare_doorbell;

static void doorbell_make(uint64_t *ret)
{
	uint64_t spare = __atomic_exchange_n(&spare_doorbell, 0, __ATOMIC_ACQ_REL);

	if (spare)
		*(struct signal *)spare = (struct signal){ .value = -1, .life = life };
	else
		create_signal(-1, 0, NULL, &spare);
	((struct signal *)spare)->is_doorbell = true;
	((struct signal *)spare)->owner = getpid();
	*ret = spare;
}

static void doorbell_free(uint64_t doorbell)
{
	const char *text = getenv("STANDIN_REUSE");

	destroy_signal(doorbell);
	if (!text)
		return;
	__atomic_store_n(&spare_doorbell, doorbell, __ATOMIC_RELEASE);
	usleep(1000 * (useconds_t)atoi(text));
}

static int create_queue(uint64_t agent, uint32_t size, uint32_t type, void *callback, void *data,
			uint32_t private_bytes, uint32_t group_bytes, struct hsa_queue **ret)
{
	static uint64_t id;
	struct queue *queue = calloc(1, sizeof(*queue));
	struct hsa_packet *ring = calloc(size, sizeof(*ring));

	(void)private_bytes, (void)group_bytes;
	if (!queue || !ring || standin_hsa_node(AGENT_HANDLE, agent) < FIRST_GPU)
		return HSA_INVALID;
	for (uint32_t i = 0; i < size; i++)
		ring[i].header = PACKET_INVALID;
	queue->core = queue;
	queue->agent = agent;
	queue->node = standin_hsa_node(AGENT_HANDLE, agent);
	queue->on_fault = (void (*)(int, struct hsa_queue *, void *))callback;
	queue->fault_data = data;
	queue->public = (struct hsa_queue){
		.type = type, .base = (uint64_t)ring, .size = size, .id = id++
	};
	doorbell_make(&queue->public.doorbell);
	if (pthread_create(&queue->thread, NULL, process, queue))
		return HSA_MEMORY;
	*ret = &queue->public;
	return 0;
}

static int destroy_queue(struct hsa_queue *public)
{
	struct queue *queue = (struct queue *)public;

	__atomic_store_n(&queue->is_over, true, __ATOMIC_RELEASE);
	pthread_join(queue->thread, NULL);
	free((void *)public->base);
	doorbell_free(public->doorbell);
	memset(queue, POISON, sizeof(*queue));
	free(queue);
	return 0;
}

static struct queue *core_of(const struct hsa_queue *queue)
{
	return ((const struct queue *)queue)->core;
}

/* As AMD's lends queues: each borrower has a handle of its own. */
STANDIN_EXPORT struct hsa_queue *standin_hsa_borrow(struct hsa_queue *queue)
{
	struct queue *handle = calloc(1, sizeof(*handle));

	if (handle)
		*handle = (struct queue){ .public = *queue, .core = core_of(queue) };
	return handle ? &handle->public : NULL;
}

STANDIN_EXPORT void standin_hsa_return(struct hsa_queue *queue)
{
	memset(queue, POISON, sizeof(struct queue));
}

static uint64_t add_index(const struct hsa_queue *queue, uint64_t more)
{
	return __atomic_fetch_add(&core_of(queue)->write, more, __ATOMIC_ACQ_REL);
}

static uint64_t load_write(const struct hsa_queue *queue)
{
	return __atomic_load_n(&core_of(queue)->write, __ATOMIC_ACQUIRE);
}

/* Gives what was there: what was expected where it is set. */
static uint64_t cas_write(const struct hsa_queue *queue, uint64_t expected, uint64_t value)
{
	__atomic_compare_exchange_n(&core_of(queue)->write, &expected, value, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return expected;
}

static uint64_t load_read(const struct hsa_queue *queue)
{
	return __atomic_load_n(&core_of(queue)->read, __ATOMIC_ACQUIRE);
}

static int profile_queue(struct hsa_queue *queue, int is_on)
{
	((struct queue *)queue)->is_profiled = is_on;
	return 0;
}

static int profile_copies(bool is_on)
{
	has_copy_times = is_on;
	return 0;
}

static int dispatch_time(uint64_t agent, uint64_t handle, uint64_t *ret)
{
	const struct signal *signal = (const struct signal *)handle;

	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	check_destroyed(handle);
	check_life(handle);
	if (standin_hsa_node(AGENT_HANDLE, agent) < FIRST_GPU)
		return HSA_INVALID;
	ret[0] = signal->begin_ns;
	ret[1] = signal->end_ns;
	return 0;
}

static int copy_time(uint64_t handle, uint64_t *ret)
{
	const struct signal *signal = (const struct signal *)handle;

	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	check_life(handle);
	if (!signal->has_copy_time)
		return HSA_ERROR;
	ret[0] = signal->begin_ns;
	ret[1] = signal->end_ns;
	return 0;
}

static int copy(void *to, uint64_t to_agent, const void *from, uint64_t from_agent, size_t size,
		uint32_t count, const uint64_t *signals, uint64_t handle)
{
	struct signal *signal = (struct signal *)handle;
	uint64_t begin = now();

	(void)standin_hsa_node(AGENT_HANDLE, to_agent);
	(void)standin_hsa_node(AGENT_HANDLE, from_agent);
	(void)count, (void)signals;
	if (!to || !from)
		return HSA_INVALID;
	memcpy(to, from, size);
	signal->has_copy_time = has_copy_times;
	if (has_copy_times) {
		signal->begin_ns = begin;
		signal->end_ns = now();
	}
	__atomic_fetch_sub(&signal->value, 1, __ATOMIC_ACQ_REL);
	return 0;
}

static int queue_info(const struct hsa_queue *queue, uint32_t what, uint64_t *ret)
{
	if (is_soft(core_of(queue)))
		abort(); /* as AMD's does where it is built to check itself */
	if (what)
		return HSA_INVALID;
	*ret = core_of(queue)->agent;
	return 0;
}

const struct hsa_queue *standin_hsa_idle_queue(uint64_t id)
{
	static __thread struct queue queue;

	queue.public.id = id;
	queue.core = &queue;
	queue.agent = standin_hsa_handle(AGENT_HANDLE, FIRST_GPU);
	return &queue.public;
}

static int executable_info(uint64_t executable, uint32_t what, uint32_t *ret)
{
	*ret = is_frozen[executable - EXECUTABLE];
	return what == 2 ? 0 : HSA_INVALID;
}

static int freeze(uint64_t executable, const char *options)
{
	(void)options;
	is_frozen[executable - EXECUTABLE] = true;
	return 0;
}

static int destroy_executable(uint64_t executable)
{
	is_frozen[executable - EXECUTABLE] = false;
	return 0;
}

/* A symbol is the number of its executable and its own. */
static int each_symbol(uint64_t executable, uint64_t agent,
		       int (*visit)(uint64_t, uint64_t, uint64_t, void *), void *data)
{
	uint32_t node = standin_hsa_node(AGENT_HANDLE, agent);

	for (uint64_t i = 0; node == FIRST_GPU && i < KERNELS; i++)
		visit(executable, agent, (executable - EXECUTABLE) * KERNELS + i, data);
	return 0;
}

static int symbol_info(uint64_t symbol, uint32_t what, void *ret)
{
	char name[32];
	int length = snprintf(name, sizeof(name), "hsa_kernel_%lu.kd", symbol);

	if (what == 0 || what == 1)
		*(uint32_t *)ret = what ? (uint32_t)length : 1;
	else if (what == 2)
		memcpy(ret, name, (size_t)length);
	else if (what == 22)
		*(uint64_t *)ret = standin_hsa_kernel((unsigned)symbol);
	else
		return HSA_INVALID;
	return 0;
}

static int each_executable(int (*visit)(uint64_t, void *), void *data)
{
	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	for (uint64_t i = 0; i < EXECUTABLES; i++)
		visit(EXECUTABLE + i, data);
	return 0;
}

/* Each executable is one code object, in memory. */
static int each_object(uint64_t executable, int (*visit)(uint64_t, uint64_t, void *), void *data)
{
	return is_frozen[executable - EXECUTABLE] ? visit(executable, executable + 100, data) : 0;
}

static int object_info(uint64_t object, uint32_t what, void *ret)
{
	const uint64_t numbers[] = {
		[3] = standin_hsa_handle(AGENT_HANDLE, FIRST_GPU),
		[4] = 2,
		[5] = 0x1000,
		[6] = 0x200,
		[8] = 0x30,
		[9] = 0x4000,
		[10] = 0x500,
	};
	char uri[32];
	int length = snprintf(uri, sizeof(uri), "memory://%lu", object);

	if (what == 11)
		*(uint32_t *)ret = (uint32_t)length;
	else if (what == 12)
		memcpy(ret, uri, (size_t)length);
	else if (what == 4)
		*(uint32_t *)ret = (uint32_t)numbers[what];
	else if (what < sizeof(numbers) / sizeof(numbers[0]))
		*(uint64_t *)ret = numbers[what];
	else
		return HSA_INVALID;
	return 0;
}

static int extension(uint16_t which, uint16_t version, size_t size, void **ret)
{
	if (which != LOADER || version != 1 || size < 7 * sizeof(*ret))
		return HSA_INVALID;
	ret[3] = (void *)each_object;
	ret[4] = (void *)object_info;
	ret[6] = (void *)each_executable;
	return 0;
}

STANDIN_EXPORT uint64_t standin_hsa_kernel(unsigned number)
{
	return OBJECT + 64 * (uint64_t)number;
}

/* In the order of the real one: agents, the thread that calls handlers, signals. */
void standin_hsa_die(void)
{
	agents_life++;
	pthread_mutex_lock(&handling);
	handler_count = 0;
	pthread_mutex_unlock(&handling);
	while (__atomic_load_n(&is_calling, __ATOMIC_ACQUIRE))
		rest();
	life++;
	has_copy_times = false;
	memset(is_frozen, 0, sizeof(is_frozen));
}

STANDIN_EXPORT void standin_hsa_release(void)
{
	__atomic_store_n(&is_released, true, __ATOMIC_RELEASE);
}

const struct hsa_slot hsa_core_slots[] = {
	{ 7, (void *)create_queue },
	{ 9, (void *)destroy_queue },
	{ 11, (void *)load_read },
	{ 12, (void *)load_read },
	{ 13, (void *)load_write },
	{ 14, (void *)load_write },
	{ 17, (void *)cas_write },
	{ 23, (void *)add_index },
	{ 24, (void *)add_index },
	{ 37, (void *)create_signal },
	{ 38, (void *)destroy_signal },
	{ 39, (void *)load_signal },
	{ 40, (void *)load_signal },
	{ 41, (void *)store_signal },
	{ 42, (void *)store_signal },
	{ 44, (void *)wait_signal },
	{ 84, (void *)destroy_executable },
	{ 86, (void *)freeze },
	{ 87, (void *)executable_info },
	{ 93, (void *)symbol_info },
	{ 98, (void *)extension },
	{ 123, (void *)each_symbol },
	{ 0, NULL },
};
const struct hsa_slot hsa_amd_slots[] = {
	{ 2, (void *)profile_queue }, { 3, (void *)profile_copies },
	{ 4, (void *)dispatch_time }, { 5, (void *)copy_time },
	{ 7, (void *)add_handler },   { 15, (void *)copy },
	{ 68, (void *)queue_info },   { 0, NULL },
};
