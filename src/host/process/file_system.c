/*
 * Distinguishes ordinary file systems from the kernel's own and from those of other users.
 */
#include "host/process/file_system.h"

#include "host/core/cleanup.h"
#include "host/core/notes.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MOUNTINFO_MAX ((size_t)4 << 20)

/* Magic numbers missing in the kernel's headers. */
#define FUSE_MAGIC     0x65735546
#define FUSECTL_MAGIC  0x65735543
#define CONFIGFS_MAGIC 0x62656570
#define MQUEUE_MAGIC   0x19800202
#define NFSD_MAGIC     0x6e667364
#define XENFS_MAGIC    0xabba1974
#define RDTGROUP_MAGIC 0x07655821
#define APPARMOR_MAGIC 0x5a3c69f0

static const uint32_t kernel_systems[] = {
	PROC_SUPER_MAGIC,   SYSFS_MAGIC,         DEBUGFS_MAGIC,  TRACEFS_MAGIC,
	SECURITYFS_MAGIC,   SELINUX_MAGIC,       SMACK_MAGIC,    APPARMOR_MAGIC,
	CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, RDTGROUP_MAGIC, BPF_FS_MAGIC,
	PSTOREFS_MAGIC,     EFIVARFS_MAGIC,      BINFMTFS_MAGIC, DEVPTS_SUPER_MAGIC,
	AUTOFS_SUPER_MAGIC, NSFS_MAGIC,          FUSECTL_MAGIC,  CONFIGFS_MAGIC,
	MQUEUE_MAGIC,       NFSD_MAGIC,          XENFS_MAGIC,
};

static bool is_kernel_system(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_systems); i++)
		if (kernel_systems[i] == type)
			return true;
	return false;
}

/* "36 35 98:0 /root /mountpoint options ... - fuse source rw,user_id=1000,..." */
static bool is_on_device(struct text line, unsigned device_major, unsigned device_minor)
{
	struct text word = { 0 };
	uint64_t number;

	for (unsigned i = 0; i < 3; i++)
		if (!text_take_word(&line, &word))
			return false;
	return text_take_number(&word, 10, &number) && number == device_major &&
	       text_take_char(&word, ':') && text_take_number(&word, 10, &number) &&
	       number == device_minor;
}

static bool find_user(struct text line, uid_t *ret)
{
	static const char key[] = "user_id=";
	uint64_t number = 0;
	struct text last = { 0 }, field;

	while (text_take_word(&line, &field))
		last = field;
	while (last.at && text_take_field(&last, ',', &field))
		if (text_take_prefix(&field, key) && text_take_number(&field, 10, &number) &&
		    number < UINT32_MAX) {
			*ret = (uid_t)number;
			return true;
		}
	return false;
}

int fuse_owner_find(const char *text, size_t size, dev_t device, uid_t *ret)
{
	struct text rest = { text, text + size }, line;

	while (text_take_line(&rest, &line))
		if (is_on_device(line, major(device), minor(device)) && find_user(line, ret))
			return 0;
	return -ENOENT;
}

/* The kernel denies access to other users unless the mounting user allowed it. */
static bool is_of_stranger(struct text line, uid_t own)
{
	struct text options = { 0 }, word;
	bool is_fuse = false, is_type = false;
	uid_t owner;

	if (!find_user(line, &owner) || !owner || owner == own)
		return false;
	while (text_take_word(&line, &word)) {
		is_fuse |= is_type && text_take_prefix(&word, "fuse");
		is_type = text_equals(word, "-");
		options = word;
	}
	while (options.at && text_take_field(&options, ',', &word))
		if (is_fuse && text_equals(word, "allow_other"))
			return true;
	return false;
}

bool mounts_have_strangers(const char *text, size_t size, uid_t own)
{
	struct text rest = { text, text + size }, line;

	while (text_take_line(&rest, &line))
		if (is_of_stranger(line, own))
			return true;
	return false;
}

