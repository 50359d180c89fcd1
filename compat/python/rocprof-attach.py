#!/usr/bin/env python3
"""Attaches tools to a running process, waits, and detaches: the command line of AMD's rocprof-attach."""

import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib" / "limpet"))

import attach_front_end  # noqa: E402

ATTACH_LIBRARY = "librocprofiler-sdk-rocattach.so.1"


class Parser(argparse.ArgumentParser):
    """Wrong usage ends with 1, like every other refusal."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(1, f"rocprof-attach: ERROR: {message}\n")


def parse_arguments(arguments=None):
    environment = os.environ.get
    parser = Parser(
        prog="rocprof-attach",
        description="Attach tools to a running process until Enter, SIGINT, SIGTERM, the end of the duration or of "
                    "the process; then detach. The process needs no preparation.",
        epilog="Each option can also be given by the variable in brackets.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("-p", "--pid", "--attach", "--attach-pid", metavar="PID", default=environment("ROCPROF_ATTACH_PID"),
        help="the process [ROCPROF_ATTACH_PID]")
    add("-t", "--attach-tool-library", "--tool-library", "--tool", metavar="LIST",
        default=environment(attach_front_end.TOOL_VARIABLE),
        help="tool libraries, separated by colons [ROCPROF_ATTACH_TOOL_LIBRARY]")
    add("-d", "--attach-duration-msec", "--attach-duration", "--duration-msec", "--duration", metavar="MS",
        default=environment("ROCPROF_ATTACH_DURATION"),
        help="detach after this many milliseconds; else wait for Enter or a signal [ROCPROF_ATTACH_DURATION]")
    add("--attach-children", "--children", metavar="BOOL", nargs="?", const="1",
        default=environment("ROCPROF_ATTACH_CHILDREN", "1"),
        help="attach to all descendants too, also to those born later; default true [ROCPROF_ATTACH_CHILDREN]")
    add("--all-descendants", action="store_true", default=environment(attach_front_end.SCOPE_VARIABLE) == "1",
        help="allow any number of descendants, of any user; limpet's own option [LIMPET_ALL_DESCENDANTS]")
    add("-a", "--attach-library", metavar="FILE", default=environment("ROCPROF_ATTACH_LIBRARY") or ATTACH_LIBRARY,
        help="the library that attaches [ROCPROF_ATTACH_LIBRARY]")
    # What AMD's rocprofv3 passes: the tool for a caller that names none.
    add("--fallback-tool-library", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def attach(pid, attach_tool_library, attach_duration_msec, attach_library=ATTACH_LIBRARY, attach_children=True,
           fallback_tool_library=None):
    """The same from Python.  Raises RuntimeError when it fails."""
    attach_front_end.run(
        attach_front_end.to_pid(pid),
        attach_tool_library or fallback_tool_library,
        attach_front_end.to_milliseconds(attach_duration_msec),
        attach_library,
        attach_children,
    )


def main(arguments=None):
    options = parse_arguments(arguments)
    if options.all_descendants:
        os.environ[attach_front_end.SCOPE_VARIABLE] = "1"
    try:
        attach(options.pid, options.attach_tool_library, options.attach_duration_msec, options.attach_library,
               attach_front_end.is_true(options.attach_children), options.fallback_tool_library)
    except RuntimeError as error:
        sys.stdout.flush()
        print(f"rocprof-attach: ERROR: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
