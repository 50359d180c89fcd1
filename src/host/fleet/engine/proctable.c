/*
 * Reads the list of ranks from a launcher's memory.  All of it is foreign.
 */
#include "host/fleet/engine/mpirun.h"

#include "host/core/cleanup.h"
#include "host/fleet/find/mapped_symbol.h"
#include "host/fleet/rank_set.h"

#include <errno.h>
#include <string.h>

/* MPIR_PROCDESC, the structure for debuggers. */
struct process_description {
	uint64_t host_name, executable_name; /* pointers */
	int32_t pid;
};

static bool host_read(int memory, uint64_t address, char ret[HOST_NAME_MAX_BYTES])
{
	/* The next page may not be mapped. */
	for (size_t i = 0; i < HOST_NAME_MAX_BYTES; i++) {
		if (!memory_read(memory, address + i, ret + i, 1))
			return false;
		if (!ret[i])
			return host_name_is_sound(ret);
	}
	return false;
}

static bool entry_read(int memory, uint64_t address, struct proctable_entry *ret)
{
	struct process_description entry;

	if (!memory_read(memory, address, &entry, sizeof(entry)) || entry.pid <= 0)
		return false;
	ret->pid = entry.pid;
	return host_read(memory, entry.host_name, ret->host);
}

/* Many consecutive ranks are on the same host, with the same text for its name. */
static int entries_read(int memory, uint64_t list, size_t count, struct proctable_entry **ret,
			struct err *err)
{
	CLEANUP(free) struct proctable_entry *entries = calloc(count, sizeof(*entries));

	if (!entries)
		return err_set(err, -ENOMEM, "%zu ranks: no memory", count);
	for (size_t i = 0; i < count; i++)
		if (!entry_read(memory, list + i * sizeof(struct process_description), &entries[i]))
			return err_set(err, -EBADMSG,
				       "its list of ranks makes no sense at rank %zu", i);
	*ret = TAKE(entries);
	return 0;
}

static int list_find(pid_t pid, int memory, uint64_t *ret_list, uint32_t *ret_count)
{
	uint64_t list, size;
	int r = mapped_symbol_find(pid, memory, "MPIR_proctable", &list);

	if (!r)
		r = mapped_symbol_find(pid, memory, "MPIR_proctable_size", &size);
	if (r)
		return r;
	if (!memory_read(memory, list, ret_list, sizeof(*ret_list)) ||
	    !memory_read(memory, size, ret_count, sizeof(*ret_count)))
		return -EFAULT;
	return *ret_list && *ret_count && *ret_count <= RANK_MAX ? 0 : -ENODATA;
}

int proctable_read(pid_t pid, struct proctable_entry **ret, size_t *ret_count, struct err *err)
{
	CLEANUP(close) int memory = memory_open(pid);
	uint64_t list;
	uint32_t count;
	int r;

	if (memory < 0) {
		if (memory == -ENOENT || memory == -ESRCH) {
			err_set(err, -ESRCH, "there is no process %d", pid);
			return err_exit(err, EXIT_NO_PROCESS);
		}
		err_set(err, memory, "the memory of %d may not be read: %s", pid,
			strerror(-memory));
		err_fix(err, "run limpet as the user who started it, or as root");
		return err_exit(err, EXIT_NOT_PERMITTED);
	}
	r = list_find(pid, memory, &list, &count);
	if (r)
		return err_set(err, r, "%d has no list of ranks (MPIR_proctable)", pid);
	r = entries_read(memory, list, count, ret, err);
	if (!r)
		*ret_count = count;
	return r;
}
