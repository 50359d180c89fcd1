/*
 * Reads a fleet.json, or, if there is none, takes the recordings of a folder for ranks.  What is
 * read is foreign: any user may have written the fleet.json.
 */
#include "host/fleet/folder/fleet_folder.h"

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/core/text/json_reader.h"
#include "host/core/text/text.h"
#include "host/fleet/rank.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FLEET_JSON_MAX ((size_t)512 << 20)
#define TEXT_BYTES     1024u
#define KEY_BYTES      32u

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL };

/* A member and its destination. */
struct field {
	const char *key;
	enum field_kind kind;
	const char **text;
	uint64_t *number;
	bool *truth;
};

/* Reads a field, or skips another member.  0 or -ENOMEM. */
static int field_read(struct json_reader *reader, struct fleet *fleet, const char *key,
		      const struct field *fields, size_t count)
{
	char text[TEXT_BYTES];

	for (size_t i = 0; i < count; i++) {
		if (strcmp(key, fields[i].key) != 0)
			continue;
		if (fields[i].kind == FIELD_NUMBER)
			*fields[i].number = json_read_number(reader);
		else if (fields[i].kind == FIELD_BOOL)
			*fields[i].truth = json_read_bool(reader);
		else
			json_read_text(reader, text, sizeof(text));
		return fields[i].kind == FIELD_TEXT ? fleet_set_text(fleet, fields[i].text, text)
						    : 0;
	}
	json_read_past(reader);
	return 0;
}

static int node_read(struct json_reader *reader, struct fleet *fleet)
{
	uint32_t number = fleet_add_node(fleet, "");
	struct fleet_node *node = number == NODE_NONE ? NULL : &fleet->nodes[number];
	uint64_t processors = 0;
	bool has_answered = false;
	char key[KEY_BYTES];
	int r = node && json_read_object(reader) ? 0 : -ENOMEM;

	while (!r && json_read_member(reader, key, sizeof(key))) {
		const struct field fields[] = {
			{ "name", FIELD_TEXT, .text = &node->name },
			{ "trouble", FIELD_TEXT, .text = &node->trouble },
			{ "limpet", FIELD_TEXT, .text = &node->version },
			{ "machine", FIELD_TEXT, .text = &node->machine },
			{ "kernel", FIELD_TEXT, .text = &node->kernel },
			{ "processors", FIELD_NUMBER, .number = &processors },
			{ "real_ns", FIELD_NUMBER, .number = &node->real_ns },
			{ "boot_ns", FIELD_NUMBER, .number = &node->boot_ns },
			{ "clock_error_ns", FIELD_NUMBER, .number = &node->clock_error_ns },
			{ "lost_lines", FIELD_NUMBER, .number = &node->lost_lines },
			{ "clock_synchronized", FIELD_BOOL, .truth = &node->is_synchronized },
			{ "answered", FIELD_BOOL, .truth = &has_answered },
		};

		r = field_read(reader, fleet, key, fields, ARRAY_SIZE(fields));
	}
	if (node) {
		node->processors = (uint32_t)MIN(processors, UINT32_MAX);
		node->phase = has_answered ? NODE_ENDED : NODE_LOST;
	}
	return r;
}

static int rank_read(struct json_reader *reader, struct fleet *fleet)
{
	uint64_t number = RANK_MAX + 1ull, node = NODE_NONE, pid = 0;
	struct fleet_rank *rank;
	const char *state = "", *name;
	char key[KEY_BYTES];
	int r = fleet_expect_rank(fleet, NODE_NONE, 0, /* pid */ 0);

	rank = r ? NULL : &fleet->ranks[fleet->rank_count - 1];
	if (!r && !json_read_object(reader))
		r = -EPROTO;
	while (!r && json_read_member(reader, key, sizeof(key))) {
		const struct field fields[] = {
			{ "rank", FIELD_NUMBER, .number = &number },
			{ "node", FIELD_NUMBER, .number = &node },
			{ "pid", FIELD_NUMBER, .number = &pid },
			{ "numbered", FIELD_BOOL, .truth = &rank->is_told },
			{ "program", FIELD_TEXT, .text = &rank->program },
			{ "command", FIELD_TEXT, .text = &rank->command },
			{ "user", FIELD_TEXT, .text = &rank->user },
			{ "reason", FIELD_TEXT, .text = &rank->reason },
			{ "recording", FIELD_TEXT, .text = &rank->recording },
			{ "state", FIELD_TEXT, .text = &state },
		};

		r = field_read(reader, fleet, key, fields, ARRAY_SIZE(fields));
	}
	if (!r && number > RANK_MAX)
		r = -EPROTO;
	if (r)
		return r;
	rank->number = (uint32_t)number;
	if (node < fleet->node_count) {
		rank->node = (uint32_t)node;
		fleet->nodes[node].rank_count++;
	}
	rank->pid = pid <= INT_MAX ? (pid_t)pid : 0;
	rank->is_settled = true;
	rank->state = RANK_NO_ANSWER;
	for (unsigned i = 0; i < RANK_STATES; i++)
		if (!strcmp(rank_state_key((enum rank_state)i), state))
			rank->state = (enum rank_state)i;
	/* A file in the folder itself: the name leads nowhere else. */
	name = rank->recording;
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) >= NAME_MAX)
		rank->recording = "";
	return 0;
}

