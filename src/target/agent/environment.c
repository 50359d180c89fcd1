/*
 * Publishes variables for tools. A new array is published with a single pointer store, because
 * other threads read the environment without a lock; setenv could free the array under them. limpet
 * never writes into the application's memory, and never frees a published array or string: a
 * pointer from getenv may be used for ever. Runs on the control thread.
 */
#include "target/agent/agent.h"
#include "target/agent/environment_view.h"
#include "target/runtime/mapping.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define TRIES 100

/* A published environment. */
struct publication {
	struct environment_access access;
	char **before;   /* the old value of the variable */
	char **ours;     /* limpet's array: first its entries, then the others */
	char **pristine; /* a copy of it: the application may change the array in place */
	char **original; /* the application's entries */
	char **hidden;   /* for each of limpet's entries, the replaced one, or NULL */
	size_t own_count, count;
	size_t fresh_bytes; /* of a new block; 0: the last block is reused */
};

/* Used by one thread at a time. */
static struct publication published;

/* The last one with a new block, reused so that repeated attaches cost no memory. */
static struct publication last;

static bool same_name(const char *a, const char *b)
{
	while (*a && *a != '=' && *a == *b)
		a++, b++;
	return *a == '=' && *b == '=';
}

/* The index of limpet's entry that replaces this entry, or own_count. */
static size_t find_override(const char *entry)
{
	size_t i = 0;

	while (i < published.own_count && !same_name(published.pristine[i], entry))
		i++;
	return i;
}

/* The index of this entry among limpet's, or own_count. */
static size_t own_index(const char *entry)
{
	size_t i = 0;

	while (i < published.own_count && published.pristine[i] != entry)
		i++;
	return i;
}

/* Writes "name=value" for each pair into `room`. */
static void write_entries(const struct control_environ *message, char *room, size_t size)
{
	const char *cursor = NULL, *name, *value;
	size_t used = 0;

	published.own_count = 0;
	while (control_environ_next(message, &cursor, &name, &value)) {
		char *entry = room + used;
		size_t end = text_add(entry, size - used, 0, name);

		end = text_add(entry, size - used, end, "=");
		end = text_add(entry, size - used, end, value);
		used += end + 1;
		published.pristine[published.own_count++] = entry;
	}
}

/* Fills `pristine` with limpet's entries, then with the application's that are not replaced. */
static void fill_pristine(const struct environment_view *view)
{
	size_t at = published.own_count;

	for (size_t i = 0; i < view->count; i++) {
		size_t mine = find_override(view->copy[i]);

		if (mine < published.own_count && !published.hidden[mine])
			published.hidden[mine] = view->copy[i]; /* getenv returns the first */
		else if (mine == published.own_count)
			published.pristine[at++] = view->copy[i];
	}
	published.pristine[at] = NULL;
	published.count = at;
}

/* True if the last block has the same contents, and the application has not written into it. */
static bool is_like_last(void)
{
	if (!last.ours || last.own_count != published.own_count || last.count != published.count ||
	    entries_count(last.original) != entries_count(published.original))
		return false;
	for (size_t i = 0; i < last.own_count; i++)
		if (!text_equal(last.pristine[i], published.pristine[i]))
			return false;
	return !memcmp(last.ours, last.pristine, last.count * sizeof(char *)) &&
	       !memcmp(last.pristine + last.own_count, published.pristine + last.own_count,
		       (last.count - last.own_count) * sizeof(char *));
}

/* Publishes the last block instead of the new one, which is unmapped. */
static void reuse_last(char **memory, size_t size)
{
	memcpy(last.hidden, published.hidden, published.own_count * sizeof(char *));
	memcpy(last.original, published.original,
	       (entries_count(published.original) + 1) * sizeof(char *));
	published.pristine = last.pristine;
	published.original = last.original;
	published.hidden = last.hidden;
	published.ours = last.ours;
	published.fresh_bytes = 0;
	memory_unmap(memory, size);
}

/* One mapping: limpet's array, its copy, the application's entries, replaced ones, texts. */
static bool build_arrays(const struct control_environ *message, const struct environment_view *view)
{
	size_t slots = view->count + message->count + 1;
	size_t texts = message->bytes + 2u * message->count + 1;
	size_t size = (3 * slots + message->count) * sizeof(char *) + texts;
	char **memory = memory_map(size, 0);

	if (!memory)
		return false;
	published.pristine = memory + slots;
	published.original = published.pristine + slots;
	published.hidden = published.original + slots;
	if (view->count)
		memcpy(published.original, view->copy, view->count * sizeof(char *));
	write_entries(message, (char *)(published.hidden + message->count), texts);
	fill_pristine(view);
	if (is_like_last()) {
		reuse_last(memory, size);
		return true;
	}
	memcpy(memory, published.pristine, (published.count + 1) * sizeof(char *));
	published.ours = memory;
	published.fresh_bytes = size;
	return true;
}

