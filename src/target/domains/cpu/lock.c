/*
 * Traces waiting for locks. The wrapper first calls the trylock function, so that a free lock is
 * acquired without a record, unless all locks are traced. A call that had to wait is recorded.
 */
#include "target/domains/cpu/cpu.h"
#include "target/hooks/clock.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"
#include "target/runtime/libc_calls.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#define LONG_WAIT_TICKS 4096 /* a longer call has waited, whatever the lock's state was */

typedef int lock_function(void *object, long, long);
typedef int try_function(void *object);

/* libc's functions. */
static struct {
	try_function *mutex, *read, *write;
} tries;
static bool all_locks;

struct waiting {
	struct hook *hook;
	uint64_t arguments[3];
	uint64_t owner;
	const uint64_t *record; /* the wrapper's frame: saved frame pointer and return address */
	const void *caller_sp;
};

/* For use in a wrapper, to which a thunk has jumped. */
#define WAITING(object, b, c)                                                  \
	{                                                                      \
		hook, { (uint64_t)(object), (uint64_t)(b), (uint64_t)(c) }, 0, \
			__builtin_frame_address(0), __builtin_dwarf_cfa()      \
	}

static int wait_finish(const struct waiting *waiting, uint64_t begin, int result)
{
	struct hook_frame frame = { .arguments = { waiting->arguments[0], waiting->owner },
				    .hook = waiting->hook,
				    .begin = begin,
				    .results = { (uint64_t)(int64_t)result },
				    .wrapped_sp = (uint64_t)waiting->caller_sp,
				    .link = waiting->record[0],
				    .address = waiting->record[1] };

	hook_report(waiting->hook, &frame);
	return result;
}

static int wait_call(const struct waiting *waiting)
{
	lock_function *original = (lock_function *)waiting->hook->original;

	return original((void *)waiting->arguments[0], (long)waiting->arguments[1],
			(long)waiting->arguments[2]);
}

/* Decides by the duration alone whether the call has waited. */
static int lock_timed(const struct waiting *waiting)
{
	uint64_t begin = clock_ticks();
	int result = wait_call(waiting);

	if (!all_locks && clock_ticks() - begin < LONG_WAIT_TICKS)
		return result;
	return wait_finish(waiting, begin, result);
}

/* trylock returns what the waiting function would return, except for EBUSY. */
static int lock_or_wait(const struct waiting *waiting, try_function *try)
{
	uint64_t begin = all_locks ? clock_ticks() : 0;
	int result;

	if (!try)
		return lock_timed(waiting);
	result = try((void *)waiting->arguments[0]);
	if (result == EBUSY) {
		begin = clock_ticks();
		return wait_finish(waiting, begin, wait_call(waiting));
	}
	return all_locks ? wait_finish(waiting, begin, result) : result;
}

static int lock_marked(const struct waiting *waiting, try_function *try)
{
	struct call_in_flight call;
	int result;

	call_in_flight_begin(&call, waiting->hook);
	result = lock_or_wait(waiting, try);
	call_in_flight_end(&call);
	return result;
}

