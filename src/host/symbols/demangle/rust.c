/*
 * Removes the hash and restores the letters that a symbol may not have.
 */
#include "host/symbols/demangle/rust.h"

#include "shared/base/macros.h"

#include <stdlib.h>
#include <string.h>

#define HASH_LENGTH  19u /* "::h" and 16 digits */
#define MANGLED_HASH 20u /* "17h", 16 digits and "E" */
#define SUFFIX       ".llvm."

static const struct {
	const char *escape;
	char letter;
} escapes[] = {
	{ "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' },
	{ "$GT$", '>' }, { "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' },
};

static bool ends_with_hash(const char *name, size_t length)
{
	return length > HASH_LENGTH && strncmp(name + length - HASH_LENGTH, "::h", 3) == 0 &&
	       strspn(name + length - HASH_LENGTH + 3, "0123456789abcdef") == HASH_LENGTH - 3;
}

void rust_cut_suffix(char *mangled)
{
	char *suffix = strstr(mangled, SUFFIX);
	size_t length = suffix ? (size_t)(suffix - mangled) : 0;
	const char *hash = length > MANGLED_HASH ? suffix - MANGLED_HASH : NULL;
	const char *number = suffix ? suffix + strlen(SUFFIX) : NULL;

	if (hash && !strncmp(hash, "17h", 3) &&
	    strspn(hash + 3, "0123456789abcdef") == MANGLED_HASH - 4 && suffix[-1] == 'E' &&
	    number[strspn(number, "0123456789ABCDEFabcdef@")] == '\0')
		*suffix = '\0';
}

/* "$u20$" is a letter by its number; only printable ones. */
static size_t read_number(const char *at, char *ret)
{
	char *end;
	unsigned long number = at[1] == 'u' ? strtoul(at + 2, &end, 16) : 0;

	if (number < 0x20 || number > 0x7e || *end != '$')
		return 0;
	*ret = (char)number;
	return (size_t)(end - at) + 1;
}

/* How many characters were one letter. */
static size_t read_escape(const char *at, char *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++)
		if (strncmp(at, escapes[i].escape, strlen(escapes[i].escape)) == 0) {
			*ret = escapes[i].letter;
			return strlen(escapes[i].escape);
		}
	return read_number(at, ret);
}

/* It only gets shorter. */
void rust_tidy(char *name)
{
	size_t length = strlen(name), taken;
	char *into = name;

	if (!ends_with_hash(name, length))
		return;
	name[length - HASH_LENGTH] = '\0';
	for (const char *at = name; *at;) {
		/* A part that would begin with an escape has a line before it. */
		bool is_line = *at == '_' && at[1] == '$' && (at == name || at[-1] == ':');

		at += is_line;
		if (*at == '$' && (taken = read_escape(at, into))) {
			at += taken;
			into++;
		} else if (strncmp(at, "..", 2) == 0) {
			at += 2;
			*into++ = ':';
			*into++ = ':';
		} else {
			*into++ = *at++;
		}
	}
	*into = '\0';
}
