/*
 * glibc guards changes of the environment with a lock that only its own functions can acquire.
 * Removing an unknown variable acquires and releases that lock: a thread that held it has finished
 * then. The application may free the array during a read, so the kernel reads it, which fails
 * instead of faulting; a copy is valid only if the array is the same after the lock was released.
 * Runs on the control thread.
 */
#include "target/agent/environment_view.h"

#include "target/runtime/kernel_clock.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/mapping.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define NO_SUCH_VARIABLE "LIMPET_NO_SUCH_VARIABLE"
#define ENTRIES_MAX      65536u
#define ENTRIES_AT_ONCE  256u
#define TRIES            200
#define TRY_PAUSE_NS     50000

int environment_access_open(struct environment_access *ret)
{
	ret->variable = libc_symbol(RTLD_DEFAULT, "environ");
	/* libc's own: a program may have one without a lock (a shell). */
	ret->barrier = libc_unset;
	return ret->variable ? 0 : -ENOENT;
}

char **environment_now(const struct environment_access *access)
{
	return __atomic_load_n(access->variable,
			       __ATOMIC_ACQUIRE); /* pairs with the application's own store */
}

void environment_settle(const struct environment_access *access)
{
	access->barrier(NO_SUCH_VARIABLE);
}

/*
 * A setenv during the exchange counts entries of one array and copies those of the other: its
 * variable, or the last one, can be lost. Right after the lock was acquired, only a setenv that
 * began in the last few nanoseconds can be affected.
 */
bool environment_exchange(const struct environment_access *access, char **expected, char **array)
{
	struct fork_work work = forks_hold(); /* around both: no fork delays the exchange */
	bool is_done;

	environment_settle(access);
	/* Release: readers, the application's getenv, follow the pointer to its entries. */
	is_done = __atomic_compare_exchange_n(access->variable, &expected, array, false,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	forks_release(work);
	return is_done;
}

bool environment_read(char **array, char **into, size_t count)
{
	return memory_read(array, into, count * sizeof(char *)) == (long)(count * sizeof(char *));
}

/* Returns the number of entries before the NULL, or -errno. */
static long count_guarded(char **array)
{
	char *some[ENTRIES_AT_ONCE];

	for (size_t at = 0; at < ENTRIES_MAX;) {
		long r = memory_read(array + at, some, sizeof(some));

		if (r < (long)sizeof(char *))
			return r < 0 && r != -EFAULT ? r : -EAGAIN;
		for (size_t i = 0; i < (size_t)r / sizeof(char *); i++, at++)
			if (!some[i])
				return (long)at;
	}
	return -E2BIG;
}

bool environment_is_unchanged(const struct environment_access *access,
			      const struct environment_view *view)
{
	char *some[ENTRIES_AT_ONCE];

	size_t all = view->array ? view->count + 1
				 : 0; /* with the NULL: the array may have grown in place */

	for (size_t at = 0; at < all; at += ENTRIES_AT_ONCE) {
		size_t count = MIN(all - at, (size_t)ENTRIES_AT_ONCE);

		if (!environment_read(view->array + at, some, count) ||
		    memcmp(some, view->copy + at, count * sizeof(char *)))
			return false;
	}
	return environment_now(access) == view->array;
}

/* An array that shrank between counting and copying has a NULL inside. */
static bool has_hole(const struct environment_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (!view->copy[i])
			return true;
	return false;
}

static int copy_once(const struct environment_access *access, struct environment_view *ret)
{
	long count;

	*ret = (struct environment_view){ .array = environment_now(access) };
	count = ret->array ? count_guarded(ret->array) : 0;
	if (count < 0)
		return (int)count;
	ret->count = (size_t)count;
	ret->copy = memory_map((ret->count + 1) * sizeof(char *), 0);
	if (!ret->copy)
		return -ENOMEM;
	if (ret->count && (!environment_read(ret->array, ret->copy, ret->count) || has_hole(ret)))
		return -EAGAIN;
	environment_settle(access);
	return environment_is_unchanged(access, ret) ? 0 : -EAGAIN;
}

int environment_copy(const struct environment_access *access, struct environment_view *ret)
{
	for (unsigned i = 0; i < TRIES; i++) {
		int r = copy_once(access, ret);

		if (!r)
			return 0;
		environment_view_done(ret);
		if (r != -EAGAIN)
			return r;
		sleep_ns(TRY_PAUSE_NS);
	}
	return -EBUSY;
}

void environment_view_done(struct environment_view *view)
{
	memory_unmap(view->copy, (view->count + 1) * sizeof(char *));
	view->copy = NULL;
}

bool entries_have(char **list, const char *entry)
{
	while (*list && *list != entry)
		list++;
	return *list != NULL;
}

size_t entries_count(char **array)
{
	size_t count = 0;

	while (array[count])
		count++;
	return count;
}

/* True if `counted` entries were counted in one array, and as many copied from `put`. */
static bool is_torn(char **read, size_t counted, const struct environment_view *put)
{
	size_t common = MIN(counted, put->count);

	return counted != put->count && read[counted] && !read[counted + 1] &&
	       !memcmp(read, put->copy, common * sizeof(char *)) &&
	       (counted < put->count || !read[put->count]) &&
	       !entries_have(put->copy, read[counted]);
}

char **environment_mend(const struct environment_access *access, size_t counted,
			const struct environment_view *put)
{
	char **torn = environment_now(access), **read, **array = NULL, **result = put->array;

	if (torn == put->array || !torn)
		return result;
	read = memory_map((counted + 2) * sizeof(char *), 0);
	if (read && environment_read(torn, read, counted + 2) && is_torn(read, counted, put))
		array = memory_map((put->count + 2) * sizeof(char *), 0);
	if (array) {
		memcpy(array, put->copy, put->count * sizeof(char *));
		array[put->count] = read[counted];
		if (environment_exchange(access, torn, array))
			result = array;
		else
			memory_unmap(array, (put->count + 2) * sizeof(char *));
	}
	memory_unmap(read, (counted + 2) * sizeof(char *));
	return result;
}

char **environment_mend_ours(const struct environment_access *access, size_t counted, char **ours)
{
	return environment_mend(access, counted,
				&(struct environment_view){ ours, ours, entries_count(ours) });
}
