/*
 * STAND-IN, for tests only.  A program that uses the stand-in HSA runtime without HIP, when it is
 * told to, and says what it did.  Every answer ends with "end".
 *
 *   tables      prints the addresses of HSA's tables
 *   queue       makes a queue for all that follows; gives the one before back
 *   go N        N kernels that it waits for one by one, N in batches without a signal of their own,
 *               and N copies each way
 *   many N      eight threads do so in one queue, each N kernels with a signal and N without
 *   churn N     eight threads do so with signals that they destroy after each kernel
 *   late        loads an executable, and launches a kernel of it
 *   unseen      a kernel whose signal it does not look at
 *   endless     a kernel without a signal that does not end before "release"
 *   release     lets all of them end
 *   end         shuts the runtime down
 *   begin       starts it again
 *   restart     both
 *   together    the same, with eight users that shut it down at the same time
 *   overlap     restarts it; it is deleted, unseen, while another thread's call is over
 *   lives N     eight threads start the runtime and shut it down, each N times
 *   leave       leaves a call of hsa_init() by longjmp
 *   replay      lets its register library hand over all tables once more
 *   solo N      N kernels that it waits for one by one, the first of 1 wave, the next of 2, ...
 *   pairs N     the same in two queues at once, N times; each kernel takes two milliseconds
 *   turns N     N kernels that it waits for one by one, in two queues by turns; waves as of "solo"
 *   streams N   eight threads do so, each in a queue of its own that it destroys afterwards
 *   group N     N times room for two packets at once, as graphs take it
 *   single N    N kernels in a queue of one thread
 *   stuff N     N kernels in a row before it rings for the last
 *   away        makes a queue, takes room there for a packet, and destroys the queue
 *   brief N     N queues, each destroyed as soon as its only kernel is done; waves as of "solo"
 *   abandon     shuts the runtime down as soon as a kernel of 7 waves is done, with its queue
 *               there, and starts it again
 *   heir        destroys a queue, and launches a kernel of 5 waves in another that has its doorbell
 *               while the call is not over
 *   busy N      N threads launch kernels in queues of their own from now on
 *   pending     a kernel of 7 waves that takes a second, and is waited for in exit()
 *   callback    a kernel of 1 wave; exit() in the runtime's call that tells its end
 *   brim N      N kernels of which it keeps as many in flight as its ring has places, by their
 *               signals: it does not look at the ring
 *   soft N      N kernels in a queue that the program serves
 *   lent N      N kernels in turn through two handles of one queue, of which one is given back
 *   cross N     a thread of its own (its number is the answer) takes room for a kernel of N + 1
 *               waves, which another rings for with one of N waves that it launches behind it
 *   beside N    a kernel in a queue of its own, which does not end; 1: which does
 *   hold        takes room for a packet
 *   let N       then fills it in, a kernel of N waves, rings for it, and waits for it
 *   fork        a child of its own, which calls exit()
 *   late_end    shuts the runtime down in exit()
 *   sets        of packets that aqlprofile has
 *   memory      pieces of it that were allocated and not freed
 *   bank        how often devices were told to start, stop and read their counters
 *   forbid      its thread may not read the machine's counter any more
 */
#include "standin_hsa.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST      standin_hsa_agent(0)
#define DEVICE    standin_hsa_agent(1)
#define QUEUE     64u
#define BATCH     8u
#define COPY_SIZE 4096u
#define KERNEL    2u
#define BARRIER   3u
#define EARLY     7000u
#define LATE      7001u
#define THREADS   8u

static struct hsa_queue *queue;
static struct hsa_signal own_signal;

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong %s\n", what);
	fflush(stdout);
	_exit(1);
}

static void make_queue(void)
{
	if (queue)
		check(!hsa_queue_destroy(queue), "hsa_queue_destroy");
	check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &queue), "hsa_queue_create");
}

static void begin(void)
{
	check(!hsa_init(), "hsa_init");
	check(!hsa_executable_freeze(EARLY, ""), "hsa_executable_freeze");
	check(!hsa_signal_create(1, 0, NULL, &own_signal), "hsa_signal_create");
	make_queue();
}

