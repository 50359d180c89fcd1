/*
 * The environment for tools.  A whole new array is published with one pointer store, because other threads read
 * the environment without any lock; setenv would pull it from under them.  Arrays and strings of ours are never
 * freed: a pointer from getenv may live for ever.  Runs on the control thread.
 */
#include "shared/arch/syscall.h"
#include "target/agent/agent.h"
#include "target/runtime/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

typedef void *dlsym_function(void *, const char *);

/* What is published now; control thread only. */
static struct {
	char ***variable; /* libc's environ */
	char **before;    /* what it pointed to */
	char **ours;      /* our array: first our entries, then the others */
	char **pristine;  /* a copy: an application may change the array in place */
	char **hidden;    /* for each of our entries, the one that it replaced, or NULL */
	size_t own_count, slots;
} published;

static size_t count_entries(char **list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

/* The place among our entries that a foreign entry gives way to, or own_count. */
static size_t find_override(const char *entry)
{
	for (size_t i = 0; i < published.own_count; i++) {
		const char *mine = published.pristine[i], *end = mine;

		while (*end != '=')
			end++;
		size_t same = 0;
		while (mine + same < end && entry[same] == mine[same])
			same++;
		if (mine + same == end && entry[same] == '=')
			return i;
	}
	return published.own_count;
}

static void *map_memory(size_t size)
{
	long r = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

/* Writes "name=value" for each pair into the room given for texts. */
static void write_entries(const struct control_environ *message, char *room, size_t size)
{
	const char *cursor = NULL, *name, *value;
	size_t used = 0;

	published.own_count = 0;
	while (control_environ_next(message, &cursor, &name, &value)) {
		char *entry = room + used;
		size_t end = text_add(entry, size - used, 0, name);

		end = text_add(entry, size - used, end, "=");
		end = text_add(entry, size - used, end, value);
		used += end + 1;
		published.pristine[published.own_count++] = entry;
	}
}

/* Fills pristine with our entries and then with those of `old` that ours do not replace. */
static void fill_pristine(char **old)
{
	size_t at = published.own_count;

	for (; old && *old; old++) {
		size_t mine = find_override(*old);

		if (mine < published.own_count)
			published.hidden[mine] = *old;
		else
			published.pristine[at++] = *old;
	}
	published.pristine[at++] = NULL;
	published.slots = at;
}

/* One mapping: our array, its pristine copy, what ours hide, the texts. */
static bool build_arrays(const struct control_environ *message, char **old)
{
	size_t slots = count_entries(old) + message->count + 1;
	size_t texts = message->bytes + 2u * message->count + 1;
	char **memory = map_memory((2 * slots + message->count) * sizeof(char *) + texts);

	if (!memory)
		return false;
	published.pristine = memory + slots;
	published.hidden = published.pristine + slots;
	write_entries(message, (char *)(published.hidden + message->count), texts);
	fill_pristine(old);
	memcpy(memory, published.pristine, published.slots * sizeof(char *));
	published.ours = memory;
	return true;
}

int environment_publish(const struct boot_context *boot, const struct control_environ *message)
{
	dlsym_function *find = (dlsym_function *)boot->libc.dlsym;
	char ***variable = find(RTLD_DEFAULT, "environ");
	char **old;

	if (!variable)
		return -ENOENT;
	if (published.ours)
		environment_restore();
	old = __atomic_load_n(variable, __ATOMIC_ACQUIRE);
	if (!build_arrays(message, old))
		return -ENOMEM;
	published.variable = variable;
	published.before = old;
	/* Release: a reader that sees the array sees its entries.  Readers are the application's getenv. */
	__atomic_store_n(variable, published.ours, __ATOMIC_RELEASE);
	agent_page.environment_changed = 1;
	return 0;
}

/* Which of our entries this is, or own_count. */
static size_t own_index(const char *entry)
{
	size_t i = 0;

	while (i < published.own_count && published.pristine[i] != entry)
		i++;
	return i;
}

static bool was_changed(void)
{
	return memcmp(published.ours, published.pristine, published.slots * sizeof(char *)) != 0;
}

/* The application changed the array, or has one of its own now, with our strings in it: give it a copy without
 * them.  What ours had hidden comes back. */
static void publish_without_ours(char **theirs)
{
	char **array = map_memory((count_entries(theirs) + 1) * sizeof(char *)), **at = array;

	if (!array)
		return;
	for (char **entry = theirs; *entry; entry++) {
		size_t mine = own_index(*entry);

		if (mine == published.own_count)
			*at++ = *entry;
		else if (published.hidden[mine])
			*at++ = published.hidden[mine];
	}
	*at = NULL;
	__atomic_compare_exchange_n(published.variable, &theirs, array, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void environment_restore(void)
{
	char **now;

	if (!published.ours)
		return;
	now = __atomic_load_n(published.variable, __ATOMIC_ACQUIRE);
	if (now == published.ours && !was_changed())
		__atomic_compare_exchange_n(published.variable, &now, published.before, false, __ATOMIC_RELEASE,
		                            __ATOMIC_RELAXED);
	else if (now)
		publish_without_ours(now);
	published.ours = NULL;
	agent_page.environment_changed = 0;
}
