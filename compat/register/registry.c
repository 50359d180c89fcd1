/*
 * The runtimes, and their registrations: slots are assigned in order and never freed.  Runs inside
 * the target, on any thread.
 */
#include "compat/register/registry.h"

#include "shared/base/macros.h"

#include <errno.h>
#include <string.h>

#define NAMES_COUNT 10
#define SLOTS       (NAMES_COUNT * REGISTRY_INSTANCES)

/* In the order of the interface.  The file is "library" + one digit from first to 9 + the end or
 * a dot. */
static const struct {
	const char *name, *library;
	char first_digit;
} names[NAMES_COUNT] = {
	{ "hsa", "libhsa-runtime64.so.", '2' },
	{ "hip", "libamdhip64.so.", '6' },
	{ "roctx", "libroctx64.so.", '4' },
	{ "hip_compiler", "libamdhip64.so.", '6' },
	{ "rccl", "librccl.so.", '6' },
	{ "rocdecode", "librocdecode.so.", '0' },
	{ "rocjpeg", "librocjpeg.so.", '0' },
	{ "rocattach", "librocprofiler-sdk-attach.so.", '0' },
	{ "hipFile", "libhipfile.so.", '0' },
	{ "rocshmem", "librocshmem.so.", '0' },
};

int names_find(const char *name)
{
	for (int i = 0; i < NAMES_COUNT; i++)
		if (!strcmp(names[i].name, name))
			return i;
	return -ENOENT;
}

bool names_match_file(int runtime, const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	size_t length = strlen(names[runtime].library);

	if (strncmp(file, names[runtime].library, length))
		return false;
	return file[length] >= names[runtime].first_digit && file[length] <= '9' &&
	       (!file[length + 1] || file[length + 1] == '.');
}

static struct registration slots[SLOTS];
static uint32_t used;                   /* slots assigned */
static uint32_t instances[NAMES_COUNT]; /* of each name */

/* The next instance of a name, or -ENOSPC.  The count never passes the limit: so there is always
 * a slot. */
static int take_instance(int runtime)
{
	uint32_t now = __atomic_load_n(&instances[runtime], __ATOMIC_RELAXED);

	do {
		if (now == REGISTRY_INSTANCES)
			return -ENOSPC;
	} while (!__atomic_compare_exchange_n(&instances[runtime], &now, now + 1, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (int)now;
}

int registry_add(int runtime, uint32_t version, void **tables, uint64_t count,
		 struct registration **ret)
{
	int instance = take_instance(runtime);
	struct registration *self;

	if (instance < 0)
		return instance;
	self = &slots[__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED)];
	self->version = version;
	self->name = names[runtime].name;
	self->instance = (uint64_t)instance;
	self->count = count;
	memcpy(self->tables, tables, count * sizeof(tables[0]));
	registration_settle(self, REGISTRATION_RECORDED);
	*ret = self;
	return 0;
}

struct registration *registry_at(size_t index)
{
	bool is_there =
		index < registry_count() && registration_state(&slots[index]) != REGISTRATION_NONE;

	return is_there ? &slots[index] : NULL;
}

size_t registry_count(void)
{
	return __atomic_load_n(&used, __ATOMIC_SEQ_CST);
}

enum registration_state registration_state(const struct registration *self)
{
	/* Pairs with the store in registration_settle(): a reader of the state sees the whole
	 * entry. */
	return __atomic_load_n(&self->state, __ATOMIC_SEQ_CST);
}

bool registration_claim(struct registration *self, unsigned states)
{
	uint32_t now = registration_state(self);

	return (states & 1u << now) &&
	       __atomic_compare_exchange_n(&self->state, &now, REGISTRATION_PASSING, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void registration_settle(struct registration *self, enum registration_state state)
{
	/* Sequentially consistent, not just release: a thread that records and then searches for a
	 * profiler, and one that brings a profiler and then searches for entries, must not both
	 * miss the other. */
	__atomic_store_n(&self->state, state, __ATOMIC_SEQ_CST);
}

void registry_forget_passing(void)
{
	for (size_t i = 0; i < registry_count(); i++)
		if (registration_state(&slots[i]) == REGISTRATION_PASSING)
			registration_settle(&slots[i], REGISTRATION_RECORDED);
}
