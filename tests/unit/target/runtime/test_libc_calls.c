/*
 * Calls of libc's that take locks: each tells the program's forks of itself, by handlers that are
 * registered once.
 */
#include "unit.h"

#include "target/runtime/libc_calls.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static void (*before)(void), (*after)(void);
static unsigned registrations;
static sem_t is_in, may_go;
static atomic_bool has_forked;

static int register_fork(void (*prepare)(void), void (*parent)(void), void (*in_child)(void),
			 void *handle)
{
	(void)in_child, (void)handle;
	before = prepare;
	after = parent;
	registrations++;
	return 0;
}

static int iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct dl_phdr_info module = { 0 };

	return callback(&module, sizeof(module), data);
}

static void *find(void *scope, const char *name)
{
	(void)scope;
	return !strcmp(name, "dl_iterate_phdr") ? (void *)iterate : NULL;
}

/* As the other one is, in the midst of the call. */
static void stay(void)
{
	sem_post(&is_in);
	sem_wait(&may_go);
}

static void *open_slowly(const char *path, int flags)
{
	(void)path, (void)flags;
	stay();
	return &is_in;
}

static int look(struct dl_phdr_info *module, size_t size, void *data)
{
	(void)module, (void)size, (void)data;
	stay();
	return 7;
}

static void *run_open(void *unused)
{
	assert_ptr_equal(libc_open("any", 0), &is_in);
	return unused;
}

static void *run_look(void *unused)
{
	assert_int_equal(libc_iterate(look, NULL), 7);
	return unused;
}

static void *run_fork(void *unused)
{
	before();
	has_forked = true;
	after();
	return unused;
}

/* A fork begins inside of the call, and ends after it. */
static void expect_turns(void *(*call)(void *))
{
	pthread_t calling, forking;

	has_forked = false;
	assert_false(pthread_create(&calling, NULL, call, NULL));
	sem_wait(&is_in);
	assert_false(pthread_create(&forking, NULL, run_fork, NULL));
	usleep(100000);
	assert_false(has_forked);
	sem_post(&may_go);
	pthread_join(forking, NULL);
	pthread_join(calling, NULL);
}

static void calls_and_forks_take_turns(void **state)
{
	(void)state;
	expect_turns(run_open);
	expect_turns(run_look);
}

static void handlers_are_registered_once(void **state)
{
	struct boot_libc libc = { .dlsym = (uintptr_t)find,
				  .dlopen = (uintptr_t)open_slowly,
				  .__register_atfork = (uintptr_t)register_fork };

	(void)state;
	libc_calls_use(&libc, /* shared */ NULL);
	forks_allow_calls(true);
	libc_calls_use(&libc, /* shared */ NULL);
	assert_int_equal(registrations, 1);
}

static void what_libc_lacks_is_not_found(void **state)
{
	Dl_info module;
	void *extra;

	(void)state;
	assert_true(libc_can_iterate());
	assert_int_equal(libc_find_module(&module, &module), 0);
	assert_int_equal(libc_find_symbol(&module, &module, &extra, 0), 0);
	assert_null(libc_symbol_of_version(NULL, "any", "1"));
}

/* What goes with somebody else's memory must not be used after it. */
static void another_turn_is_left_before_it_goes(void **state)
{
	struct fork_turn *own = forks_turn();

	(void)state;
	forks_part();
	assert_ptr_equal(forks_turn(), own);
}

static char opened[32];

static void *open_noting(const char *path, int flags)
{
	assert_int_equal(flags, RTLD_LAZY | RTLD_NOLOAD);
	strncpy(opened, path, sizeof(opened) - 1);
	return &opened;
}

static char module_name[] = "/lib/there.so";
static char module_data[64];

/* Who looks later finds another name: the module was closed, and its memory is another's. */
static int iterate_closing(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	const ElfW(Phdr) part = { .p_type = PT_LOAD, .p_memsz = sizeof(module_data) };
	struct dl_phdr_info modules[] = {
		{ .dlpi_name = "/lib/other.so" },
		{ .dlpi_addr = (uintptr_t)module_data,
		  .dlpi_name = module_name,
		  .dlpi_phdr = &part,
		  .dlpi_phnum = 1 },
	};
	int r = 0;

	memcpy(module_name, "/lib/there.so", sizeof(module_name));
	for (unsigned i = 0; !r && i < ARRAY_SIZE(modules); i++)
		r = callback(&modules[i], sizeof(modules[i]), data);
	memcpy(module_name, "/lib/ghost.so", sizeof(module_name));
	return r;
}

static int name_module(const void *address, Dl_info *ret)
{
	ret->dli_fname = module_name;
	return address == module_data;
}

static void *find_as_in_musl(void *scope, const char *name)
{
	(void)scope;
	if (!strcmp(name, "dladdr"))
		return (void *)name_module;
	return !strcmp(name, "dl_iterate_phdr") ? (void *)iterate_closing : NULL;
}

