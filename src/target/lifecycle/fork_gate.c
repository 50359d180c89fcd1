/*
 * The handlers run on the thread that forks, with a bounded wait: a fork is never held up for long.
 * Until glibc 2.36 they run with the lock of fork held, so waiting would be in vain; what remains
 * there is a window of less than a microsecond between our look and the lock.
 */
#include "target/lifecycle/fork_gate.h"

#include "shared/arch/syscall.h"
#include "target/runtime/fork_turn.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <time.h>

#define GLANCE_NS     20000
#define OURS_WAITS    50000
#define QUIET_NS      2000000
#define WAITING_SINCE 36 /* glibc 2.36 */

typedef void finalize_function(void *);
typedef int register_function(void (*)(void), void (*)(void), void (*)(void), void *);
typedef void *dlsym_function(void *, const char *);
typedef const char *version_function(void);

static char dso_handle; /* by its address libc knows our handlers */
static struct fork_turn turn;
static uint32_t inside;
static bool may_wait;

static void before_fork(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	fork_turn_fork_begin(&turn);
	if (may_wait)
		fork_turn_await(&turn);
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static void after_fork(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	fork_turn_fork_end(&turn);
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static void in_child(void)
{
	fork_turn_forget(&turn);
	inside = 0;
}

void fork_gate_finalize(const struct boot_libc *libc, void *handle)
{
	fork_turn_work_begin(&turn);
	((finalize_function *)libc->__cxa_finalize)(handle);
	fork_turn_work_end(&turn);
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
	struct timespec quiet = { 0, QUIET_NS }, glance = { 0, GLANCE_NS };

	fork_gate_finalize(libc, &dso_handle);
	raw2(SYS_nanosleep, &quiet, 0);
	for (unsigned i = 0; __atomic_load_n(&inside, __ATOMIC_SEQ_CST) && i < OURS_WAITS; i++)
		raw2(SYS_nanosleep, &glance, 0);
	fork_turn_forget(&turn); /* of those that began with the handlers and ended without */
}
