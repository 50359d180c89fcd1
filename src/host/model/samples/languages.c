/*
 * The languages that have frames of their own.
 */
#include "host/model/samples/languages.h"

#include <stdio.h>
#include <string.h>

/* Their names are prefixes of paths.  The order is that of enum language, then of the table. */
static const char *const languages[] = {
	"",
	"native",
#define FRAME_INTERPRETED(name) name,
#define FRAME_OTHER(name)
#define FRAME_LANGUAGE(symbol, name, title, light, dark, of_256, of_8, sort) FRAME_##sort(name)
#include "host/model/samples/frame_languages.def"
#undef FRAME_LANGUAGE
};

/* "[name]" alone, or followed by a blank and the file; NULL: another one. */
static const char *file_behind(const char *path, const char *name)
{
	size_t length = strlen(name);

	if (path[0] != '[' || strncmp(path + 1, name, length) || path[1 + length] != ']')
		return NULL;
	path += length + 2;
	return *path == ' ' ? path + 1 : *path ? NULL : path;
}

unsigned language_of_path(const char *path)
{
	for (unsigned i = LANGUAGE_FIRST; i < ARRAY_SIZE(languages); i++)
		if (file_behind(path, languages[i]))
			return i;
	return LANGUAGE_NATIVE;
}

const char *language_path(const char *path)
{
	unsigned language = language_of_path(path);
	const char *file =
		language == LANGUAGE_NATIVE ? path : file_behind(path, languages[language]);

	return file && *file ? file : path;
}

const char *language_name(unsigned language)
{
	return language < ARRAY_SIZE(languages) ? languages[language] : "";
}

bool language_find(const char *name, unsigned *ret)
{
	for (unsigned i = LANGUAGE_NATIVE; i < ARRAY_SIZE(languages); i++)
		if (!strcmp(name, languages[i])) {
			*ret = i;
			return true;
		}
	return false;
}

void languages_list(char *ret, size_t room)
{
	ret[0] = '\0';
	for (unsigned i = LANGUAGE_NATIVE; i < ARRAY_SIZE(languages); i++)
		snprintf(ret + strlen(ret), room - strlen(ret), "%s%s",
			 i > LANGUAGE_NATIVE ? ", " : "", languages[i]);
}
