/*
 * The first code of limpet's in a target: creates a real thread of the target's libc, gives it a
 * socket, loads the agent library and calls it; at the end unmaps everything. A flat blob without
 * data, relocations or a libc of its own (boot.ld); the host has resolved every libc function's
 * address. It never exits the process, prints, or acquires a lock of its own.
 */
#include "shared/arch/elf.h"
#include "shared/arch/syscall.h"
#include "target/bootstrap/boot_forks.h"
#include "target/bootstrap/entry.h"
#include "target/runtime/arena.h"
#include "target/runtime/broadcast.h"
#include "target/runtime/channel.h"
#include "target/runtime/descriptor.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/load.h"
#include "target/runtime/starter.h"
#include "target/runtime/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#define THREAD_KEYS   1024 /* PTHREAD_KEYS_MAX of glibc; musl has fewer */
#define REAP_DELAY_NS 1000000
#define SIGNALS_SIZE  8

typedef void *getspecific_function(pthread_key_t);
typedef void *dlsym_function(void *, const char *);
typedef int dlclose_function(void *);
typedef void *malloc_function(size_t);
typedef int agent_function(struct boot_context *, int socket);

/* Entered from assembly. */
_Noreturn void boot_starter(struct boot_context *boot);
void boot_from_call(struct boot_context *boot);

static void set_step(struct boot_context *boot, enum boot_step step)
{
	__atomic_store_n(&boot->step, step,
			 __ATOMIC_RELEASE); /* pairs with the host's read of the context */
}

static long boot_fail(struct boot_context *boot, const char *call, long error)
{
	boot->error = (int32_t)error;
	text_add(boot->failed_call, sizeof(boot->failed_call), 0, call);
	set_step(boot, BOOT_FAILED);
	return error;
}

static void block_signals_except(uint64_t open)
{
	uint64_t mask = ~open;

	raw4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &mask, 0, SIGNALS_SIZE);
	raw4(SYS_rt_sigprocmask, 1 /* SIG_UNBLOCK */, &open, 0, SIGNALS_SIZE);
}

