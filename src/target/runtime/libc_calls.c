/*
 * Runs inside the target.
 */
#include "target/runtime/libc_calls.h"

#include "shared/arch/ticks.h"
#include "target/runtime/text.h"

#include <errno.h>

#define NAME_MAX_BYTES 4096

typedef void *open_function(const char *, int);
typedef int close_function(void *);
typedef void *symbol_function(void *, const char *);
typedef void *version_function(void *, const char *, const char *);
typedef int module_function(const void *, Dl_info *);
typedef int extra_function(const void *, Dl_info *, void **, int);
typedef int iterate_function(int (*)(struct dl_phdr_info *, size_t, void *), void *);
typedef int atexit_function(void (*)(void *), void *, void *);
typedef void finalize_function(void *);
typedef int unset_function(const char *);
typedef int register_function(void (*)(void), void (*)(void), void (*)(void), void *);
typedef const char *text_function(void);

static struct boot_libc functions;
static struct {
	version_function *symbol_of_version;
	module_function *find_module;
	extra_function *find_symbol;
	iterate_function *iterate;
} others; /* not resolved by the host */

static char dso_handle; /* its address identifies limpet's handlers for libc */

/*
 * The thread inside a callback of dl_iterate_phdr, by its thread pointer, or NULL. It holds the
 * lock of the loader's list, as only one thread can. All other functions here acquire the loader's
 * first lock, which a thread in dlopen holds while it waits for that of the list.
 */
static const char *walker;
static uint32_t refused;

static int handlers_add(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
	return ((register_function *)functions.__register_atfork)(before, in_parent, in_child,
								  &dso_handle);
}

static void *function_find(const char *name)
{
	return ((symbol_function *)functions.dlsym)(RTLD_DEFAULT, name);
}

/* The only call before the fork handlers are registered. */
static const char *glibc_version(void)
{
	text_function *version = (text_function *)function_find("gnu_get_libc_version");

	return version ? version() : NULL;
}

void libc_calls_use(const struct boot_libc *libc, struct fork_turn *shared)
{
	struct fork_work work;

	functions = *libc;
	__atomic_store_n(&walker, NULL, __ATOMIC_RELAXED); /* in a child of fork, the parent's */
	forks_share(shared);
	/* musl has none: its fork acquires the loader's lock itself. */
	if (libc->__register_atfork && !forks_turn())
		forks_watch(handlers_add, glibc_version(), /* is_alone */ false);
	work = forks_hold();
	others.symbol_of_version = (version_function *)function_find("dlvsym");
	others.find_module = (module_function *)function_find("dladdr");
	others.find_symbol = (extra_function *)function_find("dladdr1");
	others.iterate = (iterate_function *)function_find("dl_iterate_phdr");
	forks_release(work);
}

bool libc_is_walking(void)
{
	return __atomic_load_n(&walker, __ATOMIC_RELAXED) == thread_pointer();
}

uint32_t libc_refused(void)
{
	return __atomic_load_n(&refused, __ATOMIC_RELAXED);
}

/* -EDEADLK: two threads would wait for each other for ever. */
static int call_begin(struct fork_work *ret)
{
	if (libc_is_walking()) {
		__atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
		return -EDEADLK;
	}
	*ret = forks_hold();
	return 0;
}

void *libc_open(const char *path, int flags)
{
	struct fork_work work;
	void *handle;

	if (call_begin(&work))
		return NULL;
	handle = ((open_function *)functions.dlopen)(path, flags);
	forks_release(work);
	return handle;
}

int libc_close(void *handle)
{
	struct fork_work work;
	int r = call_begin(&work);

	if (r)
		return r;
	r = ((close_function *)functions.dlclose)(handle);
	forks_release(work);
	return r;
}

void *libc_symbol(void *scope, const char *name)
{
	struct fork_work work;
	void *found;

	if (call_begin(&work))
		return NULL;
	found = ((symbol_function *)functions.dlsym)(scope, name);
	forks_release(work);
	return found;
}

void *libc_symbol_of_version(void *scope, const char *name, const char *version)
{
	struct fork_work work;
	void *found;

	if (!others.symbol_of_version || call_begin(&work))
		return NULL;
	found = others.symbol_of_version(scope, name, version);
	forks_release(work);
	return found;
}

int libc_find_module(const void *address, Dl_info *ret)
{
	struct fork_work work;
	int r;

	if (!others.find_module || call_begin(&work))
		return 0;
	r = others.find_module(address, ret);
	forks_release(work);
	return r;
}

