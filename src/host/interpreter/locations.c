/*
 * All locations of all processes and languages.  Samplers on several threads may call at once.
 */
#include "host/interpreter/locations.h"

#include "host/core/pool.h"
#include "host/core/room.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct location {
	uint32_t language, function, file; /* in texts */
	unsigned line;
	uint64_t number;
};

/* Names are the target's, which may make them without end: the memory for them is limited. */
#define LOCATIONS_MAX (1u << 20)
#define TEXTS_MAX     (64u << 20) /* bytes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool texts;
static struct location **locations;
static size_t location_count, location_room;
static size_t text_bytes;
static void *tree;

static int locations_compare(const void *a, const void *b)
{
	const struct location *left = a, *right = b;

	if (left->language != right->language)
		return left->language < right->language ? -1 : 1;
	if (left->function != right->function)
		return left->function < right->function ? -1 : 1;
	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->line < right->line ? -1 : left->line > right->line;
}

static uint64_t locations_add(const struct location *wanted)
{
	struct location *location;

	if (make_room(&locations, location_count, &location_room, sizeof(struct location *)))
		return 0;
	location = malloc(sizeof(*location));
	if (!location)
		return 0;
	*location = *wanted;
	location->number = LANGUAGE_LOCATIONS | location_count;
	if (!tsearch(location, &tree, locations_compare)) {
		free(location);
		return 0;
	}
	locations[location_count++] = location;
	return location->number;
}

static bool is_known(const char *language, const char *function, const char *file, unsigned line)
{
	struct location wanted = { pool_find(&texts, language), pool_find(&texts, function),
				   pool_find(&texts, file), line, 0 };

	return tfind(&wanted, &tree, locations_compare);
}

static uint32_t locations_keep(const char *text)
{
	size_t before = texts.count;
	uint32_t number = pool_add(&texts, text);

	text_bytes += texts.count > before ? strlen(text) + 1 : 0;
	return number;
}

static uint64_t find_or_add(const char *language, const char *function, const char *file,
			    unsigned line)
{
	bool is_full = location_count >= LOCATIONS_MAX || text_bytes >= TEXTS_MAX;
	bool is_kept = !is_full || is_known(language, function, file, line);
	struct location wanted = { locations_keep(language),
				   locations_keep(is_kept ? function : LANGUAGE_TOO_MANY),
				   locations_keep(is_kept ? file : ""), is_kept ? line : 0, 0 };
	struct location **known;

	if (wanted.language == POOL_NONE || wanted.function == POOL_NONE ||
	    wanted.file == POOL_NONE)
		return 0;
	known = tfind(&wanted, &tree, locations_compare);
	return known ? (*known)->number : locations_add(&wanted);
}

uint64_t language_location_make(const char *language, const char *function, const char *file,
				unsigned line)
{
	uint64_t number;

	pthread_mutex_lock(&lock);
	number = find_or_add(language, function, file, line);
	pthread_mutex_unlock(&lock);
	return number;
}

bool language_location_find(uint64_t number, struct language_location *ret)
{
	uint64_t at = number ^ LANGUAGE_LOCATIONS;
	bool is_known;

	pthread_mutex_lock(&lock);
	is_known = at < location_count;
	if (is_known)
		*ret = (struct language_location){ pool_text(&texts, locations[at]->function),
						   pool_text(&texts, locations[at]->file),
						   locations[at]->line,
						   pool_text(&texts, locations[at]->language),
						   locations[at]->language };
	pthread_mutex_unlock(&lock);
	return is_known;
}
