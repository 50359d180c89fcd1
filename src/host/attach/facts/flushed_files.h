/*
 * Files of the target whose file system the kernel notifies of each closed descriptor.
 */
#pragma once

#include "host/attach/target.h"

/*
 * Whether the target has such a file open, or might.  A thread that leaves the program's descriptor
 * table closes copies of all its descriptors.  For a POSIX message queue that cancels the program's
 * mq_notify: the kernel compares processes there, not tables.  FUSE asks its server to flush the
 * file, NFS and CIFS write back what the program has written: that has effects, and lasts as long
 * as the server likes.
 */
bool flushed_files_are_open(const struct target *target);
