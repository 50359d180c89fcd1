/*
 * Texts for people.
 */
#include "help.h"

#include "host/core/text/print.h"
#include "host/counters/amd/listing.h"
#include "host/rocprofv3/settings.h"

static void print_option(FILE *out, const struct setting *setting)
{
	char left[64], letter[8] = "    ";

	if (setting->letter)
		snprintf(letter, sizeof(letter), "-%c, ", setting->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, setting->name,
		 setting->takes == TAKES_SWITCH ? "" : " ",
		 setting->argument ? setting->argument : "");
	print(out, "  %-36s %s\n", left, setting->help);
}

static void print_refused(FILE *out)
{
	for (size_t i = 0; i < setting_count; i++)
		if (setting_is_refused(&settings[i]))
			print(out, "  %-36s %s\n", settings[i].name, settings[i].help);
}

void help_print(FILE *out)
{
	fputs("usage: rocprofv3 --attach PID [options]\n"
	      "       rocprofv3 [options] -- PROGRAM [ARGUMENTS]\n\n"
	      "Traces a running process, which needs no preparation, or a program from its first\n"
	      "call on, and leaves AMD's files.  Detaches at Enter, SIGINT, SIGTERM, after the\n"
	      "duration, or when the process ends.  A program that was started gets the terminal\n"
	      "and the signals; rocprofv3 ends when it does, with its status.\n"
	      "Switches take true or false; without either they mean true.\n\n",
	      out);
	for (size_t i = 0; i < setting_count; i++)
		if (!setting_is_refused(&settings[i]))
			print_option(out, &settings[i]);
	fputs("\nOptions of AMD's that are refused (with false they are allowed):\n", out);
	print_refused(out);
	fputs("\nexamples:\n"
	      "  rocprofv3 --attach 4711 --hip-trace --kernel-trace --attach-duration-msec 5000\n"
	      "  rocprofv3 --sys-trace -f csv -- ./program argument\n"
	      "  rocprofv3 -p 4711 --runtime-trace -f csv rocpd -d out -o app_%pid%\n",
	      out);
}

void help_list(FILE *out, const char *folder)
{
	struct err err = { 0 };

	fputs("Traces:\n", out);
	for (size_t i = 0; i < setting_count; i++)
		if (settings[i].bits)
			print(out, "  %-36s %s\n", settings[i].name, settings[i].help);
	fputs("\nCounters:\n", out);
	/* A missing part is reported, and is no failure. */
	if (amd_counters_list(out, folder, &err))
		print(out, "  none: %s\n  %s\n  %s\n", err.what, err.why, err.fix);
	fputs("\nPC sampling, thread trace: none\n", out);
	fputs("\nNot served:\n", out);
	print_refused(out);
}
