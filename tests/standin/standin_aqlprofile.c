/*
 * STAND-IN, for tests only, of AMD's libhsa-amd-aqlprofile64: the few functions of its second
 * interface that collect counters.  Packets point to commands of the stand-in device
 * (standin_bank.h), not to AMD's.  Limits of blocks are held to.
 *
 * Like AMD's it keeps a list of sets, which a set comes to before it has memory, and stays in when
 * that fails.  In exit(), also of a forked child, the list is destroyed, and memory of all that is
 * in it is given to who has asked for it; whoever uses the list afterwards ends the program here.
 * Who breaks off a visit is told that all went well.  The memory that a visit reads is the
 * caller's: who gives a set back under one frees it too early, and ends the program here.
 *
 *   STANDIN_VALUES=N    N values more, of the last event
 *   STANDIN_STRANGER=1  a value of an event that nobody has asked for
 *   STANDIN_VISIT_MS=N  a visit takes so long
 *   STANDIN_MAKE_MS=N   so does making a set, with the first of its memory there
 */
#include "standin_bank.h"

#include "standin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* AMD's own header has prototypes of them; nobody calls them but by name. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { HSA_BREAK = 1, HSA_ERROR = 0x1000, HSA_INVALID = 0x1001, HSA_RESOURCES = 0x1008 };
enum { BLOCK_COUNTERS = 4, BLOCK_ID = 5, VERSION_1 = 2 };
/* None can be given back: whoever asks anew at each visit runs out of them. */
enum { AGENTS_MAX = 4 };
enum { EVENTS_HIGHEST = 255 };

struct agent_info {
	const char *gfxip;
	uint32_t xccs, engines, units, arrays, domain, location;
};
struct agent_handle {
	uint64_t handle;
};
struct pmc_profile {
	struct agent_handle agent;
	const struct bank_event *events;
	uint32_t count;
};
struct block_query {
	const char *name;
	uint32_t id, instances;
};
struct pm4_packet {
	uint16_t header, format;
	uint32_t ib[4], remain, reserved[8];
	uint64_t completion;
};
_Static_assert(sizeof(struct pm4_packet) == 64, "a packet");
struct pmc_packets {
	struct pm4_packet start, stop, read;
};

typedef int allocate_function(void **ret, uint64_t size, uint32_t flags, void *data);
typedef void free_function(void *memory, void *data);
typedef int copy_function(void *to, const void *from, size_t size, void *data);

/* What a handle stands for. */
struct pmc_set {
	struct pmc_set *next;
	uint64_t handle;
	struct agent_handle agent;
	struct bank_commands *commands[3];
	uint64_t (*values)[BANK_VALUES];
	uint32_t count;
	struct bank_event events[BANK_EVENTS_MAX];
	unsigned visits; /* that are under way; under the lock */
	free_function *give_back;
	void *data;
};

static const struct block {
	const char *name;
	uint32_t counters, instances;
} blocks[BLOCKS] = {
	[BLOCK_SQ] = { "SQ", 8, 1 },
	[BLOCK_GRBM] = { "GRBM", 2, 1 },
	[BLOCK_TCC] = { "TCC", 4, BANK_CHANNELS },
	[BLOCK_CPF] = { "CPF", 2, 1 },
	[BLOCK_SPI] = { "SPI", 6, 1 },
};
static unsigned agents;

static struct pmc_set *sets; /* the newest first */
static uint64_t last_handle;
static bool is_destroyed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void list_lock(void)
{
	pthread_mutex_lock(&lock);
	if (is_destroyed)
		abort();
}

static void set_add(struct pmc_set *set)
{
	list_lock();
	set->handle = ++last_handle;
	set->next = sets;
	sets = set;
	pthread_mutex_unlock(&lock);
}

