/*
 * The backend for imported functions: hooks the entries through which modules call their imports.
 * Modules loaded later are found by another scan.
 */
#pragma once

#include "target/hooks/hook.h"
#include "target/hooks/patches.h"

#include <dlfcn.h>
#include <link.h>

#define GOT_EXCLUDED_MAX 4

/* 0 or -ENOMEM. `excluded`: addresses inside modules that are never changed, up to a NULL. */
int got_open(uint64_t page_size, const void *const excluded[GOT_EXCLUDED_MAX]) MUST_CHECK;

/* Which import entries are hooked. */
enum got_words {
	GOT_WORDS_PROVEN, /* PLT entries, and entries that a module's code only calls through */
	GOT_WORDS_CALLS,  /* PLT entries; code is not decoded */
	GOT_WORDS_ALL,    /* also entries by which the application takes a function's address */
};

/* Except with GOT_WORDS_ALL, no application code can have stored the value of a hooked entry. */
void got_choose_words(enum got_words words);

/* Updates the list of modules as got_scan() does, for the queries below. Modules loaded since the
 * last scan are still to be scanned. */
void got_update_modules(void);

/* The file name of the library with this code; "" if unknown. */
const char *got_library(uint64_t code);

/* The file name of the module with this key; "the program" if it has none. */
const char *got_module_name(uint64_t key);

/* Returns size and begin of the segment with this code; 0: unknown. */
uint64_t got_code(uint64_t code, uint64_t *ret_begin);

/* True if a library's name matches. */
bool got_has_module(const char *pattern);

/* True if the address lies in a library's data, or in its code. */
bool got_has_data(uint64_t address);
bool got_has_code(uint64_t address);

/* Calls of this domain into the module with this data are hooked elsewhere (in its tables): imports
 * of it are not hooked from now on, and hooked ones record nothing any more. */
void got_cover(uint64_t data, enum trace_domain domain);

/* Calls `work` while no module can be unmapped; does nothing if got_open() failed. */
void got_in_loader(void (*work)(void *), void *context);

/* Keeps the module with this address loaded; NULL if there is none. */
void *got_hold(uint64_t address);
void got_release(void *module);

/* A function's code; 0 bytes: not found. */
struct beside {
	uint64_t begin, size;
};

/* Finds a function in the module with this code, from the module's own symbols: no dlsym, so hooks
 * may call it while modules are walked (libc_calls.h). Any thread; the caller keeps the module
 * loaded while it uses the result. */
struct beside beside_find(uint64_t code, const char *name);

/* Hooks everything requested that is not hooked yet. Decoding code waits for the loader's lock: a
 * scan that an application thread waits for, perhaps inside dlopen, leaves it to the next scan. */
void got_scan(struct hooks_report *ret, bool reads_code);

/* True if modules were loaded or unloaded since the last scan. */
bool got_has_changed(void);

/* Calls `visit` for each module except limpet's, while none can be unmapped: it must not call the
 * loader. */
struct loaded_module;
typedef void got_visit(const char *path, const struct loaded_module *module, void *context);
void got_each_module(got_visit *visit, void *context);

/* Restores all entries. */
void got_restore(struct patches_left *left);
void got_close(void);
