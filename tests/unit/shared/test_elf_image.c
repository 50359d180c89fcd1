/*
 * ELF objects in memory: our own libc and vdso, where the loader itself can be asked for the right
 * answer, and objects made here.
 */
#include "unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shared/arch/elf.h"
#include "shared/elf/image.h"

/* Memory of our own, read as a foreign process's: a wrong address fails. */
static int read_ourselves(void *context, uint64_t address, void *into, size_t size)
{
	struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	(void)context;
	return n == (ssize_t)size ? 0 : -EFAULT;
}

static const struct memory_reader ourselves = { read_ourselves, NULL };

/* A made-up object, at the address BASE. */
#define BASE   0x70000000ull
#define CODE   0x1000u
#define OBJECT (CODE + 3 * 16384u)

struct made_file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
};

static union {
	struct made_file file;
	unsigned char bytes[OBJECT];
} made;

static int read_made(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	if (address < BASE || address - BASE > OBJECT || size > OBJECT - (address - BASE))
		return -EFAULT;
	memcpy(into, made.bytes + (address - BASE), size);
	return 0;
}

static const struct memory_reader made_reader = { read_made, NULL };

/* Headers in the first page, then code; all bytes 0x55. */
static void make(void)
{
	struct made_file file = { 0 };

	memset(&made, 0x55, sizeof(made));
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_machine = ARCH_ELF_MACHINE;
	file.header.e_phoff = offsetof(struct made_file, segments);
	file.header.e_phentsize = sizeof(Elf64_Phdr);
	file.header.e_phnum = 2;
	file.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = 0x1000, .p_memsz = 0x1000 };
	file.segments[1] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_X,
		.p_offset = CODE,
		.p_vaddr = CODE,
		.p_filesz = OBJECT - CODE,
		.p_memsz = OBJECT - CODE,
	};
	made.file = file;
}

static void open_libc(struct elf_image *ret)
{
	Dl_info info;

	assert_int_not_equal(dladdr(dlsym(RTLD_NEXT, "gnu_get_libc_version"), &info), 0);
	assert_int_equal(elf_image_open(ret, &ourselves, (uintptr_t)info.dli_fbase), 0);
}

static void finds_the_symbols_that_dlsym_finds(void **state)
{
	static const char *const names[] = {
		"pthread_create", "pthread_getspecific", "dlopen", "dlsym", "dlclose", "dlerror",
		"unsetenv",       "__progname",          "puts"
	};
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	struct elf_image image;

	(void)state;
	assert_non_null(libc);
	open_libc(&image);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t address = 0;

		assert_int_equal(elf_image_symbol(&image, names[i], &address), 0);
		assert_ptr_equal((void *)(uintptr_t)address, dlsym(libc, names[i]));
		assert_true(address > image.base && address < image.end);
	}
	dlclose(libc);
}

static void does_not_find_what_is_not_there(void **state)
{
	static const char *const names[] = { "", "pthread_creat", "pthread_create2", "puts ",
					     "a_name_that_is_longer_than_any_name_that_limpet_"
					     "ever_looks_for_in_a_library" };
	struct elf_image image;
	uint64_t address = 7;

	(void)state;
	open_libc(&image);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(elf_image_symbol(&image, names[i], &address), -ENOENT);
	assert_int_equal(address, 7);
}

/* errno is a symbol of libc's whose value is an offset in its thread-local storage. */
static void finds_the_thread_local_storage_of_libc(void **state)
{
	struct elf_image image;
	uint64_t errno_value;
	int64_t offset;

	(void)state;
	open_libc(&image);
	assert_int_equal(elf_image_tls_offset(&image, &offset), 0);
	assert_int_equal(elf_image_symbol(&image, "errno", &errno_value), 0);
	assert_int_equal((char *)__errno_location() - (char *)__builtin_thread_pointer(),
			 offset + (int64_t)(errno_value - image.bias));
	assert_true(errno_value - image.bias < image.tls_memory_size);
	assert_true(image.tls_file_size <= image.tls_memory_size);
}

static bool is_code(const struct elf_image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->code_count; i++)
		if (address >= image->code[i].start &&
		    address - image->code[i].start < image->code[i].size)
			return true;
	return false;
}

static void assert_finds(const struct elf_image *image, const char *bytes, size_t size)
{
	uint64_t address;

	assert_int_equal(elf_image_find(image, bytes, size, &address), 0);
	assert_true(is_code(image, address));
	assert_int_equal(address % ARCH_CODE_ALIGNMENT, 0);
	assert_memory_equal((void *)(uintptr_t)address, bytes, size);
}

static void finds_the_instructions_that_attaching_needs(void **state)
{
	struct elf_image libc, vdso;
	uint64_t address;

	(void)state;
	open_libc(&libc);
	assert_finds(&libc, ARCH_SYSCALL_RETURN, sizeof(ARCH_SYSCALL_RETURN) - 1);
	assert_finds(&libc, ARCH_THREAD_EXIT, sizeof(ARCH_THREAD_EXIT) - 1);
	assert_int_equal(elf_image_open(&vdso, &ourselves, getauxval(AT_SYSINFO_EHDR)), 0);
	if (elf_image_find(&vdso, ARCH_SIGRETURN, sizeof(ARCH_SIGRETURN) - 1, &address))
		assert_finds(&libc, ARCH_SIGRETURN, sizeof(ARCH_SIGRETURN) - 1);
	else
		assert_finds(&vdso, ARCH_SIGRETURN, sizeof(ARCH_SIGRETURN) - 1);
}