/* As programs do: all of the packet, and its header last. */
static uint64_t enqueue(uint16_t type, uint64_t kernel, uint64_t completion)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	struct hsa_packet *packet = (struct hsa_packet *)queue->base + index % queue->size;

	while (index - hsa_queue_load_read_index_relaxed(queue) >= queue->size)
		usleep(20);
	memset(&packet->setup, 0, sizeof(*packet) - sizeof(packet->header));
	packet->setup = 3;
	packet->kernel = kernel;
	packet->completion = completion;
	for (unsigned i = 0; i < 3; i++) {
		packet->grid[i] = 10 * (i + 1);
		packet->group[i] = (uint16_t)(i + 1);
	}
	packet->private_bytes = 16;
	packet->group_bytes = 77;
	__atomic_store_n(&packet->header, type, __ATOMIC_RELEASE);
	return index;
}

static void ring(uint64_t index)
{
	hsa_signal_store_screlease((struct hsa_signal){ queue->doorbell }, (int64_t)index);
}

static void await(void)
{
	check(hsa_signal_wait_scacquire(own_signal, 2, 1, UINT64_MAX, 0) == 0, "hsa_signal_wait");
	hsa_signal_store_relaxed(own_signal, 1);
}

static void launch_and_wait(unsigned number)
{
	ring(enqueue(KERNEL, standin_hsa_kernel(number), own_signal.handle));
	await();
}

static void launch_batch(void)
{
	for (unsigned i = 0; i < BATCH; i++)
		(void)enqueue(KERNEL, standin_hsa_kernel(1), 0);
	ring(enqueue(BARRIER, 0, own_signal.handle));
	await();
}

static void copy(uint64_t to, uint64_t from)
{
	static char here[COPY_SIZE], there[COPY_SIZE];

	check(!hsa_amd_memory_async_copy(there, to, here, from, COPY_SIZE, 0, NULL, own_signal),
	      "hsa_amd_memory_async_copy");
	await();
	/* One that is refused is none. */
	check(hsa_amd_memory_async_copy(NULL, to, here, from, COPY_SIZE, 0, NULL, own_signal) != 0,
	      "refused copy");
}

static void go(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		launch_and_wait(0);
		if (i % BATCH == 0)
			launch_batch();
		copy(DEVICE, HOST);
		copy(HOST, DEVICE);
	}
}

static void *launch_some(void *argument)
{
	struct hsa_signal mine;

	check(!hsa_signal_create(1, 0, NULL, &mine), "hsa_signal_create");
	for (unsigned i = 0; i < *(unsigned *)argument; i++) {
		ring(enqueue(KERNEL, standin_hsa_kernel(1), 0));
		ring(enqueue(KERNEL, standin_hsa_kernel(0), mine.handle));
		check(hsa_signal_wait_scacquire(mine, 2, 1, UINT64_MAX, 0) == 0, "wait");
		hsa_signal_store_relaxed(mine, 1);
	}
	check(!hsa_signal_destroy(mine), "hsa_signal_destroy");
	return NULL;
}

static void *launch_and_destroy(void *argument)
{
	for (unsigned i = 0; i < *(unsigned *)argument; i++) {
		struct hsa_signal mine;

		check(!hsa_signal_create(1, 0, NULL, &mine), "hsa_signal_create");
		ring(enqueue(KERNEL, standin_hsa_kernel(0), mine.handle));
		check(hsa_signal_wait_scacquire(mine, 2, 1, UINT64_MAX, 0) == 0, "wait");
		check(!hsa_signal_destroy(mine), "hsa_signal_destroy");
	}
	return NULL;
}

static void many(void *(*work)(void *), unsigned count)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, work, &count), "pthread_create");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *shut_down(void *unused)
{
	(void)unused;
	check(!hsa_shut_down(), "hsa_shut_down");
	return NULL;
}

static void finish(void)
{
	check(!hsa_queue_destroy(queue), "hsa_queue_destroy");
	queue = NULL;
	check(!hsa_signal_destroy(own_signal), "hsa_signal_destroy");
}

static void end(void)
{
	finish();
	(void)shut_down(NULL);
}

static void restart(void)
{
	end();
	begin();
}

static void restart_together(void)
{
	for (unsigned i = 1; i < THREADS; i++)
		check(!hsa_init(), "hsa_init");
	finish();
	many(shut_down, 0);
	begin();
}

static void overlap(void)
{
	finish();
	check(standin_hsa_overlap(), "overlap");
	begin();
}

