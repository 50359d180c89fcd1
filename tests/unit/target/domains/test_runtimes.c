/*
 * The tables of runtimes, hooked by the order of their slots.
 */
#include "unit.h"

#include "shared/wire/page.h"
#include "target/amd/engine.h"
#include "target/amd/registry.h"
#include "target/amd/sinks/ring/ring.h"
#include "target/amd/tables/call.h"
#include "target/hooks/got/got.h"
#include "target/hooks/writer.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/tool/runtimes.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RINGS     4
#define RING_SIZE 65536
#define SLOTS     512
#define PAGE      4096

struct sized {
	uint64_t size;
	void *slots[SLOTS];
};
struct versioned {
	uint32_t major, size, step, reserved;
	void *slots[SLOTS];
};

static struct rings *rings;

static int answer(void)
{
	return 42;
}

static int other_answer(void)
{
	return 43;
}

static void fill(struct sized *table, unsigned count)
{
	memset(table, 0, sizeof(*table));
	table->size = 8 + 8 * count;
	for (unsigned i = 0; i < SLOTS; i++)
		table->slots[i] = (void *)answer; /* also behind its end */
}

static void fill_versioned(struct versioned *table, unsigned count)
{
	memset(table, 0, sizeof(*table));
	table->size = 16 + 8 * count;
	for (unsigned i = 0; i < SLOTS; i++)
		table->slots[i] = (void *)answer;
}

static void make_known(const char *name, void *table)
{
	memset(agent_page.tables, 0, sizeof(agent_page.tables));
	agent_page.table_count = 0;
	assert_int_equal(tables_note(name, 0, 0, &table, 1), 0);
}

static void consult(void)
{
}

static int setup(void **state)
{
	struct boot_libc functions = { .dlopen = (uint64_t)dlopen,
				       .dlclose = (uint64_t)dlclose,
				       .dlsym = (uint64_t)dlsym };
	struct rings layout;
	size_t size = rings_layout(RINGS, RING_SIZE, 4096, &layout);

	(void)state;
	rings = aligned_alloc(65536, size);
	if (!rings)
		return -1;
	memset(rings, 0, size);
	*rings = layout;
	agent_page.pid = getpid();
	libc_calls_use(&functions, NULL);
	return !sdk_prepare(&functions) || patches_open() || writers_open(rings, NULL) ||
	       got_open(4096, (const void *const[GOT_EXCLUDED_MAX]){ NULL });
}

static int teardown(void **state)
{
	(void)state;
	runtime_amd.stop(rings);
	hooks_off();
	got_close();
	patches_close();
	if (!writers_close())
		return -1;
	free(rings);
	return 0;
}

static struct hooks_report look(enum trace_domain domain)
{
	struct trace_request request = { .text = "" };
	struct hooks_report report = { 0 };

	request.is_wanted[domain] = true;
	ring_use_engine(limpet_agent_amd(sizeof(struct amd_engine)), consult);
	assert_true(runtime_amd.start(&request));
	got_update_modules();
	runtime_amd.scan(true, &report);
	return report;
}

static bool is_announced(const char *name)
{
	for (uint32_t i = 0; i < rings->function_count; i++)
		if (!strcmp(rings_functions(rings)[i].name, name))
			return true;
	return false;
}

static unsigned count_hooked(void *const *slots)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		count += call_slot_of((uint64_t)slots[i]) != NULL;
	return count;
}

static void as_many_slots_as_the_table_says(void **state)
{
	static struct sized table;

	(void)state;
	fill(&table, 442);
	make_known("hip", &table);
	assert_int_equal(look(DOMAIN_HIP_RUNTIME).hooked, 442);
	assert_int_equal(count_hooked(table.slots), 442);
	assert_true(is_announced("hipApiName"));
	assert_true(is_announced("hipTexRefGetArray"));
	assert_false(is_announced("hipGetProcAddress"));
	assert_int_equal(((int (*)(void))table.slots[215])(), 42);
}

static void newer_slots_have_numbers(void **state)
{
	static struct sized table;

	(void)state;
	fill(&table, 480);
	make_known("hip", &table);
	assert_int_equal(look(DOMAIN_HIP_RUNTIME).hooked, 480);
	assert_true(is_announced("hipMemGetHandleForAddressRange"));
	assert_true(is_announced("hip slot 477"));
	assert_true(is_announced("hip slot 479"));
}

static void a_longer_rccl_has_numbers_only(void **state)
{
	static struct sized table;

	(void)state;
	fill(&table, 38);
	make_known("rccl", &table);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 38);
	assert_true(is_announced("ncclAllReduceWithBias"));
	rings->function_count = 0;
	runtime_amd.stop(rings);
	fill(&table, 40);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 40);
	assert_true(is_announced("rccl slot 0"));
	assert_false(is_announced("ncclAllGather"));
}

static void hsa_has_the_parts_that_its_root_says(void **state)
{
	static struct versioned root, core, amd, finalizer;

	(void)state;
	fill_versioned(&core, 100);
	fill_versioned(&amd, 60);
	fill_versioned(&finalizer, 6);
	fill_versioned(&root, 2);
	root.slots[0] = &core;
	root.slots[1] = &amd;
	root.slots[2] = &finalizer; /* behind its end */
	make_known("hsa", &root);
	assert_int_equal(look(DOMAIN_HSA_CORE).hooked, 100);
	assert_int_equal(count_hooked(core.slots), 100);
	assert_int_equal(look(DOMAIN_HSA_AMD).hooked, 60);
	assert_int_equal(look(DOMAIN_HSA_FINALIZER).hooked, 0);
	assert_int_equal(count_hooked(root.slots), 0);
}