static void modules_are_held_without_dladdr1(void **state)
{
	struct boot_libc libc = { .dlsym = (uintptr_t)find_as_in_musl,
				  .dlopen = (uintptr_t)open_noting,
				  .__register_atfork = (uintptr_t)register_fork };

	(void)state;
	libc_calls_use(&libc, /* shared */ NULL);
	assert_null(libc_hold(NULL));
	assert_null(libc_hold(module_data + sizeof(module_data)));
	assert_string_equal(opened, "");
	assert_ptr_equal(libc_hold(module_data), &opened);
	assert_string_equal(opened, "/lib/there.so");
}

static struct link_map module_there = { .l_name = module_name }, module_opened;
static struct link_map *answer;
static unsigned closed;

/* Closed at once by another thread of the program's. */
static int find_map(const void *address, Dl_info *ret, void **ret_extra, int flags)
{
	(void)address, (void)ret, (void)flags;
	memcpy(module_name, "/lib/ghost.so", sizeof(module_name));
	*ret_extra = &module_there;
	return 1;
}

static void *find_maps(void *scope, const char *name)
{
	return !strcmp(name, "dladdr1") ? (void *)find_map : find_as_in_musl(scope, name);
}

static void *open_answer(const char *path, int flags)
{
	(void)open_noting(path, flags);
	return answer;
}

static int close_answer(void *handle)
{
	assert_ptr_equal(handle, &module_opened);
	closed++;
	return 0;
}

/* The same name in another namespace, or after it was loaded again. */
static void another_module_of_that_name_is_not_held(void **state)
{
	struct boot_libc libc = { .dlsym = (uintptr_t)find_maps,
				  .dlopen = (uintptr_t)open_answer,
				  .dlclose = (uintptr_t)close_answer,
				  .__register_atfork = (uintptr_t)register_fork };

	(void)state;
	libc_calls_use(&libc, /* shared */ NULL);
	memset(opened, 0, sizeof(opened));
	answer = &module_there;
	assert_ptr_equal(libc_hold(module_data), &module_there);
	assert_string_equal(opened, "/lib/there.so");
	assert_int_equal(closed, 0);
	answer = &module_opened;
	assert_null(libc_hold(module_data));
	assert_int_equal(closed, 1);
}

static unsigned walks;

static int walk_inside(struct dl_phdr_info *module, size_t size, void *data)
{
	(void)module, (void)size, (void)data;
	walks++;
	return 0;
}

/* What waits for the loader's first lock does nothing; a walk in the walk goes on. */
static int ask_all(struct dl_phdr_info *module, size_t size, void *data)
{
	Dl_info found;
	void *extra;

	(void)module, (void)size, (void)data;
	assert_true(libc_is_walking());
	assert_null(libc_open("any", RTLD_LAZY | RTLD_NOLOAD));
	assert_int_equal(libc_close(&module_opened), -EDEADLK);
	assert_null(libc_symbol(NULL, "dladdr"));
	assert_int_equal(libc_find_module(module_data, &found), 0);
	assert_int_equal(libc_find_symbol(module_data, &found, &extra, 0), 0);
	assert_null(libc_hold(module_data));
	assert_int_equal(libc_iterate(walk_inside, NULL), 0);
	assert_true(libc_is_walking());
	return 1;
}

static void *ask_from_another(void *unused)
{
	Dl_info found;

	assert_false(libc_is_walking());
	assert_int_equal(libc_find_module(module_data, &found), 1);
	return unused;
}

static int let_others_ask(struct dl_phdr_info *module, size_t size, void *data)
{
	pthread_t other;

	(void)module, (void)size, (void)data;
	assert_false(pthread_create(&other, NULL, ask_from_another, NULL));
	pthread_join(other, NULL);
	return 1;
}

static void who_walks_through_modules_asks_the_loader_nothing(void **state)
{
	uint32_t first = libc_refused();

	(void)state;
	memset(opened, 0, sizeof(opened));
	closed = walks = 0;
	assert_int_equal(libc_iterate(ask_all, NULL), 1);
	assert_int_equal(libc_refused() - first, 6);
	assert_string_equal(opened, "");
	assert_int_equal(closed, 0);
	assert_true(walks > 0);
	assert_false(libc_is_walking());
	assert_int_equal(libc_iterate(let_others_ask, NULL), 1);
	assert_non_null(libc_symbol(NULL, "dladdr"));
	assert_int_equal(libc_refused() - first, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_are_registered_once),
		cmocka_unit_test(calls_and_forks_take_turns),
		cmocka_unit_test(what_libc_lacks_is_not_found),
		cmocka_unit_test(modules_are_held_without_dladdr1),
		cmocka_unit_test(another_turn_is_left_before_it_goes),
		cmocka_unit_test(another_module_of_that_name_is_not_held),
		cmocka_unit_test(who_walks_through_modules_asks_the_loader_nothing),
	};

	sem_init(&is_in, 0, 0);
	sem_init(&may_go, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
