/*
 * Compares two /proc/PID/status, read bit by bit: a list of groups may be long.  The program's first
 * thread stands for the program; where it has ended, or never had what we have, the one that we
 * came from does (docs/adr/0014).  Runs inside the target: no libc, no lock, no allocation.
 */
#include "target/runtime/identity.h"

#include "shared/arch/syscall.h"
#include "target/runtime/text.h"

#include <fcntl.h>

#define CHUNK    2048
#define KEY_MAX  24
#define PATH_MAX 64

enum comparison {
	MUST_EQUAL,   /* ours and theirs */
	MUST_CONTAIN, /* theirs all bits of ours */
	MUST_REACH,   /* ours as many as theirs */
};

static const struct {
	const char *name;
	enum comparison comparison;
} fields[IDENTITY_FIELDS] = {
	{ "Uid", MUST_EQUAL },         { "Gid", MUST_EQUAL },      { "Groups", MUST_EQUAL },
	{ "CapInh", MUST_CONTAIN },    { "CapPrm", MUST_CONTAIN }, { "CapEff", MUST_CONTAIN },
	{ "CapBnd", MUST_CONTAIN },    { "CapAmb", MUST_CONTAIN }, { "NoNewPrivs", MUST_REACH },
	{ "Seccomp", MUST_REACH },     { "Seccomp_filters", MUST_REACH },
};

/* One pass over the text. */
struct reading {
	struct identity *into;
	char key[KEY_MAX];
	unsigned key_length;
	int field;
	char state; /* the first letter of "State" */
};

/* Where a reading is, beside in one of the fields. */
#define FIELD_NONE  (-1)
#define FIELD_NAMED (-2) /* in the name of a line */
#define FIELD_STATE (-3)

static bool is_key(const struct reading *self, const char *name)
{
	unsigned i = 0;

	while (i < self->key_length && name[i] == self->key[i])
		i++;
	return i == self->key_length && !name[i];
}

static int find_field(const struct reading *self)
{
	for (int i = 0; i < IDENTITY_FIELDS; i++)
		if (is_key(self, fields[i].name))
			return i;
	return is_key(self, "State") ? FIELD_STATE : FIELD_NONE;
}

/* Numbers by their digits, which keeps their order; lists by a sum of their letters. */
static void take_value(struct reading *self, char letter)
{
	uint64_t *value = &self->into->fields[self->field];

	if (fields[self->field].comparison == MUST_EQUAL)
		*value = (*value ^ (unsigned char)letter) * 0x100000001b3ull;
	else if (letter >= '0' && letter <= '9')
		*value = *value << 4 | (uint64_t)(letter - '0');
	else if (letter >= 'a' && letter <= 'f')
		*value = *value << 4 | (uint64_t)(letter - 'a' + 10);
}

static void take_letter(struct reading *self, char letter)
{
	if (letter == '\n') {
		self->key_length = 0;
		self->field = FIELD_NAMED;
	} else if (self->field == FIELD_NAMED && letter == ':') {
		self->field = find_field(self);
	} else if (self->field == FIELD_NAMED && self->key_length < KEY_MAX) {
		self->key[self->key_length++] = letter;
	} else if (self->field >= 0) {
		take_value(self, letter);
	} else if (self->field == FIELD_STATE && !self->state && letter != '\t') {
		self->state = letter;
	}
}

/* False when the thread is no more. */
static bool read_status(int fd, struct identity *ret)
{
	struct reading reading = { .into = ret, .field = FIELD_NAMED };
	char chunk[CHUNK];
	long size, at = 0;

	*ret = (struct identity){ { 0 } };
	while ((size = raw4(SYS_pread64, fd, chunk, sizeof(chunk), at)) > 0) {
		for (long i = 0; i < size; i++)
			take_letter(&reading, chunk[i]);
		at += size;
	}
	return size == 0 && reading.state && reading.state != 'Z' && reading.state != 'X';
}

static bool has_more(const struct identity *ours, const struct identity *theirs)
{
	bool more = false;

	for (unsigned i = 0; i < IDENTITY_FIELDS; i++) {
		uint64_t our = ours->fields[i], their = theirs->fields[i];

		more |= fields[i].comparison == MUST_EQUAL     ? our != their
			: fields[i].comparison == MUST_CONTAIN ? (our & ~their) != 0
							       : our < their;
	}
	return more;
}

static struct descriptor open_status(const char *path)
{
	return descriptor_own((int)raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
}

/* Takes it as the thread to compare with, if it lives and has what we have. */
static bool refer_to(struct identity_watch *self, const char *path)
{
	struct identity theirs;

	self->reference = open_status(path);
	if (self->reference.fd >= 0 && read_status(self->reference.fd, &theirs) &&
	    !has_more(&self->own, &theirs))
		return true;
	descriptor_close(&self->reference);
	return false;
}

static bool refer_to_origin(struct identity_watch *self)
{
	char path[PATH_MAX];
	size_t at = text_add(path, sizeof(path), 0, "/proc/self/task/");

	at = text_add_number(path, sizeof(path), at, (unsigned long)self->origin);
	text_add(path, sizeof(path), at, "/status");
	return self->origin && refer_to(self, path);
}

static void refer(struct identity_watch *self)
{
	bool is_covered = refer_to(self, "/proc/self/status") || refer_to_origin(self);

	self->state = is_covered ? IDENTITY_WATCHED : IDENTITY_EXCEEDED;
}

void identity_begin(struct identity_watch *self, int32_t origin)
{
	struct descriptor file = open_status("/proc/thread-self/status");

	*self = (struct identity_watch){ .origin = origin, .reference = descriptor_own(-1) };
	if (file.fd >= 0 && read_status(file.fd, &self->own))
		refer(self);
	descriptor_close(&file);
}

bool identity_exceeds(struct identity_watch *self)
{
	struct identity theirs;

	if (self->state != IDENTITY_WATCHED)
		return self->state == IDENTITY_EXCEEDED;
	/* The program may have closed the descriptor, and the thread may have ended. */
	if (!descriptor_is_own(&self->reference) || !read_status(self->reference.fd, &theirs)) {
		descriptor_close(&self->reference);
		refer(self);
	} else if (has_more(&self->own, &theirs)) {
		self->state = IDENTITY_EXCEEDED;
	}
	return self->state == IDENTITY_EXCEEDED;
}

void identity_end(struct identity_watch *self)
{
	descriptor_close(&self->reference);
	self->state = IDENTITY_UNSEEN;
}
