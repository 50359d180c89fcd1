/*
 * Resolves libc's functions, a few instructions of its code, and the layout of its thread block.
 * The layout comes from the descriptions that glibc keeps for debuggers (libthread_db), never from
 * private headers.
 */
#include "host/attach/facts/facts.h"

#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/memory.h"
#include "shared/arch/code_words.h"
#include "shared/arch/elf.h"
#include "shared/wire/thread_words.h"

#include <errno.h>
#include <string.h>

#define PAUSE_NS       1000000
#define SHORT_FUNCTION 48 /* bytes read of a function that is one system call */
#define SIGNAL_BIT(n)  (1ull << ((n)-1))

/* Libraries that may have a function: glibc before 2.34 had separate ones for threads and
 * loading. */
struct libraries {
	const struct target *target;
	const struct module *libc, *threads, *loading, *linker, *program;
	struct elf_image vdso;
};

#define WANT(function, is_loading)                                                 \
	{                                                                          \
#function, offsetof(struct boot_libc, function), is_loading, false \
	}

static const struct {
	const char *name;
	size_t offset; /* in struct boot_libc */
	bool is_loading, is_optional;
} wanted[] = {
	WANT(pthread_create, false),
	WANT(pthread_attr_init, false),
	WANT(pthread_attr_setstack, false),
	WANT(pthread_attr_setdetachstate, false),
	WANT(pthread_getspecific, false),
	WANT(pthread_join, false),
	WANT(dlopen, true),
	WANT(dlsym, true),
	WANT(dlclose, true),
	WANT(dlerror, true),
	WANT(unsetenv, false),
	WANT(__cxa_atexit, false),
	WANT(__cxa_finalize, false),
	{ "__register_atfork", offsetof(struct boot_libc, __register_atfork), false, true },
};

static int fact_missing(struct err *err, const char *what)
{
	err_set(err, -ENOENT, "its C library lacks %s", what);
	err_why(err,
		"limpet needs it to start a thread of its own without touching the program's threads");
	return err_exit(err, EXIT_NOT_ATTACHABLE);
}

static int resolve_functions(const struct libraries *at, struct boot_libc *ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct module *other = wanted[i].is_loading ? at->loading : at->threads;
		uint64_t address;

		if (elf_image_symbol(&at->libc->image, wanted[i].name, &address) &&
		    (!other || elf_image_symbol(&other->image, wanted[i].name, &address))) {
			if (!wanted[i].is_optional)
				return fact_missing(err, wanted[i].name);
			address = 0;
		}
		memcpy((char *)ret + wanted[i].offset, &address, sizeof(address));
	}
	return 0;
}

/* A system call instruction followed by a return, where no thread ever waits: in getppid. aarch64's
 * kernel takes a call from the very instruction that a thread was interrupted at for a restart. */
static int find_syscall_return(const struct libraries *at, uint64_t *ret)
{
	unsigned char code[SHORT_FUNCTION];
	const unsigned char *hit;
	uint64_t start;

	if (elf_image_symbol(&at->libc->image, "getppid", &start) ||
	    !memory_read(at->target->memory, start, code, sizeof(code)))
		return -ENOENT;
	hit = memmem(code, sizeof(code), ARCH_SYSCALL_RETURN, sizeof(ARCH_SYSCALL_RETURN) - 1);
	if (!hit)
		return -ENOENT;
	*ret = start + (uint64_t)(hit - code);
	return 0;
}

static int find_instructions(const struct libraries *at, struct facts *ret, struct err *err)
{
	const size_t sigreturn_size = sizeof(ARCH_SIGRETURN) - 1;

	if (find_syscall_return(at, &ret->places.syscall_return))
		return fact_missing(err, "a system call instruction followed by a return");
	if (elf_image_find(&at->libc->image, ARCH_THREAD_EXIT, sizeof(ARCH_THREAD_EXIT) - 1,
			   &ret->thread_exit))
		return fact_missing(err, "code that ends a thread");
	if ((!at->vdso.code_count ||
	     elf_image_find(&at->vdso, ARCH_SIGRETURN, sigreturn_size, &ret->job.sigreturn)) &&
	    elf_image_find(&at->libc->image, ARCH_SIGRETURN, sigreturn_size, &ret->job.sigreturn))
		return fact_missing(err, "code that returns from a signal");
	return 0;
}

/* The variable where libc stores the program's name at its start; the executable may hold a copy
 * (COPY relocation). */