static void *live(void *argument)
{
	for (unsigned i = 0; i < *(unsigned *)argument; i++) {
		check(!hsa_init(), "hsa_init");
		(void)shut_down(NULL);
	}
	return NULL;
}

static void lives(unsigned count)
{
	end();
	many(live, count);
	begin();
}

static void leave(void)
{
	static jmp_buf out;

	standin_hsa_leave_init(&out);
	if (!setjmp(out))
		(void)hsa_init();
}

static void replay(void)
{
	int (*invoke)(void) = (__typeof__(invoke))dlsym(
		RTLD_DEFAULT, "rocprofiler_register_invoke_all_registrations");

	check(invoke && !invoke(), "rocprofiler_register_invoke_all_registrations");
}

static void late(void)
{
	check(!hsa_executable_freeze(LATE, ""), "hsa_executable_freeze");
	launch_and_wait(4);
}

static void unseen(void)
{
	struct hsa_signal other;

	check(!hsa_signal_create(1, 0, NULL, &other), "hsa_signal_create");
	ring(enqueue(KERNEL, standin_hsa_kernel(2), other.handle));
}

static uint64_t put(struct hsa_queue *into, uint64_t index, unsigned waves, uint64_t time_ns,
		    uint64_t completion)
{
	struct hsa_packet *packet = (struct hsa_packet *)into->base + index % into->size;

	memset(&packet->setup, 0, sizeof(*packet) - sizeof(packet->header));
	packet->setup = 3;
	packet->kernel = standin_hsa_kernel(0);
	packet->completion = completion;
	packet->arguments = time_ns;
	packet->grid[0] = 64 * waves;
	packet->grid[1] = packet->grid[2] = packet->group[0] = packet->group[1] = packet->group[2] =
		1;
	__atomic_store_n(&packet->header, KERNEL, __ATOMIC_RELEASE);
	return index;
}

static uint64_t fill(struct hsa_queue *into, uint64_t index, unsigned waves, uint64_t time_ns,
		     uint64_t completion)
{
	while (index - hsa_queue_load_read_index_relaxed(into) >= into->size)
		usleep(20);
	return put(into, index, waves, time_ns, completion);
}

static void ring_for(struct hsa_queue *of, uint64_t index)
{
	hsa_signal_store_screlease((struct hsa_signal){ of->doorbell }, (int64_t)index);
}

static void solo(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);

		ring_for(queue, fill(queue, index, i + 1, 0, own_signal.handle));
		await();
	}
}

static void pairs(unsigned count)
{
	struct hsa_queue *queues[2];
	struct hsa_signal signals[2];

	for (unsigned i = 0; i < 2; i++) {
		check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &queues[i]), "queue");
		check(!hsa_signal_create(1, 0, NULL, &signals[i]), "signal");
	}
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < 2; j++)
			ring_for(queues[j],
				 fill(queues[j], hsa_queue_add_write_index_relaxed(queues[j], 1), 3,
				      2000000, signals[j].handle));
		for (unsigned j = 0; j < 2; j++) {
			hsa_signal_wait_scacquire(signals[j], 2, 1, UINT64_MAX, 0);
			hsa_signal_store_relaxed(signals[j], 1);
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		check(!hsa_queue_destroy(queues[i]), "hsa_queue_destroy");
		check(!hsa_signal_destroy(signals[i]), "hsa_signal_destroy");
	}
}

static void turns(unsigned count)
{
	struct hsa_queue *kept = queue, *queues[2];

	for (unsigned i = 0; i < 2; i++)
		check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &queues[i]), "queue");
	for (unsigned i = 0; i < count; i++) {
		queue = queues[i % 2];
		ring_for(queue, fill(queue, hsa_queue_add_write_index_relaxed(queue, 1), i + 1, 0,
				     own_signal.handle));
		await();
	}
	for (unsigned i = 0; i < 2; i++)
		check(!hsa_queue_destroy(queues[i]), "hsa_queue_destroy");
	queue = kept;
}

static void *use_a_stream(void *argument)
{
	struct hsa_queue *mine;
	struct hsa_signal signal;

	check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &mine), "hsa_queue_create");
	check(!hsa_signal_create(1, 0, NULL, &signal), "hsa_signal_create");
	for (unsigned i = 0; i < *(unsigned *)argument; i++) {
		ring_for(mine, fill(mine, hsa_queue_add_write_index_relaxed(mine, 1), i + 1, 0,
				    signal.handle));
		check(hsa_signal_wait_scacquire(signal, 2, 1, UINT64_MAX, 0) == 0, "wait");
		hsa_signal_store_relaxed(signal, 1);
	}
	check(!hsa_queue_destroy(mine), "hsa_queue_destroy");
	check(!hsa_signal_destroy(signal), "hsa_signal_destroy");
	return NULL;
}

