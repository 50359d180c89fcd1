/*
 * Finds secrets by the names of options and variables.  A secret without one, as in `mysql -pWORD`,
 * is not found.
 */
#include "host/core/text/secrets.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MASK "***"

/* How names of secrets end; dashes and underscores are the same. */
static const char *const endings[] = {
	"pass",      "password",    "passwd",     "passphrase", "passcode",
	"pwd",       "auth",        "secret",     "token",      "jwt",
	"apikey",    "api-key",     "access-key", "accesskey",  "secret-key",
	"secretkey", "private-key", "privatekey", "credential", "credentials",
};

struct words {
	char *text, *end;
};

static bool ends_with(const char *name, size_t length, const char *ending)
{
	size_t size = strlen(ending);

	if (length < size)
		return false;
	for (size_t i = 0; i < size; i++) {
		char letter = (char)tolower((unsigned char)name[length - size + i]);

		if ((letter == '_' ? '-' : letter) != ending[i])
			return false;
	}
	return true;
}

static bool is_secret(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (ends_with(name, length, endings[i]))
			return true;
	return false;
}

/* Replaces a part by the mask; a part shorter than the mask gets stars.  Returns its end. */
static char *mask_put(struct words *words, char *from, char *to)
{
	size_t size = (size_t)(to - from), kept = MIN(size, strlen(MASK));

	memcpy(from, MASK, kept);
	memmove(from + kept, to, (size_t)(words->end - to));
	words->end -= size - kept;
	return from + kept;
}

static char *word_end(const struct words *words, char *at)
{
	return at + strnlen(at, (size_t)(words->end - at));
}

/* "scheme://user:password@host": all up to the '@' before the host's end. */
static void userinfo_hide(struct words *words, char *word)
{
	char *at = word;

	while ((at = memmem(at, (size_t)(word_end(words, at) - at), "://", 3))) {
		char *sign = NULL;

		at += 3;
		for (char *end = at; end < word_end(words, at) && !strchr("/?# ", *end); end++)
			sign = *end == '@' ? end : sign;
		if (sign)
			at = mask_put(words, at, sign);
	}
}

static char *name_begin(char *word, char *end)
{
	while (end > word && (isalnum((unsigned char)end[-1]) || end[-1] == '-' || end[-1] == '_'))
		end--;
	return end;
}

/* Of a value in quotes: that of the quotes. */
static char *value_end(const struct words *words, char *from, const char *separators)
{
	char *end = word_end(words, from), *to = from;

	if (from < end && (*from == '"' || *from == '\''))
		to = memchr(from + 1, *from, (size_t)(end - from - 1));
	if (!to)
		return end;
	while (to < end && !strchr(separators, *to))
		to++;
	return to;
}

static bool is_option(const struct words *words, const char *at)
{
	return words->end - at > 1 && at[0] == '-' && at[1] == '-';
}

/* "name=value", also several in one word: a query, or a connection string.  Where a word begins
 * with it, as "--password=value" does, the rest is the value. */
static char *parameter_hide(struct words *words, char *word, char *sign)
{
	char *name = name_begin(word, sign);

	if (!is_secret(name, (size_t)(sign - name)))
		return sign;
	if (name == word || (*word == '-' && !memchr(word, '=', (size_t)(sign - word))))
		return mask_put(words, sign + 1, word_end(words, word)) - 1;
	return mask_put(words, sign + 1, value_end(words, sign + 1, "&;, ")) - 1;
}

/* "--name value" within a word, as a shell's command has it. */
static char *option_hide(struct words *words, char *word, char *space)
{
	char *name = name_begin(word, space);

	if (*name != '-' || (name > word && name[-1] != ' ') || is_option(words, space + 1) ||
	    !is_secret(name, (size_t)(space - name)))
		return space;
	return mask_put(words, space + 1, value_end(words, space + 1, " ")) - 1;
}

/* "X-Auth-Token: value", and JSON: all behind it. */
static void header_hide(struct words *words, char *word)
{
	static const char name[] = "authorization";
	char *end = word_end(words, word);

	for (char *at = word; (at = memchr(at, ':', (size_t)(end - at))); at++) {
		char *last = at > word && strchr("\"'", at[-1]) ? at - 1 : at;
		char *begin = name_begin(word, last);
		size_t length = (size_t)(last - begin);

		if (at + 1 < end && at[1] != '/' &&
		    (is_secret(begin, length) || ends_with(begin, length, name))) {
			mask_put(words, at + 1, end);
			return;
		}
	}
}

size_t secrets_hide(char *text, size_t size)
{
	struct words words = { text, text + size };
	bool is_value = false;

	for (char *word = text; word < words.end; word = word_end(&words, word) + 1) {
		size_t length = (size_t)(word_end(&words, word) - word);
		/* Whether the next word is a value of this option. */
		bool is_next = length > 1 && word[0] == '-' && !memchr(word, '=', length) &&
			       is_secret(word, length);

		if (is_value && !is_option(&words, word))
			mask_put(&words, word, word_end(&words, word));
		userinfo_hide(&words, word);
		for (char *at = word; at < word_end(&words, word); at++) {
			if (*at == '=')
				at = parameter_hide(&words, word, at);
			else if (*at == ' ')
				at = option_hide(&words, word, at);
		}
		header_hide(&words, word);
		is_value = is_next;
	}
	return (size_t)(words.end - text);
}
