/*
 * The handlers run on the thread that forks.  They stay registered for as long as their library is
 * there.
 */
#include "target/tool/loader.h"

#include "shared/arch/syscall.h"

#include <stdint.h>
#include <time.h>

#define GLANCE_NS      20000
#define FORK_WAITS     10000 /* glances */
#define OUR_WAITS      50000
#define HELD_GLANCE_NS 10000000
#define HELD_WAITS     1000 /* such glances: ten seconds */

static struct loader_libc functions;
static char dso_handle; /* by its address libc knows our handlers */
static bool is_registered;
static uint32_t forking, inside;
static uint32_t holding; /* those inside that have the loader's lock for certain */
static long user; /* the process whose threads are meant; not its child's that libc knows not of */

static void loader_pause(long pause_ns)
{
	struct timespec pause = { 0, pause_ns };

	raw2(SYS_nanosleep, &pause, 0);
}

/* Sequentially consistent throughout: each side says what it does before it looks at the other. */
static uint32_t word_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* A child that is forked while we hold the lock finds it locked for ever.  Whoever is inside may
 * also wait for it, for the forking thread itself: that is waited for much shorter. */
static void before_fork(void)
{
	__atomic_add_fetch(&forking, 1, __ATOMIC_SEQ_CST);
	if (word_load(&inside) && raw0(SYS_getpid) != user)
		return;
	for (unsigned i = 0; word_load(&inside) && i < FORK_WAITS; i++)
		loader_pause(GLANCE_NS);
	for (unsigned i = 0; word_load(&holding) && i < HELD_WAITS; i++)
		loader_pause(HELD_GLANCE_NS);
}

static void after_fork(void)
{
	__atomic_sub_fetch(&forking, 1, __ATOMIC_SEQ_CST);
}

static void in_child(void)
{
	forking = inside = holding = 0;
}

void loader_use(const struct loader_libc *libc)
{
	functions = *libc;
	if (user != raw0(SYS_getpid))
		in_child();
	user = raw0(SYS_getpid);
	if (!is_registered && functions.register_fork)
		is_registered =
			!functions.register_fork(before_fork, after_fork, in_child, &dso_handle);
}

static void loader_enter(void)
{
	for (unsigned i = 0; i < OUR_WAITS; i++) {
		__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
		if (!word_load(&forking))
			return;
		__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
		loader_pause(GLANCE_NS);
	}
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static void loader_leave(void)
{
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

struct iteration {
	int (*callback)(struct dl_phdr_info *, size_t, void *);
	void *data;
	bool is_held;
};

/* The lock is ours from the first module on, until the loader returns. */
static int module_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct iteration *iteration = data;

	if (!iteration->is_held)
		__atomic_add_fetch(&holding, 1, __ATOMIC_SEQ_CST);
	iteration->is_held = true;
	return iteration->callback(info, size, iteration->data);
}

int loader_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct iteration iteration = { callback, data, false };
	int r;

	loader_enter();
	r = functions.iterate(module_visit, &iteration);
	if (iteration.is_held)
		__atomic_sub_fetch(&holding, 1, __ATOMIC_SEQ_CST);
	loader_leave();
	return r;
}

void *loader_open(const char *name, int flags)
{
	void *handle;

	loader_enter();
	handle = functions.open(name, flags);
	loader_leave();
	return handle;
}

int loader_close(void *handle)
{
	int r;

	loader_enter();
	r = functions.close(handle);
	loader_leave();
	return r;
}

/* It takes locks of libc's, too. */
void loader_leave_forks(void (*finalize)(void *))
{
	if (!is_registered)
		return;
	loader_enter();
	finalize(&dso_handle);
	is_registered = false;
	loader_leave();
}

bool loader_is_in_forks(void)
{
	return is_registered;
}
