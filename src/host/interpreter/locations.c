/*
 * All locations of all processes and languages.  Samplers on several threads may call at once.
 */
#include "host/interpreter/locations.h"

#include "host/core/pool.h"
#include "host/core/room.h"
#include "host/core/table.h"

#include <pthread.h>
#include <string.h>

struct location {
	uint32_t language, function, file; /* in texts */
	unsigned line;
};

/* Names are the target's, which may make them without end: the memory for them is limited. */
#define LOCATIONS_MAX (1u << 20)
#define TEXTS_MAX     (64u << 20) /* bytes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool texts;
static struct location *locations;
static size_t location_count, location_room;
static size_t text_bytes;
static struct table numbers; /* of locations */

static uint64_t function_and_file(const struct location *location)
{
	return (uint64_t)location->function << 32 | location->file;
}

static uint64_t language_and_line(const struct location *location)
{
	return (uint64_t)location->language << 32 | location->line;
}

static bool is_known(const char *language, const char *function, const char *file, unsigned line)
{
	const struct location wanted = { pool_find(&texts, language), pool_find(&texts, function),
					 pool_find(&texts, file), line };

	return table_find(&numbers, function_and_file(&wanted), language_and_line(&wanted));
}

static uint32_t keep_text(const char *text)
{
	size_t before = texts.count;
	uint32_t number = pool_add(&texts, text);

	text_bytes += texts.count > before ? strlen(text) + 1 : 0;
	return number;
}

static uint64_t find_or_add(const char *language, const char *function, const char *file,
			    unsigned line)
{
	bool is_full = location_count >= LOCATIONS_MAX || text_bytes >= TEXTS_MAX, is_new;
	bool is_kept = !is_full || is_known(language, function, file, line);
	const struct location wanted = { keep_text(language),
					 keep_text(is_kept ? function : LANGUAGE_TOO_MANY),
					 keep_text(is_kept ? file : ""), is_kept ? line : 0 };
	struct table_entry *entry;

	if (wanted.language == POOL_NONE || wanted.function == POOL_NONE ||
	    wanted.file == POOL_NONE ||
	    make_room(&locations, location_count, &location_room, sizeof(*locations)))
		return 0;
	entry = table_make(&numbers, function_and_file(&wanted), language_and_line(&wanted),
			   &is_new);
	if (entry && is_new) {
		entry->value = LANGUAGE_LOCATIONS | location_count;
		locations[location_count++] = wanted;
	}
	return entry ? entry->value : 0;
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
		*ret = (struct language_location){ pool_text(&texts, locations[at].function),
						   pool_text(&texts, locations[at].file),
						   locations[at].line,
						   pool_text(&texts, locations[at].language),
						   locations[at].language };
	pthread_mutex_unlock(&lock);
	return is_known;
}
