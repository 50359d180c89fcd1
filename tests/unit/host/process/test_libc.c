/*
 * Which C library and which GPU runtimes, from maps alone and from memory.
 */
#include "unit.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/process/libc/libc.h"
#include "host/process/maps.h"
#include "host/process/memory.h"

#define LINE(address, offset, path) address " r-xp 0000" offset " fe:00 7 " path "\n"

static struct libc find(const char *text, uint64_t base, uint64_t headers)
{
	const uint64_t words[] = { AT_BASE, base, AT_PHDR, headers, AT_NULL, 0 };
	CLEANUP(maps_done) struct maps maps = { 0 };
	struct libc_cache cache = { 0 };
	struct libc libc;
	struct auxv auxv;
	struct err err;

	assert_int_equal(maps_parse(text, strlen(text), &maps, &err), 0);
	assert_int_equal(auxv_parse(words, sizeof(words), &auxv, &err), 0);
	libc_find(&maps, &auxv, /* memory */ -1, &cache, &libc);
	return libc;
}

static void recognises_flavours_by_name(void **state)
{
	static const char program[] = LINE("1000-2000", "0000", "/bin/x");
	static const struct {
		const char *lines;
		uint64_t base, headers;
		enum libc_flavour flavour;
		uint64_t found_at;
	} cases[] = {
		{ LINE("3000-4000", "0000", "/lib/libc.so.6")
			  LINE("5000-6000", "0000", "/lib/ld-linux.so.2"),
		  0x5000, 0x1040, LIBC_GLIBC, 0x3000 },
		{ LINE("3000-4000", "0000", "/lib/libc-2.31.so (deleted)")
			  LINE("5000-6000", "0000", "/lib/ld-2.31.so"),
		  0x5000, 0x1040, LIBC_GLIBC, 0x3000 },
		{ LINE("3000-4000", "0000", "/lib/ld-musl-x86_64.so.1"), 0x3000, 0x1040, LIBC_MUSL,
		  0x3000 },
		{ LINE("3000-4000", "0000", "/usr/lib/musl/libc.so"), 0x3000, 0x1040, LIBC_MUSL,
		  0x3000 },
		{ LINE("3000-4000", "0000", "/lib/ld-linux.so.2"), 0x3000, 0x1040, LIBC_NOT_YET,
		  0 },
		{ LINE("3000-4000", "0000", "/system/bin/linker64"), 0x3000, 0x1040, LIBC_OTHER,
		  0 },
		{ "", 0, 0x1040, LIBC_NONE, 0 },
		/* A static program that loaded a second libc for user names. */
		{ LINE("3000-4000", "0000", "/lib/libc.so.6"), 0, 0x1040, LIBC_NONE, 0 },
		/* ld.so run as a command. */
		{ LINE("3000-4000", "0000", "/lib/libc.so.6")
			  LINE("5000-6000", "0000", "/lib/ld-linux.so.2"),
		  0, 0x5040, LIBC_GLIBC, 0x3000 },
		/* Two copies: the upper one came first. */
		{ LINE("3000-4000", "0000", "/lib/libc.so.6")
			  LINE("5000-6000", "0000", "/lib/libc.so.6")
				  LINE("7000-8000", "0000", "/lib/ld-linux.so.2"),
		  0x7000, 0x1040, LIBC_GLIBC, 0x5000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[1024];
		struct libc libc;

		snprintf(text, sizeof(text), "%s%s", program, cases[i].lines);
		libc = find(text, cases[i].base, cases[i].headers);
		assert_int_equal(libc.flavour, cases[i].flavour);
		assert_int_equal(libc.base, cases[i].found_at);
	}
}

static void knows_nothing_without_rights(void **state)
{
	(void)state;
	assert_int_equal(find("", 0x1000, 0x1040).flavour, LIBC_UNKNOWN);
}

static void sees_a_separate_thread_library(void **state)
{
	struct libc libc = find(LINE("1000-2000", "0000", "/lib/libc-2.31.so")
					LINE("3000-4000", "0000", "/lib/libpthread-2.31.so")
						LINE("5000-6000", "0000", "/lib/ld-2.31.so"),
				0x5000, 0x1040);

	(void)state;
	assert_true(libc.has_libpthread);
}

static void finds_versions_in_the_bytes_of_a_library(void **state)
{
	static const char glibc[] =
		"xx\0GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n";
	static const char devel[] =
		"GNU C Library (GNU libc) development release version 2.43.9000.";
	static const char musl[] = "1.1.1\0/etc/1.2.3\0\0001.2\0001.2.5\0";
	struct libc libc = { .flavour = LIBC_GLIBC };

	(void)state;
	assert_true(libc_version_search(glibc, sizeof(glibc), &libc));
	assert_int_equal(libc.major, 2);
	assert_int_equal(libc.minor, 36);
	assert_true(libc_version_search(devel, sizeof(devel), &libc));
	assert_int_equal(libc.minor, 43);
	assert_false(libc_version_search(glibc, 50, &libc));
	libc = (struct libc){ .flavour = LIBC_MUSL };
	assert_true(libc_version_search(musl, sizeof(musl), &libc));
	assert_int_equal(libc.minor, 2);
	assert_int_equal(libc.patch, 5);
	assert_false(libc_version_search(musl, 10, &libc));
}

static void finds_our_own_libc_and_remembers_it(void **state)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	CLEANUP(close) int memory = memory_open(getpid());
	struct libc_cache cache = { 0 };
	struct libc libc, again;
	struct auxv auxv;
	struct err err;

	(void)state;
	assert_int_equal(maps_read(getpid(), &maps, &err), 0);
	assert_int_equal(auxv_read(getpid(), &auxv, &err), 0);
	libc_find(&maps, &auxv, memory, &cache, &libc);
	assert_true(libc.flavour == LIBC_GLIBC || libc.flavour == LIBC_MUSL);
	assert_true(libc.major > 0);
	assert_int_equal(cache.count, 1);
	libc_find(&maps, &auxv, memory, &cache, &again);
	assert_memory_equal(&libc, &again, sizeof(libc));
	assert_int_equal(cache.count, 1);
}

static void recognises_gpu_runtimes(void **state)
{
	static const char text[] = LINE("1000-2000", "0000", "/opt/rocm/lib/libamdhip64.so.6")
		LINE("2000-3000", "0000", "/usr/lib/libhsa-runtime64.so.1.14.0 (deleted)")
			LINE("3000-4000", "0000", "/usr/lib/libcudart_static_looking.so")
				LINE("4000-5000", "0000", "/usr/lib/notlibOpenCL.so");
	CLEANUP(maps_done) struct maps maps = { 0 };
	struct err err;
	char words[64];

	(void)state;
	assert_int_equal(maps_parse(text, strlen(text), &maps, &err), 0);
	assert_int_equal(runtimes_find(&maps), 1u << RUNTIME_HIP | 1u << RUNTIME_HSA);
	assert_string_equal(runtimes_describe(runtimes_find(&maps), words, sizeof(words)),
			    "hip,hsa");
	assert_string_equal(runtimes_describe(0, words, sizeof(words)), "");
	assert_string_equal(runtimes_describe(15, words, 6), "hip,h");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recognises_flavours_by_name),
		cmocka_unit_test(knows_nothing_without_rights),
		cmocka_unit_test(sees_a_separate_thread_library),
		cmocka_unit_test(finds_versions_in_the_bytes_of_a_library),
		cmocka_unit_test(finds_our_own_libc_and_remembers_it),
		cmocka_unit_test(recognises_gpu_runtimes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