static void reads_the_vdso(void **state)
{
	static const char *const names[] = { "__vdso_clock_gettime", "__kernel_clock_gettime" };
	void *handle = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	struct elf_image image;
	unsigned found = 0;

	(void)state;
	assert_int_equal(elf_image_open(&image, &ourselves, getauxval(AT_SYSINFO_EHDR)), 0);
	assert_false(image.has_interpreter);
	assert_int_equal(image.tls_memory_size, 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t address;

		if (elf_image_symbol(&image, names[i], &address))
			continue;
		found++;
		assert_true(is_code(&image, address));
		if (handle)
			assert_ptr_equal((void *)(uintptr_t)address, dlsym(handle, names[i]));
	}
	assert_int_equal(found, 1);
	if (handle)
		dlclose(handle);
}

static void reads_an_object_made_here(void **state)
{
	struct elf_image image;
	uint64_t address;
	int64_t offset;

	(void)state;
	make();
	assert_int_equal(elf_image_open(&image, &made_reader, BASE), 0);
	assert_int_equal(image.bias, BASE);
	assert_int_equal(image.end, BASE + OBJECT);
	assert_int_equal(image.code_count, 1);
	assert_int_equal(image.code[0].start, BASE + CODE);
	assert_int_equal(elf_image_symbol(&image, "any", &address), -ENOENT);
	assert_int_equal(elf_image_tls_offset(&image, &offset), -ENOENT);
}

/* The search goes piece by piece: nothing may hide where two pieces meet. */
static void finds_bytes_at_every_offset(void **state)
{
	static const char pattern[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct elf_image image;

	(void)state;
	make();
	assert_int_equal(elf_image_open(&image, &made_reader, BASE), 0);
	for (unsigned at = CODE; at + sizeof(pattern) <= OBJECT; at += 4) {
		uint64_t address = 0;

		/* All near the borders of pieces, few elsewhere. */
		if ((at - CODE + 64) % 16384 > 128 && at % 1024 && at + 64 < OBJECT)
			continue;
		memcpy(made.bytes + at, pattern, sizeof(pattern));
		assert_int_equal(elf_image_find(&image, pattern, sizeof(pattern), &address), 0);
		assert_int_equal(address, BASE + at);
		memset(made.bytes + at, 0x55, sizeof(pattern));
	}
	memcpy(made.bytes + CODE - sizeof(pattern), pattern, sizeof(pattern));
	assert_int_equal(elf_image_find(&image, pattern, sizeof(pattern), &(uint64_t){ 0 }),
			 -ENOENT);
}

static void passes_over_bytes_that_are_no_instruction(void **state)
{
	static const char pattern[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct elf_image image;
	uint64_t address;

	(void)state;
	make();
	memcpy(made.bytes + CODE + 101, pattern, sizeof(pattern));
	memcpy(made.bytes + CODE + 400, pattern, sizeof(pattern));
	assert_int_equal(elf_image_open(&image, &made_reader, BASE), 0);
	assert_int_equal(elf_image_find(&image, pattern, sizeof(pattern), &address), 0);
	assert_int_equal(address, BASE + CODE + (ARCH_CODE_ALIGNMENT == 1 ? 101 : 400));
}

static void refuses_nonsense(void **state)
{
	struct made_file files[11], good;
	struct elf_image image;

	(void)state;
	make();
	good = made.file;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		files[i] = good;
	files[0].header.e_ident[0] = 0;
	files[1].header.e_ident[EI_CLASS] = ELFCLASS32;
	files[2].header.e_machine = EM_68K;
	files[3].header.e_phnum = 0;
	files[4].header.e_phnum = 65;
	files[5].header.e_phentsize--;
	files[6].header.e_phoff = OBJECT;
	files[7].header.e_phoff = UINT64_MAX;
	files[8].segments[0].p_type = files[8].segments[1].p_type = PT_NOTE;
	files[9].segments[1].p_memsz = UINT64_MAX;
	files[10].segments[1].p_filesz++;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		made.file = files[i];
		assert_int_equal(elf_image_open(&image, &made_reader, BASE), -ENOEXEC);
	}
	made.file = good;
	assert_int_equal(elf_image_open(&image, &made_reader, BASE), 0);
	assert_int_equal(elf_image_open(&image, &made_reader, 0), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_symbols_that_dlsym_finds),
		cmocka_unit_test(does_not_find_what_is_not_there),
		cmocka_unit_test(finds_the_thread_local_storage_of_libc),
		cmocka_unit_test(finds_the_instructions_that_attaching_needs),
		cmocka_unit_test(reads_the_vdso),
		cmocka_unit_test(reads_an_object_made_here),
		cmocka_unit_test(finds_bytes_at_every_offset),
		cmocka_unit_test(passes_over_bytes_that_are_no_instruction),
		cmocka_unit_test(refuses_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