static int find_init_word(const struct libraries *at, struct job_libc *ret, struct err *err)
{
	ret->begin = at->libc->image.base;
	ret->end = at->libc->image.end;
	if (at->program && !elf_image_symbol(&at->program->image, "__progname", &ret->init_word))
		return 0;
	if (!elf_image_symbol(&at->libc->image, "__progname", &ret->init_word))
		return 0;
	return fact_missing(err, "__progname");
}

/* A description is {bits, elements, offset}; a size is one word. */
static int read_description(const struct libraries *at, const char *name, unsigned word,
			    uint32_t *ret)
{
	uint64_t address;

	if (elf_image_symbol(&at->libc->image, name, &address) &&
	    (!at->threads || module_file_symbol(at->target, at->threads, name, &address)) &&
	    module_file_symbol(at->target, at->libc, name, &address))
		return -ENOENT;
	return memory_read(at->target->memory, address + 4 * word, ret, sizeof(*ret)) ? 0 : -EFAULT;
}

/* Empty where libc has no such function: there is no _Fork before glibc 2.34. */
static struct job_code find_function(const struct module *module, const char *name)
{
	struct elf_range range;

	return !module || elf_image_symbol_range(&module->image, name, &range)
		       ? (struct job_code){ 0, 0 }
		       : (struct job_code){ range.start, range.start + range.size };
}

/* Without it limpet's threads use the fallback in target/runtime/broadcast.c. */
static int64_t find_thread_word(const struct libraries *at, const char *name, uint32_t block_size)
{
	struct thread_word word;

	if (read_description(at, name, 0, &word.bits) ||
	    read_description(at, name, 1, &word.elements) ||
	    read_description(at, name, 2, &word.offset))
		return 0;
	return thread_word_distance(&word, block_size);
}

static uint64_t find_variable(const struct module *module, const char *name)
{
	uint64_t address;

	return module && !elf_image_symbol(&module->image, name, &address) ? address : 0;
}

/* Finds libc's unnamed flag "new files need locks" by the code that sets it. */
static uint64_t find_stdio_word(const struct libraries *at)
{
	unsigned char code[SHORT_FUNCTION + SHORT_FUNCTION];
	struct elf_range range;
	uint64_t word;

	if (elf_image_symbol_range(&at->libc->image, "_IO_enable_locks", &range) ||
	    !memory_read(at->target->memory, range.start, code, MIN(range.size, sizeof(code))))
		return 0;
	word = arch_word_set(code, MIN(range.size, sizeof(code)), range.start);
	return word >= at->libc->image.base && word < at->libc->image.end ? word : 0;
}

/* The call table of stdout, the same as of each file that fopen makes: the table is exported in
 * some versions only. */
static uint64_t find_file_calls(const struct libraries *at)
{
	uint64_t file = find_variable(at->libc, "_IO_2_1_stdout_"), calls;

	return file && memory_read(at->target->memory, file + FILE_CALLS, &calls, sizeof(calls))
		       ? calls
		       : 0;
}

/* The variables by which libc knows that there is one thread.  The executable may hold a copy of
 * the first one: then both count. */
static void find_single_words(const struct libraries *at, struct job_facts *ret)
{
	ret->single = (struct job_single){
		.common = { find_variable(at->libc, "__libc_single_threaded"),
			    find_variable(at->program, "__libc_single_threaded") },
		.stdio = find_stdio_word(at),
		.files = find_variable(at->libc, "_IO_list_all"),
		.file_calls = find_file_calls(at),
		.thread_count = find_variable(at->libc, "__nptl_nthreads"),
	};
	if (!ret->single.thread_count)
		ret->single.thread_count = find_variable(at->threads, "__nptl_nthreads");
	ret->create = find_function(at->libc, "pthread_create");
	if (!ret->create.end)
		ret->create = find_function(at->threads, "pthread_create");
}