/* A process can have mounted very many: then nothing is known of them. */
static int read_mounts(pid_t pid, char **ret, size_t *ret_size)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)(pid ? pid : getpid()));
	return text_read_file(path, MOUNTINFO_MAX, ret, ret_size);
}

bool mounts_may_hang(pid_t pid)
{
	CLEANUP(free) char *text = NULL;
	size_t size;

	return read_mounts(pid, &text, &size) || mounts_have_strangers(text, size, geteuid());
}

/* File systems of the kernel with an effective flush(), and known ones from outside. */
static bool is_flushed_type(struct text type)
{
	static const char *const types[] = { "fuse", "virtiofs", "nfs",      "cifs",   "smb3",
					     "afs",  "ecryptfs", "orangefs", "lustre", "beegfs" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct text rest = type;

		/* nfs4, fuse.sshfs, beegfs_nodev; not fusectl, nfsd */
		if (text_take_prefix(&rest, types[i]) &&
		    (rest.at == rest.end || strchr(".4_b", *rest.at)))
			return true;
	}
	return false;
}

static bool is_flushed_mount(struct text line, uint64_t number)
{
	uint64_t own = 0;
	bool is_type = false;
	struct text word;

	if (!text_take_word(&line, &word) || !text_take_number(&word, 10, &own) || own != number)
		return false;
	while (text_take_word(&line, &word)) {
		if (is_type)
			return is_flushed_type(word);
		is_type = text_equals(word, "-");
	}
	return false;
}

bool mounts_find_flushed(const char *text, size_t size, uint64_t number)
{
	struct text rest = { text, text + size }, line;

	while (text_take_line(&rest, &line))
		if (is_flushed_mount(line, number))
			return true;
	return false;
}

static bool is_number(struct text line, uint64_t number)
{
	struct text word;
	uint64_t own;

	return text_take_word(&line, &word) && text_take_number(&word, 10, &own) && own == number;
}

bool mounts_have(const char *text, size_t size, uint64_t number)
{
	struct text rest = { text, text + size }, line;

	while (text_take_line(&rest, &line))
		if (is_number(line, number))
			return true;
	return false;
}

/* Of one list: where it cannot be read, it might be. */
struct finding {
	bool is_listed, is_flushed;
};

static struct finding find_mount(pid_t pid, uint64_t number)
{
	CLEANUP(free) char *text = NULL;
	size_t size;

	if (read_mounts(pid, &text, &size))
		return (struct finding){ true, true };
	return (struct finding){ mounts_have(text, size, number),
				 mounts_find_flushed(text, size, number) };
}

bool mount_may_be_flushed(pid_t pid, uint64_t number)
{
	struct finding found = find_mount(pid, number);

	if (!found.is_listed)
		found = find_mount(0, number);
	return found.is_flushed || !found.is_listed;
}

/* Root's and limpet's own user's FUSE servers are trusted. */
static bool is_fuse_trusted(int fd, pid_t pid)
{
	CLEANUP(free) char *text = NULL;
	struct stat file;
	size_t size;
	uid_t owner;

	return !fstat(fd, &file) && !read_mounts(pid, &text, &size) &&
	       !fuse_owner_find(text, size, file.st_dev, &owner) && (!owner || owner == geteuid());
}

int file_system_check(int fd, pid_t pid, const char *path)
{
	struct statfs facts;

	if (fstatfs(fd, &facts) < 0)
		return -errno;
	if (is_kernel_system((uint32_t)facts.f_type)) {
		note_add("file %s is not read: it is in a file system of the kernel's own", path);
		return -EOPNOTSUPP;
	}
	if ((uint32_t)facts.f_type != FUSE_MAGIC || is_fuse_trusted(fd, pid))
		return 0;
	note_add("file %s is not read: a program of another user answers for its file system "
		 "(FUSE), and may never do so",
		 path);
	return -EOPNOTSUPP;
}
