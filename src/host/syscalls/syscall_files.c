/*
 * Names of files, each once.
 */
#include "host/syscalls/syscall_files.h"

#include "host/core/text/text.h"
#include "host/process/procfs.h"
#include "shared/base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int syscall_files_name(struct syscall_files *self, const char *name, struct syscall_file *ret)
{
	size_t length = strlen(name);
	uint64_t hash = hash_bytes(name, length);
	struct table_entry *entry = table_find(&self->numbers, hash, length);
	bool is_new;

	ret->number = entry ? entry->value : 0;
	ret->is_new = false;
	if (entry || self->numbers.count >= SYSCALL_FILES_MAX || !length)
		return 0;
	entry = table_make(&self->numbers, hash, length, &is_new);
	if (!entry)
		return -ENOMEM;
	entry->value = ret->number = self->numbers.count;
	ret->is_new = true;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

/* "socket:[123]" by its peer, where that was there when the first one was met.  Later ones are one
 * file: a server has thousands. */
static const char *name_of_link(struct syscall_files *self, const char *link)
{
	struct text text = text_of(link);
	const char *name;
	uint64_t inode;

	if (!text_take_prefix(&text, "socket:[") || !text_take_number(&text, 10, &inode))
		return link;
	if (!self->has_sockets)
		sockets_read(self->pid, &self->sockets);
	self->has_sockets = true;
	name = sockets_find(&self->sockets, inode);
	return name ? name : "socket";
}

static int files_keep(struct syscall_files *self, int32_t descriptor, uint64_t number)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&self->descriptors, (uint64_t)descriptor, 0, &is_new);

	if (!entry)
		return -ENOMEM;
	entry->value = number;
	return 0;
}

/* A descriptor that cannot be resolved is remembered and not read again. */
int syscall_files_find(struct syscall_files *self, int32_t descriptor, struct syscall_file *ret)
{
	const struct table_entry *entry =
		descriptor >= 0 ? table_find(&self->descriptors, (uint64_t)descriptor, 0) : NULL;
	char path[32], link[SYSCALL_FILE_NAME_MAX];
	int r = 0;

	ret->is_new = false;
	ret->number = entry ? entry->value : 0;
	if (entry || descriptor < 0)
		return 0;
	snprintf(path, sizeof(path), "fd/%d", descriptor);
	if (proc_read_link(self->pid, path, link, sizeof(link)) > 0)
		r = syscall_files_name(self, name_of_link(self, link), ret);
	return r ? r : files_keep(self, descriptor, ret->number);
}

int syscall_files_opened(struct syscall_files *self, int32_t descriptor, uint64_t number)
{
	if (number)
		return files_keep(self, descriptor, number);
	syscall_files_closed(self, descriptor);
	return 0;
}

void syscall_files_closed(struct syscall_files *self, int32_t descriptor)
{
	struct table_entry *entry =
		descriptor >= 0 ? table_find(&self->descriptors, (uint64_t)descriptor, 0) : NULL;

	if (entry)
		table_remove(&self->descriptors, entry);
	if (descriptor >= 0)
		return;
	table_done(&self->descriptors);
	self->descriptors = (struct table){ 0 };
}

void syscall_files_done(struct syscall_files *self)
{
	table_done(&self->numbers);
	table_done(&self->descriptors);
	sockets_done(&self->sockets);
}
