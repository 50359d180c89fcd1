/*
 * The handlers run on the thread that forks, with a bounded wait: a fork is never held up for long.
 * Until glibc 2.36 they run with the lock of fork held, so waiting would be in vain; what remains
 * there is a window of less than a microsecond between our look and the lock.
 */
#include "target/lifecycle/fork_gate.h"

#include "shared/arch/syscall.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <time.h>

#define GLANCE_NS     20000
#define FORK_WAITS    2500 /* glances: 50 ms */
#define OURS_WAITS    50000
#define QUIET_NS      2000000
#define WAITING_SINCE 36 /* glibc 2.36 */

typedef void finalize_function(void *);
typedef int register_function(void (*)(void), void (*)(void), void (*)(void), void *);
typedef void *dlsym_function(void *, const char *);
typedef const char *version_function(void);

static char dso_handle; /* by its address libc knows our handlers */
static uint32_t forking, finalizing, inside;
static bool may_wait;

/* Sequentially consistent throughout: each side says what it does before it looks at the other. */
static uint32_t word_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void gate_pause(void)
{
	struct timespec pause = { 0, GLANCE_NS };

	raw2(SYS_nanosleep, &pause, 0);
}

static void before_fork(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&forking, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; may_wait && word_load(&finalizing) && i < FORK_WAITS; i++)
		gate_pause();
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static void after_fork(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&forking, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static void in_child(void)
{
	forking = finalizing = inside = 0;
}

/* Says that we begin, unless a fork is under way; gives up waiting for one that never ends. */
static void work_begin(void)
{
	for (unsigned i = 0; i < OURS_WAITS; i++) {
		__atomic_store_n(&finalizing, 1, __ATOMIC_SEQ_CST);
		if (!word_load(&forking))
			return;
		__atomic_store_n(&finalizing, 0, __ATOMIC_SEQ_CST);
		gate_pause();
	}
	__atomic_store_n(&finalizing, 1, __ATOMIC_SEQ_CST);
}

void fork_gate_finalize(const struct boot_libc *libc, void *handle)
{
	work_begin();
	((finalize_function *)libc->__cxa_finalize)(handle);
	__atomic_store_n(&finalizing, 0, __ATOMIC_SEQ_CST);
}

static void *libc_find(const struct boot_libc *libc, const char *name)
{
	return ((dlsym_function *)libc->dlsym)(RTLD_DEFAULT, name);
}

bool fork_gate_is_needed(const struct boot_libc *libc)
{
	return libc_find(libc, "gnu_get_libc_version") != NULL;
}

/* "2.36" */
static bool lets_handlers_wait(const struct boot_libc *libc)
{
	version_function *version = (version_function *)libc_find(libc, "gnu_get_libc_version");
	const char *text = version ? version() : "";
	unsigned minor = 0;

	if (text[0] != '2' || text[1] != '.')
		return false;
	for (text += 2; *text >= '0' && *text <= '9'; text++)
		minor = minor * 10 + (unsigned)(*text - '0');
	return minor >= WAITING_SINCE;
}

void fork_gate_open(const struct boot_libc *libc)
{
	register_function *add = (register_function *)libc_find(libc, "__register_atfork");

	may_wait = lets_handlers_wait(libc);
	if (add)
		add(before_fork, after_fork, in_child, &dso_handle);
}

/* A thread that had just taken the handler's address gets time to come and go. */
void fork_gate_close(const struct boot_libc *libc)
{
	struct timespec quiet = { 0, QUIET_NS };

	fork_gate_finalize(libc, &dso_handle);
	raw2(SYS_nanosleep, &quiet, 0);
	for (unsigned i = 0; word_load(&inside) && i < OURS_WAITS; i++)
		gate_pause();
	forking = 0; /* of those that began with the handlers and ended without */
}
