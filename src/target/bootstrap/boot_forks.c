/*
 * The handlers run on application threads, and find their state by their own address. No libc.
 */
#include "target/bootstrap/boot_forks.h"

#include "target/runtime/kernel_clock.h"
#include "target/runtime/text.h"

#include <dlfcn.h>

#define QUIET_NS      2000000   /* for a thread that has just read a handler's address */
#define QUIET_LONG_NS 200000000 /* ...in a process that forks, on a busy machine */
#define GLANCE_NS     1000000
#define GLANCES       10000u

typedef int register_function(void (*)(void), void (*)(void), void (*)(void), void *);
typedef void finalize_function(void *);
typedef void *dlsym_function(void *, const char *);
typedef const char *version_function(void);

extern const char boot_begin[] __attribute__((visibility("hidden"))); /* begin of the code */

static struct boot_forks *forks_here(void)
{
	return (struct boot_forks *)((uint64_t)boot_begin - REGION_CODE + REGION_DATA + DATA_FORKS);
}

static struct boot_forks *handler_enter(void)
{
	struct boot_forks *self = forks_here();

	__atomic_add_fetch(&self->inside, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&self->calls, 1, __ATOMIC_SEQ_CST);
	return self;
}

static void handler_leave(struct boot_forks *self)
{
	__atomic_sub_fetch(&self->inside, 1, __ATOMIC_SEQ_CST);
}

static void before_fork(void)
{
	struct boot_forks *self = handler_enter();

	fork_turn_fork_begin(&self->turn);
	handler_leave(self);
}

static void after_fork(void)
{
	struct boot_forks *self = handler_enter();

	fork_turn_fork_end(&self->turn);
	handler_leave(self);
}

static void in_child(void)
{
	struct boot_forks *self = forks_here();

	fork_turn_forget(&self->turn);
	self->inside = 0;
}

struct boot_forks *boot_forks(const struct boot_context *boot)
{
	return (struct boot_forks *)(boot->region + REGION_DATA + DATA_FORKS);
}

static const char *glibc_version(const struct boot_libc *libc)
{
	version_function *version = (version_function *)((dlsym_function *)libc->dlsym)(
		RTLD_DEFAULT, "gnu_get_libc_version");

	return version ? version() : NULL;
}

void boot_forks_meet(const struct boot_context *boot)
{
	struct boot_forks *self = boot_forks(boot);
	register_function *add = (register_function *)boot->libc.__register_atfork;

	if (self->is_known || !add || add(before_fork, after_fork, in_child, self))
		return;
	self->is_known = 1;
	fork_turn_open(&self->turn, glibc_version(&boot->libc), /* is_alone */ false);
}

void boot_forks_leave(const struct boot_context *boot, struct fork_work work)
{
	struct boot_forks *self = boot_forks(boot);

	if (!self->is_known)
		return;
	fork_turn_pass(&self->turn, work);
	((finalize_function *)boot->libc.__cxa_finalize)(self);
	self->is_known = 0;
}

bool boot_forks_are_gone(const struct boot_context *boot)
{
	struct boot_forks *self = boot_forks(boot);

	if (self->is_known)
		return false;
	sleep_ns(__atomic_load_n(&self->calls, __ATOMIC_SEQ_CST) ? QUIET_LONG_NS : QUIET_NS);
	for (unsigned i = 0; i < GLANCES; i++) {
		if (!__atomic_load_n(&self->inside, __ATOMIC_SEQ_CST) &&
		    fork_turn_is_idle(&self->turn))
			return true;
		sleep_ns(GLANCE_NS);
	}
	return false;
}
