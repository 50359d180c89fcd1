/*
 * Finds the driver and CUPTI among the process's modules; loads the CUPTI installed beside the CUDA
 * runtime if none is mapped. Runs on limpet's threads.
 */
#include "target/domains/cuda/cuda.h"

#include "target/hooks/module.h"
#include "target/hooks/wants.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#define PATH_ROOM 1024u

struct entry {
	const char *name;
	size_t offset;
};
#define CUPTI(member, name)                          \
	{                                            \
		name, offsetof(struct cupti, member) \
	}
#define DRIVER(member, name)                               \
	{                                                  \
		name, offsetof(struct cuda_driver, member) \
	}

static const struct entry cupti_entries[] = {
	CUPTI(version, "cuptiGetVersion"),
	CUPTI(timestamp, "cuptiGetTimestamp"),
	CUPTI(subscribe, "cuptiSubscribe"),
	CUPTI(unsubscribe, "cuptiUnsubscribe"),
	CUPTI(enable_callback, "cuptiEnableCallback"),
	CUPTI(enable_domain, "cuptiEnableDomain"),
	CUPTI(callback_name, "cuptiGetCallbackName"),
	CUPTI(register_buffers, "cuptiActivityRegisterCallbacks"),
	CUPTI(set_attribute, "cuptiActivitySetAttribute"),
	CUPTI(enable, "cuptiActivityEnable"),
	CUPTI(disable, "cuptiActivityDisable"),
	CUPTI(flush, "cuptiActivityFlushAll"),
	CUPTI(next_record, "cuptiActivityGetNextRecord"),
	CUPTI(dropped, "cuptiActivityGetNumDroppedRecords"),
};
static const struct entry driver_entries[] = {
	DRIVER(version, "cuDriverGetVersion"),
	DRIVER(device_count, "cuDeviceGetCount"),
	DRIVER(device, "cuDeviceGet"),
	DRIVER(device_name, "cuDeviceGetName"),
	DRIVER(device_attribute, "cuDeviceGetAttribute"),
};

/* Finds a module by a pattern of its name: an address in it, and its folder. The folder is "" if
 * the loader has a relative path, which is wrong after the target changes its directory. */
struct search {
	const char *pattern;
	uint64_t address;
	char folder[PATH_ROOM];
};

static void *driver_held,
	*cupti_held; /* keep the libraries loaded: the target may close them at any time */

static void folder_of(const char *path, char *ret)
{
	size_t end = 0;

	for (size_t i = 0; i < PATH_ROOM - 1 && path[i]; i++) {
		ret[i] = path[i];
		if (path[i] == '/')
			end = i;
	}
	ret[path[0] == '/' ? end : 0] = 0;
}

static void visit_module(const char *path, const struct loaded_module *module, void *context)
{
	struct search *search = context;

	if (search->address ||
	    !pattern_matches(search->pattern, text_length(search->pattern), module->name))
		return;
	search->address = module->key;
	folder_of(path, search->folder);
}

static bool library_search(const char *pattern, struct search *ret)
{
	*ret = (struct search){ .pattern = pattern };
	got_each_module(visit_module, ret);
	return ret->address != 0;
}

static bool library_read(void *module, const struct entry *entries, size_t count, void *into)
{
	for (size_t i = 0; i < count; i++) {
		void *found = libc_symbol(module, entries[i].name);

		if (!found)
			return false;
		*(void **)((char *)into + entries[i].offset) = found;
	}
	return true;
}

bool library_find_driver(struct cuda_driver *ret)
{
	struct search search;

	library_release();
	if (!library_search("libcuda.so*", &search))
		return false;
	driver_held = got_hold(search.address);
	if (driver_held &&
	    library_read(driver_held, driver_entries, ARRAY_SIZE(driver_entries), ret))
		return true;
	library_release();
	return false;
}

/* Folders of CUPTI relative to a CUDA runtime: the same, a toolkit's, a Python package's. */
static const char *const beside[] = { "/", "/../extras/CUPTI/lib64/", "/../../cuda_cupti/lib/" };
static const char *const elsewhere[] = { "/usr/local/cuda/extras/CUPTI/lib64/",
					 "/usr/local/cuda/lib64/", "" };

static void *open_release(const char *folder, const char *place, unsigned release)
{
	char path[PATH_ROOM];
	size_t at = text_add(path, sizeof(path), 0, folder);

	at = text_add(path, sizeof(path), at, place);
	at = text_add(path, sizeof(path), at, "libcupti.so.");
	text_add_number(path, sizeof(path), at, release);
	return libc_open(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_beside(unsigned release)
{
	struct search runtime;
	void *module = NULL;

	if (library_search("libcudart.so*", &runtime) && runtime.folder[0])
		for (unsigned i = 0; !module && i < ARRAY_SIZE(beside); i++)
			module = open_release(runtime.folder, beside[i], release);
	for (unsigned i = 0; !module && i < ARRAY_SIZE(elsewhere); i++)
		module = open_release("", elsewhere[i], release);
	return module;
}

/* A driver works with CUPTI of its own release and of older releases. */
static void *open_installed(const struct cuda_driver *driver)
{
	int version = 0;
	void *module = NULL;

	if (driver->version(&version))
		return NULL;
	for (unsigned release = (unsigned)version / 1000; !module && release >= 12; release--)
		module = open_beside(release);
	return module;
}

/* A CUPTI opened here is never closed: it has running threads. */
bool library_find_cupti(const struct cuda_driver *driver, struct cupti *ret)
{
	struct search search;

	if (!library_search("libcupti.so*", &search) &&
	    (!open_installed(driver) || !library_search("libcupti.so*", &search)))
		return false;
	cupti_held = got_hold(search.address);
	return cupti_held &&
	       library_read(cupti_held, cupti_entries, ARRAY_SIZE(cupti_entries), ret);
}

void library_release(void)
{
	got_release(cupti_held);
	got_release(driver_held);
	cupti_held = driver_held = NULL;
}
