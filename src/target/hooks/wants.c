/*
 * Runs on limpet's threads, one at a time.
 */
#include "target/hooks/wants.h"

#include "target/runtime/text.h"

#include <string.h>

#define NAMES_SIZE 1024u /* several times the functions of all domains */

struct pattern {
	const struct traced *traced;
	const char *library, *symbol;
	size_t library_length, symbol_length;
};

static const struct traced *names[NAMES_SIZE];
static unsigned name_count;
static struct pattern patterns[WANTS_PATTERNS_MAX];
static unsigned pattern_count;

static uint32_t name_hash(const char *text)
{
	uint32_t value = 5381;

	for (; *text; text++)
		value = value * 33 + (unsigned char)*text;
	return value;
}

static const struct traced **slot_of(const char *symbol)
{
	for (uint32_t at = name_hash(symbol);; at++) {
		const struct traced **slot = &names[at % NAMES_SIZE];

		if (!*slot || text_equal((*slot)->symbol, symbol))
			return slot;
	}
}

void wants_clear(void)
{
	memset(names, 0, sizeof(names));
	name_count = pattern_count = 0;
}

bool wants_add(const struct traced *traced)
{
	const struct traced **slot = slot_of(traced->symbol);

	if (*slot)
		return true; /* listed by an earlier domain */
	if (name_count == NAMES_SIZE / 2)
		return false;
	*slot = traced;
	name_count++;
	return true;
}

bool wants_add_pattern(const struct traced *traced, const char *text, size_t length)
{
	struct pattern *pattern = &patterns[pattern_count];
	size_t colon = 0;

	if (pattern_count == WANTS_PATTERNS_MAX)
		return false;
	while (colon < length && text[colon] != ':')
		colon++;
	*pattern = (struct pattern){ traced, "*", text, 1, length };
	if (colon < length) {
		pattern->library = text;
		pattern->library_length = colon;
		pattern->symbol = text + colon + 1;
		pattern->symbol_length = length - colon - 1;
	}
	pattern_count++;
	return true;
}

/* After a mismatch, returns to the last star and lets it match one letter more. */
bool pattern_matches(const char *pattern, size_t length, const char *text)
{
	size_t at = 0, star = length, tried = 0;

	for (size_t i = 0; text[i];) {
		if (at < length && pattern[at] == '*') {
			star = at++;
			tried = i;
		} else if (at < length && (pattern[at] == '?' || pattern[at] == text[i])) {
			at++;
			i++;
		} else if (star < length) {
			at = star + 1;
			i = ++tried;
		} else {
			return false;
		}
	}
	while (at < length && pattern[at] == '*')
		at++;
	return at == length;
}

static bool symbol_matches(const struct pattern *pattern, const char *symbol)
{
	return pattern_matches(pattern->symbol, pattern->symbol_length, symbol);
}

bool wants_symbol(const char *symbol)
{
	if (name_count && *slot_of(symbol))
		return true;
	for (unsigned i = 0; i < pattern_count; i++)
		if (symbol_matches(&patterns[i], symbol))
			return true;
	return false;
}

/*
 * Functions that a thunk must not call from its own frame: they return twice, read their return
 * address, or have their own calling convention.
 */
static bool is_untouchable(const char *symbol)
{
	static const char *const exact[] = {
		"setjmp",     "_setjmp",         "__sigsetjmp", "sigsetjmp", "savectx",
		"vfork",      "__vfork",         "dlopen",      "dlmopen",   "dlsym",
		"dlvsym",     "dlclose",         "dladdr",      "dladdr1",   "dl_iterate_phdr",
		"getcontext", "__tls_get_addr",  "mcount",      "_mcount",   "__mcount",
		"__fentry__", "__gnu_mcount_nc",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(exact); i++)
		if (text_equal(symbol, exact[i]))
			return true;
	return pattern_matches("_dl_*", 5, symbol) || pattern_matches("_Unwind_*", 9, symbol) ||
	       pattern_matches("__libc_start_*", 14, symbol);
}

const struct traced *wants_find(const char *symbol, const char *library, bool is_libc)
{
	const struct traced *traced = name_count ? *slot_of(symbol) : NULL;

	/* Hooks of these domains dereference arguments, so the function must be libc's: a parser
	 * may have an accept(). */
	if (traced && (is_libc || (traced->domain != DOMAIN_IO && traced->domain != DOMAIN_LOCK)))
		return traced;
	for (unsigned i = 0; i < pattern_count; i++)
		if (symbol_matches(&patterns[i], symbol) && !is_untouchable(symbol) &&
		    pattern_matches(patterns[i].library, patterns[i].library_length, library))
			return patterns[i].traced;
	return NULL;
}
