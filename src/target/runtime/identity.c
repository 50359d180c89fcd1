/*
 * Compares two /proc/PID/status files, read in pieces, because a list of groups may be long; and
 * two threads' roots and namespaces. Reads /proc by path: the target could close a descriptor. The
 * process's first thread stands for the application; if it has ended, or never had limpet's rights,
 * the thread that created limpet's does, or any other (docs/adr/0014). Runs inside the target: no
 * libc, no lock, no allocation.
 */
#include "target/runtime/identity.h"

#include "shared/arch/syscall.h"
#include "shared/base/hash.h"
#include "shared/wire/boot.h"
#include "target/runtime/descriptor.h"
#include "target/runtime/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define CHUNK         2048
#define KEY_MAX       24
#define PATH_BYTES    96
#define OWN_FOLDER    "/proc/thread-self"
#define FIRST_THREAD  0
#define NAME_BYTES    24
#define FIELD_SECCOMP 9 /* index in the table */
#define ROOT          0 /* in a place */

static const char *const place_names[PLACE_FILES] = {
	[ROOT] = "/root", "/ns/user", "/ns/mnt",    "/ns/pid_for_children",  "/ns/net",
	"/ns/ipc",        "/ns/uts",  "/ns/cgroup", "/ns/time_for_children",
};

static int file_read(const char *folder, unsigned index, struct place *into)
{
	char path[PATH_BYTES];
	struct stat file;
	long r;

	text_add(path, sizeof(path), text_add(path, sizeof(path), 0, folder), place_names[index]);
	r = raw4(SYS_newfstatat, AT_FDCWD, path, &file, 0);
	into->files[index].device = r < 0 ? 0 : file.st_dev;
	into->files[index].inode = r < 0 ? 0 : file.st_ino;
	return (int)MIN(r, 0);
}

/* Also reads it again: other threads that share it may have changed it. */
static int place_read_root(const char *folder, struct place *self)
{
	return file_read(folder, ROOT, self);
}

/*
 * Older kernels lack some namespaces, and an ending thread has none. The kernel removes the root
 * first (do_exit: exit_fs, then exit_task_namespaces), so the root is read last: if it is there,
 * the namespaces were.
 */
int place_read(const char *folder, struct place *ret)
{
	for (unsigned i = ROOT + 1; i < PLACE_FILES; i++) {
		int r = file_read(folder, i, ret);

		if (r && r != -ENOENT)
			return r;
	}
	return place_read_root(folder, ret);
}

bool place_is_same(const struct place *a, const struct place *b)
{
	for (unsigned i = 0; i < PLACE_FILES; i++)
		if (a->files[i].device != b->files[i].device ||
		    a->files[i].inode != b->files[i].inode)
			return false;
	return true;
}

enum comparison {
	MUST_EQUAL,   /* both are equal */
	MUST_CONTAIN, /* the application's have all bits of limpet's */
	MUST_REACH,   /* limpet's is at least the application's */
};

static const struct {
	const char *name;
	enum comparison comparison;
} fields[IDENTITY_FIELDS] = {
	{ "Uid", MUST_EQUAL },
	{ "Gid", MUST_EQUAL },
	{ "Groups", MUST_EQUAL },
	{ "CapInh", MUST_CONTAIN },
	{ "CapPrm", MUST_CONTAIN },
	{ "CapEff", MUST_CONTAIN },
	{ "CapBnd", MUST_CONTAIN },
	{ "CapAmb", MUST_CONTAIN },
	{ "NoNewPrivs", MUST_REACH },
	{ "Seccomp", MUST_REACH },
	{ "Seccomp_filters", MUST_REACH },
};

/* The state of the parser. */
struct reading {
	struct identity *into;
	char key[KEY_MAX];
	unsigned key_length;
	int field;
	char state; /* the first letter of "State" */
};

/* Values of `field` besides indices of the table. */
#define FIELD_NONE  (-1)
#define FIELD_NAMED (-2) /* in the key of a line */
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

/* Appends digits to numbers, which keeps their order; hashes lists. */
static void append_value(struct reading *self, char letter)
{
	uint64_t *value = &self->into->fields[self->field];

	if (fields[self->field].comparison == MUST_EQUAL)
		*value = hash_add_byte(*value, (unsigned char)letter);
	else if (letter >= '0' && letter <= '9')
		*value = *value << 4 | (uint64_t)(letter - '0');
	else if (letter >= 'a' && letter <= 'f')
		*value = *value << 4 | (uint64_t)(letter - 'a' + 10);
}

static void parse_letter(struct reading *self, char letter)
{
	if (letter == '\n') {
		self->key_length = 0;
		self->field = FIELD_NAMED;
	} else if (self->field == FIELD_NAMED && letter == ':') {
		self->field = find_field(self);
	} else if (self->field == FIELD_NAMED && self->key_length < KEY_MAX) {
		self->key[self->key_length++] = letter;
	} else if (self->field >= 0) {
		append_value(self, letter);
	} else if (self->field == FIELD_STATE && !self->state && letter != '\t') {
		self->state = letter;
	}
}

/* Returns 0; -ESRCH: the thread has ended. */
static int parse_status(int fd, struct identity *ret)
{
	struct reading reading = { .into = ret, .field = FIELD_NAMED };
	char chunk[CHUNK];
	long size;

	*ret = (struct identity){ .fields = { 0 } };
	while ((size = raw3(SYS_read, fd, chunk, sizeof(chunk))) > 0)
		for (long i = 0; i < size; i++)
			parse_letter(&reading, chunk[i]);
	if (size < 0)
		return (int)size;
	return reading.state && reading.state != 'Z' && reading.state != 'X' ? 0 : -ESRCH;
}

