/*
 * Finds secrets by how they are spelled.  What has no name, as in `mysql -pWORD`, is not found.
 */
#include "host/core/text/secrets.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MASK "***"

/* How names of secrets end; dashes and underscores are the same. */
static const char *const endings[] = {
	"password", "passwd",    "passphrase", "secret",     "token",       "apikey",
	"api-key",  "api-token", "access-key", "secret-key", "private-key", "credentials",
};

struct words {
	char *text, *end;
};

static bool is_name(char letter)
{
	return isalnum((unsigned char)letter) || letter == '-' || letter == '_';
}

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

/* Puts the mask in place of a part; what is shorter than the mask is filled with stars.  Returns
 * the end of it. */
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

/* "name=value", also several in one word: a query, or a connection string. */
static void values_hide(struct words *words, char *word)
{
	for (char *at = word; at < word_end(words, word); at++) {
		char *name = at, *end;

		if (*at != '=')
			continue;
		while (name > word && is_name(name[-1]))
			name--;
		if (!is_secret(name, (size_t)(at - name)))
			continue;
		for (end = at + 1; end < word_end(words, word) && !strchr("&;, ", *end); end++)
			;
		at = mask_put(words, at + 1, end) - 1;
	}
}

static void header_hide(struct words *words, char *word)
{
	static const char name[] = "authorization:";
	char *end = word_end(words, word);

	for (char *at = word; at + strlen(name) < end; at++)
		if (!strncasecmp(at, name, strlen(name))) {
			mask_put(words, at + strlen(name), end);
			return;
		}
}

/* Is the next word a value of this option? */
static bool takes_secret(const struct words *words, char *word)
{
	size_t length = (size_t)(word_end(words, word) - word);

	return length > 1 && word[0] == '-' && !memchr(word, '=', length) &&
	       is_secret(word, length);
}

size_t secrets_hide(char *text, size_t size)
{
	struct words words = { text, text + size };
	bool is_value = false;

	for (char *word = text; word < words.end; word = word_end(&words, word) + 1) {
		if (is_value && *word != '-')
			mask_put(&words, word, word_end(&words, word));
		userinfo_hide(&words, word);
		values_hide(&words, word);
		header_hide(&words, word);
		is_value = takes_secret(&words, word);
	}
	return (size_t)(words.end - text);
}
