/*
 * What the files of the backend for imports share, see got.h.  All of it runs on threads of ours,
 * one at a time, and most of it inside a callback of dl_iterate_phdr: see scan.c.
 *
 * got.c      what libc gives us, and what the loader keeps
 * ranges.c   which code and data belongs to which module
 * scan.c     finds words, and hooks them
 * call_words.c  words that only calls go through
 * unbound.c  words that the loader has not bound yet
 * pages.c    words in memory that is read-only
 * restore.c  puts words back
 */
#pragma once

#include "target/hooks/got/got.h"
#include "target/hooks/module.h"

#define RANGES_MAX     16384u
#define KNOWN_MAX      16384u
#define UNBOUND_MAX    4096u
#define CALL_WORDS_MAX 131072u
#define SYMBOL_MAX     480u
#define VERSION_MAX    64u
#define EXPORT_MAX     128u

#if defined(__x86_64__)
#define RELOC_CALL    R_X86_64_JUMP_SLOT
#define RELOC_ADDRESS R_X86_64_GLOB_DAT
#define RELOC_WORD    R_X86_64_64
#define OTHER_CALL    0 /* no symbol keeps to another calling convention */
#else
#define RELOC_CALL    R_AARCH64_JUMP_SLOT
#define RELOC_ADDRESS R_AARCH64_GLOB_DAT
#define RELOC_WORD    R_AARCH64_ABS64
#define OTHER_CALL    0x80 /* STO_AARCH64_VARIANT_PCS */
#endif

struct code_range {
	uint64_t start, size, key;
	uint64_t data, data_end; /* of its module */
	char name[TRACE_LIBRARY_MAX];
};

/* A word that still leads to the loader, or that may lead to data: then its original is given. */
struct unbound {
	uint64_t *at;
	uint64_t value, original, key, bias;
	char symbol[SYMBOL_MAX];
	char version[VERSION_MAX];
};

/* Whether a module's code was read for how it uses the GOT. */
enum code_state {
	CODE_UNREAD,
	CODE_WANTED, /* before the next walk */
	CODE_READ,
};

/* How often a module was scanned with nothing to do, and what is needed to look up its symbols
 * while it may be gone. */
struct known_module {
	uint64_t key;
	uint32_t clean_scans, open_scans;
	bool had_unbound;
	bool waits; /* for the loader to bind what we cannot */
	enum code_state code;
	uint32_t left; /* words that are not hooked: the program uses their values */
	uint64_t export_address;
	char export[EXPORT_MAX];
};

struct got_tables {
	struct known_module known[KNOWN_MAX];
	struct code_range ranges[RANGES_MAX];
	struct unbound unbound[UNBOUND_MAX];
	uint64_t call_words[CALL_WORDS_MAX]; /* by address; 0: free */
};

struct scan {
	struct got_report *report;
	struct loaded_module module;
	struct known_module *known; /* what is known of it */
	uint32_t unbound_count;
	uint64_t open, open_end; /* what was made writable of it */
	bool is_skipped;
	bool is_clean; /* there was nothing to do in it */
};

/* An import: its relocation, its symbol. */
struct import {
	uint64_t *at;
	unsigned type;
	size_t index;
	const Elf64_Sym *symbol;
	const char *name;
};

/* got.c: NULL while nothing is open. */
struct got_tables *got_tables(void);
/* Ours, the loader itself, and what the kernel maps. */
bool got_is_excluded(const struct loaded_module *module);

/* ranges.c */
void got_ranges_reset(void);
/* Looks around; modules that come or go from now on are found by the next scan. */
void got_begin_scan(void);
/* What has this code; NULL: no module. */
const struct code_range *got_range(uint64_t address);
bool got_is_covered(uint64_t key, enum trace_domain domain);
/* The program itself, which is the first of all modules. */
const struct loaded_module *got_program(void);
/*
 * A module that was unloaded may have come again, or another in its place, with none of our words.
 * As long as nothing was unloaded, words that are not as we left them are somebody else's work.
 */
void got_forget_if_reloaded(const struct loaded_module *module, unsigned long long subs);

/* scan.c: what is known of modules; NULL. */
struct known_module *got_known(uint64_t key);
void got_forget_known(void);

/* call_words.c */
/* Do only calls go through the word of this import?  False until the module's code was read, which
 * is asked for. */
bool got_is_call_only(struct scan *scan, const struct import *import);
/* Reads the code of those that want it; false: none does.  Not inside a callback of the loader's.
 */
bool got_read_code(struct known_module *known, uint32_t count);
void got_forget_call_words(void);

/* unbound.c */
void got_note_unbound(struct scan *scan, const struct import *import, uint64_t value,
		      uint64_t original);
/* Where it leads, once no callback of the loader's is running; 0: not to be hooked now. */
uint64_t got_find_original(const struct unbound *entry);

/* pages.c */
bool got_protect(uint64_t start, uint64_t end, int protection);
/* The program may have made some of its pages writable, and counts on it. */
bool got_is_uniform(const struct loaded_module *module);
/* May the word be stored to?  Makes read-only data of the module writable until it is closed. */
bool got_open_word(struct scan *scan, uint64_t *at);
void got_close_module(struct scan *scan);
