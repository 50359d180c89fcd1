#!/usr/bin/env python3
"""Checks that no callback of dl_iterate_phdr comes to another function of the loader's.

The walk holds a lock of the loader's.  A thread in dlopen holds another one and waits for that: whoever waits for the
other from inside of a walk waits for ever, and the program with it.  target/runtime/libc_calls.c refuses such calls when
they are made; this finds them before.  By the text: every function that a callback names counts as called, and so does
every function that a table may have for a member which a callback calls.
"""

import pathlib
import re
import sys

# What takes the loader's first lock, or waits for who does.  A walk in a walk takes its own lock again, which is fine.
FORBIDDEN = ("libc_open libc_close libc_symbol libc_symbol_of_version libc_find_module libc_find_symbol libc_hold "
             "got_hold got_release backend_symbol runner_call").split()
# Who walks, and with which argument it is told the callback.
WALKS = {"libc_iterate": 0, "iterate": 0, "got_in_loader": 0, "got_each_module": 0}
# Members that functions in a walk call: the functions which they stand for are looked at, too.
MEMBERS = {
    "prepare": re.compile(r"prepare_\w+|slot_prepare"),
    "begin": re.compile(r"round_begin"),
    "wants": re.compile(r"slot_is_wanted"),
    "update": re.compile(r"slot_update"),
    "change_tools_table": re.compile(r"tools_table_change"),
}
# Members that are no question to the loader; whatever else is called so must be named here first.
HARMLESS = {
    *"callback work visit iterate".split(),  # the callbacks themselves, which are looked at anyway
    # HSA's, and aqlprofile's: only named on the way, where a hook is compared with them.
    *("cas_write copy_time dispatch_time free give_back load_read load_write profile_copies queue_destroy ring "
      "signal_destroy signal_load signal_store").split(),
}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)
FUNCTION = re.compile(r"^(?!static const|static struct \w+ \w+ =|const |struct \w+ \{|enum |union |typedef |#)"
                      r"[a-z][^;{}=]*?\b(\w+)\([^;{}]*\)\s*\n\{\n(.*?)^\}", re.S | re.M)
MACRO = re.compile(r"^#define (\w+)\((?:[^()]*)\)((?:.*\\\n)*.*)$", re.M)
NAME = re.compile(r"(?<![\w.])(?<!->)([A-Za-z_]\w*)")
MEMBER_CALL = re.compile(r"(?:->|\.)(\w+)\s*\(")
WALK = re.compile(rf"\b({'|'.join(WALKS)})\((\w+)")


class Function:
    def __init__(self, path, head, name, body):
        self.path, self.name = path, name
        self.is_seen = path.endswith(".h") or not head.startswith("static ")
        self.names = set(NAME.findall(body))
        self.members = set(MEMBER_CALL.findall(body))
        self.callbacks = {callback for _, callback in WALK.findall(body)}


def read(root):
    """The functions and macros of each file, by name."""
    functions = {}
    for folder in ("src/target", "src/shared", "compat/register"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            text = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), path.read_text())
            name = path.relative_to(root).as_posix()
            for found in (*FUNCTION.finditer(text), *MACRO.finditer(text)):
                functions.setdefault(found.group(1), []).append(Function(name, found.group(), *found.groups()))
    return functions


def resolve(functions, name, path):
    """Whom a name means in a file: its own function, else everybody's of that name that others can see."""
    known = functions.get(name, [])
    own = [function for function in known if function.path == path]
    return own or [function for function in known if function.is_seen]


def next_of(functions, function):
    for name in function.names:
        yield from resolve(functions, name, function.path)
    for member in function.members & set(MEMBERS):
        for name in functions:
            if MEMBERS[member].fullmatch(name):
                yield from functions[name]


def problem_of(function):
    names = function.names & set(FORBIDDEN)
    members = function.members - set(MEMBERS) - HARMLESS
    return sorted(names) or [f"->{member}" for member in sorted(members)]


def search(functions, root):
    """(the way from a callback to a function of the loader's, its name) or None."""
    ways, todo = {id(root): [root]}, [root]
    while todo:
        function = todo.pop(0)
        way = ways[id(function)]
        problem = problem_of(function)
        if problem:
            return way, problem[0]
        for following in next_of(functions, function):
            if following.path.endswith("runtime/libc_calls.c") or id(following) in ways:
                continue
            ways[id(following)] = way + [following]
            todo.append(following)
    return None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    functions = read(root)
    callbacks = {(callback.path, callback.name): callback
                 for known in functions.values() for function in known for name in function.callbacks
                 for callback in resolve(functions, name, function.path)}
    wrong = [found for found in (search(functions, callback) for callback in callbacks.values()) if found]
    for way, call in wrong:
        names = " -> ".join(function.name for function in way)
        print(f"{way[0].path}: {names} {call if call.startswith('-') else '-> ' + call}: may take a lock of the loader's "
              "inside of dl_iterate_phdr")
    return 1 if wrong or not callbacks else 0


if __name__ == "__main__":
    sys.exit(main())
