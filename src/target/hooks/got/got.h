/*
 * The backend for imported functions: the words through which every module calls what it imports.
 * Modules that come later are found by scanning again.
 */
#pragma once

#include "target/hooks/hook.h"
#include "target/hooks/patches.h"

#include <dlfcn.h>
#include <link.h>

/* libc's functions, as addresses. */
struct got_libc {
	int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	void *(*symbol)(void *, const char *);
	void *(*symbol_of_version)(void *, const char *, const char *);
	int (*find_module)(const void *, Dl_info *);
	int (*find_symbol)(const void *, Dl_info *, void **, int); /* dladdr1 */
	void *(*hold)(const void *);                               /* libc_hold() */
	void *(*open)(const char *, int);
	int (*close)(void *);
	uint64_t page_size;
};

struct got_report {
	uint32_t domains;    /* bits: of which something is hooked */
	uint32_t hooked;     /* words, by this scan */
	uint32_t unwritable; /* words that could not be changed */
	uint32_t refused;    /* words beyond what we can remember */
	uint32_t left; /* words, in all modules: the program also uses the function's address */
	char left_function[TRACE_NAME_MAX], left_module[TRACE_LIBRARY_MAX]; /* one of them */
	bool is_unsettled; /* a module is being loaded just now: scan again soon */
};

#define GOT_EXCLUDED_MAX 4

/* -ENOMEM.  `excluded`: addresses inside of modules that are never touched, up to a NULL. */
int got_open(const struct got_libc *libc, const void *const excluded[GOT_EXCLUDED_MAX]) MUST_CHECK;

/* Which words of imports are hooked, from now on. */
enum got_words {
	GOT_WORDS_PROVEN, /* those of calls, and those that a module's code only calls through */
	GOT_WORDS_CALLS,  /* those of calls; no code is read */
	GOT_WORDS_ALL,    /* also those by which the program takes a function's address */
};

/* But for GOT_WORDS_ALL no code of the program's can have kept where a hooked word leads. */
void got_choose_words(enum got_words words);

/* Notes which modules there are, as got_scan() does; for what follows, before the first scan and
 * between two.  What has come since the last scan is still to be scanned. */
void got_look_around(void);

/* The file name of the library that has this code; "" when it is not known. */
const char *got_library(uint64_t code);

/* The file name of the module of this key; "the program" where it has none. */
const char *got_module_name(uint64_t key);

/* How much code there is where this lies in, and from where on; 0: not known. */
uint64_t got_code(uint64_t code, uint64_t *ret_begin);

/* Is there a library of such a name? */
bool got_has_module(const char *pattern);

/* Is this in the data of a library, or in its code? */
bool got_has_data(uint64_t address);
bool got_has_code(uint64_t address);

/* Calls of this domain into the module that has this data are seen elsewhere: imports that lead
 * there are not hooked, and those that are write nothing any more. */
void got_cover(uint64_t data, enum trace_domain domain);

/* Runs something while no module can be unmapped; nothing where got_open() has failed. */
void got_in_loader(void (*work)(void *), void *context);

/* Keeps the module that has this address from going away; NULL where there is none. */
void *got_hold(uint64_t address);
void got_release(void *module);

/* A function of the module that has this code; NULL. */
void *got_symbol_beside(uint64_t code, const char *name);

/* Hooks what is wanted and not yet hooked.  Reading code waits for the loader's lock: a scan that
 * an application thread waits for, perhaps inside of dlopen, leaves that to the next one. */
void got_scan(struct got_report *ret, bool reads_code);

/* Have modules come or gone since the last scan? */
bool got_has_changed(void);

/* What was given to got_open(). */
const struct got_libc *got_functions(void);

/* Calls `visit` for each module but ours, while none can go away; no function of the loader's may
 * be called there. */
struct loaded_module;
typedef void got_visit(const char *path, const struct loaded_module *module, void *context);
void got_each_module(got_visit *visit, void *context);

/* Puts everything back. */
void got_restore(struct patches_left *left);
void got_close(void);
