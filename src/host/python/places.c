/*
 * All places of all processes and languages.  Samplers of several threads may come at once.
 */
#include "host/python/places.h"

#include "host/core/pool.h"
#include "host/core/room.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint32_t language, function, file; /* in texts */
	unsigned line;
	uint64_t number;
};

/* Names are the target's: what it makes without end must not fill our memory. */
#define PLACES_MAX (1u << 20)
#define TEXTS_MAX  (64u << 20) /* bytes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool texts;
static struct place **places;
static size_t place_count, place_room;
static size_t text_bytes;
static void *tree;

static int places_compare(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->language != right->language)
		return left->language < right->language ? -1 : 1;
	if (left->function != right->function)
		return left->function < right->function ? -1 : 1;
	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->line < right->line ? -1 : left->line > right->line;
}

static uint64_t places_add(const struct place *wanted)
{
	struct place *place;

	if (make_room(&places, place_count, &place_room, sizeof(struct place *)))
		return 0;
	place = malloc(sizeof(*place));
	if (!place)
		return 0;
	*place = *wanted;
	place->number = PYTHON_PLACES | place_count;
	if (!tsearch(place, &tree, places_compare)) {
		free(place);
		return 0;
	}
	places[place_count++] = place;
	return place->number;
}

static bool is_known(const char *language, const char *function, const char *file, unsigned line)
{
	struct place wanted = { pool_find(&texts, language), pool_find(&texts, function),
				pool_find(&texts, file), line, 0 };

	return tfind(&wanted, &tree, places_compare);
}

static uint32_t places_keep(const char *text)
{
	size_t before = texts.count;
	uint32_t number = pool_add(&texts, text);

	text_bytes += texts.count > before ? strlen(text) + 1 : 0;
	return number;
}

static uint64_t find_or_add(const char *language, const char *function, const char *file,
			    unsigned line)
{
	bool is_full = place_count >= PLACES_MAX || text_bytes >= TEXTS_MAX;
	bool is_kept = !is_full || is_known(language, function, file, line);
	struct place wanted = { places_keep(language),
				places_keep(is_kept ? function : PYTHON_TOO_MANY),
				places_keep(is_kept ? file : ""), is_kept ? line : 0, 0 };
	struct place **known;

	if (wanted.language == POOL_NONE || wanted.function == POOL_NONE ||
	    wanted.file == POOL_NONE)
		return 0;
	known = tfind(&wanted, &tree, places_compare);
	return known ? (*known)->number : places_add(&wanted);
}

uint64_t language_place_make(const char *language, const char *function, const char *file,
			     unsigned line)
{
	uint64_t number;

	pthread_mutex_lock(&lock);
	number = find_or_add(language, function, file, line);
	pthread_mutex_unlock(&lock);
	return number;
}

uint64_t python_place_make(const char *function, const char *file, unsigned line)
{
	return language_place_make("python", function, file, line);
}

bool python_place_find(uint64_t number, struct python_place *ret)
{
	uint64_t at = number ^ PYTHON_PLACES;
	bool is_known;

	pthread_mutex_lock(&lock);
	is_known = at < place_count;
	if (is_known)
		*ret = (struct python_place){ pool_text(&texts, places[at]->function),
					      pool_text(&texts, places[at]->file), places[at]->line,
					      pool_text(&texts, places[at]->language),
					      places[at]->language };
	pthread_mutex_unlock(&lock);
	return is_known;
}
