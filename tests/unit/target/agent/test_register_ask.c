/*
 * A register library is asked, and tools are told: the loader, the runner, the library and the
 * tools are played here.
 */
#include "unit.h"

#include "target/agent/register.h"
#include "target/amd/engine.h"
#include "target/amd/registry.h"
#include "target/amd/show.h"
#include "target/amd/tables/read.h"
#include "target/lifecycle/lifecycle.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"

#include <errno.h>
#include <string.h>

#define TIMEOUT_MS 10000u
#define CALLS_MAX  8

struct agent_page agent_page;
const struct api_table api_tables[API_TABLES];

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **parts,
			      uint64_t part_count);

static struct {
	bool is_another;              /* library, where the register library or the runtime was */
	bool has_tools, is_gone;      /* the runtime */
	unsigned held, invoked, told; /* told: how often tools were told of a table */
	unsigned loader_asked;
	unsigned calls;       /* of the runner */
	unsigned fails_at;    /* this one, for want of memory */
	bool is_given_up;     /* the first one: it goes on when it is told to */
	bool registers_again; /* a tool that is told loads another runtime */
	uint32_t waited_ms[CALLS_MAX];
} world;

static uint64_t hip[2], roctx[2];
static void *hip_parts[] = { hip }, *roctx_parts[] = { roctx };

static int invoke(void)
{
	world.invoked++;
	return rocprofiler_set_api_table("hip", 7, 0, hip_parts, 1);
}

static struct {
	void (*work)(void *), (*late)(void *);
	unsigned char argument[RUNNER_ARGUMENT] __attribute__((aligned(16)));
} given_up;

int runner_call(const struct boot_libc *libc, void (*work)(void *), void (*late)(void *),
		void *argument, size_t size, enum runner_table table, uint32_t timeout_ms)
{
	(void)libc;
	assert_int_equal(table, TABLE_OF_PROGRAM);
	assert_in_range(world.calls, 0, CALLS_MAX - 1);
	world.waited_ms[world.calls++] = timeout_ms;
	if (world.calls == world.fails_at)
		return -ENOMEM;
	if (world.is_given_up && world.calls == 1) {
		given_up.work = work;
		given_up.late = late;
		memcpy(given_up.argument, argument, size);
		return -ETIMEDOUT;
	}
	work(argument);
	return 0;
}

int lifecycle_enter(void)
{
	return 0;
}

void lifecycle_leave(void)
{
}

void *libc_hold(const void *address)
{
	if (world.is_gone && address == hip)
		return NULL;
	world.held++;
	return &world;
}

int libc_close(void *handle)
{
	(void)handle;
	world.held--;
	return 0;
}

void *libc_symbol(void *scope, const char *name)
{
	(void)scope;
	return !world.is_another && !strcmp(name, REGISTER_INVOKE) ? (void *)invoke : NULL;
}

int libc_iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	world.loader_asked++;
	return callback(NULL, 0, data);
}

bool libc_are_of_one(const void *a, const void *b)
{
	(void)a, (void)b;
	return true;
}

unsigned table_read(const struct agent_table *known, const struct api_table *table, uint64_t **ret)
{
	(void)table;
	*ret = (uint64_t *)known->parts[0];
	return world.is_another ? 0 : 1;
}

uint64_t entry_original(const uint64_t *entry)
{
	return *entry;
}

bool sdk_has_tools(void)
{
	return world.has_tools;
}

void sdk_table_came(unsigned index, bool has_restarted)
{
	(void)index, (void)has_restarted;
	world.told++;
	if (!world.registers_again)
		return;
	world.registers_again = false;
	rocprofiler_set_api_table("roctx", 1, 0, roctx_parts, 1);
	assert_int_equal(world.told, 2); /* before its first call */
}

static int ask(void)
{
	struct control_tables order = { .function = (uint64_t)invoke, .timeout_ms = TIMEOUT_MS };
	uint32_t worth;

	return register_ask(NULL, &order, &worth);
}

static bool is_known(const char *name)
{
	return tables_have(name);
}

static int set_up(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	memset(&agent_page, 0, sizeof(agent_page));
	tables_adopt();
	world.has_tools = true;
	return 0;
}

static void tools_are_told_once(void **state)
{
	(void)state;
	assert_int_equal(ask(), 0);
	assert_int_equal(ask(), 0);
	assert_true(is_known("hip"));
	assert_int_equal(world.invoked, 2);
	assert_int_equal(world.told, 1);
	assert_int_equal(world.held, 0);
}