static void what_makes_no_sense_is_left_alone(void **state)
{
	static struct sized table;
	static const uint64_t sizes[] = { 0, 8, 15, UINT64_MAX, 1ull << 40 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(&table, 10);
		table.size = sizes[i];
		make_known("rccl", &table);
		assert_int_equal(look(DOMAIN_RCCL).hooked, 0);
	}
	make_known("rccl", (void *)0x1000);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 0);
	make_known("rccl", (char *)&table + 1);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 0);
}

/* A library was unmapped, and something else lies where its table was. */
static void memory_of_no_library_is_left_alone(void **state)
{
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *table = (uint64_t *)(pages + PAGE - 64);

	(void)state;
	assert_true(pages != MAP_FAILED);
	munmap(pages + PAGE, PAGE);
	table[0] = 8 + 8 * 38; /* more than there is */
	for (unsigned i = 1; i < 8; i++)
		table[i] = (uint64_t)answer;
	make_known("rccl", table);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 0);
	assert_int_equal(table[1], (uint64_t)answer);
	munmap(pages, PAGE);
}

static void what_leads_to_no_code_is_left_alone(void **state)
{
	static struct sized table;

	(void)state;
	fill(&table, 38);
	table.slots[5] = (void *)0x1234567;
	table.slots[6] = &table;
	make_known("rccl", &table);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 36);
	assert_ptr_equal(table.slots[5], (void *)0x1234567);
	assert_ptr_equal(table.slots[6], &table);
}

/* Longer than before, then shorter: what is behind its end is put back nevertheless. */
static void a_table_that_grows_and_shrinks(void **state)
{
	static struct sized table;
	struct hooks_report report = { 0 };

	(void)state;
	fill(&table, 400);
	make_known("hip", &table);
	assert_int_equal(look(DOMAIN_HIP_RUNTIME).hooked, 400);
	table.size = 8 + 8 * 450;
	runtime_amd.scan(false, &report);
	assert_int_equal(report.hooked, 50);
	table.size = 8 + 8 * 10;
	runtime_amd.scan(false, &report);
	rings->words_restored = 0;
	runtime_amd.stop(rings);
	assert_int_equal(rings->words_restored, 450);
	assert_int_equal(count_hooked(table.slots), 0);
}

static void a_slot_that_was_reset_is_hooked_again(void **state)
{
	static struct sized table;
	struct hooks_report report = { 0 };

	(void)state;
	fill(&table, 38);
	make_known("rccl", &table);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 38);
	table.slots[3] = (void *)answer;       /* as the runtime itself does */
	table.slots[4] = (void *)other_answer; /* another tool */
	runtime_amd.scan(false, &report);
	assert_int_equal(report.hooked, 1);
	assert_non_null(call_slot_of((uint64_t)table.slots[3]));
	assert_ptr_equal(table.slots[4], other_answer);
}

static void what_another_tool_has_put_there_is_called(void **state)
{
	static struct sized table;

	(void)state;
	fill(&table, 38);
	table.slots[1] = (void *)other_answer;
	make_known("rccl", &table);
	assert_int_equal(look(DOMAIN_RCCL).hooked, 38);
	assert_int_equal(((int (*)(void))table.slots[1])(), 43);
}

/* Else its imports would never be hooked. */
static void a_library_that_comes_between_two_scans_is_still_to_be_scanned(void **state)
{
	static struct sized table;
	struct hooks_report report;
	void *library;

	(void)state;
	fill(&table, 38);
	make_known("rccl", &table);
	look(DOMAIN_RCCL);
	got_scan(&report, /* reads_code */ true);
	assert_false(got_has_changed());
	library = dlopen("libresolv.so.2", RTLD_NOW);
	assert_non_null(library);
	for (unsigned i = 0; i < 2; i++) {
		runtime_amd.scan(false, &report);
		assert_true(got_has_module("libresolv.so*"));
		assert_true(got_has_changed());
	}
	got_scan(&report, /* reads_code */ true);
	assert_false(got_has_changed());
	dlclose(library);
	assert_true(got_has_changed());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A number of a device or queue tells whose it is. */
static void numbers_of_runtimes_do_not_meet(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RUNTIMES; i++)
		for (unsigned j = i + 1; j < RUNTIMES; j++) {
			const struct number_range *a = &runtimes[i]->numbers,
						  *b = &runtimes[j]->numbers;

			assert_true(!a->count || !b->count || a->first + a->count <= b->first ||
				    b->first + b->count <= a->first);
		}
}

/* Each fits its part in the session's memory, and all fit together. */
static void notes_of_runtimes_fit(void **state)
{
	size_t count = 1;

	(void)state;
	for (unsigned i = 0; i < RUNTIMES; i++) {
		count += runtimes[i]->note_count;
		for (size_t j = 0; j < runtimes[i]->note_count; j++)
			assert_true(strlen(runtimes[i]->notes[j].text) < TRACE_NOTE_TEXT_MAX);
	}
	assert_true(count <= TRACE_NOTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_runtimes_do_not_meet),
		cmocka_unit_test(notes_of_runtimes_fit),
		TEST(as_many_slots_as_the_table_says),
		TEST(newer_slots_have_numbers),
		TEST(a_longer_rccl_has_numbers_only),
		TEST(hsa_has_the_parts_that_its_root_says),
		TEST(what_makes_no_sense_is_left_alone),
		TEST(memory_of_no_library_is_left_alone),
		TEST(what_leads_to_no_code_is_left_alone),
		TEST(a_table_that_grows_and_shrinks),
		TEST(a_slot_that_was_reset_is_hooked_again),
		TEST(what_another_tool_has_put_there_is_called),
		TEST(a_library_that_comes_between_two_scans_is_still_to_be_scanned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
