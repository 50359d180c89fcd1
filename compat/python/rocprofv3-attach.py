#!/usr/bin/env python3
"""
Attaches tools to a running process until Enter, SIGINT, SIGTERM, the end of the duration or of the process;
then detaches.  As a program it takes everything from the environment:

  ROCPROF_ATTACH_PID            the process
  ROCPROF_ATTACH_TOOL_LIBRARY   tool libraries, separated by colons
  ROCPROF_ATTACH_DURATION       milliseconds
  ROCPROF_ATTACH_LIBRARY        the attach library, if not the one beside this program
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib" / "limpet"))

import attach_front_end  # noqa: E402

ATTACH_LIBRARY = "librocprofv3-attach.so"


def split_libraries(text):
    """
    The attach library, or None, and the tools of a list.  In AMD's first script the list was the attach
    library, so a library that exports attach is taken as one.
    """
    paths = [attach_front_end.find_library(path) for path in attach_front_end.split_list(text or "")]
    libraries = [path for path in paths if attach_front_end.exports(path, "attach")]
    tools = [path for path in paths if path not in libraries]
    return libraries[0] if libraries else None, ":".join(tools)


def main(pid=None, attach_library=None, duration=None):
    """
    pid: the process, default ROCPROF_ATTACH_PID.  attach_library: tool libraries separated by colons, default
    ROCPROF_ATTACH_TOOL_LIBRARY.  duration: milliseconds, default ROCPROF_ATTACH_DURATION; none: until Enter or a
    signal.  Raises RuntimeError when it fails.
    """
    environment = os.environ.get
    pid = attach_front_end.to_pid(environment("ROCPROF_ATTACH_PID") if pid is None else pid)
    duration = attach_front_end.to_milliseconds(environment("ROCPROF_ATTACH_DURATION") if duration is None else duration)
    listed = environment(attach_front_end.TOOL_VARIABLE) if attach_library is None else attach_library
    library, tools = split_libraries(listed)
    library = environment("ROCPROF_ATTACH_LIBRARY") or library or ATTACH_LIBRARY
    with_children = attach_front_end.is_true(environment("ROCPROF_ATTACH_CHILDREN") or "0")
    attach_front_end.run(pid, tools, duration, library, with_children)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"rocprofv3-attach: ERROR: {error}")
