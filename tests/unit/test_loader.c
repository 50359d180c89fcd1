/*
 * Forks and our looks at modules: a fork waits for who holds the loader's lock, however long that
 * takes within reason, and goes on soon where the lock is waited for only.
 */
#include "unit.h"

#include "target/tool/loader.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static void (*before)(void), (*after)(void);
static sem_t is_in, may_go;
static bool gives_modules;
static bool has_forked;

static int register_fork(void (*prepare)(void), void (*parent)(void), void (*in_child)(void),
			 void *handle)
{
	(void)in_child, (void)handle;
	before = prepare;
	after = parent;
	return 0;
}

/* The loader: where it gives no modules, somebody else has its lock. */
static int iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct dl_phdr_info module = { 0 };

	if (gives_modules)
		return callback(&module, sizeof(module), data);
	sem_post(&is_in);
	sem_wait(&may_go);
	return 0;
}

static int look(struct dl_phdr_info *module, size_t size, void *data)
{
	(void)module, (void)size, (void)data;
	sem_post(&is_in);
	sem_wait(&may_go);
	return 7;
}

static void *run_look(void *result)
{
	*(int *)result = loader_iterate(look, NULL);
	return NULL;
}

static void *run_fork(void *unused)
{
	(void)unused;
	before();
	__atomic_store_n(&has_forked, true, __ATOMIC_SEQ_CST);
	after();
	return NULL;
}

static void begin(pthread_t *looking, pthread_t *forking, int *result)
{
	has_forked = false;
	assert_true(!pthread_create(looking, NULL, run_look, result));
	sem_wait(&is_in);
	assert_true(!pthread_create(forking, NULL, run_fork, NULL));
}

static void test_fork_waits_for_who_holds_the_lock(void **state)
{
	pthread_t looking, forking;
	int result = 0;

	(void)state;
	gives_modules = true;
	begin(&looking, &forking, &result);
	usleep(1500000); /* a look that was put to sleep */
	assert_true(!__atomic_load_n(&has_forked, __ATOMIC_SEQ_CST));
	sem_post(&may_go);
	pthread_join(forking, NULL);
	pthread_join(looking, NULL);
	assert_true(result == 7);
}

static void test_fork_does_not_wait_long_for_who_waits_itself(void **state)
{
	pthread_t looking, forking;
	int result = 7;

	(void)state;
	gives_modules = false;
	begin(&looking, &forking, &result);
	pthread_join(forking, NULL);
	assert_true(has_forked && result == 7);
	sem_post(&may_go);
	pthread_join(looking, NULL);
	assert_true(!result);
}

static int set_up(void **state)
{
	struct loader_libc libc = { .iterate = iterate, .register_fork = register_fork };

	(void)state;
	sem_init(&is_in, 0, 0);
	sem_init(&may_go, 0, 0);
	loader_use(&libc);
	return !before || !after;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_waits_for_who_holds_the_lock),
		cmocka_unit_test(test_fork_does_not_wait_long_for_who_waits_itself),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