/* Opened anew each time: an open descriptor would keep the target from unmounting /proc. */
static int open_file(const char *path, struct descriptor *ret)
{
	long fd = raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);

	*ret = descriptor_own((int)fd);
	return (int)MIN(fd, 0);
}

static int read_status(const char *path, struct identity *ret)
{
	struct descriptor file;
	int r = open_file(path, &file);

	if (!r)
		r = parse_status(file.fd, ret);
	descriptor_close(&file);
	return r;
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
	return more || !place_is_same(&ours->place, &theirs->place);
}

static void name_file(char path[PATH_BYTES], int32_t number, const char *file)
{
	size_t at = text_add(path, PATH_BYTES, 0, "/proc/self/task/");

	at = text_add_number(path, PATH_BYTES, at, (unsigned long)number);
	text_add(path, PATH_BYTES, at, file);
}

/* `folder`: a thread's; "/proc/self" is that of the first. */
static int read_folder(const char *folder, struct identity *ret)
{
	char path[PATH_BYTES];
	int r;

	text_add(path, sizeof(path), text_add(path, sizeof(path), 0, folder), "/status");
	r = read_status(path, ret);
	return r ? r : place_read(folder, &ret->place);
}

static int read_thread(int32_t number, struct identity *ret)
{
	char path[PATH_BYTES] = "/proc/self";

	if (number != FIRST_THREAD)
		name_file(path, number, "");
	return read_folder(path, ret);
}

/* Uses the thread for comparisons if it lives and has limpet's rights. */
static bool refer_to(struct identity_watch *self, int32_t number)
{
	struct identity theirs;

	if (read_thread(number, &theirs) || has_more(&self->own, &theirs))
		return false;
	self->reference = number;
	return true;
}

static bool text_begins(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

/* By name: all of limpet's threads have one. */
static bool is_ours(int32_t number)
{
	char path[PATH_BYTES], name[NAME_BYTES] = "";
	struct descriptor file;

	name_file(path, number, "/comm");
	if (!open_file(path, &file))
		raw3(SYS_read, file.fd, name, sizeof(name) - 1);
	descriptor_close(&file);
	return text_begins(name, CONTROL_THREAD_NAME) || text_begins(name, LISTENER_THREAD_NAME);
}

static int32_t number_of(const char *digits)
{
	int32_t number = 0;

	for (; *digits >= '0' && *digits <= '9'; digits++)
		number = 10 * number + (*digits - '0');
	return number;
}

typedef bool thread_test(int32_t number, struct identity_watch *watch);

/* 1 if a thread passes the test; 0: none does; negative: their list is unreadable. */
static int find_thread(thread_test *test, struct identity_watch *watch)
{
	char list[CHUNK] __attribute__((aligned(8)));
	struct descriptor folder;
	bool is_found = false;
	long size;
	int r = open_file("/proc/self/task", &folder);

	if (r)
		return r;
	while (!is_found && (size = raw3(SYS_getdents64, folder.fd, list, sizeof(list))) > 0) {
		for (long at = 0; !is_found && at < size;) {
			const struct dirent64 *entry = (const struct dirent64 *)(list + at);
			int32_t number = number_of(entry->d_name);

			is_found = number && test(number, watch);
			at += entry->d_reclen;
		}
	}
	descriptor_close(&folder);
	return is_found ? 1 : (int)MIN(size, 0);
}

static bool refer_to_foreign(int32_t number, struct identity_watch *self)
{
	return !is_ours(number) && refer_to(self, number);
}

/* The host has not checked filters for listing threads, so a filtered thread does not. */
static void watch_refer(struct identity_watch *self)
{
	bool is_covered =
		refer_to(self, FIRST_THREAD) || (self->origin && refer_to(self, self->origin)) ||
		(!self->own.fields[FIELD_SECCOMP] && find_thread(refer_to_foreign, self) > 0);

	self->state = is_covered ? IDENTITY_WATCHED : IDENTITY_EXCEEDED;
}

void identity_begin(struct identity_watch *self, int32_t origin)
{
	*self = (struct identity_watch){ .origin = origin };
	identity_exceeds(self);
}

/* The thread may have ended. If /proc is unreadable, as after chroot, rights cannot be compared. */
static void check_reference(struct identity_watch *self)
{
	struct identity theirs;
	int r = read_thread(self->reference, &theirs);

	/* A root shared with application threads changes with theirs. */
	if (!r)
		r = place_read_root(OWN_FOLDER, &self->own.place);
	/* A shortage of descriptors or memory proves nothing. */
	if (r && r != -EMFILE && r != -ENFILE && r != -ENOMEM)
		watch_refer(self);
	else if (!r && has_more(&self->own, &theirs))
		self->state = IDENTITY_EXCEEDED;
}

bool identity_exceeds(struct identity_watch *self)
{
	if (self->state == IDENTITY_WATCHED)
		check_reference(self);
	else if (self->state == IDENTITY_UNSEEN && !read_folder(OWN_FOLDER, &self->own))
		watch_refer(self);
	return self->state == IDENTITY_EXCEEDED;
}

static bool is_filtered(int32_t number, struct identity_watch *unused)
{
	struct identity theirs;
	char path[PATH_BYTES];

	(void)unused;
	name_file(path, number, "/status");
	return !read_status(path, &theirs) && theirs.fields[FIELD_SECCOMP];
}

bool identity_thread_is_unfiltered(void)
{
	struct identity own;

	return !read_status("/proc/thread-self/status", &own) && !own.fields[FIELD_SECCOMP];
}

/* Checks the calling thread first: filters have not been checked for listing a directory. */
bool identity_is_unfiltered(void)
{
	return identity_thread_is_unfiltered() && !find_thread(is_filtered, NULL);
}
