/*
 * Files and sockets, with what they moved and, where a name comes with the call, the name.
 */
#include "target/domains/domain.h"
#include "target/domains/peer.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"

#include <errno.h>

/* Memory that a call was given is there, unless the call says that it was not, or failed before it
 * looked. */
static bool is_unread(void)
{
	int code = thread_errno();

	return code == EFAULT || code == EINVAL || code == EBADF || code == ENOTSOCK;
}

static bool has_failed_unread(const struct hook_frame *frame)
{
	return (int32_t)frame->results[0] == -1 && is_unread();
}

static void write_text(struct writer *writer, const char *text)
{
	size_t length = 0;

	while (length < RECORD_TEXT_MAX && text[length])
		length++;
	writer_text(writer, text, length);
}

static void write_path(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end, uint64_t path)
{
	if (hook_write_call(writer, hook, frame, end) && path && !has_failed_unread(frame))
		write_text(writer, (const char *)path);
}

static void write_path0(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end)
{
	write_path(writer, hook, frame, end, frame->arguments[0]);
}

static void write_path1(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end)
{
	write_path(writer, hook, frame, end, frame->arguments[1]);
}

static void write_opened(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	bool is_there = frame->results[0] || !is_unread();

	if (hook_write_call(writer, hook, frame, end) && is_there && frame->arguments[0])
		write_text(writer, (const char *)frame->arguments[0]);
}

static void write_peer(struct writer *writer, const struct hook_frame *frame, uint32_t size)
{
	char text[RECORD_TEXT_MAX];

	peer_describe((const void *)frame->arguments[1], size, text, sizeof(text));
	if (text[0])
		write_text(writer, text);
}

static void write_connect(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	if (hook_write_call(writer, hook, frame, end) && !has_failed_unread(frame))
		write_peer(writer, frame, (uint32_t)frame->arguments[2]);
}

static void write_accept(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	if (hook_write_call(writer, hook, frame, end) && (int32_t)frame->results[0] >= 0 &&
	    frame->arguments[1] && frame->arguments[2])
		write_peer(writer, frame, *(const uint32_t *)frame->arguments[2]);
}

#define IO(symbol, name, write, ...)                                              \
	{                                                                         \
		symbol, name, DOMAIN_IO, HOOK_REGISTERS, write, NULL, __VA_ARGS__ \
	}
/* A descriptor, how much was asked, how much was moved. */
#define MOVES(symbol, name)                      \
	IO(symbol, name, NULL, 3,                \
	   { { VALUE_DESCRIPTOR, CAPTURE_INT0 }, \
	     { VALUE_SIZE, CAPTURE_ARG2 },       \
	     { VALUE_RESULT, CAPTURE_RETURN_LONG } })
/* The same without a size. */
#define MOVES_VECTOR(symbol, name) \
	IO(symbol, name, NULL, 2,  \
	   { { VALUE_DESCRIPTOR, CAPTURE_INT0 }, { VALUE_RESULT, CAPTURE_RETURN_LONG } })
#define ACTS(symbol, name, write)  \
	IO(symbol, name, write, 2, \
	   { { VALUE_DESCRIPTOR, CAPTURE_INT0 }, { VALUE_RESULT, CAPTURE_RETURN_INT } })
#define OPENS(symbol, name, write) \
	IO(symbol, name, write, 1, { { VALUE_RESULT, CAPTURE_RETURN_INT } })
#define OPENS_FILE(symbol, name)          \
	IO(symbol, name, write_opened, 2, \
	   { { VALUE_OBJECT, CAPTURE_RESULT }, { VALUE_DESCRIPTOR, CAPTURE_RESULT_FILE } })
/* Of stdio: the descriptor, what was asked, what came of it. */
#define STREAMS(symbol, name, file, size, result) \
	IO(symbol, name, NULL, 3,                 \
	   { { VALUE_DESCRIPTOR, file }, { VALUE_SIZE, size }, { VALUE_RESULT, result } })

static const struct traced calls[] = {
	MOVES("read", NULL),
	MOVES("__read_chk", "read"),
	MOVES("write", NULL),
	MOVES("pread", NULL),
	MOVES("pread64", "pread"),
	MOVES("__pread_chk", "pread"),
	MOVES("__pread64_chk", "pread"),
	MOVES("pwrite", NULL),
	MOVES("pwrite64", "pwrite"),
	MOVES("send", NULL),
	MOVES("recv", NULL),
	MOVES("__recv_chk", "recv"),
	MOVES("sendto", NULL),
	MOVES("recvfrom", NULL),
	MOVES("__recvfrom_chk", "recvfrom"),
	MOVES_VECTOR("readv", NULL),
	MOVES_VECTOR("writev", NULL),
	MOVES_VECTOR("preadv", NULL),
	MOVES_VECTOR("preadv64", "preadv"),
	MOVES_VECTOR("pwritev", NULL),
	MOVES_VECTOR("pwritev64", "pwritev"),
	MOVES_VECTOR("sendmsg", NULL),
	MOVES_VECTOR("recvmsg", NULL),
	MOVES_VECTOR("sendfile", NULL),
	MOVES_VECTOR("sendfile64", "sendfile"),
	OPENS("open", NULL, write_path0),
	OPENS("open64", "open", write_path0),
	OPENS("__open_2", "open", write_path0),
	OPENS("__open64_2", "open", write_path0),
	OPENS("openat", NULL, write_path1),
	OPENS("openat64", "openat", write_path1),
	OPENS("__openat_2", "openat", write_path1),
	OPENS("__openat64_2", "openat", write_path1),
	OPENS("creat", NULL, write_path0),
	OPENS("creat64", "creat", write_path0),
	ACTS("close", NULL, NULL),
	ACTS("fsync", NULL, NULL),
	ACTS("fdatasync", NULL, NULL),
	ACTS("accept", NULL, write_accept),
	ACTS("accept4", NULL, write_accept),
	ACTS("connect", NULL, write_connect),
	OPENS_FILE("fopen", NULL),
	OPENS_FILE("fopen64", "fopen"),
	IO("fclose", NULL, NULL, 2,
	   { { VALUE_OBJECT, CAPTURE_ARG0 }, { VALUE_RESULT, CAPTURE_RETURN_INT } }),
	STREAMS("fread", NULL, CAPTURE_FILE3, CAPTURE_PRODUCT12, CAPTURE_RESULT),
	STREAMS("fread_unlocked", "fread", CAPTURE_FILE3, CAPTURE_PRODUCT12, CAPTURE_RESULT),
	STREAMS("fwrite", NULL, CAPTURE_FILE3, CAPTURE_PRODUCT12, CAPTURE_RESULT),
	STREAMS("fwrite_unlocked", "fwrite", CAPTURE_FILE3, CAPTURE_PRODUCT12, CAPTURE_RESULT),
	STREAMS("fgets", NULL, CAPTURE_FILE2, CAPTURE_ARG1, CAPTURE_RESULT),
	STREAMS("fgets_unlocked", "fgets", CAPTURE_FILE2, CAPTURE_ARG1, CAPTURE_RESULT),
	IO("fputs", NULL, NULL, 2,
	   { { VALUE_DESCRIPTOR, CAPTURE_FILE1 }, { VALUE_RESULT, CAPTURE_RETURN_INT } }),
	IO("fflush", NULL, NULL, 2,
	   { { VALUE_DESCRIPTOR, CAPTURE_FILE0 }, { VALUE_RESULT, CAPTURE_RETURN_INT } }),
};

const struct domain domain_io = { "io", calls, ARRAY_SIZE(calls), NULL };
