/*
 * The agent's page as another process may show it: sound, of another version, lying.  A file stands
 * for the memory of the target: addresses are offsets in it.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host/attach/facts/resident.h"
#include "host/process/stat.h"
#include "shared/wire/control.h"

#define LIBRARY "/memfd:" AGENT_MEMFD_NAME " (deleted)"
#define START   0x10000u
#define END     0x18000u
#define AT      0x11000u /* where the page is put */

/* Text before the library, its code, its data. */
static struct mapping mappings[] = {
	{ 0x1000, 0x2000, .writable = true, .path = "/usr/bin/program" },
	{ 0x8000, 0x9000, .executable = true, .path = LIBRARY },
	{ START, END, .readable = true, .writable = true, .path = LIBRARY },
};

static struct target target;

static int setup(void **state)
{
	(void)state;
	memset(&target, 0, sizeof(target));
	target.memory = memfd_create("memory", MFD_CLOEXEC);
	target.process.maps = (struct maps){ mappings, ARRAY_SIZE(mappings) };
	target.process.status.inner_pid = 77;
	return target.memory < 0 || ftruncate(target.memory, END);
}

static int teardown(void **state)
{
	(void)state;
	return close(target.memory);
}

static struct agent_page sound_page(void)
{
	struct agent_page page = {
		.magic = AGENT_PAGE_MAGIC,
		.version = AGENT_VERSION,
		.size = sizeof(page),
		.state = AGENT_STATE_ATTACHED,
		.pid = 77,
		.tool_count = 1,
		.holder_name = "limpet",
	};

	strcpy(page.tools[0].path, "/lib/tool.so");
	return page;
}

static void put(const struct agent_page *page, off_t at)
{
	assert_int_equal(pwrite(target.memory, page, sizeof(*page), at), sizeof(*page));
}

static void finds_the_page_in_the_data_of_the_library(void **state)
{
	struct agent_page page = sound_page();
	struct resident resident;

	(void)state;
	put(&page, AT);
	assert_int_equal(resident_find(&target, &resident), 0);
	assert_int_equal(resident.address, AT);
	assert_string_equal(resident.page.tools[0].path, "/lib/tool.so");
	page.attaches = 5;
	put(&page, AT);
	assert_int_equal(resident_refresh(&target, &resident), 0);
	assert_int_equal(resident.page.attaches, 5);
}

static void finds_none_elsewhere(void **state)
{
	static const off_t offsets[] = { 0x1000, 0x8000, AT + 8, 0x9000 };
	struct agent_page page = sound_page();
	struct resident resident;

	(void)state;
	assert_int_equal(resident_find(&target, &resident), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		put(&page, offsets[i]);
		assert_int_equal(resident_find(&target, &resident), -ENOENT);
	}
}

static void names_a_page_that_makes_no_sense(void **state)
{
	struct agent_page pages[8];
	struct resident resident;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = sound_page();
	pages[0].version++;
	pages[1].size--;
	pages[2].tool_count = AGENT_TOOLS_MAX + 1;
	pages[3].tool_count = UINT32_MAX;
	pages[4].state = AGENT_STATE_RESTING + 1;
	pages[5].state = UINT32_MAX;
	pages[6].version = AGENT_PAGE_VERSION;
	pages[7].version = AGENT_VERSION - (1u << 16); /* speaks otherwise */
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		put(&pages[i], AT);
		assert_int_equal(resident_find(&target, &resident), -EPROTO);
	}
}

static void ends_every_text(void **state)
{
	struct agent_page page = sound_page();
	struct resident resident;

	(void)state;
	page.tool_count = AGENT_TOOLS_MAX;
	memset(page.holder_name, 'x', sizeof(page.holder_name));
	for (size_t i = 0; i < AGENT_TOOLS_MAX; i++)
		memset(page.tools[i].path, 'x', TOOL_PATH_MAX);
	put(&page, AT);
	assert_int_equal(resident_find(&target, &resident), 0);
	assert_int_equal(strlen(resident.page.holder_name), sizeof(page.holder_name) - 1);
	for (size_t i = 0; i < AGENT_TOOLS_MAX; i++)
		assert_int_equal(strlen(resident.page.tools[i].path), TOOL_PATH_MAX - 1);
}

static void needs_the_whole_page(void **state)
{
	struct agent_page page = sound_page();
	struct resident resident;

	(void)state;
	put(&page, AT);
	assert_int_equal(ftruncate(target.memory, AT + sizeof(page) - 1), 0);
	assert_int_equal(resident_find(&target, &resident), -ENOENT);
	resident.address = AT;
	assert_int_equal(resident_refresh(&target, &resident), -ENOENT);
}

static void tells_two_agents_apart(void **state)
{
	struct agent_page page = sound_page();
	struct resident resident;

	(void)state;
	page.context = 0x1111;
	put(&page, START);
	page.context = 0x2222;
	put(&page, START + 0x4000);
	assert_int_equal(resident_find_at(&target, 0x2222, &resident), 0);
	assert_int_equal(resident.address, START + 0x4000);
	assert_int_equal(resident_find_at(&target, 0x1111, &resident), 0);
	assert_int_equal(resident.address, START);
	assert_int_equal(resident_find_at(&target, 0x3333, &resident), -ENOENT);
}

