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

import attach_door  # noqa: E402

ATTACH_LIBRARY = "librocprofv3-attach.so"


def split_libraries(text):
    """
    The attach library, or None, and the tools of a list.  In AMD's first script the list was the attach
    library, so a library that exports attach is taken as one.
    """
    paths = [attach_door.find_library(path) for path in attach_door.split_list(text or "")]
    doors = [path for path in paths if attach_door.exports(path, "attach")]
    tools = [path for path in paths if path not in doors]
    return doors[0] if doors else None, ":".join(tools)


def main(pid=None, attach_library=None, duration=None):
    """
    pid: the process, default ROCPROF_ATTACH_PID.  attach_library: tool libraries separated by colons, default
    ROCPROF_ATTACH_TOOL_LIBRARY.  duration: milliseconds, default ROCPROF_ATTACH_DURATION; none: until Enter or a
    signal.  Raises RuntimeError when it fails.
    """
    environment = os.environ.get
    pid = attach_door.to_pid(environment("ROCPROF_ATTACH_PID") if pid is None else pid)
    duration = attach_door.to_milliseconds(environment("ROCPROF_ATTACH_DURATION") if duration is None else duration)
    listed = environment(attach_door.TOOL_VARIABLE) if attach_library is None else attach_library
    door, tools = split_libraries(listed)
    door = environment("ROCPROF_ATTACH_LIBRARY") or door or ATTACH_LIBRARY
    with_children = attach_door.is_true(environment("ROCPROF_ATTACH_CHILDREN") or "0")
    attach_door.run(pid, tools, duration, door, with_children)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"rocprofv3-attach: ERROR: {error}")