/* Carries one change over into limpet's array, unless the entry changed there, too. */
static void carry_value(char **into, char *before, char *after)
{
	for (size_t i = 0; i < published.own_count; i++)
		if (published.hidden[i] == before)
			published.hidden[i] = after;
	for (; *into; into++) {
		char *expected = before;

		/* Relaxed: the application has written the text before, under its own lock. */
		if (*into == before)
			__atomic_compare_exchange_n(into, &expected, after, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
}

/* Carries changed values over at once; true if an entry was removed from the retired array. */
static bool carry_values(const struct environment_view *retired, char **now, char **into)
{
	bool has_removal = false;

	for (size_t i = 0, at = 0; i < retired->count; i++) {
		if (now[at] == retired->copy[i]) {
			at++;
		} else if (now[at] && same_name(now[at], retired->copy[i])) {
			carry_value(into, retired->copy[i], now[at++]);
		} else { /* later entries have moved up */
			has_removal = true;
		}
	}
	return has_removal;
}

/* Entries must never move in an array in use: a reader without a lock could miss the end. So
 * removed entries are left out of a new array. */
static char **carry_removals(const struct environment_access *access,
			     const struct environment_view *retired, char **now, char **into)
{
	size_t count = 0;
	char **array, **at;

	while (into[count])
		count++;
	array = at = memory_map((count + 1) * sizeof(char *), 0);
	if (!array)
		return into;
	for (size_t i = 0; i < count; i++)
		if (!entries_have(retired->copy, into[i]) || entries_have(now, into[i]))
			*at++ = into[i];
	return environment_exchange(access, into, array) ? array : into;
}

/*
 * A setenv that had read the old pointer just before the exchange still writes into the retired
 * array. It has ended once environment_settle() has had libc's lock; its changes are carried over.
 * If the application has replaced limpet's array by then, it copied that array, and the retired one
 * may be freed: then nothing is read.
 */
static char **carry_late_write(const struct environment_access *access,
			       const struct environment_view *retired, char **into)
{
	size_t size = (retired->count + 1) * sizeof(char *);
	char **now = memory_map(size, 0);
	bool is_whole;

	environment_settle(access);
	is_whole = now && retired->count && environment_now(access) == into &&
		   environment_read(retired->array, now, retired->count);
	environment_settle(access);
	if (is_whole && environment_now(access) == into && carry_values(retired, now, into))
		into = carry_removals(access, retired, now, into);
	memory_unmap(now, size);
	return into;
}

/* Copies the current environment with what was written into `retired`; drops what was removed
 * there. */
static char **copy_with_late_writes(const struct environment_view *now,
				    const struct environment_view *retired)
{
	char **array = memory_map((now->count + 1) * sizeof(char *), 0), **at = array;
	bool has_removal;

	if (!array)
		return NULL;
	memcpy(array, now->copy, (now->count + 1) * sizeof(char *));
	has_removal = carry_values(retired, retired->array, array);
	for (char **entry = array; has_removal && *entry; entry++)
		if (!entries_have(retired->copy, *entry) || entries_have(retired->array, *entry))
			*at++ = *entry;
	if (has_removal)
		*at = NULL;
	return array;
}

/*
 * A retired array of limpet's is never freed, so late writes of a setenv can be read at any time,
 * and are carried into the application's current array.
 */
static int carry_from_ours(const struct environment_view *retired)
{
	struct environment_view now;
	char **array;
	int r = environment_copy(&published.access, &now);

	if (r || !now.array) {
		environment_view_done(&now);
		return r;
	}
	array = copy_with_late_writes(&now, retired);
	if (!array) {
		r = -ENOMEM;
	} else if (!environment_is_unchanged(&published.access, &now) ||
		   !environment_exchange(&published.access, now.array, array)) {
		memory_unmap(array, (now.count + 1) * sizeof(char *));
		r = -EAGAIN;
	} else {
		(void)carry_late_write(&published.access, &now, array);
	}
	environment_view_done(&now);
	return r;
}

/* True if the array was written to since it was copied. */
static bool has_late_writes(const struct environment_view *retired)
{
	return memcmp(retired->array, retired->copy, (retired->count + 1) * sizeof(char *));
}

/* After an array of limpet's was replaced. */
static int settle_ours(const struct environment_view *retired, const struct environment_view *put)
{
	int r = 0;

	environment_settle(&published.access);
	(void)environment_mend(&published.access, retired->count, put);
	if (has_late_writes(retired))
		r = -EAGAIN;
	for (unsigned i = 0; (r == -EAGAIN || r == -EBUSY) && i < TRIES; i++)
		r = carry_from_ours(retired);
	return r;
}

/* Returns -EAGAIN if the application was faster. */
static int publish_over(const struct control_environ *message, const struct environment_view *view)
{
	if (!build_arrays(message, view))
		return -ENOMEM;
	published.before = view->array;
	if (!environment_is_unchanged(&published.access, view) ||
	    !environment_exchange(&published.access, view->array, published.ours)) {
		if (published.fresh_bytes) /* of a block that was never published */
			memory_unmap(published.ours, published.fresh_bytes);
		published.ours = NULL;
		return -EAGAIN;
	}
	if (published.fresh_bytes) /* the block can be reused, and is never freed */
		last = published;
	agent_page.environment_changed = 1;
	published.ours = carry_late_write(&published.access, view, published.ours);
	published.ours = environment_mend_ours(&published.access, view->count, published.ours);
	return 0;
}

static int block_publish(const struct control_environ *message)
{
	struct environment_view view;
	int r = environment_copy(&published.access, &view);

	if (!r)
		r = publish_over(message, &view);
	environment_view_done(&view);
	return r;
}

int environment_publish(const struct control_environ *message)
{
	int r;

	environment_restore();
	r = environment_access_open(&published.access);
	if (r)
		return r;
	r = -EAGAIN;
	for (unsigned i = 0; r == -EAGAIN && i < TRIES; i++)
		r = block_publish(message);
	return r == -EAGAIN ? -EBUSY : r;
}

/* The application has changed the array, or has made its own with limpet's strings: publishes a
 * copy without these, and with the replaced entries. */
static int publish_without_ours(const struct environment_view *theirs)
{
	size_t size = (theirs->count + 1) * sizeof(char *);
	char **array = memory_map(size, 0), **at = array;

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < theirs->count; i++) {
		size_t mine = own_index(theirs->copy[i]);

		if (mine == published.own_count)
			*at++ = theirs->copy[i];
		else if (published.hidden[mine])
			*at++ = published.hidden[mine];
	}
	*at = NULL;
	if (!environment_is_unchanged(&published.access, theirs) ||
	    !environment_exchange(&published.access, theirs->array, array)) {
		memory_unmap(array, size);
		return -EAGAIN;
	}
	if (theirs->array == published.ours)
		return settle_ours(theirs, &(struct environment_view){ array, array,
								       entries_count(array) }) ==
				       -ENOMEM
			       ? -ENOMEM
			       : 0;
	array = carry_late_write(&published.access, theirs, array);
	(void)environment_mend_ours(&published.access, theirs->count, array);
	return 0;
}

/* While limpet's array is current and untouched, the application has not freed its own. */
static int publish_before(void)
{
	struct environment_view ours = { published.ours, published.pristine, published.count };
	struct environment_view before = { published.before, published.original,
					   entries_count(published.original) };

	if (has_late_writes(&ours) ||
	    !environment_exchange(&published.access, published.ours, published.before))
		return -EAGAIN;
	return settle_ours(&ours, &before) == -ENOMEM ? -ENOMEM : 0;
}

static int restore_once(void)
{
	struct environment_view now;
	int r = environment_copy(&published.access, &now);
	bool is_untouched = !r && now.array == published.ours && now.count == published.count &&
			    !memcmp(now.copy, published.pristine, now.count * sizeof(char *));

	if (!r && now.array) /* without an array it has cleared the environment */
		r = is_untouched ? publish_before() : publish_without_ours(&now);
	environment_view_done(&now);
	return r;
}

void environment_restore(void)
{
	int r = -EAGAIN;

	if (!published.ours)
		return;
	for (unsigned i = 0; (r == -EAGAIN || r == -EBUSY) && i < TRIES; i++)
		r = restore_once();
	published.ours = NULL;
	agent_page.environment_changed = r != 0; /* reports a failure in the page */
}
