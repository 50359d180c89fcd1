/*
 * Distinguishes ordinary file systems from the kernel's own and from those of other users.
 * Mountinfo has lines "36 35 98:0 /root /point options [tags ...] - type source options".
 */
#include "host/process/file_system.h"

#include "host/core/cleanup.h"
#include "host/core/notes.h"

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

static bool mount_parse(struct text line, struct mount *ret)
{
	struct text word;

	*ret = (struct mount){ 0 };
	if (!text_take_word(&line, &word) || !text_take_number(&word, 10, &ret->number) ||
	    !text_take_word(&line, &word) || !text_take_word(&line, &word) ||
	    !text_take_number(&word, 10, &ret->major) || !text_take_char(&word, ':') ||
	    !text_take_number(&word, 10, &ret->minor))
		return false;
	(void)(text_take_word(&line, &ret->root) && text_take_word(&line, &ret->point));
	while (text_take_word(&line, &word) && !text_equals(word, "-"))
		;
	if (text_take_word(&line, &ret->type))
		while (text_take_word(&line, &word))
			ret->options = word;
	return true;
}

bool mountinfo_next(struct text *rest, struct mount *ret)
{
	struct text line;

	while (text_take_line(rest, &line))
		if (mount_parse(line, ret))
			return true;
	return false;
}

/* Whether an option, or the value of an option that begins with `key`, is among those of the file
 * system; *ret_value is what follows the key. */
static bool mount_find_option(const struct mount *mount, const char *key, struct text *ret_value)
{
	struct text options = mount->options;

	while (options.at && text_take_field(&options, ',', ret_value))
		if (text_take_prefix(ret_value, key))
			return true;
	return false;
}

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

/* The user whose program serves it; false: it is not served by one. */
static bool find_user(const struct mount *mount, uid_t *ret)
{
	struct text value;
	uint64_t number;

	if (!mount_find_option(mount, "user_id=", &value) ||
	    !text_take_number(&value, 10, &number) || number >= UINT32_MAX)
		return false;
	*ret = (uid_t)number;
	return true;
}

int fuse_owner_find(const char *text, size_t size, dev_t device, uid_t *ret)
{
	struct text rest = { text, text + size };
	struct mount mount;

	while (mountinfo_next(&rest, &mount))
		if (mount.major == major(device) && mount.minor == minor(device) &&
		    find_user(&mount, ret))
			return 0;
	return -ENOENT;
}

/* The kernel denies access to other users unless the mounting user allowed it. */
bool mounts_have_strangers(const char *text, size_t size, uid_t own)
{
	struct text rest = { text, text + size }, value;
	struct mount mount;
	uid_t owner;

	while (mountinfo_next(&rest, &mount))
		if (find_user(&mount, &owner) && owner && owner != own &&
		    text_take_prefix(&mount.type, "fuse") &&
		    mount_find_option(&mount, "allow_other", &value) && value.at == value.end)
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

bool mounts_find_flushed(const char *text, size_t size, uint64_t number)
{
	struct text rest = { text, text + size };
	struct mount mount;

	while (mountinfo_next(&rest, &mount))
		if (mount.number == number && is_flushed_type(mount.type))
			return true;
	return false;
}

bool mounts_have(const char *text, size_t size, uint64_t number)
{
	struct text rest = { text, text + size };
	struct mount mount;

	while (mountinfo_next(&rest, &mount))
		if (mount.number == number)
			return true;
	return false;
}

bool mount_may_be_flushed(pid_t pid, uint64_t number)
{
	bool is_listed = false;

	/* The second list is limpet's own. */
	for (unsigned i = 0; !is_listed && i < 2; i++) {
		CLEANUP(free) char *text = NULL;
		size_t size;

		if (read_mounts(i ? 0 : pid, &text, &size) ||
		    mounts_find_flushed(text, size, number))
			return true;
		is_listed = mounts_have(text, size, number);
	}
	return !is_listed;
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
	for (size_t i = 0; i < ARRAY_SIZE(kernel_systems); i++)
		if (kernel_systems[i] == (uint32_t)facts.f_type) {
			note_add("file %s is not read: it is in a file system of the kernel's own",
				 path);
			return -EOPNOTSUPP;
		}
	if ((uint32_t)facts.f_type != FUSE_MAGIC || is_fuse_trusted(fd, pid))
		return 0;
	note_add("file %s is not read: a program of another user answers for its file system "
		 "(FUSE), and may never do so",
		 path);
	return -EOPNOTSUPP;
}
