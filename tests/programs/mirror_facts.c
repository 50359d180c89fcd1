/*
 * What a process can ask the kernel, libc and the loader about itself, for mirror.c: lines of text
 * that must be the same after a visit.  What can only be found out by using it up is found out in a
 * child of fork, which goes on in a copy.
 */
#define _GNU_SOURCE
#include "mirror_facts.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULES_MAX              64
#define NAME_BYTES               128
#define BLOCKS_MAX               256 /* of static TLS, 16 bytes each */
#define KEYS_MAX                 4096
#define LIBRARY_BYTES            (256u << 10)
#define MEMBARRIER_REGISTRATIONS 512
#define IOPRIO_PROCESS           1

#define FORK_WORDS   5  /* of an entry in glibc's list of fork handlers; four before 2.36 */
#define FORK_ENTRIES 48 /* of that list, before it moves to the heap */
#define EXIT_WORDS   4  /* of an entry in the list of exit(): flavour, function, argument, owner */
#define EXIT_ENTRIES 32
#define EXIT_CXA     4 /* flavour */

int __cxa_atexit(void (*function)(void *), void *argument, void *owner);

static void *own_library; /* which the program has opened, and will close in a child */

struct text {
	char *at;
	size_t room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *self, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsnprintf(self->at, self->room, format, arguments);
	va_end(arguments);
	if (count > 0 && (size_t)count < self->room) {
		self->at += count;
		self->room -= (size_t)count;
	}
}

/* Those that store their answer say so. */
static const struct {
	const char *name;
	int option;
	bool is_stored;
} settings[] = {
	{ "death_signal", 2, true },    { "dumpable", 3, false },
	{ "keepcaps", 7, false },       { "timing", 13, false },
	{ "seccomp", 21, false },       { "counter", 25, true },
	{ "securebits", 27, false },    { "slack", 30, false },
	{ "mce_kill", 34, false },      { "subreaper", 37, true },
	{ "no_new_privs", 39, false },  { "tid_address", 40, true },
	{ "thp_disable", 42, false },   { "vector_length", 51, false },
	{ "speculation", 52, false },   { "tagged", 56, false },
	{ "io_flusher", 58, false },    { "pointer_keys", 61, false },
	{ "matrix_length", 64, false }, { "mdwe", 66, false },
	{ "merging", 68, false },
};

static void add_settings(struct text *ret)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		uint64_t stored = 0;
		int r = prctl(settings[i].option, settings[i].is_stored ? &stored : 0, 0, 0, 0);

		if (r < 0)
			add(ret, " %s=e%d", settings[i].name, errno);
		else
			add(ret, " %s=%llx", settings[i].name,
			    settings[i].is_stored ? (unsigned long long)stored
						  : (unsigned long long)r);
	}
}

static void add_keyrings(struct text *ret)
{
	for (int special = -1; special >= -5; special--)
		add(ret, " keyring%d=%ld", special, syscall(SYS_keyctl, 0, special, 0));
}

static void add_scheduling(struct text *ret)
{
	uint64_t attributes[7] = { 0 }, processors[16] = { 0 }, nodes[16] = { 0 };
	int policy = -1;

	syscall(SYS_sched_getattr, 0, attributes, sizeof(attributes), 0);
	for (int i = 0; i < 7; i++)
		add(ret, " sched%d=%llx", i, (unsigned long long)attributes[i]);
	syscall(SYS_sched_getaffinity, 0, sizeof(processors), processors);
	syscall(SYS_get_mempolicy, &policy, nodes, 8 * sizeof(nodes), NULL, 0);
	add(ret, " affinity=%llx ioprio=%ld memory=%d/%llx", (unsigned long long)processors[0],
	    syscall(SYS_ioprio_get, IOPRIO_PROCESS, 0), policy, (unsigned long long)nodes[0]);
}

/* What libc has registered for this thread; glibc says where its area for rseq is. */
static void add_registrations(struct text *ret)
{
	const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
	void *head = NULL;
	size_t length = 0;

	syscall(SYS_get_robust_list, 0, &head, &length);
	add(ret, " robust=%p/%zu", head, length);
	if (offset && size && *size) {
		const volatile uint32_t *area =
			(const void *)((const char *)__builtin_thread_pointer() + *offset);

		add(ret, " rseq=%d/%x%x", (int32_t)area[1] >= 0, area[2], area[3]);
	}
}

void facts_of_thread(char *ret, size_t room)
{
	struct text text = { ret, room };

	add_settings(&text);
	add_keyrings(&text);
	add_scheduling(&text);
	add_registrations(&text);
}

struct modules {
	unsigned count;
	unsigned long long adds, subs;
	struct {
		char name[NAME_BYTES];
		size_t tls;
	} all[MODULES_MAX];
};

static int module_note(struct dl_phdr_info *info, size_t size, void *context)
{
	struct modules *self = context;

	(void)size;
	self->adds = info->dlpi_adds;
	self->subs = info->dlpi_subs;
	if (self->count == MODULES_MAX)
		return 1;
	snprintf(self->all[self->count].name, NAME_BYTES, "%s", info->dlpi_name);
	self->all[self->count++].tls = info->dlpi_tls_modid;
	return 0;
}

/* Can it be found by its name, as a library that is loaded? */
static bool is_open(const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);

	if (library)
		dlclose(library);
	return library != NULL;
}

static void loader_print(void)
{
	static struct modules modules;

	modules.count = 0;
	dl_iterate_phdr(module_note, &modules);
	for (unsigned i = 0; i < modules.count; i++)
		printf("module %s tls=%zu open=%d\n", modules.all[i].name, modules.all[i].tls,
		       is_open(modules.all[i].name));
	printf("loader adds=%llu subs=%llu left=%llu modules=%u\n", modules.adds, modules.subs,
	       modules.adds - modules.subs, modules.count);
}

