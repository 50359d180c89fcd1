/*
 * STAND-IN, for tests only.
 */
#include "standin_bank.h"

#include "standin.h"
#include "standin_hsa_device.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SQ_WAVES = 4, GRBM_COUNT = 0, WAVE = 64 };

static struct bank {
	bool is_running;
	uint32_t count;
	struct bank_event events[BANK_EVENTS_MAX];
	uint64_t values[BANK_EVENTS_MAX][BANK_VALUES];
	uint64_t started_ns;
} banks[AGENTS];

static pthread_mutex_t banking = PTHREAD_MUTEX_INITIALIZER;
static unsigned obeyed[4];

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* GRBM counts cycles, whoever works: at 1 GHz. */
static void count_cycles(struct bank *bank)
{
	uint64_t now = now_ns();

	for (uint32_t i = 0; bank->is_running && i < bank->count; i++)
		for (unsigned xcc = 0; bank->events[i].block == BLOCK_GRBM && xcc < BANK_XCCS;
		     xcc++)
			bank->values[i][xcc * BANK_ENGINES] += now - bank->started_ns;
	bank->started_ns = now;
}

static void bank_start(struct bank *bank, const struct bank_commands *commands)
{
	memset(bank, 0, sizeof(*bank));
	bank->count = commands->count;
	memcpy(bank->events, commands->events, sizeof(bank->events));
	bank->started_ns = now_ns();
	bank->is_running = true;
}

static void bank_obey(struct bank *bank, const struct bank_commands *commands)
{
	if (commands->command == BANK_START)
		bank_start(bank, commands);
	count_cycles(bank);
	if (commands->command == BANK_STOP)
		bank->is_running = false;
	if (commands->command == BANK_READ)
		memcpy(commands->values, bank->values, commands->count * sizeof(*bank->values));
}

void standin_bank_obey(uint32_t node, const struct hsa_packet *packet, bool *is_counted)
{
	const uint32_t *words = (const uint32_t *)packet; /* header, ib[4], remain */
	const struct bank_commands *commands =
		(const struct bank_commands *)((uint64_t)words[3] << 32 | words[2]);

	if (packet->setup != 1 || words[5] != 10 || commands->magic != BANK_MAGIC ||
	    commands->command < BANK_START || commands->command > BANK_READ)
		abort();
	pthread_mutex_lock(&banking);
	bank_obey(&banks[node], commands);
	obeyed[commands->command]++;
	pthread_mutex_unlock(&banking);
	*is_counted |= commands->command == BANK_START;
}

/* Does the (stand-in) driver make the waves of all queues of it count?  See standin_kfd.c. */
static bool is_forced(uint32_t node)
{
	static const uint32_t *words;
	const char *path = words ? NULL : getenv("STANDIN_KFD");

	if (path) {
		int file = open(path, O_RDONLY | O_CLOEXEC);
		const void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);

		words = memory == MAP_FAILED ? NULL : memory;
		close(file);
	}
	return words && __atomic_load_n(&words[node], __ATOMIC_RELAXED);
}

/* Each wave goes to the next engine; each has as many hits as items.  CPF and SPI count the waves
 * of all of an XCC. */
static void count_kernel(struct bank *bank, uint32_t event, uint64_t waves, uint64_t items,
			 bool is_counted)
{
	const struct bank_event *what = &bank->events[event];

	for (unsigned i = 0; i < BANK_VALUES; i++) {
		uint64_t share = waves / BANK_VALUES + (i < waves % BANK_VALUES);

		if (what->block == BLOCK_SQ && is_counted)
			bank->values[event][i] += what->event == SQ_WAVES ? share : 2 * share;
		if (what->block == BLOCK_TCC && i % BANK_ENGINES == 0)
			bank->values[event][i] += items;
		if ((what->block == BLOCK_CPF || what->block == BLOCK_SPI) && i % BANK_ENGINES == 0)
			bank->values[event][i] += waves;
	}
}

void standin_bank_count(uint32_t node, const struct hsa_packet *packet, bool is_counted,
			uint64_t cycles)
{
	uint64_t items = (uint64_t)packet->grid[0] * packet->grid[1] * packet->grid[2];
	struct bank *bank = &banks[node];

	(void)cycles;
	pthread_mutex_lock(&banking);
	is_counted |= is_forced(node);
	for (uint32_t i = 0; bank->is_running && i < bank->count; i++)
		count_kernel(bank, i, (items + WAVE - 1) / WAVE, items, is_counted);
	pthread_mutex_unlock(&banking);
}

STANDIN_EXPORT void standin_bank_print(void)
{
	pthread_mutex_lock(&banking);
	printf("bank %u %u %u\n", obeyed[BANK_START], obeyed[BANK_STOP], obeyed[BANK_READ]);
	pthread_mutex_unlock(&banking);
}
