/*
 * Files by names that somebody else chose.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/process/file_system.h"
#include "host/process/foreign_file.h"

static const char mounts[] =
	"22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
	"80 22 0:45 / /home/a/mnt rw,nosuid - fuse.sshfs host: rw,user_id=1000,group_id=1000\n"
	"81 22 0:46 / /srv rw - fuse src rw,user_id=0,group_id=0,allow_other\n"
	"82 22 0:47 / /odd rw - fuse src rw,user_id=99999999999999999999\n"
	"83 22 0:48";

static int owner_of(unsigned device_minor, uid_t *ret)
{
	return fuse_owner_find(mounts, strlen(mounts), makedev(0, device_minor), ret);
}

static void finds_who_answers_for_a_file_system(void **state)
{
	uid_t owner = 7;

	(void)state;
	assert_int_equal(owner_of(45, &owner), 0);
	assert_int_equal(owner, 1000);
	assert_int_equal(owner_of(46, &owner), 0);
	assert_int_equal(owner, 0);
	assert_int_equal(owner_of(47, &owner), -ENOENT);
	assert_int_equal(owner_of(48, &owner), -ENOENT);
	assert_int_equal(fuse_owner_find(mounts, 0, makedev(0, 45), &owner), -ENOENT);
}

static bool has_strangers(const char *text, uid_t own)
{
	return mounts_have_strangers(text, strlen(text), own);
}

static void knows_whose_file_systems_may_hang(void **state)
{
	static const char open_to_all[] =
		"80 22 0:45 / /m rw - fuse.x s rw,user_id=1000,group_id=1000,allow_other\n";

	(void)state;
	assert_false(has_strangers(mounts, 0));
	assert_true(has_strangers(open_to_all, 0));
	assert_false(has_strangers(open_to_all, 1000));
	assert_false(has_strangers("80 22 0:45 / /m rw - ext4 s rw,user_id=1000,allow_other\n", 0));
}

static void opens_regular_files_only(void **state)
{
	char folder[] = "/tmp/foreign-XXXXXX", path[64], link[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(foreign_file_open(0, path), -EINVAL);
	assert_int_equal(foreign_file_open(0, link), -EINVAL);
	assert_int_equal(foreign_file_open(0, folder), -EINVAL);
	assert_int_equal(foreign_file_open(0, "/dev/null"), -EINVAL);
	assert_int_equal(foreign_file_open(0, "/proc/self/maps"), -EOPNOTSUPP);
	unlink(path);
	assert_int_equal(foreign_file_open(0, link), -ENOENT);
	fd = foreign_file_open(0, "/etc/passwd");
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(foreign_file_open(0, path), -ELOOP);
	assert_true(foreign_file_open_again(path) > fd);
	unlink(link);
	rmdir(folder);
}

static void refuses_what_is_too_large(void **state)
{
	char path[] = "/tmp/foreign-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	if (!ftruncate(fd, (off_t)FOREIGN_FILE_MAX + 1))
		assert_int_equal(foreign_file_open(0, path), -EFBIG);
	assert_int_equal(ftruncate(fd, 1), 0);
	assert_true(foreign_file_open(0, path) > fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_who_answers_for_a_file_system),
		cmocka_unit_test(knows_whose_file_systems_may_hang),
		cmocka_unit_test(opens_regular_files_only),
		cmocka_unit_test(refuses_what_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
