/*
 * Reads a program's names for its threads.  A thread started by threading.Thread has that object as
 * the first variable of its outermost function, Thread._bootstrap(self); its name is an attribute.
 * All of it is foreign and may be changing: anything unexpected means no name.
 */
#include "host/interpreter/python/python.h"

#include "host/core/text/path.h"

#include <stdio.h>
#include <stdlib.h>

#define WORD          8u
#define OBJECT_TYPE   8u
#define TYPE_SIZE     32u /* of its objects, without their variable part */
#define DICT_BEFORE   24u /* the pointer to an object's dictionary precedes it */
#define VALUES_BEFORE 32u
#define DICT_KEYS     32u
#define DICT_VALUES   40u
#define KEYS_HEAD     32u
#define KEYS_INDEX    9u /* log2 of the bytes of its index, which is followed by its entries */
#define KEYS_KIND     10u
#define KEYS_COUNT    24u
#define KEYS_MOST     128u

/* Names, and the values beside them or elsewhere. */
struct attributes {
	uint64_t keys, values; /* values 0: in the entries of the keys */
};

/* A separate dictionary, which most objects lack.  Since 3.13 its values may be those in the
 * object, after a word of counts. */
static struct attributes of_dictionary(const struct python *python, uint64_t dictionary)
{
	struct attributes ret = { 0, 0 };

	if (!dictionary)
		return ret;
	ret.keys = python_word(python, dictionary + DICT_KEYS);
	ret.values = python_word(python, dictionary + DICT_VALUES);
	if (ret.values && python->layout.values == PYTHON_VALUES_INSIDE)
		ret.values += WORD;
	return ret;
}

static struct attributes attributes_of(const struct python *python, uint64_t object)
{
	uint64_t type = python_word(python, object + OBJECT_TYPE), values = 0,
		 dictionary = python_word(python, object - DICT_BEFORE);
	struct attributes shared = { python_word(python, type + python->layout.type_keys), 0 };

	switch (python->layout.values) {
	case PYTHON_VALUES_POINTER:
		values = python_word(python, object - VALUES_BEFORE);
		break;
	case PYTHON_VALUES_TAGGED:
		values = dictionary & 1 ? dictionary + 1 : 0;
		break;
	case PYTHON_VALUES_INSIDE:
		values = dictionary ? 0 : object + python_word(python, type + TYPE_SIZE) + WORD;
		break;
	}
	shared.values = values;
	return values ? shared : of_dictionary(python, dictionary);
}

/* The address of an attribute's value; 0: there is none. */
static uint64_t find_attribute(const struct python *python, uint64_t object, const char *name)
{
	struct attributes attributes = attributes_of(python, object);
	uint64_t head = attributes.keys ? python_word(python, attributes.keys + WORD) : 0,
		 count = attributes.keys ? python_word(python, attributes.keys + KEYS_COUNT) : 0;
	unsigned index = head >> (KEYS_INDEX - WORD) * 8 & 31,
		 kind = head >> (KEYS_KIND - WORD) * 8 & 255, size = kind ? 2 * WORD : 3 * WORD;
	uint64_t entry = attributes.keys + KEYS_HEAD + (1ull << index) + (kind ? 0 : WORD);
	bool is_found;
	char *text;

	for (uint64_t i = 0; i < MIN(count, KEYS_MOST); i++, entry += size) {
		text = NULL;
		is_found = !python_text_read(python, python_word(python, entry), &text) &&
			   !strcmp(text, name);
		free(text);
		if (is_found)
			return python_word(python, attributes.values ? attributes.values + i * WORD
								     : entry + WORD);
	}
	return 0;
}

/* threading.Thread._bootstrap, under any name in a subclass. */
static bool is_bootstrap(const struct python *python, uint64_t code)
{
	struct function function;
	const char *point;
	bool is_it;

	if (python_read_function(&python->base, code, &function))
		return false;
	point = strrchr(function.name, '.');
	is_it = !strcmp(point ? point + 1 : function.name, "_bootstrap") &&
		!strcmp(path_base_name(function.file), "threading.py");
	function_done(&function);
	return is_it;
}

bool python_read_name(struct interpreter *interpreter, pid_t tid, char *ret, size_t room)
{
	struct python *self = (struct python *)interpreter;
	uint64_t code = 0, frame = python_outermost_frame(self, tid, &code), object, value;
	char *text = NULL;

	if (!frame || !self->layout.type_keys || !is_bootstrap(self, code))
		return false;
	object = python_word(self, frame + self->layout.walk.frame_size);
	value = object ? find_attribute(self, object, "_name") : 0;
	if (!value || python_text_read(self, value, &text))
		return false;
	snprintf(ret, room, "%s", text);
	free(text);
	return ret[0];
}