static void group(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t index = hsa_queue_add_write_index_relaxed(queue, 2);

		(void)fill(queue, index, 1, 0, 0);
		ring_for(queue, fill(queue, index + 1, 1, 0, own_signal.handle));
		await();
	}
}

static void single(unsigned count)
{
	struct hsa_queue *kept = queue;

	check(!hsa_queue_create(DEVICE, QUEUE, 1, NULL, NULL, 0, 0, &queue), "hsa_queue_create");
	solo(count);
	check(!hsa_queue_destroy(queue), "hsa_queue_destroy");
	queue = kept;
}

static void stuff(unsigned count)
{
	uint64_t index = 0;

	for (unsigned i = 0; i < count; i++)
		index = fill(queue, hsa_queue_add_write_index_relaxed(queue, 1), 1, 0,
			     i + 1 < count ? 0 : own_signal.handle);
	ring_for(queue, index);
	await();
}

static void brim(unsigned count)
{
	struct hsa_signal signals[QUEUE];

	for (unsigned i = 0; i < QUEUE; i++)
		check(!hsa_signal_create(0, 0, NULL, &signals[i]), "hsa_signal_create");
	for (unsigned i = 0; i < count + QUEUE; i++) {
		struct hsa_signal own = signals[i % QUEUE];

		check(hsa_signal_wait_scacquire(own, 2, 1, UINT64_MAX, 0) == 0, "brim");
		if (i >= count)
			continue;
		hsa_signal_store_relaxed(own, 1);
		ring_for(queue, put(queue, hsa_queue_add_write_index_relaxed(queue, 1), 1, 1000000,
				    own.handle));
	}
	for (unsigned i = 0; i < QUEUE; i++)
		check(!hsa_signal_destroy(signals[i]), "hsa_signal_destroy");
}

static void soft(unsigned count)
{
	struct hsa_queue *kept = queue;

	check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &queue), "hsa_queue_create");
	queue->id |= STANDIN_SOFT;
	solo(count);
	check(!hsa_queue_destroy(queue), "hsa_queue_destroy");
	queue = kept;
}

static void lent(unsigned count)
{
	struct hsa_queue *own, *handles[2] = { NULL, NULL };
	uint64_t index = 0;

	check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &own), "hsa_queue_create");
	for (unsigned i = 0; i < 2; i++)
		handles[i] = standin_hsa_borrow(own);
	for (unsigned i = 0; i < count; i++) {
		index = hsa_queue_add_write_index_relaxed(handles[i % 2], 1);
		ring_for(own, fill(own, index, i + 1, 0, own_signal.handle));
		await();
	}
	index = hsa_queue_add_write_index_relaxed(handles[1], 1);
	(void)fill(own, index, 1, 0, 0);
	index = hsa_queue_add_write_index_relaxed(handles[0], 1);
	(void)fill(own, index, 2, 0, own_signal.handle);
	standin_hsa_return(handles[0]);
	ring_for(own, index);
	await();
	index = hsa_queue_add_write_index_relaxed(handles[1], 1);
	ring_for(own, fill(own, index, 3, 0, own_signal.handle));
	await();
	standin_hsa_return(handles[1]);
	check(!hsa_queue_destroy(own), "hsa_queue_destroy");
}

static struct {
	pthread_t thread;
	unsigned waves; /* to launch; 0: none */
	int number;
} crossing;

static void *cross_over(void *unused)
{
	(void)unused;
	__atomic_store_n(&crossing.number, (int)gettid(), __ATOMIC_RELEASE);
	for (;;) {
		unsigned waves = __atomic_load_n(&crossing.waves, __ATOMIC_ACQUIRE);

		if (waves) {
			(void)fill(queue, hsa_queue_add_write_index_relaxed(queue, 1), waves, 0, 0);
			__atomic_store_n(&crossing.waves, 0, __ATOMIC_RELEASE);
		}
		usleep(100);
	}
	return NULL;
}

