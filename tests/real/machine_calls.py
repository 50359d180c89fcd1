"""Who can have called whom, by the machine's instructions alone: neither unwind rules nor frame pointers are read.

A return address lies behind a call. Where that call names its function, the callee's frame is in that function, or in one
that it can jump to (tail calls, parts of one function, stubs of the linker). Where a jump or call goes by a register, the
instructions leave it open.
"""

import collections
import functools
import re

import capstone

CALLED, OPEN, IMPOSSIBLE = "called", "open", "impossible"
JUMPS_MOST = 4000  # functions that one call is followed through
RETURN_FROM_SIGNAL = bytes.fromhex("48c7c00f0000000f05")
CLEAR_FRAME_POINTER = b"\x31\xed"
ROOT_BYTES = 64
FAR_CALLS = (2, 3, 4, 6, 7, 8, 9)  # lengths of calls by a register or through memory
ENDS = ("jmp", "ret", "ud2", "hlt")

Instruction = collections.namedtuple("Instruction", "address size name operands")


@functools.cache
def disassembler():
    return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)


def goes_to(image, it):
    """("to", address), ("import", name) or ("open", None) of a call or jump."""
    if re.fullmatch(r"0x[0-9a-f]+|\d+", it.operands):
        return "to", int(it.operands, 0)
    pointer = relative_address(it)
    return ("import", image.imports[pointer]) if pointer in image.imports else (OPEN, None)


def relative_address(it):
    """The one that an operand names by its distance, or None."""
    found = re.search(r"\[rip (?:([+-]) (0x[0-9a-f]+|\d+))?\]", it.operands)
    return it.address + it.size + int((found[1] or "") + (found[2] or "0"), 0) if found else None


class Code:
    """Functions of images, taken apart once."""

    def __init__(self, images):
        self.images, self.exits_of, self.verdicts, self.parts_of, self.framed = images, {}, {}, {}, {}

    def parts(self, image, function):
        key = image.path, function
        if key not in self.parts_of:
            code = image.code(function.start, function.end)
            self.parts_of[key] = [Instruction(*it) for it in disassembler().disasm_lite(code, function.start)]
        return self.parts_of[key]

    def exits(self, image, function):
        """Where it can go by jumps: those that stay are left out."""
        key = image.path, function
        if key not in self.exits_of:
            parts = self.parts(image, function)
            found = {goes_to(image, it) for it in parts if it.name.split()[-1].startswith(("j", "loop")) and "notrack" not in it.name}
            if parts and not parts[-1].name.endswith(ENDS) and parts[-1].name != "call":
                found.add(("to", function.end))
            self.exits_of[key] = {(how, where) for how, where in found if how != "to" or not function.start <= where < function.end}
        return self.exits_of[key]

    def call_before(self, image, address):
        """The call that returns to this address, or None."""
        function = image.function(address - 1)
        for it in self.parts(image, function):
            if it.address + it.size == address:
                return it if it.name.endswith("call") else None
        return self.call_by_bytes(image, address)

    def call_by_bytes(self, image, address):
        """For code in which data lies."""
        if image.code(address - 5, address)[:1] == b"\xe8":
            return next((Instruction(*it) for it in disassembler().disasm_lite(image.code(address - 5, address), address - 5)), None)
        for size in FAR_CALLS:
            found = list(disassembler().disasm_lite(image.code(address - size, address), address - size))
            if len(found) == 1 and found[0][1] == size and found[0][2].endswith("call"):
                return Instruction(*found[0])
        return None

    def places(self, image, how, where):
        """(image, function) that an exit leads to."""
        if how == "to":
            return [(image, image.function(where))] if image.is_code(where) else []
        if isinstance(where, int):
            return self.choices(image, where)
        return [place for other in self.images.values() for value, is_chosen in other.exports.get(where, ())
                for place in (self.choices(other, value) if is_chosen else [(other, other.function(value))])]  # fmt: skip

    def choices(self, image, resolver):
        """All that a resolver of the loader's can answer: it takes their addresses."""
        taken = (relative_address(it) for it in self.parts(image, image.function(resolver)) if it.name == "lea")
        return [(image, image.function(address)) for address in taken if address and image.is_code(address)]

    def verdict(self, callee_image, callee, image, address):
        """Whether the call that returns to the address of the image can have led to the callee's function."""
        key = callee_image.path, callee, image.path, address
        if key not in self.verdicts:
            call = self.call_before(image, address)
            self.verdicts[key] = self.follow(callee_image, callee, image, goes_to(image, call)) if call else IMPOSSIBLE
        return self.verdicts[key]

    def mains(self, image):
        """Functions whose addresses the program's first function takes: libc calls them by a register."""
        return self.choices(image, image.entry) if image.entry else []

    def follow(self, callee_image, callee, image, first):
        waiting, seen, is_open = [(image, first)], set(), False
        if first[0] == OPEN and (callee_image, callee) in self.mains(callee_image):
            return CALLED
        while waiting and len(seen) < JUMPS_MOST:
            here, (how, where) = waiting.pop()
            if how == OPEN:
                is_open = True
                continue
            for other, function in self.places(here, how, where):
                if other is callee_image and function == callee:
                    return CALLED
                if (other.path, function) not in seen:
                    seen.add((other.path, function))
                    waiting += [(other, exit_) for exit_ in self.exits(other, function)]
        return OPEN if is_open or waiting else IMPOSSIBLE

    def is_root(self, image, address):
        """Outermost functions begin by clearing the frame pointer, and no one has called them."""
        return CLEAR_FRAME_POINTER in image.code(max(address - ROOT_BYTES, 0), address)

    def is_signal(self, image, address):
        return image.code(address, address + len(RETURN_FROM_SIGNAL)) == RETURN_FROM_SIGNAL

    def has_frame(self, image, address):
        """Whether the function has made its frame there, and not taken it down: what the frame pointer leads to is its own."""
        key = image.path, address
        if key not in self.framed:
            self.framed[key] = self.is_framed(image, address)
        return self.framed[key]

    def is_framed(self, image, address):
        function, names = image.function(address), []
        for it in self.parts(image, function):
            if it.address == address:
                pushed = ("push", "rbp") in names and ("mov", "rbp, rsp") in names
                return pushed and it.name.split()[-1] != "ret" and names[-1:] not in ([("pop", "rbp")], [("leave", "")])
            names.append((it.name, it.operands))
        return False
