/*
 * Functions that a driver exports only by name are hooked when the application queries their
 * addresses while limpet is attached. An application that has an address from before enqueues with
 * it unseen, and device times would break the order of its commands. Since it must have queried the
 * name, the read-only memory of all modules is searched for such names. Runs on limpet's thread.
 */
#include "shared/arch/syscall.h"
#include "target/domains/opencl/opencl.h"
#include "target/hooks/got/got.h"
#include "target/hooks/module.h"
#include "target/runtime/text.h"

#include <fcntl.h>

#define PREFIX    "clEnqueue"
#define NAMES_MAX 32u
#define NAME_ROOM 64u
#define PIECE     65536u /* bytes of a file; the end of the piece before precedes these */
#define NOTES_MAX 1024u

typedef void *get_address(const char *name);
typedef void *get_address_for(opencl_object platform, const char *name);

struct names {
	char items[NAMES_MAX][NAME_ROOM];
	unsigned count;
	bool is_full;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Functions of the table are hooked there. */
static bool is_of_table(const char *name)
{
	for (unsigned i = 0; i < OPENCL_SLOTS; i++)
		if (text_equal(opencl_names[i], name))
			return true;
	return false;
}

static bool is_known(const struct names *names, const char *name)
{
	for (unsigned i = 0; i < names->count; i++)
		if (text_equal(names->items[i], name))
			return true;
	return false;
}

/* Notes a string that begins with the prefix and consists of letters, digits and underscores. */
static void name_note(struct names *names, const char *text, size_t room)
{
	char name[NAME_ROOM] = "";
	size_t length = 0;

	while (length < room && length < NAME_ROOM && is_letter(text[length]))
		length++;
	if (length == room || length == NAME_ROOM || text[length])
		return;
	text_add(name, sizeof(name), 0, text);
	if (is_of_table(name) || is_known(names, name))
		return;
	names->is_full |= names->count == NAMES_MAX;
	if (names->count < NAMES_MAX)
		text_add(names->items[names->count++], NAME_ROOM, 0, name);
}

static bool name_begins(const char *text)
{
	for (size_t i = 0; i < sizeof(PREFIX) - 1; i++)
		if (text[i] != PREFIX[i])
			return false;
	return true;
}

static void names_search(struct names *names, const char *start, size_t size)
{
	for (size_t i = 0; i + sizeof(PREFIX) < size; i++)
		if (start[i] == PREFIX[0] && name_begins(start + i) &&
		    (!i || !is_letter(start[i - 1])))
			name_note(names, start + i, size - i);
}

static char piece[NAME_ROOM + PIECE];

static long read_at(int fd, void *into, size_t size, uint64_t offset)
{
	return raw4(SYS_pread64, fd, into, size, offset);
}

/* Each piece begins with the end of the piece before, because a name may lie across both. */
static void search_file(struct names *names, int fd, uint64_t offset, uint64_t size)
{
	size_t kept = 0;
	long got;

	while (size) {
		got = read_at(fd, piece + kept, MIN(size, (uint64_t)PIECE), offset);
		if (got <= 0)
			return;
		names_search(names, piece, kept + (size_t)got);
		offset += (uint64_t)got;
		size -= (uint64_t)got;
		for (size_t i = 0; i < NAME_ROOM && kept + (size_t)got >= NAME_ROOM; i++)
			piece[i] = piece[kept + (size_t)got - NAME_ROOM + i];
		kept = kept + (size_t)got >= NAME_ROOM ? NAME_ROOM : 0;
	}
}

static bool is_same(const struct loaded_module *module, const Elf64_Phdr *notes, int fd)
{
	const char *there = (const char *)(module->bias + notes->p_vaddr);

	if (read_at(fd, piece, notes->p_filesz, notes->p_offset) != (long)notes->p_filesz)
		return false;
	for (size_t i = 0; i < notes->p_filesz; i++)
		if (piece[i] != there[i])
			return false;
	return true;
}

/* Compares the ELF notes, which include the build ID. A module without notes cannot be verified. */
static bool is_its_file(const struct loaded_module *module, int fd)
{
	bool has_notes = false;

	for (size_t i = 0; i < module->header_count; i++) {
		const Elf64_Phdr *header = &module->headers[i];

		if (header->p_type != PT_NOTE || header->p_filesz > NOTES_MAX)
			continue;
		if (!is_same(module, header, fd))
			return false;
		has_notes = true;
	}
	return has_notes;
}

static int open_file(const char *path, const struct loaded_module *module)
{
	const char *file = *path ? path : "/proc/self/exe";
	int fd = (int)raw3(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && !is_its_file(module, fd)) {
		raw1(SYS_close, fd);
		fd = -1;
	}
	return fd;
}

/* Skips drivers and loaders, which contain every name. */
static void search_module(const char *path, const struct loaded_module *module, void *context)
{
	int fd;

	if (module_exports(module, "clGetExtensionFunctionAddress"))
		return;
	fd = open_file(path, module);
	for (size_t i = 0; i < module->header_count; i++) {
		const Elf64_Phdr *header = &module->headers[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_R) ||
		    header->p_flags & PF_W)
			continue;
		if (fd >= 0)
			search_file(context, fd, header->p_offset, header->p_filesz);
		else
			names_search(context, (const char *)(module->bias + header->p_vaddr),
				     header->p_filesz);
	}
	if (fd >= 0)
		raw1(SYS_close, fd);
}

/* A driver implements one of these two query functions, or both. */
static bool has_function(const struct opencl_vendor *vendor, const char *name)
{
	get_address *ask = (get_address *)vendor->functions[ENTRY_clGetExtensionFunctionAddress];
	get_address_for *ask_for =
		(get_address_for *)
			vendor->functions[ENTRY_clGetExtensionFunctionAddressForPlatform];

	return (ask && ask(name)) ||
	       (ask_for && vendor->platform && ask_for(vendor->platform, name));
}

bool bypass_is_possible(const struct opencl_vendor *vendor)
{
	static struct names names;

	names.count = 0;
	names.is_full = false;
	got_each_module(search_module, &names);
	for (unsigned i = 0; i < names.count; i++)
		if (has_function(vendor, names.items[i]))
			return true;
	return names.is_full;
}