static const char *beside_program(const char *name)
{
	static char path[PATH_MAX + NAME_BYTES];
	ssize_t size = readlink("/proc/self/exe", path, PATH_MAX);

	while (size > 0 && path[size - 1] != '/')
		size--;
	snprintf(path + (size > 0 ? size : 0), NAME_BYTES, "../programs/%s", name);
	return path;
}

static unsigned keys_count(void)
{
	pthread_key_t key;
	unsigned count = 0;

	while (count < KEYS_MAX && !pthread_key_create(&key, NULL))
		count++;
	return count;
}

#ifdef __GLIBC__
static int copy_make(const void *bytes, size_t size)
{
	int fd = memfd_create("tls_block", 0);

	return fd >= 0 && write(fd, bytes, size) == (ssize_t)size ? fd : -1;
}

/* Another copy of the library, whose descriptor stays open, is another module, with a block of
 * static TLS of its own. */
static bool copy_open(const void *bytes, size_t size)
{
	int fd = copy_make(bytes, size);
	char path[64];
	void *library;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	library = fd < 0 ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return library != NULL;
}

static unsigned blocks_count(void)
{
	static char bytes[LIBRARY_BYTES];
	int fd = open(beside_program("tls_block.so"), O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, bytes, sizeof(bytes));
	unsigned count = 0;

	close(fd);
	while (size > 0 && count < BLOCKS_MAX && copy_open(bytes, (size_t)size))
		count++;
	return count;
}
#endif

/* That of a library which is opened now. */
static size_t next_tls(void)
{
	static struct modules modules;
	size_t last = 0;

	dlopen(beside_program("tls_dynamic.so"), RTLD_NOW | RTLD_LOCAL);
	dl_iterate_phdr(module_note, &modules);
	for (unsigned i = 0; i < modules.count; i++)
		if (strstr(modules.all[i].name, "tls_dynamic.so"))
			last = modules.all[i].tls;
	return last;
}

static bool library_goes(void)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s", beside_program("plugin_0.so"));
	return own_library && !dlclose(own_library) && !is_open(name);
}

static void use_up(void)
{
	printf("child descriptor=%d keys=%u", dup(STDIN_FILENO), keys_count());
	printf(" tls=%zu", next_tls());
#ifdef __GLIBC__
	printf(" blocks=%u", blocks_count());
#endif
	printf(" closes=%d\n", library_goes());
}

/* It ends by exit(), so that handlers of the parent's run. */
static void child_print(void)
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		use_up();
		exit(0);
	}
	waitpid(child, &status, 0);
	printf("child status=%d\n", status);
}

/* Writable data of the module that has this address. */
struct data {
	const void *inside;
	uintptr_t *begin, *end;
};

static int data_find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct data *self = context, found = { 0 };
	bool is_it = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		is_it |= (uintptr_t)self->inside - begin < part->p_memsz;
		if (part->p_flags & PF_W) {
			found.begin = (uintptr_t *)((begin + 7) & ~7ul);
			found.end = (uintptr_t *)((begin + part->p_memsz) & ~7ul);
		}
	}
	if (is_it)
		*self = found;
	return is_it;
}

static int handlers_at_exit(const struct data *libc, const void *owner)
{
	int count = 0;

	for (const uintptr_t *at = libc->begin + EXIT_WORDS; at < libc->end; at++)
		if (*at == (uintptr_t)owner && at[1 - EXIT_WORDS] == EXIT_CXA)
			for (const uintptr_t *entry = at + 1 - EXIT_WORDS;
			     entry + EXIT_WORDS < libc->end && *entry <= EXIT_CXA &&
			     count < EXIT_ENTRIES;
			     entry += EXIT_WORDS)
				count += *entry == EXIT_CXA;
	return count ? count : -1;
}

static int handlers_before(const uintptr_t *own, unsigned words)
{
	for (unsigned i = 0; i < FORK_ENTRIES; i++, own -= words)
		if (own[-1] == (uintptr_t)own)
			return (int)own[-3];
	return -1;
}

static int handlers_at_fork(const struct data *libc, const uintptr_t own[3])
{
	for (const uintptr_t *at = libc->begin + FORK_ENTRIES * FORK_WORDS; at + 3 < libc->end;
	     at++)
		if (at[0] == own[0] && at[1] == own[1] && at[2] == own[2]) {
			int count = handlers_before(at, FORK_WORDS);

			return count < 0 ? handlers_before(at, FORK_WORDS - 1) : count;
		}
	return -1;
}

static char owner;

static void before_fork(void)
{
}

static void after_fork(void)
{
}

static void in_child(void)
{
}

static void at_exit(void *unused)
{
	(void)unused;
}

/* Those that libc calls later, where its lists are as glibc has them; -1: they are not. */
static void handlers_print(void)
{
	const uintptr_t own[3] = { (uintptr_t)before_fork, (uintptr_t)after_fork,
				   (uintptr_t)in_child };
	struct data libc = { .inside = (const void *)puts };

	if (!dl_iterate_phdr(data_find, &libc))
		return;
	printf("handlers fork=%d exit=%d\n", handlers_at_fork(&libc, own),
	       handlers_at_exit(&libc, &owner));
}

void facts_begin(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
	__cxa_atexit(at_exit, NULL, &owner);
	own_library = dlopen(beside_program("plugin_0.so"), RTLD_NOW | RTLD_LOCAL);
}

void facts_print(void)
{
	printf("barriers %ld\n", syscall(SYS_membarrier, MEMBARRIER_REGISTRATIONS, 0, 0));
	loader_print();
	handlers_print();
	child_print();
}