static int list_read(struct json_reader *reader, struct fleet *fleet,
		     int (*read_one)(struct json_reader *reader, struct fleet *fleet))
{
	int r = json_read_list(reader) ? 0 : -EPROTO;

	while (!r && json_read_item(reader))
		r = read_one(reader, fleet);
	return r;
}

/* A file belongs to one rank: a list that names it a million times must cost no more than one that
 * names it once. */
static int recordings_check(struct fleet *fleet)
{
	struct pool names = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < fleet->rank_count; i++) {
		struct fleet_rank *rank = &fleet->ranks[i];
		size_t before = names.count;

		if (!*rank->recording)
			continue;
		if (pool_add(&names, rank->recording) == POOL_NONE)
			r = -ENOMEM;
		if (r || names.count > before)
			continue;
		rank->state = RANK_CUT;
		rank->recording = "";
		rank->reason = "its recording is another rank's, too";
	}
	pool_done(&names);
	return r;
}

int fleet_json_read(const char *text, size_t size, struct fleet *ret)
{
	struct json_reader reader = json_reader_of(text, size);
	const char *title = "";
	uint64_t form = 0;
	char key[KEY_BYTES];
	int r = json_read_object(&reader) ? 0 : -EPROTO;

	while (!r && json_read_member(&reader, key, sizeof(key))) {
		const struct field fields[] = {
			{ "fleet", FIELD_NUMBER, .number = &form },
			{ "title", FIELD_TEXT, .text = &title },
		};

		if (!strcmp(key, "nodes"))
			r = list_read(&reader, ret, node_read);
		else if (!strcmp(key, "ranks"))
			r = list_read(&reader, ret, rank_read);
		else
			r = field_read(&reader, ret, key, fields, ARRAY_SIZE(fields));
	}
	if (!r && (form != 1 || !json_read_whole(&reader)))
		r = -EPROTO;
	if (!r)
		r = text_set(&ret->title, title);
	return r ? r : recordings_check(ret);
}

static int is_recording(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), end = strlen(RECORDING_EXTENSION);

	return length > end && entry->d_name[0] != '.' &&
	       !strcmp(entry->d_name + length - end, RECORDING_EXTENSION);
}

/* From "rank-00005-n2-4711.limpet"; others are numbered in order. */
static uint32_t number_of(const char *name, uint32_t otherwise)
{
	struct text text = text_of(name);
	uint64_t number;

	return text_take_prefix(&text, "rank-") && text_take_number(&text, 10, &number) &&
			       text_take_char(&text, '-') && number <= RANK_MAX
		       ? (uint32_t)number
		       : otherwise;
}

static int plain_add(struct fleet *fleet, const char *name, uint32_t otherwise)
{
	struct fleet_rank *rank;

	if (fleet_expect_rank(fleet, NODE_NONE, number_of(name, otherwise), /* pid */ 0))
		return -ENOMEM;
	rank = &fleet->ranks[fleet->rank_count - 1];
	rank->is_settled = true;
	rank->state = RANK_DONE;
	return fleet_set_text(fleet, &rank->recording, name);
}

static int plain_read(const char *path, struct fleet *ret, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_recording, alphasort), r = 0;

	if (count < 0)
		return err_set(err, -errno, "open '%s': %s", path, strerror(errno));
	r = text_set(&ret->title, path);
	for (int i = 0; i < count; i++) {
		if (!r)
			r = plain_add(ret, entries[i]->d_name, (uint32_t)i);
		free(entries[i]);
	}
	free(entries);
	return r ? err_set(err, r, "'%s': no memory", path) : 0;
}

int fleet_folder_read(const char *path, struct fleet *ret, bool *ret_is_plain, struct err *err)
{
	CLEANUP(free) char *list = fleet_folder_path(path, "fleet.json");
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	int r = list ? text_read_regular(list, FLEET_JSON_MAX, &text, &size) : -ENOMEM;

	*ret_is_plain = r == -ENOENT;
	if (r == -ENOENT)
		return plain_read(path, ret, err);
	if (r)
		return err_set(err, r, "read '%s': %s", list ? list : path,
			       r == -EINVAL ? "it is no file" : strerror(-r));
	r = fleet_json_read(text, size, ret);
	if (r == -ENOMEM)
		return err_set(err, r, "'%s': no memory", list);
	if (r) {
		err_set(err, r, "'%s' is no list of a fleet", list);
		return err_fix(err, "remove it: the recordings beside it are read without it");
	}
	/* limpet was killed before it could write the ranks. */
	*ret_is_plain = !ret->rank_count;
	return ret->rank_count ? 0 : plain_read(path, ret, err);
}