static void cross(unsigned waves)
{
	if (!crossing.number)
		check(!pthread_create(&crossing.thread, NULL, cross_over, NULL), "pthread_create");
	if (waves) {
		__atomic_store_n(&crossing.waves, waves + 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&crossing.waves, __ATOMIC_ACQUIRE))
			usleep(100);
		ring_for(queue, fill(queue, hsa_queue_add_write_index_relaxed(queue, 1), waves, 0,
				     own_signal.handle));
		await();
	}
	while (!__atomic_load_n(&crossing.number, __ATOMIC_ACQUIRE))
		usleep(100);
	printf("thread %d\n", crossing.number);
}

static void away(void)
{
	struct hsa_queue *other;
	uint64_t index;

	check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &other), "hsa_queue_create");
	index = hsa_queue_add_write_index_relaxed(other, 1);
	(void)index; /* never filled in, never rung for */
	check(!hsa_queue_destroy(other), "hsa_queue_destroy");
}

static void brief(unsigned count)
{
	struct hsa_queue *kept = queue;

	for (unsigned i = 0; i < count; i++) {
		uint64_t index;

		check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &queue), "queue");
		index = hsa_queue_add_write_index_relaxed(queue, 1);
		ring_for(queue, fill(queue, index, i + 1, 0, own_signal.handle));
		await();
		check(!hsa_queue_destroy(queue), "hsa_queue_destroy");
	}
	queue = kept;
}

static void abandon(void)
{
	ring_for(queue,
		 fill(queue, hsa_queue_add_write_index_relaxed(queue, 1), 7, 0, own_signal.handle));
	await();
	queue = NULL; /* the runtime's to destroy */
	(void)shut_down(NULL);
	begin();
}

static uint64_t launch(struct hsa_queue *into, unsigned waves, uint64_t time_ns, uint64_t signal)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(into, 1);

	ring_for(into, fill(into, index, waves, time_ns, signal));
	return index;
}

static void *destroy(void *other)
{
	check(!hsa_queue_destroy(other), "hsa_queue_destroy");
	return NULL;
}

static void heir(void)
{
	struct hsa_queue *first, *second;
	uint64_t doorbell;
	pthread_t thread;

	check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &first), "queue");
	doorbell = first->doorbell;
	check(!pthread_create(&thread, NULL, destroy, first), "pthread_create");
	for (second = NULL; !second || second->doorbell != doorbell; usleep(5000))
		check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &second), "queue");
	(void)launch(second, 5, 700000000, own_signal.handle);
	pthread_join(thread, NULL);
	await();
	check(!hsa_queue_destroy(second), "hsa_queue_destroy");
}

/* Kernels of so many milliseconds. */
static void *launch_for_ever(void *time_ms)
{
	struct hsa_queue *mine;
	struct hsa_signal done;

	check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &mine), "queue");
	check(!hsa_signal_create(1, 0, NULL, &done), "hsa_signal_create");
	for (;;) {
		(void)launch(mine, 1, 1000000 * (uint64_t)time_ms, done.handle);
		hsa_signal_wait_scacquire(done, 2, 1, UINT64_MAX, 0);
		hsa_signal_store_relaxed(done, 1);
	}
	return NULL;
}

static void busy(unsigned count)
{
	pthread_t thread;

	for (unsigned i = 0; i < count; i++)
		check(!pthread_create(&thread, NULL, launch_for_ever, (void *)(uintptr_t)i),
		      "pthread_create");
}

static void await_pending(void)
{
	await();
	check(!hsa_queue_destroy(queue), "hsa_queue_destroy");
}

/* The module makes limpet register for exit() once more, so that it is called before. */
static void pending(void)
{
	check(!atexit(await_pending) && dlopen("libresolv.so.2", RTLD_NOW), "atexit");
	(void)launch(queue, 7, 900000000, own_signal.handle);
}

static bool exit_in_call(int64_t value, void *data)
{
	(void)value;
	await();
	exit((int)(uintptr_t)data);
}

/* Reads no more: exit() of a newer C library waits for who reads. */
static void exit_in_callback(void)
{
	check(!hsa_amd_signal_async_handler(own_signal, 2, 1, exit_in_call, NULL), "handler");
	(void)launch(queue, 1, 0, own_signal.handle);
	for (;;)
		pause();
}

static uint64_t held_index;

