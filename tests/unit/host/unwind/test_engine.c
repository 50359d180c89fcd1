/*
 * Whose code lies in a mapping without a file.
 */
#include "unit.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared/wire/boot.h"

#include "host/unwind/engine.h"

static struct module modules[2];
static struct space_range ranges[] = {
	{ .start = 0x1000, .end = 0x2000, .module = &modules[0] },
	{ .start = 0x3000, .end = 0x4000, .module = &modules[1] },
};
static const struct space space = { .ranges = ranges, .count = ARRAY_SIZE(ranges) };

static const char *name_of(const char *path, const char *beside)
{
	static char own[64], other[64];

	snprintf(own, sizeof(own), "%s", path);
	snprintf(other, sizeof(other), "%s", beside);
	modules[0] = (struct module){ .kind = MODULE_ANONYMOUS, .path = own };
	modules[1] = (struct module){ .kind = MODULE_FILE, .path = other, .is_object = true };
	return engine_of(&space, &ranges[0])->path;
}

static void knows_a_runtime_by_its_file(void **state)
{
	(void)state;
	assert_string_equal(name_of("", "/usr/bin/luajit-2.1"), "[JIT of luajit]");
	assert_string_equal(name_of("[anon:v8]", "/usr/bin/luajit-2.1"), "[JIT of V8]");
	assert_string_equal(name_of("", "/srv/wasmtime/linux-x86_64/_libwasmtime.so"),
			    "[JIT of wasmtime]");
	assert_string_equal(name_of("", "/usr/bin/true"), "[JIT]");
	assert_string_equal(name_of("", "/usr/lib/sbcl/sbcl.core"), "[JIT of sbcl]");
}

/* In this very process: code that any JIT has made is libffi's only where it jumps to libffi. */
static void knows_closures_of_libffi_by_where_they_jump(void **state)
{
	uint64_t *code =
		mmap(NULL, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char nameless[] = "", ffi[] = "/usr/lib/libffi.so.8.1.2", xul[] = "/opt/firefox/libxul.so";
	const struct module made = { .kind = MODULE_ANONYMOUS, .path = nameless };
	const struct module library = { .kind = MODULE_FILE, .path = ffi, .is_object = true };
	const struct module browser = { .kind = MODULE_FILE, .path = xul, .is_object = true };
	struct space_range all[] = {
		{ .start = (uintptr_t)code, .end = (uintptr_t)code + 0x2000, .module = &made },
		{ .start = 0x5000, .end = 0x6000, .module = &library },
		{ .start = 0x7000, .end = 0x8000, .module = &browser },
	};
	struct space here = { .pid = getpid(), .ranges = all, .count = 2 };

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_string_equal(engine_of(&here, &all[0])->path, "[JIT]");
	code[700] = 0x4fff;
	assert_string_equal(engine_of(&here, &all[0])->path, "[JIT]");
	code[701] = 0x5123;
	assert_string_equal(engine_of(&here, &all[0])->path, "[JIT of libffi]");
	here.count = 3;
	assert_string_equal(engine_of(&here, &all[0])->path, "[JIT of Firefox]");
	munmap(code, 0x2000);
}

/* A file that a runtime has laid its code into; others, as those of Windows, have names of their
 * own. */
static void knows_an_image_of_a_runtime(void **state)
{
	static char image[] = "/usr/lib/sbcl/sbcl.core", other[] = "/opt/kernel32.dll";

	(void)state;
	assert_true(engine_has_image(&(struct module){ .kind = MODULE_FILE, .path = image }));
	assert_false(engine_has_image(
		&(struct module){ .kind = MODULE_FILE, .path = image, .is_object = true }));
	assert_false(engine_has_image(&(struct module){ .kind = MODULE_FILE, .path = other }));
	assert_false(engine_has_image(&(struct module){ .kind = MODULE_ANONYMOUS, .path = image }));
}

static void knows_what_limpet_brought(void **state)
{
	(void)state;
	assert_string_equal(name_of("/memfd:limpet-agent (deleted)", "/usr/bin/luajit"),
			    "[limpet]");
	assert_string_equal(name_of("/memfd:liblimpet-tracer.so (deleted)", "/usr/bin/true"),
			    "[limpet]");
	assert_string_equal(name_of("/memfd:limpets (deleted)", "/usr/bin/true"), "[JIT]");
	assert_string_equal(engine_by_path("[limpet]")->path, "[limpet]");
}

/* In this very process. */
static void knows_bootstrap_code(void **state)
{
	char *region =
		mmap(NULL, REGION_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char nameless[] = "";
	const struct module module = { .kind = MODULE_ANONYMOUS, .path = nameless };
	struct space_range range = { .start = (uintptr_t)region + REGION_CODE,
				     .end = (uintptr_t)region + REGION_SIZE,
				     .module = &module };
	const struct space here = { .pid = getpid(), .ranges = &range, .count = 1 };
	struct boot_context *context = (void *)(region + REGION_DATA + DATA_CONTEXT);

	(void)state;
	assert_ptr_not_equal(region, MAP_FAILED);
	assert_string_equal(engine_of(&here, &range)->path, "[JIT]");
	context->magic = BOOT_MAGIC;
	assert_string_equal(engine_of(&here, &range)->path, "[JIT]");
	context->region = (uintptr_t)region;
	assert_string_equal(engine_of(&here, &range)->path, "[limpet]");
	range.end -= 0x1000;
	assert_string_equal(engine_of(&here, &range)->path, "[JIT]");
	munmap(region, REGION_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_closures_of_libffi_by_where_they_jump),
		cmocka_unit_test(knows_a_runtime_by_its_file),
		cmocka_unit_test(knows_an_image_of_a_runtime),
		cmocka_unit_test(knows_what_limpet_brought),
		cmocka_unit_test(knows_bootstrap_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