static long make_sockets(struct boot_context *boot, struct descriptor own[2])
{
	int pair[2];
	long r;

	if (boot->table == BOOT_TABLE_OWN)
		boot->is_apart = descriptors_leave(-1);
	if (!boot->is_apart && descriptors_lack_first())
		return boot_fail(boot, BOOT_FIRST_THREE, -EBADF);
	r = raw4(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	if (r < 0)
		return boot_fail(boot, "socketpair", r);
	own[0] = descriptor_own(pair[0]);
	own[1] = descriptor_own(pair[1]);
	boot->socket = own[0].fd;
	boot->socket_inode = own[0].inode;
	set_step(boot, BOOT_SOCKET_READY);
	return 0;
}

/* The limit is long, because a host that waits for a processor has not died. Counted in polls, not
 * by the clock: if the whole machine is suspended, the host loses no time, either. */
static long await_host(const struct boot_context *boot, int socket)
{
	struct pollfd wait = { socket, POLLIN, 0 };
	long r = 0;

	for (unsigned ms = 0; r == 0 && ms < BOOT_WAIT_MS; ms += BOOT_GLANCE_MS) {
		struct timespec glance = { 0, BOOT_GLANCE_MS * 1000000L };

		r = raw5(SYS_ppoll, &wait, 1, &glance, 0, SIGNALS_SIZE);
		if (r == -EINTR)
			r = 0;
		if (r == 0 && boot->host_pid &&
		    raw3(SYS_tgkill, boot->host_pid, boot->host_pid, 0) == -ESRCH)
			return -EOWNERDEAD;
	}
	return r;
}

static void close_pair(void *argument)
{
	struct descriptor *own = argument;

	descriptor_close(&own[0]);
	descriptor_close(&own[1]);
}

/* The host has its end: keeps limpet's in a table of its own, and closes both in the target's. */
static void leave_later(struct boot_context *boot, struct descriptor own[2])
{
	struct descriptor shared[2] = { own[0], own[1] };

	boot->is_apart = descriptors_leave(own[1].fd);
	if (!boot->is_apart)
		return;
	own[0].fd = -1;
	starter_ask(boot, close_pair, shared);
}

/* Waits until the host has its end and has sent its hello. */
static long meet_host(struct boot_context *boot, struct descriptor own[2], struct boot_hello *hello,
		      struct descriptor *library)
{
	long r = await_host(boot, own[1].fd);

	if (r > 0 && boot->table == BOOT_TABLE_LATER)
		leave_later(boot, own);
	if (r > 0)
		r = channel_receive(own[1].fd, hello, sizeof(*hello), library);
	descriptor_close(&own[0]);
	if (r != sizeof(*hello) || hello->magic != BOOT_MAGIC)
		return boot_fail(boot, "hello", r < 0 ? r : r ? -EPROTO : -ETIMEDOUT);
	return 0;
}

static long open_agent(struct boot_context *boot, const struct boot_hello *hello, int library)
{
	dlsym_function *find = (dlsym_function *)boot->libc.dlsym;
	void *handle = load_from_fd(&boot->libc, "", library, hello->is_directory, 0);

	if (!handle) {
		load_error(&boot->libc, boot->text, sizeof(boot->text));
		return boot_fail(boot, "dlopen", -ENOEXEC);
	}
	boot->agent_handle = (uint64_t)handle;
	boot->agent_entry = (uint64_t)find(handle, BOOT_AGENT_ENTRY);
	return boot->agent_entry ? 0 : boot_fail(boot, "dlsym", -ENOENT);
}

static long load_agent(struct boot_context *boot, const struct boot_hello *hello,
		       struct descriptor *library)
{
	struct fork_turn *turn = &boot_forks(boot)->turn;
	struct fork_work work;
	long r;

	boot_forks_meet(boot);
	turn->may_call = boot->may_call;
	work = fork_turn_begin(turn);
	r = open_agent(boot, hello, library->fd);
	fork_turn_end(turn, work);
	descriptor_close(library);
	return r;
}

/* The last thread: libc does not know it, and so keeps no state of it after the unmapping. */
static void boot_reap(struct boot_context *boot)
{
	while (boot->worker_tid &&
	       raw3(SYS_tgkill, raw0(SYS_getpid), boot->worker_tid, 0) != -ESRCH)
		sleep_ns(REAP_DELAY_NS);
	while (!boot_forks_are_gone(boot))
		raw1(SYS_exit, 0); /* leaves the region mapped: a thread may still use it */
	boot_leave(boot->region, REGION_SIZE, boot->syscall_return, boot->thread_exit,
		   boot->exit_word);
}

static bool prepare_exit_word(struct boot_context *boot)
{
	malloc_function *allocate;
	uint64_t *word;

	if (!ARCH_RETURN_ON_STACK)
		return true;
	allocate = (malloc_function *)((dlsym_function *)boot->libc.dlsym)(RTLD_DEFAULT, "malloc");
	word = allocate ? allocate(sizeof(*word)) : NULL;
	if (!word)
		return false;
	*word = boot->thread_exit;
	boot->exit_word = (uint64_t)word;
	return true;
}

/* Lets the region be unmapped after this thread has ended in libc's way. */
static void start_reaper(struct boot_context *boot)
{
	unsigned long flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	if (boot->starter_has_data || boot_forks(boot)->is_known)
		return;
	/* It must never run a signal handler; this thread, which libc still counts, must again
	 * answer libc's own signals: a setuid in another thread waits for it. */
	block_signals_except(0);
	boot_spawn(flags, boot->region + REGION_DATA, boot, boot_reap);
	block_signals_except(boot->open_signals);
}

/* Unregisters the fork handlers before the region is unmapped. */
static void boot_unload(struct boot_context *boot)
{
	struct fork_turn *turn = &boot_forks(boot)->turn;
	struct fork_work work = fork_turn_begin(turn);
	bool has_word = prepare_exit_word(boot);

	if (boot->agent_handle)
		((dlclose_function *)boot->libc.dlclose)((void *)boot->agent_handle);
	if (has_word)
		boot_forks_leave(boot, work);
	fork_turn_end(turn, work);
	if (has_word)
		start_reaper(boot);
}

/* The context contains the error; the host closes the socket after reading it. -1: only waits. */
static void wait_for_reader(int socket)
{
	struct pollfd wait = { socket, POLLIN, 0 };
	struct timespec limit = { 1, 0 };

	raw5(SYS_ppoll, &wait, 1, &limit, 0, SIGNALS_SIZE);
}

static int run_agent(struct boot_context *boot, struct descriptor own[2])
{
	struct boot_hello hello;
	struct descriptor library = descriptor_own(-1);
	int verdict = boot->agent_entry ? AGENT_RESTS : AGENT_UNLOADS;
	long r = make_sockets(boot, own);

	if (!r)
		r = meet_host(boot, own, &hello, &library);
	if (!boot->is_apart)
		starter_dismiss(boot);
	if (!r && !boot->agent_entry)
		r = load_agent(boot, &hello, &library);
	if (!r) {
		set_step(boot, BOOT_AGENT_RUNS);
		verdict = ((agent_function *)boot->agent_entry)(boot, own[1].fd);
	} else {
		wait_for_reader(own[1].fd);
	}
	descriptor_close(&library);
	return verdict;
}

static void *control_thread(void *argument)
{
	struct boot_context *boot = argument;
	struct descriptor own[2] = { descriptor_own(-1), descriptor_own(-1) };
	int verdict;

	arena_share(&boot->libc);
	broadcast_avoid(&boot->libc);
	block_signals_except(boot->open_signals);
	boot->worker_tid = (int32_t)raw0(SYS_gettid);
	raw3(SYS_mprotect, boot->region, REGION_GUARD_SIZE, PROT_NONE);
	raw2(SYS_prctl, PR_SET_NAME, CONTROL_THREAD_NAME);
	verdict = run_agent(boot, own);
	starter_dismiss(boot);
	descriptor_close(&own[0]);
	descriptor_close(&own[1]);
	set_step(boot, boot->step == BOOT_FAILED ? BOOT_FAILED : BOOT_ENDED);
	if (verdict == AGENT_UNLOADS)
		boot_unload(boot);
	arena_part(&boot->libc);
	return NULL;
}

static long make_worker(struct boot_context *boot)
{
	const struct new_thread control = {
		.stack = (void *)(boot->region + REGION_WORKER_STACK),
		.stack_size = REGION_WORKER_SIZE,
		.run = control_thread,
		.argument = boot,
		.is_detached = true,
	};
	pthread_t thread;
	int r;

	set_step(boot, BOOT_STARTING);
	r = broadcast_create(&boot->libc, &control, &thread);
	return r ? boot_fail(boot, "pthread_create", r) : 0;
}

/* An allocator other than libc's may have thread-specific data of the starter. */
static void find_thread_data(struct boot_context *boot)
{
	getspecific_function *get = (getspecific_function *)boot->libc.pthread_getspecific;

	for (unsigned key = 0; key < THREAD_KEYS; key++)
		if (get(key))
			boot->starter_has_data = 1;
}

/* The starter: a raw thread with a made-up thread block. pthread_create must be its first call that
 * may acquire a lock or allocate, because it switches libc to its multi-threaded paths. */
void boot_starter(struct boot_context *boot)
{
	block_signals_except(boot->open_signals);
	boot->starter_tid = (int32_t)raw0(SYS_gettid);
	if (!make_worker(boot) && boot->table != BOOT_TABLE_SHARED) {
		find_thread_data(boot);
		raw2(SYS_prctl, PR_SET_NAME, STARTER_THREAD_NAME);
		starter_serve(boot);
	}
	find_thread_data(boot);
	for (;;)
		raw1(SYS_exit, 0);
}

void boot_from_call(struct boot_context *boot)
{
	make_worker(boot);
}