int libc_find_symbol(const void *address, Dl_info *ret, void **ret_extra, int flags)
{
	struct fork_work work;
	int r;

	if (!others.find_symbol || call_begin(&work))
		return 0;
	r = others.find_symbol(address, ret, ret_extra, flags);
	forks_release(work);
	return r;
}

struct iteration {
	int (*callback)(struct dl_phdr_info *, size_t, void *);
	void *data;
	bool is_held;
};

/* The lock is held from the first module on, until dl_iterate_phdr returns. */
static int module_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct iteration *iteration = data;

	if (!iteration->is_held)
		forks_hold_firmly(true);
	iteration->is_held = true;
	__atomic_store_n(&walker, thread_pointer(), __ATOMIC_RELAXED);
	return iteration->callback(info, size, iteration->data);
}

/* Fails if another thread has begun since dl_iterate_phdr returned. */
static void walk_end(void)
{
	const char *self = thread_pointer();

	__atomic_compare_exchange_n(&walker, &self, NULL, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* Walks may be nested: the lock is recursive. */
int libc_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct iteration iteration = { callback, data, false };
	struct fork_work work = forks_hold();
	bool is_inner = libc_is_walking();
	int r = others.iterate ? others.iterate(module_visit, &iteration) : 0;

	if (!is_inner)
		walk_end();
	if (iteration.is_held)
		forks_hold_firmly(false);
	forks_release(work);
	return r;
}

bool libc_can_iterate(void)
{
	return others.iterate;
}

/* Finds a module by an address in it, and copies the loader's name of it. */
struct name_search {
	uint64_t address;
	char name[NAME_MAX_BYTES];
};

static bool module_has(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    address - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) <
			    info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/* Copies the name here: during the walk no module can be closed, and the name freed. */
static int name_copy(struct dl_phdr_info *info, size_t size, void *data)
{
	struct name_search *search = data;
	const char *name = info->dlpi_name ? info->dlpi_name : "";

	(void)size;
	if (!module_has(info, search->address))
		return 0;
	if (text_length(name) >= sizeof(search->name))
		return 0;
	text_add(search->name, sizeof(search->name), 0, name);
	return 1;
}

static int pair_find(struct dl_phdr_info *info, size_t size, void *data)
{
	const uint64_t *pair = data;

	(void)size;
	return module_has(info, pair[0]) && module_has(info, pair[1]);
}

bool libc_are_of_one(const void *a, const void *b)
{
	uint64_t pair[2] = { (uint64_t)a, (uint64_t)b };

	return libc_iterate(pair_find, pair);
}

/* In glibc a handle is the module's link map, and a held one stays. musl never unloads a module. */
static bool is_module_of(const void *handle, const void *address)
{
	Dl_info module;
	void *map = NULL;

	return !others.find_symbol ||
	       (libc_find_symbol(address, &module, &map, RTLD_DL_LINKMAP) && map == handle);
}

/* Not glibc's dladdr(), which returns argv[0] for the executable: perhaps another file by now, or a
 * FIFO that blocks for ever. */
void *libc_hold(const void *address)
{
	struct name_search search = { .address = (uint64_t)address };
	struct fork_work work;
	void *handle;

	if (call_begin(&work))
		return NULL;
	handle = libc_iterate(name_copy, &search) ? libc_open(search.name, RTLD_LAZY | RTLD_NOLOAD)
						  : NULL;
	/* The name may be of another namespace, or loaded since. */
	if (handle && !is_module_of(handle, address)) {
		libc_close(handle);
		handle = NULL;
	}
	forks_release(work);
	return handle;
}

int libc_at_exit(void (*function)(void *), void *argument, void *owner)
{
	struct fork_work work = forks_hold();
	int r = ((atexit_function *)functions.__cxa_atexit)(function, argument, owner);

	forks_release(work);
	return r;
}

/* In glibc it acquires the lock of exit() and, holding it, that of all handlers. */
void libc_finalize(void *owner)
{
	struct fork_work work = forks_hold();

	forks_pass(work);
	((finalize_function *)functions.__cxa_finalize)(owner);
	forks_release(work);
}

int libc_unset(const char *name)
{
	struct fork_work work = forks_hold();
	int r = ((unset_function *)functions.unsetenv)(name);

	forks_release(work);
	return r;
}