static void hold(unsigned unused)
{
	(void)unused;
	held_index = hsa_queue_add_write_index_relaxed(queue, 1);
}

static void let(unsigned waves)
{
	ring_for(queue, fill(queue, held_index, waves, 0, own_signal.handle));
	await();
}

/* A queue beside the other: 0 launches a kernel there that does not end, 1 one that does. */
static void beside(unsigned is_short)
{
	static struct hsa_queue *other;
	uint64_t index;

	if (!other)
		check(!hsa_queue_create(DEVICE, QUEUE, 0, NULL, NULL, 0, 0, &other), "beside");
	index = fill(other, hsa_queue_add_write_index_relaxed(other, 1), 1, 0, 0);
	if (!is_short)
		((struct hsa_packet *)other->base)[index % other->size].kernel = STANDIN_ENDLESS;
	ring_for(other, index);
}

static const struct {
	const char *word;
	void (*act)(unsigned number);
} counted[] = { { "solo", solo },   { "pairs", pairs },   { "group", group }, { "single", single },
		{ "stuff", stuff }, { "beside", beside }, { "hold", hold },   { "let", let },
		{ "brim", brim },   { "soft", soft },     { "lent", lent },   { "cross", cross },
		{ "brief", brief }, { "turns", turns },   { "busy", busy } };

/* Of packets that limpet has not given back; its library is loaded by limpet. */
static void print_sets(void)
{
	void *library = dlopen("libhsa-amd-aqlprofile64.so.1", RTLD_LAZY | RTLD_NOLOAD);
	unsigned (*sets)(void) =
		library ? (unsigned (*)(void))dlsym(library, "standin_aqlprofile_sets") : NULL;

	printf("sets %u\n", sets ? sets() : 0);
}

static void fork_and_exit(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		exit(0);
	check(child > 0 && waitpid(child, &status, 0) == child, "fork");
	printf("status %d\n", status);
}

static void obey_counted(const char *word, unsigned number)
{
	for (unsigned i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (!strcmp(word, counted[i].word))
			counted[i].act(number);
	if (!strcmp(word, "away"))
		away();
	else if (!strcmp(word, "abandon"))
		abandon();
	else if (!strcmp(word, "heir"))
		heir();
	else if (!strcmp(word, "pending"))
		pending();
	else if (!strcmp(word, "callback"))
		exit_in_callback();
	else if (!strcmp(word, "bank"))
		standin_bank_print();
	else if (!strcmp(word, "sets"))
		print_sets();
	else if (!strcmp(word, "fork"))
		fork_and_exit();
	else if (!strcmp(word, "memory"))
		printf("memory %u\n", standin_hsa_memory());
	else if (!strcmp(word, "late_end"))
		check(!atexit(end), "atexit");
}

static void obey(const char *word, unsigned number)
{
	obey_counted(word, number);
	if (!strcmp(word, "tables"))
		standin_hsa_print();
	else if (!strcmp(word, "queue"))
		make_queue();
	else if (!strcmp(word, "go"))
		go(number);
	else if (!strcmp(word, "many"))
		many(launch_some, number);
	else if (!strcmp(word, "churn"))
		many(launch_and_destroy, number);
	else if (!strcmp(word, "late"))
		late();
	else if (!strcmp(word, "unseen"))
		unseen();
	else if (!strcmp(word, "endless"))
		ring(enqueue(KERNEL, STANDIN_ENDLESS, 0));
	else if (!strcmp(word, "release"))
		standin_hsa_release();
	else if (!strcmp(word, "restart"))
		restart();
	else if (!strcmp(word, "end"))
		end();
	else if (!strcmp(word, "begin"))
		begin();
	else if (!strcmp(word, "together"))
		restart_together();
	else if (!strcmp(word, "overlap"))
		overlap();
	else if (!strcmp(word, "lives"))
		lives(number);
	else if (!strcmp(word, "streams"))
		many(use_a_stream, number);
	else if (!strcmp(word, "leave"))
		leave();
	else if (!strcmp(word, "replay"))
		replay();
	else if (!strcmp(word, "forbid"))
		check(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV), "prctl");
}

int main(void)
{
	char line[64], word[16];
	unsigned number;

	begin();
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		number = 0;
		if (sscanf(line, "%15s %u", word, &number) < 1)
			continue;
		obey(word, number);
		printf("end\n");
		fflush(stdout);
	}
	return 0;
}
