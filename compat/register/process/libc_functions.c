/*
 * libc's own functions, not the program's replacements: a shell has a setenv without a lock.  Runs
 * inside the target.
 */
#include "compat/register/process/libc_functions.h"

#include "compat/register/process/loader.h"
#include "shared/wire/thread_words.h"

#include <stdbool.h>

#define MUSL_LACKS offsetof(struct boot_libc, __register_atfork)

/* The slot of each function. */
static const struct {
	const char *name;
	size_t offset;
} wanted[] = {
#define WANTED(name)                                    \
	{                                               \
#name, offsetof(struct boot_libc, name) \
	}
	WANTED(pthread_create),
	WANTED(pthread_attr_init),
	WANTED(pthread_attr_setstack),
	WANTED(pthread_attr_setdetachstate),
	WANTED(pthread_getspecific),
	WANTED(pthread_join),
	WANTED(dlopen),
	WANTED(dlsym),
	WANTED(dlclose),
	WANTED(dlerror),
	WANTED(unsetenv),
	WANTED(__cxa_atexit),
	WANTED(__cxa_finalize),
	WANTED(__register_atfork),
#undef WANTED
};

_Static_assert(offsetof(struct boot_libc, thread_flags) == ARRAY_SIZE(wanted) * sizeof(uint64_t),
	       "every address of the table is looked up");

/* Before glibc 2.34 some are in libraries of their own, and musl calls its libc otherwise. */
static void *libc_function_find(void *libc, const char *name)
{
	void *function = libc ? loader_symbol(libc, name) : NULL;

	return function ? function : loader_symbol(RTLD_DEFAULT, name);
}

/* Before glibc 2.34 only debuggers' symbols have this. */
static int64_t find_word(void *libc, const char *name)
{
	const struct thread_word *word = libc_function_find(libc, name);
	const uint32_t *block_size = libc_function_find(libc, "_thread_db_sizeof_pthread");

	return word && block_size ? thread_word_distance(word, *block_size) : 0;
}

bool libc_functions_find(struct boot_libc *ret)
{
	void *libc = loader_open("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	const uint32_t *block_size;
	bool is_whole = true;

	*ret = (struct boot_libc){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		uint64_t address = (uint64_t)libc_function_find(libc, wanted[i].name);

		*(uint64_t *)((char *)ret + wanted[i].offset) = address;
		is_whole &= address != 0 || wanted[i].offset == MUSL_LACKS;
	}
	ret->thread_flags = find_word(libc, "_thread_db_pthread_cancelhandling");
	ret->thread_number = find_word(libc, "_thread_db_pthread_tid");
	block_size = libc_function_find(libc, "_thread_db_sizeof_pthread");
	ret->thread_block = ARCH_TLS_ABOVE && block_size ? -(int64_t)*block_size : 0;
	if (libc)
		loader_close(libc);
	return is_whole;
}