static int lock_mutex(pthread_mutex_t *mutex, long b, long c, long d, long e, struct hook *hook)
{
	struct waiting waiting = WAITING(mutex, b, c);

	(void)d;
	(void)e;
	waiting.owner = (uint64_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
	return lock_marked(&waiting, tries.mutex);
}

static int lock_read(void *lock, long b, long c, long d, long e, struct hook *hook)
{
	struct waiting waiting = WAITING(lock, b, c);

	(void)d;
	(void)e;
	return lock_marked(&waiting, tries.read);
}

static int lock_write(void *lock, long b, long c, long d, long e, struct hook *hook)
{
	struct waiting waiting = WAITING(lock, b, c);

	(void)d;
	(void)e;
	return lock_marked(&waiting, tries.write);
}

/* sem_trywait is no cancellation point, so the count is read instead. */
static int wait_semaphore(const struct waiting *waiting)
{
	uint32_t *semaphore = (uint32_t *)waiting->arguments[0];
	bool is_free = __atomic_load_n(semaphore, __ATOMIC_RELAXED) > 0;
	uint64_t begin = clock_ticks();
	int result = wait_call(waiting);

	if (!all_locks && is_free && clock_ticks() - begin < LONG_WAIT_TICKS)
		return result;
	wait_finish(waiting, begin, result == -1 ? -thread_errno() : result);
	return result;
}

static int lock_semaphore(void *semaphore, long b, long c, long d, long e, struct hook *hook)
{
	struct waiting waiting = WAITING(semaphore, b, c);
	struct call_in_flight call;
	int result;

	(void)d;
	(void)e;
	call_in_flight_begin(&call, hook);
	result = wait_semaphore(&waiting);
	call_in_flight_end(&call);
	return result;
}

static const void *home_of(const void *function)
{
	Dl_info module;

	return libc_find_module(function, &module) ? module.dli_fbase : NULL;
}

/* A library may interpose only one of the two functions, and would miss a lock that the other
 * acquires: then trylock is not used. */
static try_function *find_try(symbol_finder *find, const char *name, const char *waiting)
{
	void *found = find(name);
	const void *home = home_of(found);

	return home && home == home_of(find(waiting)) ? (try_function *)found : NULL;
}

static bool lock_start(const struct trace_request *request)
{
	symbol_finder *find = request->find_symbol;

	all_locks = request->all_locks;
	writer_callers_use(DOMAIN_LOCK, request->lock_stacks ? CALLERS_ALL : CALLERS_DIRECT);
	tries.mutex = find_try(find, "pthread_mutex_trylock", "pthread_mutex_lock");
	tries.read = find_try(find, "pthread_rwlock_tryrdlock", "pthread_rwlock_rdlock");
	tries.write = find_try(find, "pthread_rwlock_trywrlock", "pthread_rwlock_wrlock");
	return true;
}

#define LOCK(symbol, wrapper, ...)                                                            \
	{                                                                                     \
		symbol, NULL, DOMAIN_LOCK, HOOK_WRAPPER, NULL, (void *)(wrapper), __VA_ARGS__ \
	}
#define MUTEX(symbol)                          \
	LOCK(symbol, lock_mutex, 3,            \
	     { { VALUE_OBJECT, CAPTURE_ARG0 }, \
	       { VALUE_OWNER, CAPTURE_ARG1 },  \
	       { VALUE_RESULT, CAPTURE_RESULT_INT } })
#define OTHER(symbol, wrapper)   \
	LOCK(symbol, wrapper, 2, \
	     { { VALUE_OBJECT, CAPTURE_ARG0 }, { VALUE_RESULT, CAPTURE_RESULT_INT } })
/* Condition variables always wait: every call is recorded. */
#define CONDITION(symbol)                                                 \
	{                                                                 \
		symbol, NULL, DOMAIN_LOCK, HOOK_REGISTERS, NULL, NULL, 2, \
		{                                                         \
			{ VALUE_OBJECT, CAPTURE_ARG0 },                   \
			{                                                 \
				VALUE_RESULT, CAPTURE_RESULT_INT          \
			}                                                 \
		}                                                         \
	}

static const struct traced calls[] = {
	MUTEX("pthread_mutex_lock"),
	MUTEX("pthread_mutex_timedlock"),
	MUTEX("pthread_mutex_clocklock"),
	OTHER("pthread_rwlock_rdlock", lock_read),
	OTHER("pthread_rwlock_timedrdlock", lock_read),
	OTHER("pthread_rwlock_clockrdlock", lock_read),
	OTHER("pthread_rwlock_wrlock", lock_write),
	OTHER("pthread_rwlock_timedwrlock", lock_write),
	OTHER("pthread_rwlock_clockwrlock", lock_write),
	OTHER("sem_wait", lock_semaphore),
	OTHER("sem_timedwait", lock_semaphore),
	OTHER("sem_clockwait", lock_semaphore),
	CONDITION("pthread_cond_wait"),
	CONDITION("pthread_cond_timedwait"),
	CONDITION("pthread_cond_clockwait"),
};

const struct domain_hooks hooks_lock = { DOMAIN_LOCK, calls, ARRAY_SIZE(calls), lock_start };