static int describe_threads(const struct libraries *at, struct facts *ret, struct err *err)
{
	struct job_libc *places = &ret->places;
	int64_t in_block; /* from the thread pointer to the block */
	uint64_t rseq;

	if (read_description(at, "_thread_db_pthread_tid", 2, &ret->tid_offset) ||
	    read_description(at, "_thread_db_sizeof_pthread", 0, &ret->block_size))
		return fact_missing(err, "the description of its threads (_thread_db_pthread_tid)");
	if (ret->tid_offset + 4 > ret->block_size || ret->block_size > 0x8000)
		return fact_missing(err, "a sensible description of its threads");
	ret->libc.thread_flags =
		find_thread_word(at, "_thread_db_pthread_cancelhandling", ret->block_size);
	in_block = ARCH_TLS_ABOVE ? -(int64_t)ret->block_size : 0;
	ret->libc.thread_block = in_block;
	ret->libc.thread_number = find_thread_word(at, "_thread_db_pthread_tid", ret->block_size);
	places->calloc = find_function(at->libc, "calloc");
	if (!places->calloc.end)
		return fact_missing(err, "calloc");
	places->forks[0] = find_function(at->libc, "fork");
	places->forks[1] = find_function(at->libc, "_Fork");
	places->start = find_function(at->libc, "__libc_start_main");
	find_single_words(at, &ret->job);
	ret->job.heap = heap_code(at->libc);
	ret->job.has_flag_in_block = at->target->process.libc.minor < ARCH_FLAG_UNTIL;
	ret->job.flag_offset = ARCH_FLAG_OFFSET + in_block;
	ret->job.tid_offset = ret->tid_offset + in_block;
	ret->has_tls_offsets = !read_description(at, "_thread_db_link_map_l_tls_offset", 2,
						 &ret->tls_offset_field);
	if (elf_image_tls_offset(&at->libc->image, &ret->libc_tls_offset))
		return fact_missing(err,
				    "a relocation that shows where its thread-local storage is");
	if (at->linker && !elf_image_symbol(&at->linker->image, "__rseq_offset", &rseq) &&
	    !memory_read(at->target->memory, rseq, &places->rseq_offset, sizeof(rseq)))
		places->rseq_offset = 0;
	heap_find(at->target, at->libc, ret);
	return 0;
}

static void find_libraries(const struct target *target, const struct modules *modules,
			   struct libraries *ret)
{
	const struct auxv *auxv = &target->process.identity.auxv;

	*ret = (struct libraries){
		.target = target,
		.libc = modules_at(modules, target->process.libc.base),
		.threads = modules_named(modules, "libpthread"),
		.loading = modules_named(modules, "libdl"),
		.linker = modules_at(modules, auxv_value(auxv, AT_BASE)),
		.program = &modules->items[0],
	};
	if (elf_image_open(&ret->vdso, &target->reader, auxv_value(auxv, AT_SYSINFO_EHDR)))
		ret->vdso.code_count = 0;
}

/* Whether libc is initialised; the same check as the injector's (gate.c). */
static int check_ready(struct target *target, bool *ret_is_ready, struct err *err)
{
	struct job_libc places = { 0 };
	struct libraries at;
	struct modules modules;
	uint64_t word;
	int r = modules_read_fresh(target, &modules, err);

	if (r)
		return r;
	find_libraries(target, &modules, &at);
	/* Mapped, but not in the loader's list yet? */
	r = at.libc ? find_init_word(&at, &places, err) : modules_refuse(err);
	*ret_is_ready = !r && memory_read(target->memory, places.init_word, &word, sizeof(word)) &&
			word > places.end - places.begin &&
			(word < places.begin || word >= places.end);
	modules_done(&modules);
	return r;
}

int libc_wait(struct target *target, uint64_t limit_ns, struct err *err)
{
	uint64_t deadline_ns = now_ns() + limit_ns;
	bool is_ready = false;
	int r;

	while (!(r = check_ready(target, &is_ready, err)) && !is_ready) {
		if (!target_lives(target) || now_ns() > deadline_ns || interrupt_is_waiting()) {
			err_set(err, -EAGAIN, "it is still being started");
			err_why(err, "its C library is not initialised yet");
			err_fix(err, "try again in a moment");
			return err_exit(err, EXIT_NOT_ATTACHABLE);
		}
		sleep_ns(PAUSE_NS);
	}
	return r;
}

int facts_read(const struct target *target, const struct modules *modules, struct facts *ret,
	       struct err *err)
{
	bool is_musl = target->process.libc.flavour == LIBC_MUSL;
	struct libraries at;
	int r;

	memset(ret, 0, sizeof(*ret));
	find_libraries(target, modules, &at);
	if (!at.libc)
		return modules_refuse(err);
	ret->way = is_musl ? BOOT_WAY_CALL : BOOT_WAY_THREAD;
	/* libc's own signals: timers and cancellation, setuid in all threads. */
	ret->open_signals = SIGNAL_BIT(32) | SIGNAL_BIT(33) | (is_musl ? SIGNAL_BIT(34) : 0);
	r = resolve_functions(&at, &ret->libc, err);
	if (!r)
		r = find_instructions(&at, ret, err);
	if (!r)
		r = find_init_word(&at, &ret->places, err);
	if (!r && !is_musl)
		r = describe_threads(&at, ret, err);
	return r;
}
