/*
 * Reads foreign JSON, value by value, in the order in which it is written.  After the first
 * error all further answers are false or empty.
 *
 *   if (json_read_object(&reader))
 *           while (json_read_member(&reader, key, sizeof(key)))
 *                   if (!strcmp(key, "rank"))
 *                           rank = json_read_number(&reader);
 *                   else
 *                           json_read_past(&reader);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_reader {
	const char *at, *end;
	unsigned depth;
	bool is_behind; /* a value has just ended: a comma or an end follows */
	bool has_failed;
};

struct json_reader json_reader_of(const char *text, size_t size);

/* False also where the next value is something else, which fails. */
bool json_read_object(struct json_reader *reader);
bool json_read_list(struct json_reader *reader);

/* The next member of the open object, whose value must be read next; false: the object has ended.
 * A long key is cut. */
bool json_read_member(struct json_reader *reader, char *key, size_t room);
/* The same of the open list. */
bool json_read_item(struct json_reader *reader);

/* The first character of the next value, such as '[' or '"'; 0: there is none. */
char json_read_kind(struct json_reader *reader);

/* One value each.  Text is cut to its room, which must not be 0; "" where it is none. */
void json_read_text(struct json_reader *reader, char *ret, size_t room);
/* Whole numbers from 0; 0 where it is none. */
uint64_t json_read_number(struct json_reader *reader);
bool json_read_bool(struct json_reader *reader);
/* true, null, 12.5: as it stands. */
void json_read_bare(struct json_reader *reader, char *ret, size_t room);
/* Skips a value of any kind. */
void json_read_past(struct json_reader *reader);

/* True without errors, when nothing but blanks is left. */
bool json_read_whole(struct json_reader *reader);