static unsigned wish_of(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static struct pmc_set *visit_begin(uint64_t handle)
{
	struct pmc_set *set;

	list_lock();
	for (set = sets; set && set->handle != handle;)
		set = set->next;
	if (set)
		set->visits++;
	pthread_mutex_unlock(&lock);
	usleep(wish_of("STANDIN_VISIT_MS") * 1000);
	return set;
}

static void visit_end(struct pmc_set *set)
{
	list_lock();
	set->visits--;
	pthread_mutex_unlock(&lock);
}

static struct pmc_set *set_remove(uint64_t handle)
{
	struct pmc_set **at = &sets, *set;

	list_lock();
	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	set = *at;
	if (set && set->visits)
		abort();
	if (set)
		*at = set->next;
	pthread_mutex_unlock(&lock);
	return set;
}

static void set_destroy(struct pmc_set *set)
{
	for (unsigned i = 0; i < 3; i++)
		if (set->commands[i])
			set->give_back(set->commands[i], set->data);
	if (set->values)
		set->give_back(set->values, set->data);
	free(set);
}

/* Without the lock: a forked child may have it from its parent. */
static void list_destroy(void)
{
	while (sets) {
		struct pmc_set *set = sets;

		sets = set->next;
		set_destroy(set);
	}
	is_destroyed = true;
}

__attribute__((constructor)) static void list_make(void)
{
	if (atexit(list_destroy))
		abort();
}

STANDIN_EXPORT int aqlprofile_register_agent_info(struct agent_handle *ret,
						  const struct agent_info *info, int version)
{
	if (version != VERSION_1 || strncmp(info->gfxip, "gfx9", 4) || !info->xccs ||
	    agents == AGENTS_MAX)
		return HSA_ERROR;
	ret->handle = ++agents;
	return 0;
}

STANDIN_EXPORT int aqlprofile_get_pmc_info(const struct pmc_profile *profile, int what, void *ret)
{
	struct block_query *query = ret;

	if (!profile->agent.handle || profile->agent.handle > agents)
		return HSA_INVALID;
	if (what == BLOCK_COUNTERS && profile->count && profile->events[0].block < BLOCKS) {
		*(uint32_t *)ret = blocks[profile->events[0].block].counters;
		return 0;
	}
	for (uint32_t i = 1; what == BLOCK_ID && i < BLOCKS; i++)
		if (!strcmp(query->name, blocks[i].name)) {
			query->id = i;
			query->instances = blocks[i].instances;
			return 0;
		}
	return HSA_INVALID;
}

STANDIN_EXPORT int aqlprofile_validate_pmc_event(struct agent_handle agent,
						 const struct bank_event *event, bool *ret)
{
	*ret = agent.handle && event->block && event->block < BLOCKS &&
	       event->event <= EVENTS_HIGHEST && event->instance < blocks[event->block].instances;
	return 0;
}

/* Too many of one instance of a block? */
static bool profile_fits(const struct pmc_profile *profile)
{
	for (uint32_t i = 0; i < profile->count; i++) {
		uint32_t used = 0;

		for (uint32_t j = 0; j < profile->count; j++)
			used += profile->events[j].block == profile->events[i].block &&
				profile->events[j].instance == profile->events[i].instance;
		if (used > blocks[profile->events[i].block].counters)
			return false;
	}
	return profile->count && profile->count <= BANK_EVENTS_MAX;
}

static bool commands_make(struct pmc_set *set, unsigned number, struct pm4_packet *packet,
			  allocate_function *allocate, void *data)
{
	struct bank_commands *commands;

	if (allocate((void **)&commands, sizeof(*commands), 1, data))
		return false;
	set->commands[number] = commands;
	*commands = (struct bank_commands){ .magic = BANK_MAGIC,
					    .command = number + 1,
					    .count = set->count,
					    .values = set->values };
	memcpy(commands->events, set->events, sizeof(set->events));
	*packet = (struct pm4_packet){ .format = 1,
				       .ib = { 0xc0023f00u, (uint32_t)(uint64_t)commands,
					       (uint32_t)((uint64_t)commands >> 32), 1 },
				       .remain = 10 };
	return true;
}

STANDIN_EXPORT int aqlprofile_pmc_create_packets(uint64_t *ret, struct pmc_packets *packets,
						 struct pmc_profile profile,
						 allocate_function *allocate,
						 free_function *give_back, copy_function *copy,
						 void *data)
{
	struct pmc_set *set = profile_fits(&profile) ? calloc(1, sizeof(*set)) : NULL;

	(void)copy;
	if (!set)
		return HSA_RESOURCES;
	set->agent = profile.agent;
	set->count = profile.count;
	set->give_back = give_back;
	set->data = data;
	memcpy(set->events, profile.events, profile.count * sizeof(*profile.events));
	set_add(set);
	if (allocate((void **)&set->values, set->count * sizeof(*set->values), 3, data))
		return HSA_RESOURCES;
	memset(set->values, 0, set->count * sizeof(*set->values));
	usleep(wish_of("STANDIN_MAKE_MS") * 1000);
	if (!commands_make(set, BANK_START - 1, &packets->start, allocate, data) ||
	    !commands_make(set, BANK_STOP - 1, &packets->stop, allocate, data) ||
	    !commands_make(set, BANK_READ - 1, &packets->read, allocate, data))
		return HSA_RESOURCES;
	*ret = set->handle;
	return 0;
}

typedef int visit_function(struct bank_event event, uint64_t sample, uint64_t value, void *data);

static int visit_more(const struct pmc_set *set, visit_function *visit, void *data)
{
	struct bank_event event = set->events[set->count - 1];
	int r = 0;

	for (unsigned i = 0; !r && i < wish_of("STANDIN_VALUES"); i++)
		r = visit(event, 0, 0, data);
	event.event = EVENTS_HIGHEST;
	if (!r && wish_of("STANDIN_STRANGER"))
		r = visit(event, 0, 0, data);
	return r;
}

/* SQ has a value for each engine, the others one for each XCC. */
STANDIN_EXPORT int aqlprofile_pmc_iterate_data(uint64_t handle, visit_function *visit, void *data)
{
	struct pmc_set *set = visit_begin(handle);
	int r = 0;

	if (!set)
		return HSA_INVALID;
	for (uint32_t i = 0; i < set->count; i++)
		for (unsigned j = 0; !r && j < BANK_VALUES; j++)
			if (set->events[i].block == BLOCK_SQ || j % BANK_ENGINES == 0)
				r = visit(set->events[i], j, set->values[i][j], data);
	if (!r)
		r = visit_more(set, visit, data);
	visit_end(set);
	return r == HSA_BREAK ? 0 : r;
}

STANDIN_EXPORT int
aqlprofile_iterate_event_coord(struct agent_handle agent, struct bank_event event, uint64_t sample,
			       int (*visit)(int, int, int, int, const char *, void *), void *data)
{
	int r = visit(0, 1, BANK_XCCS, (int)(sample / BANK_ENGINES), "XCD", data);

	(void)agent;
	if (!r && event.block == BLOCK_SQ)
		r = visit(1, 3, BANK_ENGINES, (int)(sample % BANK_ENGINES), "SE", data);
	if (!r && blocks[event.block].instances > 1)
		r = visit(2, 7, (int)blocks[event.block].instances, (int)event.instance, "INSTANCE",
			  data);
	return r;
}

STANDIN_EXPORT void aqlprofile_pmc_delete_packets(uint64_t handle)
{
	struct pmc_set *set = set_remove(handle);

	if (set)
		set_destroy(set);
}

/* Those that nobody has given back. */
STANDIN_EXPORT unsigned standin_aqlprofile_sets(void)
{
	unsigned count = 0;

	list_lock();
	for (const struct pmc_set *set = sets; set; set = set->next)
		count++;
	pthread_mutex_unlock(&lock);
	return count;
}