static void another_library_is_where_it_was(void **state)
{
	(void)state;
	world.is_another = true;
	assert_int_equal(ask(), -ENXIO);
	assert_int_equal(world.invoked, 0);
	assert_int_equal(world.held, 0);
	world.is_another = false;
	assert_int_equal(ask(), 0);
	assert_int_equal(world.told, 1);
}

/* Else nobody would come again. */
static void what_tools_could_not_be_told_is_not_known(void **state)
{
	(void)state;
	world.fails_at = 2;
	assert_int_equal(ask(), -ENOMEM);
	assert_int_equal(world.told, 0);
	assert_false(is_known("hip"));
	assert_int_equal(ask(), 0);
	assert_true(is_known("hip"));
	assert_int_equal(world.told, 1);
}

static void an_answer_that_comes_late_is_asked_for_again(void **state)
{
	(void)state;
	world.is_given_up = true;
	assert_int_equal(ask(), -ETIMEDOUT);
	assert_int_equal(ask(), -EBUSY);
	given_up.work(given_up.argument);
	given_up.late(given_up.argument);
	assert_int_equal(world.invoked, 1);
	assert_false(is_known("hip"));
	assert_int_equal(ask(), 0);
	assert_true(is_known("hip"));
	assert_int_equal(world.told, 1);
	assert_int_equal(world.held, 0);
}

static void a_runtime_that_is_gone_may_come_again(void **state)
{
	(void)state;
	world.is_gone = true;
	assert_int_equal(ask(), 0);
	assert_false(is_known("hip"));
	world.is_gone = false;
	assert_int_equal(ask(), 0);
	assert_int_equal(world.told, 1);
}

static void a_tool_that_is_told_loads_another(void **state)
{
	(void)state;
	world.registers_again = true;
	assert_int_equal(ask(), 0);
	assert_int_equal(world.told, 2);
	assert_true(is_known("roctx"));
}

/* The host waits 20 s longer than for two calls of a tool. */
static void what_is_given_back_is_not_waited_for(void **state)
{
	uint32_t sum = 0;

	(void)state;
	assert_int_equal(ask(), 0);
	for (unsigned i = 0; i < world.calls; i++)
		sum += world.waited_ms[i];
	assert_int_equal(world.calls, 4);
	assert_in_range(sum, 1, 2 * TIMEOUT_MS + 2000);
}

/* A child of fork may find a lock of the loader's taken for ever. */
static void who_registers_does_not_ask_the_loader(void **state)
{
	(void)state;
	assert_int_equal(rocprofiler_set_api_table("hip", 7, 0, hip_parts, 1), 0);
	assert_int_equal(world.told, 1);
	assert_int_equal(world.loader_asked, 0);
}

static unsigned visited;

static void visit(unsigned index)
{
	assert_string_equal(agent_page.tables[index].name, "hip");
	visited++;
}

static unsigned count_known(void)
{
	struct telling known = { 0 };

	visited = 0;
	telling_hold(&known, visit);
	telling_release(&known);
	assert_int_equal(world.held, 0);
	return visited;
}

/* A tool would write there. */
static void only_tables_that_are_there_are_shown(void **state)
{
	(void)state;
	assert_int_equal(ask(), 0);
	assert_int_equal(count_known(), 1);
	world.is_another = true;
	assert_int_equal(count_known(), 0);
	world.is_another = false;
	world.is_gone = true;
	assert_int_equal(count_known(), 0);
}

static void without_tools_all_is_noted_at_once(void **state)
{
	(void)state;
	world.has_tools = false;
	world.is_gone = true;
	assert_int_equal(ask(), 0);
	assert_true(is_known("hip"));
	assert_int_equal(world.told, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tools_are_told_once, set_up),
		cmocka_unit_test_setup(another_library_is_where_it_was, set_up),
		cmocka_unit_test_setup(what_tools_could_not_be_told_is_not_known, set_up),
		cmocka_unit_test_setup(an_answer_that_comes_late_is_asked_for_again, set_up),
		cmocka_unit_test_setup(a_runtime_that_is_gone_may_come_again, set_up),
		cmocka_unit_test_setup(a_tool_that_is_told_loads_another, set_up),
		cmocka_unit_test_setup(what_is_given_back_is_not_waited_for, set_up),
		cmocka_unit_test_setup(who_registers_does_not_ask_the_loader, set_up),
		cmocka_unit_test_setup(only_tables_that_are_there_are_shown, set_up),
		cmocka_unit_test_setup(without_tools_all_is_noted_at_once, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
