/*
 * Runs inside the target.
 */
#include "target/runtime/libc_calls.h"

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
} others; /* that the host has not looked for */

static char dso_handle; /* by its address libc knows our handlers */

static int handlers_add(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
	return ((register_function *)functions.__register_atfork)(before, in_parent, in_child,
								  &dso_handle);
}

static void *function_find(const char *name)
{
	return ((symbol_function *)functions.dlsym)(RTLD_DEFAULT, name);
}

/* The only call that is made before forks know us. */
static const char *glibc_version(void)
{
	text_function *version = (text_function *)function_find("gnu_get_libc_version");

	return version ? version() : NULL;
}

void libc_calls_use(const struct boot_libc *libc, struct fork_turn *shared)
{
	struct fork_work work;

	functions = *libc;
	forks_share(shared);
	/* musl has none: there fork takes the loader's lock itself. */
	if (libc->__register_atfork && !forks_turn())
		forks_watch(handlers_add, glibc_version(), /* is_alone */ false);
	work = forks_hold();
	others.symbol_of_version = (version_function *)function_find("dlvsym");
	others.find_module = (module_function *)function_find("dladdr");
	others.find_symbol = (extra_function *)function_find("dladdr1");
	others.iterate = (iterate_function *)function_find("dl_iterate_phdr");
	forks_release(work);
}

void *libc_open(const char *path, int flags)
{
	struct fork_work work = forks_hold();
	void *handle = ((open_function *)functions.dlopen)(path, flags);

	forks_release(work);
	return handle;
}

int libc_close(void *handle)
{
	struct fork_work work = forks_hold();
	int r = ((close_function *)functions.dlclose)(handle);

	forks_release(work);
	return r;
}

void *libc_symbol(void *scope, const char *name)
{
	struct fork_work work = forks_hold();
	void *found = ((symbol_function *)functions.dlsym)(scope, name);

	forks_release(work);
	return found;
}

void *libc_symbol_of_version(void *scope, const char *name, const char *version)
{
	struct fork_work work = forks_hold();
	void *found =
		others.symbol_of_version ? others.symbol_of_version(scope, name, version) : NULL;

	forks_release(work);
	return found;
}

int libc_find_module(const void *address, Dl_info *ret)
{
	struct fork_work work = forks_hold();
	int r = others.find_module ? others.find_module(address, ret) : 0;

	forks_release(work);
	return r;
}

int libc_find_symbol(const void *address, Dl_info *ret, void **ret_extra, int flags)
{
	struct fork_work work = forks_hold();
	int r = others.find_symbol ? others.find_symbol(address, ret, ret_extra, flags) : 0;

	forks_release(work);
	return r;
}

/* dladdr() of glibc's has argv[0] for the program itself: another file by now, perhaps, or one that
 * nobody ever answers for.  musl's has the loader's own name, and musl no dladdr1(). */
static const char *module_name(const void *address, struct link_map **ret_map)
{
	Dl_info module = { 0 };

	if (!others.find_symbol)
		return libc_find_module(address, &module) ? module.dli_fname : NULL;
	return libc_find_symbol(address, &module, (void **)ret_map, RTLD_DL_LINKMAP) && *ret_map
		       ? (*ret_map)->l_name
		       : NULL;
}

void *libc_hold(const void *address)
{
	struct fork_work work = forks_hold();
	struct link_map *map = NULL;
	const char *name = module_name(address, &map);
	void *handle = name ? libc_open(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	/* Of that name, but in another namespace, or loaded since: so handles are, in glibc. */
	if (handle && map && handle != map) {
		libc_close(handle);
		handle = NULL;
	}
	forks_release(work);
	return handle;
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
		forks_hold_firmly(true);
	iteration->is_held = true;
	return iteration->callback(info, size, iteration->data);
}

int libc_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct iteration iteration = { callback, data, false };
	struct fork_work work = forks_hold();
	int r = others.iterate ? others.iterate(module_visit, &iteration) : 0;

	if (iteration.is_held)
		forks_hold_firmly(false);
	forks_release(work);
	return r;
}

bool libc_can_iterate(void)
{
	return others.iterate;
}

int libc_at_exit(void (*function)(void *), void *argument, void *owner)
{
	struct fork_work work = forks_hold();
	int r = ((atexit_function *)functions.__cxa_atexit)(function, argument, owner);

	forks_release(work);
	return r;
}

/* In glibc it takes the lock of exit() and, holding it, that of all handlers. */
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
