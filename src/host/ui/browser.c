/*
 * The invoking user, and a browser for that user.
 */
#include "host/ui/browser.h"

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/text/text.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static bool number_get(const char *variable, uint64_t *ret)
{
	const char *text = secure_getenv(variable);

	return text && !text_parse_number(text, INT32_MAX, ret);
}

void invoker_find(uid_t *ret_user, gid_t *ret_group)
{
	uint64_t user, group;

	*ret_user = geteuid();
	*ret_group = getegid();
	if (*ret_user == 0 && number_get("SUDO_UID", &user) && number_get("SUDO_GID", &group)) {
		*ret_user = (uid_t)user;
		*ret_group = (gid_t)group;
	}
}

static bool has_screen(void)
{
	return secure_getenv("DISPLAY") || secure_getenv("WAYLAND_DISPLAY");
}

static int page_name(char *ret, size_t room, uid_t user)
{
	char folder[32];
	uint64_t number;

	snprintf(folder, sizeof(folder), "/run/user/%u", user);
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(ret, room, "%s/limpet-%016lx.html", access(folder, X_OK) ? "/tmp" : folder,
		 (unsigned long)number);
	return 0;
}

static bool page_write(const char *path, const char *url)
{
	char page[320];
	int size = snprintf(page, sizeof(page),
			    "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
			    url);
	CLEANUP(close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 && size < (int)sizeof(page) && !descriptor_write(fd, page, (size_t)size);
}

/* In a child: drops limpet's rights. */
static bool rights_drop(uid_t user, gid_t group)
{
	if (geteuid() == 0 && setgroups(0, NULL))
		return false;
	return !setresgid(group, group, group) && !setresuid(user, user, user);
}

static _Noreturn void browser_run(const char *page)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	setsid();
	execlp("xdg-open", "xdg-open", page, (char *)NULL);
	_exit(1);
}

/* The page is there when the first child has ended; the browser has no parent that waits for it. */
static _Noreturn void opener_run(const char *page, const char *url, uid_t user, gid_t group)
{
	if (!rights_drop(user, group) || !page_write(page, url))
		_exit(1);
	if (fork() == 0)
		browser_run(page);
	_exit(0);
}

void browser_open(struct browser *ret, const char *url, uid_t user, gid_t group)
{
	int status = -1;
	pid_t child;

	ret->page[0] = '\0';
	if (!user || !has_screen() || page_name(ret->page, sizeof(ret->page), user))
		return;
	child = fork();
	if (child == 0)
		opener_run(ret->page, url, user, group);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		ret->page[0] = '\0';
}

void browser_close(struct browser *browser)
{
	if (browser->page[0])
		unlink(browser->page);
}