/* We are the target ourselves, and this thread is the control thread. */
static void play_the_target(struct agent_page *page)
{
	prctl(PR_SET_NAME, CONTROL_THREAD_NAME);
	target.process.pid = target.process.status.inner_pid = getpid();
	page->pid = getpid();
	page->control_tid = getpid();
}

static void is_held_while_the_control_thread_runs(void **state)
{
	struct resident resident = { AT, sound_page() };

	(void)state;
	play_the_target(&resident.page);
	assert_true(resident_is_held(&target, &resident));
	resident.page.state = AGENT_STATE_DETACHING;
	assert_true(resident_is_held(&target, &resident));
	resident.page.state = AGENT_STATE_RESTING;
	assert_false(resident_is_held(&target, &resident));
	resident.page.state = AGENT_STATE_ATTACHED;
	resident.page.pid++; /* the parent's page, in a child */
	assert_false(resident_is_held(&target, &resident));
	resident.page.pid--;
	resident.page.control_tid = INT32_MAX;
	assert_false(resident_is_held(&target, &resident));
	resident.page.control_tid = getpid();
	prctl(PR_SET_NAME, "another"); /* the number came again */
	assert_false(resident_is_held(&target, &resident));
}

/* We are the holder ourselves. */
static void knows_a_holder_by_number_and_birth(void **state)
{
	static const int32_t nobody[] = { 0, -1, INT32_MIN, INT32_MAX };
	struct resident resident = { AT, sound_page() };
	struct process_stat stat;
	struct err err;

	(void)state;
	assert_int_equal(stat_read(getpid(), getpid(), &stat, &err), 0);
	resident.page.holder_pid = getpid();
	resident.page.holder_start = stat.start_tick;
	assert_true(resident_holder_lives(&resident));
	resident.page.holder_start++;
	assert_false(resident_holder_lives(&resident));
	for (size_t i = 0; i < ARRAY_SIZE(nobody); i++) {
		resident.page.holder_pid = nobody[i];
		assert_false(resident_holder_lives(&resident));
	}
}

#define REGION  0x20000u
#define CONTEXT (REGION + REGION_DATA + DATA_CONTEXT)

static void put_context(const struct boot_context *boot)
{
	assert_int_equal(pwrite(target.memory, boot, sizeof(*boot), CONTEXT), sizeof(*boot));
}

static void takes_over_a_region_that_rests(void **state)
{
	const struct boot_context sound = { .magic = BOOT_MAGIC,
					    .region = REGION,
					    .agent_entry = 0x5000 };
	struct resident resident = { AT, sound_page() };
	struct boot_context broken[3] = { sound, sound, sound }, found;

	(void)state;
	resident.page.state = AGENT_STATE_RESTING;
	resident.page.context = CONTEXT;
	put(&resident.page, AT);
	put_context(&sound);
	assert_int_equal(resident_await_rest(&target, &resident, &found), 0);
	assert_int_equal(found.region, REGION);
	assert_int_equal(found.agent_entry, 0x5000);
	broken[0].magic++;
	broken[1].region += 0x1000;
	broken[2].agent_entry = 0;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		put_context(&broken[i]);
		assert_int_equal(resident_await_rest(&target, &resident, &found), -ENOENT);
	}
	resident.page.context = UINT64_MAX - 8;
	put(&resident.page, AT);
	assert_int_equal(resident_await_rest(&target, &resident, &found), -ENOENT);
}

static void does_not_take_from_a_host_that_lives(void **state)
{
	const struct boot_context sound = { .magic = BOOT_MAGIC,
					    .region = REGION,
					    .agent_entry = 0x5000 };
	struct resident resident = { AT, sound_page() };
	struct boot_context found;
	struct process_stat stat;
	struct err err;

	(void)state;
	assert_int_equal(stat_read(getpid(), getpid(), &stat, &err), 0);
	play_the_target(&resident.page);
	resident.page.context = CONTEXT;
	resident.page.holder_pid = getpid();
	resident.page.holder_start = stat.start_tick;
	put(&resident.page, AT);
	put_context(&sound);
	assert_int_equal(resident_await_rest(&target, &resident, &found), -EBUSY);
}

#define WITH_MEMORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_MEMORY(finds_the_page_in_the_data_of_the_library),
		WITH_MEMORY(finds_none_elsewhere),
		WITH_MEMORY(names_a_page_that_makes_no_sense),
		WITH_MEMORY(ends_every_text),
		WITH_MEMORY(needs_the_whole_page),
		WITH_MEMORY(tells_two_agents_apart),
		WITH_MEMORY(is_held_while_the_control_thread_runs),
		WITH_MEMORY(knows_a_holder_by_number_and_birth),
		WITH_MEMORY(takes_over_a_region_that_rests),
		WITH_MEMORY(does_not_take_from_a_host_that_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
