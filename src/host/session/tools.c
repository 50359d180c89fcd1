/*
 * Sends a tool by its path where the target sees the very same file, so that its sibling libraries
 * are found; else by content.
 */
#include "host/session/steps.h"

#include "host/attach/library.h"
#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/process/foreign_file.h"
#include "shared/arch/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int open_tool(const char *path, char *ret_full, struct stat *ret, struct err *err)
{
	int fd;

	if (!realpath(path, ret_full))
		return err_set(err, -errno, "%s", strerror(errno));
	fd = open(ret_full, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, ret)) {
		err_set(err, -errno, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return err->code;
	}
	return fd;
}

/* Checked here, with a clearer message than the loader's. */
static int check_elf(int fd, struct err *err)
{
	Elf64_Ehdr header;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		return err_set(err, -ENOEXEC, "it is not a shared library");
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != ARCH_ELF_MACHINE)
		return err_set(err, -ENOEXEC, "it is for another machine");
	return header.e_type == ET_DYN ? 0 : err_set(err, -ENOEXEC, "it is not a shared library");
}

static int tool_check(const char *path, struct err *err)
{
	char full[PATH_MAX];
	struct stat file;
	CLEANUP(close) int fd = open_tool(path, full, &file, err);
	int r = fd < 0 ? fd : check_elf(fd, err);

	if (!r)
		return 0;
	err_while(err, "tool '%s'", path);
	err_why(err, "limpet checks tools before it attaches; the process was not touched");
	return err_fix(err, "name a shared library (.so) that is built for this machine");
}

size_t tools_check(const char *const *paths, size_t count, struct err *err)
{
	size_t bad = 0;

	for (size_t i = 0; i < count; i++) {
		struct err why = { 0 };

		if (!tool_check(paths[i], &why))
			continue;
		if (!err->code)
			*err = why;
		bad++;
	}
	return bad;
}

/* Does the target see the same file under the same path? */
static bool is_visible(const struct attachment *attachment, const char *path,
		       const struct stat *file)
{
	CLEANUP(close) int there = -1;
	struct stat found;

	if (strlen(path) >= TOOL_PATH_MAX || attachment->report.shares_root)
		return strlen(path) < TOOL_PATH_MAX;
	there = foreign_file_find(attachment->target.process.memory_tid, path);
	return there >= 0 && !fstat(there, &found) && found.st_dev == file->st_dev &&
	       found.st_ino == file->st_ino;
}

static int tools_pack(const struct target *target, int fd, const char *path,
		      const struct stat *file, struct library *ret, struct err *err)
{
	size_t size = (size_t)file->st_size;
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	int r;

	if (bytes == MAP_FAILED)
		return err_set(err, -errno, "read '%s': %s", path, strerror(errno));
	r = library_pack(target, path_base_name(path), bytes, size, ret, err);
	munmap(bytes, size);
	return r;
}

/* By its path, or by content. */
static int send_as(struct attachment *attachment, const char *path, int fd, const struct stat *file,
		   struct session_tool *ret, struct err *err)
{
	struct library copy = LIBRARY_NONE;
	struct control_load load = {
		.header =
			order_header(CONTROL_LOAD, sizeof(load), ret->is_plain ? CONTROL_PLAIN : 0),
		.identity = { file->st_dev, file->st_ino, (uint64_t)file->st_size,
			      (uint64_t)file->st_mtim.tv_sec * 1000000000u +
				      (uint64_t)file->st_mtim.tv_nsec },
		.timeout_ms = attachment->link.timeout_ms,
	};
	struct control_reply reply;
	int r;

	snprintf(load.path, sizeof(load.path), "%s", path);
	if (ret->by_content) {
		r = tools_pack(&attachment->target, fd, path, file, &copy, err);
		if (r)
			return r;
		load.header.flags |= library_flags(&copy);
	}
	r = attach_order(attachment, &load.header, copy.fd, &reply, err);
	library_close(&copy);
	ret->index = reply.value;
	return r;
}

/* By content, too, if the target's user may not open the file. */
int tool_load(struct attachment *attachment, const char *path, struct session_tool *tool,
	      struct err *err)
{
	char full[PATH_MAX];
	struct stat file;
	CLEANUP(close) int fd = open_tool(path, full, &file, err);
	struct err refusal = { 0 };
	int r = fd < 0 ? fd : check_elf(fd, err);

	if (r)
		return r;
	tool->by_content = !is_visible(attachment, full, &file);
	r = send_as(attachment, full, fd, &file, tool, &refusal);
	if (r == -EACCES && !tool->by_content) {
		tool->by_content = true;
		return send_as(attachment, full, fd, &file, tool, err);
	}
	*err = refusal;
	return r;
}

int tool_step(struct attachment *attachment, struct session_tool *tool, enum tool_step step,
	      struct err *err)
{
	struct control_step order = { .header = order_header(CONTROL_STEP, sizeof(order), 0),
				      .tool = tool->index,
				      .step = step,
				      .timeout_ms = attachment->link.timeout_ms };
	struct control_reply reply;
	int r = attach_order(attachment, &order.header, -1, &reply, err);

	tool->takes_part = !r && !reply.value;
	return r;
}
