/*
 * The backend for imported functions: the words through which every module calls what it imports.
 * Modules that come later are found by scanning again.
 */
#pragma once

#include "target/hooks/words.h"

#include <dlfcn.h>
#include <link.h>

/* libc's functions, as addresses. */
struct got_libc {
	int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	void *(*symbol)(void *, const char *);
	void *(*symbol_of_version)(void *, const char *, const char *);
	int (*find_module)(const void *, Dl_info *);
	int (*find_symbol)(const void *, Dl_info *, void **, int); /* dladdr1 */
	void *(*open)(const char *, int);
	int (*close)(void *);
	uint64_t page_size;
};

struct got_report {
	uint32_t domains;    /* bits: of which something is hooked */
	uint32_t hooked;     /* words, by this scan */
	uint32_t unwritable; /* words that could not be changed */
	uint32_t refused;    /* words beyond what we can remember */
	bool is_unsettled;   /* a module is being loaded just now: scan again soon */
};

#define GOT_EXCLUDED_MAX 4

/* -ENOMEM.  `excluded`: addresses inside of modules that are never touched, up to a NULL. */
int got_open(const struct got_libc *libc, const void *const excluded[GOT_EXCLUDED_MAX]) MUST_CHECK;

/* Hooks what is wanted and not yet hooked. */
void got_scan(struct got_report *ret);

/* Have modules come or gone since the last scan? */
bool got_has_changed(void);

/* What was given to got_open(). */
const struct got_libc *got_functions(void);

/* Calls `visit` for each module but ours, while none can go away; no function of the loader's may
 * be called there. */
struct loaded_module;
typedef void got_visit(const char *path, const struct loaded_module *module, void *context);
void got_each_module(got_visit *visit, void *context);

/*
 * Calls `change` while words from `start` to `end`, of a module's data, can be changed and the
 * module cannot go away; it gets the owner for word_change().  Words of no module have owner 0, and
 * must be writable as they are.  -EACCES.
 */
typedef void got_change(uint64_t owner, void *context);
int got_with_data(const uint64_t *start, const uint64_t *end, got_change *change,
		  void *context) MUST_CHECK;

/* Puts everything back. */
void got_restore(struct words_left *left);
void got_close(void);
