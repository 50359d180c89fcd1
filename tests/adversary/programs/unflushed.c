/*
 * Listens as limpet's register library does, and offers a file instead of a socket: one of a file
 * system in user space that never answers when somebody closes it.
 *
 *     unflushed FOLDER
 *
 * Says "ready", and "rung" when it has made its offer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define FUSE_DEVICE makedev(10, 229)
#define FILE_NODE   2

static void answer(int device, const struct fuse_in_header *request, int error, const void *bytes,
		   size_t size)
{
	struct fuse_out_header header = { (uint32_t)(sizeof(header) + size), error,
					  request->unique };
	char message[512];

	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + sizeof(header), bytes, size);
	if (write(device, message, sizeof(header) + size) < 0)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){ .ino = node,
				   .nlink = 1,
				   .mode = node == FILE_NODE ? S_IFREG | 0666 : S_IFDIR | 0777 };
}

static void serve(int device, const struct fuse_in_header *request)
{
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	struct fuse_entry_out entry = { .nodeid = FILE_NODE, .attr = attributes(FILE_NODE) };
	struct fuse_attr_out found = { .attr = attributes(request->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	if (request->opcode == FUSE_INIT)
		answer(device, request, 0, &init, sizeof(init));
	else if (request->opcode == FUSE_LOOKUP)
		answer(device, request, 0, &entry, sizeof(entry));
	else if (request->opcode == FUSE_GETATTR)
		answer(device, request, 0, &found, sizeof(found));
	else if (request->opcode == FUSE_OPEN)
		answer(device, request, 0, &opened, sizeof(opened));
	else if (request->opcode != FUSE_FLUSH && request->opcode != FUSE_INTERRUPT &&
		 request->opcode != FUSE_FORGET && request->opcode != FUSE_RELEASE)
		answer(device, request, -ENOSYS, NULL, 0);
}

static void serve_all(int device)
{
	static char bytes[1 << 17];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		ssize_t size = read(device, bytes, sizeof(bytes));

		if (size > 0)
			serve(device, (const struct fuse_in_header *)bytes);
		else if (errno != EINTR && errno != ENOENT)
			_exit(0);
	}
}

/* In a mount namespace of its own: it is gone with the program. */
static int file_open(const char *folder)
{
	char path[512], options[96];
	int device, fd;

	snprintf(path, sizeof(path), "%s/device", folder);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mknod(path, S_IFCHR | 0600, FUSE_DEVICE))
		return -1;
	device = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (device < 0 || mount("unflushed", folder, "fuse", 0, options))
		return -1;
	if (!fork())
		serve_all(device);
	close(device);
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd;
}

static int listener_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "limpet-attach-%d-0", (int)getpid());

	return bind(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) ||
			       listen(fd, 8)
		       ? -1
		       : fd;
}

/* As a listener of the second version: magic, version, no refusal, inode, number. */
static void offer(int peer, int file)
{
	struct {
		uint64_t magic;
		uint32_t version, refusal;
		uint64_t inode;
		int32_t fd;
		uint32_t reserved;
	} words = { 0x6c696d70646f6f72ull, 2, 0, FILE_NODE, file, 0 };
	char hello[256];

	if (recv(peer, hello, sizeof(hello), 0) > 0 &&
	    send(peer, &words, sizeof(words), MSG_NOSIGNAL) == sizeof(words))
		puts("rung");
	fflush(stdout);
}

int main(int count, char **arguments)
{
	int file = count == 2 ? file_open(arguments[1]) : -1, listening = listener_open();

	if (file < 0 || listening < 0) {
		puts("cannot");
		return 0;
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		int peer = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

		if (peer >= 0) {
			offer(peer, file);
			close(peer);
		}
	}
}
