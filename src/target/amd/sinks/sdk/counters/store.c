/*
 * Queried on threads of tools. The control thread stores the catalog before tools are configured.
 */
#include "target/amd/sinks/sdk/counters/store.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/runtime/patience.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define CATALOGS_MAX 8u /* tools may hold strings of all of them */
#define HANDLE_FIRST 256u
#define TURN_NS      2000000000u
#define GLANCE_NS    100000u
#define CHUNK        ((size_t)1 << 20)
#define CHUNKS_MAX   64u

/* The host's catalog, and its copy with what tools have added; equal if they added nothing. */
static struct {
	const struct catalog *told, *now;
} catalogs[CATALOGS_MAX];
static unsigned catalog_count;
static const struct catalog *current;
static uint32_t is_taken, were_told;
static char *chunks[CHUNKS_MAX];
static unsigned chunk_count;
static size_t chunk_used;

const struct catalog *counters_catalog(void)
{
	/* Sequentially consistent: pairs with counters_hide(); a catalog is hidden or seen. */
	if (__atomic_load_n(&current, __ATOMIC_SEQ_CST))
		__atomic_store_n(&were_told, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&current, __ATOMIC_SEQ_CST);
}

bool counters_are_hidden(void)
{
	return !__atomic_load_n(&current, __ATOMIC_RELAXED);
}

bool counters_hide(void)
{
	const struct catalog *before = current;

	if (__atomic_load_n(&were_told, __ATOMIC_SEQ_CST))
		return false;
	__atomic_store_n(&current, NULL, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&were_told, __ATOMIC_SEQ_CST))
		return true;
	__atomic_store_n(&current, before, __ATOMIC_SEQ_CST);
	return false;
}

/* The host sent the same catalog again: keeps the one that tools may hold. */
static const struct catalog *catalog_known(const struct catalog *catalog)
{
	for (unsigned i = 0; i < catalog_count; i++)
		if (catalogs[i].told->size == catalog->size &&
		    !memcmp(catalogs[i].told, catalog, catalog->size))
			return catalogs[i].now;
	return NULL;
}

/* Under counters_enter(): attached tools may be adding to the catalog before. */
static int catalog_use(const struct catalog *catalog)
{
	const struct catalog *known = catalog_known(catalog);

	if (!known && catalog_count == CATALOGS_MAX)
		return -ENOSPC;
	if (!known) {
		catalogs[catalog_count].told = catalogs[catalog_count].now = catalog;
		catalog_count++;
	}
	__atomic_store_n(&current, known ? known : catalog, __ATOMIC_RELEASE);
	return known ? -EEXIST : 0;
}

static int catalog_use_in_turn(const struct catalog *catalog)
{
	int r;

	if (!counters_enter())
		return -EBUSY;
	r = catalog_use(catalog);
	counters_leave();
	return r;
}

static int file_read(int fd, char *into, uint64_t size)
{
	for (uint64_t at = 0; at < size;) {
		long r = raw4(SYS_pread64, fd, into + at, size - at, at);

		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r ? (int)r : -EPROTO;
		at += (uint64_t)r;
	}
	return 0;
}

/* Copies the catalog: the process that wrote the file may change it. */
int counters_learn(int fd, uint64_t size)
{
	struct stat file;
	long address;
	int r;

	if (raw2(SYS_fstat, fd, &file))
		return -EBADF;
	if ((uint64_t)file.st_size != size || !size)
		return -EPROTO;
	address =
		raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (address < 0 && address > -4096)
		return (int)address;
	r = file_read(fd, (char *)address, size);
	if (!r)
		r = catalog_check((const void *)address, size);
	if (!r)
		r = catalog_use_in_turn((const struct catalog *)address);
	if (r)
		raw2(SYS_munmap, address, size);
	return r == -EEXIST ? 0 : r;
}

/* The catalog stays: a thread of a tool may still read it. */
void counters_release(void)
{
	__atomic_store_n(&were_told, 0, __ATOMIC_SEQ_CST);
}

void counters_close(void)
{
	__atomic_store_n(&current, NULL, __ATOMIC_RELEASE);
	were_told = 0;
	for (unsigned i = 0; i < catalog_count; i++) {
		if (catalogs[i].now != catalogs[i].told)
			raw2(SYS_munmap, catalogs[i].now, catalogs[i].now->size);
		raw2(SYS_munmap, catalogs[i].told, catalogs[i].told->size);
	}
	for (unsigned i = 0; i < chunk_count; i++)
		raw2(SYS_munmap, chunks[i], CHUNK);
	catalog_count = chunk_count = 0;
}

/* Room for additions of tools; for counters the host reserves it. */
static const struct {
	uint32_t size, more;
} list_rooms[CATALOG_LISTS] = {
	[CATALOG_DEVICES] = { sizeof(struct catalog_device), 0 },
	[CATALOG_COUNTERS] = { sizeof(struct catalog_counter), 0 },
	[CATALOG_EVENTS] = { sizeof(struct catalog_event), 256 },
	[CATALOG_NODES] = { sizeof(struct catalog_node), 8192 },
	[CATALOG_CHOICES] = { sizeof(struct catalog_choice), 256 },
	[CATALOG_TEXTS] = { 1, 1 << 17 },
};

