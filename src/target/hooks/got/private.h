/*
 * Shared by the files of the backend for imports, see got.h. They run on limpet's threads, one at a
 * time, mostly inside a callback of dl_iterate_phdr: see scan.c.
 *
 * got.c      walks modules
 * ranges.c   maps addresses of code and data to modules
 * scan.c     finds import entries, and hooks them
 * call_words.c  finds entries that are used only for calls
 * unbound.c  entries that the loader has not bound yet
 * pages.c    entries in read-only memory; restores entries
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
#define OTHER_CALL    0 /* no symbol has a calling convention of its own */
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

/* An entry that still leads to the loader; or one that may lead to data, with its `original`. */
struct unbound {
	uint64_t *at;
	uint64_t value, original, key, bias;
	char symbol[SYMBOL_MAX];
	char version[VERSION_MAX];
};

/* Whether a module's code was decoded for its uses of the GOT. */
enum code_state {
	CODE_UNREAD,
	CODE_WANTED, /* to be decoded before the next walk */
	CODE_READ,
};

/* How often a module was scanned without changes, and a symbol to look up in it later. */
struct known_module {
	uint64_t key;
	uint32_t clean_scans, open_scans;
	bool had_unbound;
	bool waits; /* for the loader to bind an entry whose binding is ambiguous */
	enum code_state code;
	uint32_t left; /* entries not hooked because the application uses their values */
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
	struct hooks_report *report;
	struct loaded_module module;
	struct known_module *known; /* what is known of it */
	uint32_t unbound_count;
	uint64_t open, open_end; /* the range made writable */
	bool is_skipped;
	bool is_clean; /* nothing was changed or left for later */
};

/* An import: its relocation and its symbol. */
struct import {
	uint64_t *at;
	unsigned type;
	size_t index;
	const Elf64_Sym *symbol;
	const char *name;
};

/* got.c: NULL before got_open(). */
struct got_tables *got_tables(void);
uint64_t got_page_size(void);
/* True for limpet's modules, the loader, and the vDSO. */
bool got_is_excluded(const struct loaded_module *module);

/* ranges.c */
void got_ranges_reset(void);
/* Updates the list of modules; the next scan finds modules loaded from now on. */
void got_begin_scan(void);
/* The range with this code; NULL: no module has it. */
const struct code_range *got_range(uint64_t address);
bool got_is_covered(uint64_t key, enum trace_domain domain);
/* The target's executable, the first of all modules. */
const struct loaded_module *got_program(void);
/*
 * An unloaded module may have been loaded again, or another one at its address, without limpet's
 * patches. As long as no module was unloaded, an entry with another value than limpet's was changed
 * by another tool.
 */
void got_forget_if_reloaded(const struct loaded_module *module, unsigned long long subs);

/* scan.c: the state of a module, or NULL. */
struct known_module *got_known(uint64_t key);
void got_forget_known(void);

/* call_words.c */
/* True if the module uses this entry only for calls. False until its code was decoded on
 * request. */
bool got_is_call_only(struct scan *scan, const struct import *import);
/* Decodes the requested code; false: none was requested. Not inside a callback of the loader. */
bool got_read_code(struct known_module *known, uint32_t count);
void got_forget_call_words(void);

/* unbound.c */
void got_note_unbound(struct scan *scan, const struct import *import, uint64_t value,
		      uint64_t original);
/* Finds the function, outside of the loader's callbacks; 0: do not hook the entry now. */
uint64_t got_find_original(const struct unbound *entry);

/* pages.c */
/* True if the entry may be stored to. Opens read-only data of the module until it is closed. */
bool got_open_word(struct scan *scan, uint64_t *at);
void got_close_module(struct scan *scan);
