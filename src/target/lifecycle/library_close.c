/*
 * Replaces the library's own GOT entry of __cxa_finalize by a function of limpet's just before
 * dlclose. If the library stays (the target uses it, too), that was not called, and the entry is
 * restored. glibc only; musl never unmaps a library. Runs on the runner's thread, one at a time.
 */
#include "target/lifecycle/library_close.h"

#include "shared/arch/syscall.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/readable.h"
#include "target/runtime/text.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <sys/mman.h>

#define SLOTS_MAX 4

typedef void finalize_function(void *);

/* The needed parts of a library's dynamic section. */
struct tables {
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Rela *lists[2];
	size_t counts[2];
};

/* The library being closed, and its entries with the address of libc's function: one for testing
 * whether it exists, one for calling it. */
static struct {
	finalize_function **slots[SLOTS_MAX];
	unsigned slot_count;
	uint64_t page_size;
	bool was_called;
} now;

static void finalize_in_place(void *dso_handle)
{
	now.was_called = true;
	libc_finalize(dso_handle);
}

static void read_tables(const Elf64_Dyn *dynamic, struct tables *ret)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *address = (const void *)dynamic->d_un.d_ptr; /* relocated by glibc */

		if (dynamic->d_tag == DT_SYMTAB)
			ret->symbols = address;
		else if (dynamic->d_tag == DT_STRTAB)
			ret->strings = address;
		else if (dynamic->d_tag == DT_RELA)
			ret->lists[0] = address;
		else if (dynamic->d_tag == DT_JMPREL)
			ret->lists[1] = address;
		else if (dynamic->d_tag == DT_RELASZ)
			ret->counts[0] = dynamic->d_un.d_val / sizeof(Elf64_Rela);
		else if (dynamic->d_tag == DT_PLTRELSZ)
			ret->counts[1] = dynamic->d_un.d_val / sizeof(Elf64_Rela);
	}
}

static void find_slots(const struct link_map *library, finalize_function *finalize)
{
	struct tables tables = { 0 };

	now.slot_count = 0;
	read_tables(library->l_ld, &tables);
	for (unsigned i = 0; tables.symbols && tables.strings && i < 2; i++) {
		for (size_t at = 0; tables.lists[i] && at < tables.counts[i]; at++) {
			const Elf64_Rela *entry = &tables.lists[i][at];
			const Elf64_Sym *symbol = &tables.symbols[ELF64_R_SYM(entry->r_info)];
			finalize_function **slot =
				(finalize_function **)(library->l_addr + entry->r_offset);

			if (ELF64_R_SYM(entry->r_info) && now.slot_count < SLOTS_MAX &&
			    *slot == finalize &&
			    text_equal(tables.strings + symbol->st_name, "__cxa_finalize"))
				now.slots[now.slot_count++] = slot;
		}
	}
}

static bool learn_page_size(void)
{
	int (*page_size)(void) = libc_symbol(RTLD_DEFAULT, "getpagesize");

	now.page_size = page_size ? (uint64_t)page_size() : 0;
	return now.page_size;
}

/* A library is mapped from its ELF header on; program headers name its read-only whole pages. */
static bool is_protected(const struct link_map *library, const void *address)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)library->l_addr;
	const Elf64_Phdr *part = (const Elf64_Phdr *)(library->l_addr + head->e_phoff);
	uint64_t offset = (uint64_t)address - library->l_addr;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		uint64_t end = part[i].p_vaddr + part[i].p_memsz;

		if (part[i].p_type == PT_GNU_RELRO &&
		    offset >= ALIGN_DOWN(part[i].p_vaddr, now.page_size) &&
		    offset < ALIGN_DOWN(end, now.page_size))
			return true;
	}
	return false;
}

static void slot_store(const struct link_map *library, finalize_function **slot,
		       finalize_function *value)
{
	bool must_open = is_protected(library, slot);
	uint64_t page = ALIGN_DOWN((uint64_t)slot, now.page_size);

	if (must_open && raw3(SYS_mprotect, page, now.page_size, PROT_READ | PROT_WRITE) < 0)
		return; /* then __cxa_finalize is called directly */
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (must_open)
		raw3(SYS_mprotect, page, now.page_size, PROT_READ);
}

static void store_all(const struct link_map *library, finalize_function *value)
{
	for (unsigned i = 0; i < now.slot_count; i++)
		slot_store(library, now.slots[i], value);
}

int tool_library_close(const struct boot_libc *libc, void *handle)
{
	const struct link_map *library = handle; /* a handle of glibc's is a link_map */
	finalize_function *finalize = (finalize_function *)libc->__cxa_finalize;
	int r;

	if (!libc->__register_atfork || !learn_page_size())
		return libc_close(handle);
	now.was_called = false;
	find_slots(library, finalize);
	store_all(library, finalize_in_place);
	r = libc_close(handle);
	/* The library may stay, because the target uses it, too. */
	if (now.slot_count && !now.was_called && is_readable((uint64_t)now.slots[0]))
		store_all(library, finalize);
	return r;
}