static uint64_t list_bytes(const struct catalog *catalog, unsigned list)
{
	return ALIGN_UP((uint64_t)(catalog->lists[list].count + list_rooms[list].more) *
				list_rooms[list].size,
			sizeof(uint64_t));
}

/* NULL: no memory. */
static struct catalog *catalog_copy(const struct catalog *from)
{
	uint64_t at = ALIGN_UP(sizeof(*from), sizeof(uint64_t)), size = at;
	struct catalog *made;
	long address;

	for (unsigned i = 0; i < CATALOG_LISTS; i++)
		size += list_bytes(from, i);
	address = size > CATALOG_MAX_BYTES
			  ? -ENOMEM
			  : raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (address <= 0)
		return NULL;
	made = (struct catalog *)address;
	*made = *from;
	made->size = size;
	for (unsigned i = 0; i < CATALOG_LISTS; i++) {
		made->lists[i].at = (uint32_t)at;
		memcpy((char *)made + at, catalog_list(from, (enum catalog_list_kind)i),
		       (size_t)from->lists[i].count * list_rooms[i].size);
		at += list_bytes(from, i);
	}
	return made;
}

struct catalog *counters_own_catalog(void)
{
	struct catalog *made;

	for (unsigned i = 0; i < catalog_count; i++) {
		if (catalogs[i].now != current)
			continue;
		if (catalogs[i].now != catalogs[i].told)
			return (struct catalog *)(uintptr_t)current;
		made = catalog_copy(current);
		if (!made)
			return NULL;
		catalogs[i].now = made;
		/* Release: pairs with counters_catalog(). */
		__atomic_store_n(&current, made, __ATOMIC_RELEASE);
		return made;
	}
	return NULL;
}

void *counters_grow(struct catalog *catalog, enum catalog_list_kind list, uint32_t count)
{
	uint64_t end = list + 1 < CATALOG_LISTS ? catalog->lists[list + 1].at : catalog->size;
	char *at = (char *)catalog + catalog->lists[list].at +
		   (uint64_t)catalog->lists[list].count * list_rooms[list].size;

	if ((uint64_t)count * list_rooms[list].size > end - (uint64_t)(at - (char *)catalog))
		return NULL;
	catalog->lists[list].count += count;
	return at;
}

const struct catalog_device *counters_device(const struct catalog *catalog, struct sdk_handle agent)
{
	const struct catalog_device *devices = catalog_list(catalog, CATALOG_DEVICES);

	for (uint32_t i = 0; i < catalog->lists[CATALOG_DEVICES].count; i++)
		if (agent.handle == HANDLE_FIRST + devices[i].node)
			return &devices[i];
	return NULL;
}

bool counters_know_agent(struct sdk_handle agent)
{
	return agent.handle >= HANDLE_FIRST && agent.handle - HANDLE_FIRST <= UINT32_MAX &&
	       agent_of_number((uint32_t)(agent.handle - HANDLE_FIRST)).handle == agent.handle;
}

const struct catalog_counter *counters_find(const struct catalog *catalog, uint64_t id)
{
	const struct catalog_counter *counters = catalog_list(catalog, CATALOG_COUNTERS);

	/* Ids behind a device's counters are reserved for additions. */
	return counters_device_of(catalog, id) ? &counters[id - 1] : NULL;
}

const struct catalog_device *counters_device_of(const struct catalog *catalog, uint64_t id)
{
	const struct catalog_device *devices = catalog_list(catalog, CATALOG_DEVICES);

	for (uint32_t i = 0; i < catalog->lists[CATALOG_DEVICES].count; i++)
		if (device_has(&devices[i], id))
			return &devices[i];
	return NULL;
}

bool counters_enter(void)
{
	struct patience patience = { 0 };

	while (__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE))
		if (!patience_pause(&patience, GLANCE_NS, TURN_NS))
			return false;
	return true;
}

void counters_leave(void)
{
	__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
}

void counters_adopt(void)
{
	is_taken = 0;
}

static bool chunk_add(void)
{
	long address;

	if (chunk_count == CHUNKS_MAX)
		return false;
	address = raw6(SYS_mmap, 0, CHUNK, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (address < 0 && address > -4096)
		return false;
	chunks[chunk_count++] = (char *)address;
	chunk_used = 0;
	return true;
}

void *counters_memory(size_t size)
{
	size_t room = (size + 15) & ~(size_t)15;

	if (room > CHUNK)
		return NULL;
	if ((!chunk_count || CHUNK - chunk_used < room) && !chunk_add())
		return NULL;
	chunk_used += room;
	return chunks[chunk_count - 1] + chunk_used - room;
}
