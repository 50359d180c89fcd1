/*
 * Files of the target whose file system the kernel tells of each descriptor that is closed.
 */
#pragma once

#include "host/attach/target.h"

/*
 * Whether the target has such a file open, or might.  A thread that leaves the program's table of
 * descriptors closes copies of all of them.  Of a POSIX message queue that ends what the program
 * has asked for with mq_notify: the kernel compares processes there, not tables.  FUSE asks its
 * server to flush the file, NFS and CIFS write back what the program has written: that has effects,
 * and lasts as long as the server likes.
 */
bool flushed_files_are_open(const struct target *target);
