/*
 * Traces calls on files and sockets: sizes, results, file names and addresses.
 */
#include "target/domains/cpu/cpu.h"
#include "target/domains/cpu/peer.h"
#include "target/hooks/stack.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"

#include <errno.h>

static const uint64_t *standard_output; /* libc's variable */

/* True if libc may not have read the caller's memory: it is invalid, or the call failed earlier. In
 * all other cases the memory is readable. */
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

/* Keeps the caller's buffer size for the address; the pointer may be invalid. */
static void before_accept(struct hook_around *around, uint64_t *window)
{
	const uint32_t *room = (const uint32_t *)around->frame.arguments[2];

	(void)window;
	if (around->frame.arguments[1] && room &&
	    stack_is_there(room, sizeof(*room), &around->frame))
		around->kept[0] = *room;
}

/* accept returns the address's full length, which may exceed the buffer. */
static void write_accept(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	const struct hook_around *around =
		(const struct hook_around *)((const char *)frame - AROUND_BYTES);
	const void *address = (const void *)frame->arguments[1];
	uint32_t size;

	if (!hook_write_call(writer, hook, frame, end) || (int32_t)frame->results[0] < 0 ||
	    !address || !around->kept[0])
		return;
	size = MIN(*(const uint32_t *)frame->arguments[2], (uint32_t)around->kept[0]);
	size = MIN(size, (uint32_t)PEER_BYTES_MAX);
	if (size && stack_is_there(address, size, frame))
		write_peer(writer, frame, size);
}

/* Recorded like fputs(text, stdout). glibc returns the number of bytes. */
static void write_puts(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end)
{
	struct hook_frame given = *frame;

	given.arguments[1] = standard_output ? *standard_output : 0;
	(void)hook_write_call(writer, hook, &given, end);
}

static bool io_start(const struct trace_request *request)
{
	standard_output = request->find_symbol("stdout");
	writer_callers_use(DOMAIN_IO, request->io_stacks ? CALLERS_ALL : CALLERS_DIRECT);
	return true;
}

#define IO(symbol, name, write, ...)                                              \
	{                                                                         \
		symbol, name, DOMAIN_IO, HOOK_REGISTERS, write, NULL, __VA_ARGS__ \
	}
/* Descriptor, requested size, transferred size. */
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
#define ACCEPTS(symbol)                                                      \
	{                                                                    \
		symbol, NULL, DOMAIN_IO, HOOK_AROUND, write_accept, NULL, 2, \
			{ { VALUE_DESCRIPTOR, CAPTURE_INT0 },                \
			  { VALUE_RESULT, CAPTURE_RETURN_INT } },            \
			before_accept, NULL                                  \
	}
#define OPENS(symbol, name, write) \
	IO(symbol, name, write, 1, { { VALUE_RESULT, CAPTURE_RETURN_INT } })
#define OPENS_FILE(symbol, name)          \
	IO(symbol, name, write_opened, 2, \
	   { { VALUE_OBJECT, CAPTURE_RESULT }, { VALUE_DESCRIPTOR, CAPTURE_RESULT_FILE } })
/* stdio: descriptor, requested bytes, transferred bytes. */
#define STREAMS(symbol, name, file, size, result) \
	IO(symbol, name, NULL, 3,                 \
	   { { VALUE_DESCRIPTOR, file }, { VALUE_SIZE, size }, { VALUE_RESULT, result } })
#define ITEMS(symbol, name) \
	STREAMS(symbol, name, CAPTURE_FILE3, CAPTURE_PRODUCT12, CAPTURE_RESULT_TIMES1)
/* stdio without a requested size. */
#define LINES(symbol, name, write, file, result) \
	IO(symbol, name, write, 2, { { VALUE_DESCRIPTOR, file }, { VALUE_RESULT, result } })

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
	ACCEPTS("accept"),
	ACCEPTS("accept4"),
	ACTS("connect", NULL, write_connect),
	OPENS_FILE("fopen", NULL),
	OPENS_FILE("fopen64", "fopen"),
	IO("fclose", NULL, NULL, 2,
	   { { VALUE_OBJECT, CAPTURE_ARG0 }, { VALUE_RESULT, CAPTURE_RETURN_INT } }),
	IO("fdopen", NULL, NULL, 2,
	   { { VALUE_OBJECT, CAPTURE_RESULT }, { VALUE_DESCRIPTOR, CAPTURE_INT0 } }),
	OPENS_FILE("freopen", NULL),
	OPENS_FILE("freopen64", "freopen"),
	ITEMS("fread", NULL),
	ITEMS("fread_unlocked", "fread"),
	ITEMS("fwrite", NULL),
	ITEMS("fwrite_unlocked", "fwrite"),
	STREAMS("__fread_chk", "fread", CAPTURE_FILE4, CAPTURE_PRODUCT23, CAPTURE_RESULT_TIMES2),
	STREAMS("__fread_unlocked_chk", "fread", CAPTURE_FILE4, CAPTURE_PRODUCT23,
		CAPTURE_RESULT_TIMES2),
	STREAMS("fgets", NULL, CAPTURE_FILE2, CAPTURE_ARG1, CAPTURE_LINE1),
	STREAMS("fgets_unlocked", "fgets", CAPTURE_FILE2, CAPTURE_ARG1, CAPTURE_LINE1),
	STREAMS("__fgets_chk", "fgets", CAPTURE_FILE3, CAPTURE_ARG2, CAPTURE_LINE2),
	STREAMS("__fgets_unlocked_chk", "fgets", CAPTURE_FILE3, CAPTURE_ARG2, CAPTURE_LINE2),
	LINES("getline", NULL, NULL, CAPTURE_FILE2, CAPTURE_RESULT),
	LINES("getdelim", NULL, NULL, CAPTURE_FILE3, CAPTURE_RESULT),
	LINES("__getdelim", "getdelim", NULL, CAPTURE_FILE3, CAPTURE_RESULT),
	LINES("fputs", NULL, NULL, CAPTURE_FILE1, CAPTURE_RETURN_TEXT0),
	LINES("fputs_unlocked", "fputs", NULL, CAPTURE_FILE1, CAPTURE_RETURN_TEXT0),
	LINES("puts", NULL, write_puts, CAPTURE_FILE1, CAPTURE_RETURN_INT),
	LINES("vfprintf", NULL, NULL, CAPTURE_FILE0, CAPTURE_RETURN_INT),
	LINES("__vfprintf_chk", "vfprintf", NULL, CAPTURE_FILE0, CAPTURE_RETURN_INT),
	LINES("vdprintf", NULL, NULL, CAPTURE_INT0, CAPTURE_RETURN_INT),
	LINES("__vdprintf_chk", "vdprintf", NULL, CAPTURE_INT0, CAPTURE_RETURN_INT),
	IO("fflush", NULL, NULL, 2,
	   { { VALUE_DESCRIPTOR, CAPTURE_FILE0 }, { VALUE_RESULT, CAPTURE_RETURN_INT } }),
};

const struct domain_hooks hooks_io = { DOMAIN_IO, calls, ARRAY_SIZE(calls), io_start };
