"""A WebAssembly module of a known chain, wasm_outer > wasm_middle > wasm_leaf, made here: no assembler is needed."""

I32, FUNCTION, END = b"\x7f", b"\x60", b"\x0b"
TURNS = 2_000_000


def unsigned(number):
    """LEB128."""
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + unsigned(rest) if rest else bytes([low])


def signed(number):
    low, rest = number & 0x7F, number >> 7
    is_last = rest == -(low >> 6)
    return bytes([low]) if is_last else bytes([low | 0x80]) + signed(rest)


def vector(items):
    return unsigned(len(items)) + b"".join(items)


def text(words):
    return unsigned(len(words)) + words.encode()


def section(number, content):
    return bytes([number]) + unsigned(len(content)) + content


def leaf():
    """do { n = n * 31 + i; } while (++i < TURNS); return n;"""
    turn = b"\x20\x00\x41" + signed(31) + b"\x6c\x20\x01\x6a\x21\x00"
    again = b"\x20\x01\x41\x01\x6a\x22\x01\x41" + signed(TURNS) + b"\x49\x0d\x00"
    return vector([unsigned(1) + I32]) + b"\x03\x40" + turn + again + END + b"\x20\x00" + END


def caller(of):
    """return of(n) + 1;"""
    return vector([]) + b"\x20\x00\x10" + unsigned(of) + b"\x41\x01\x6a" + END


def wasm_chain():
    codes = [leaf(), caller(0), caller(1)]
    names = vector([unsigned(i) + text(name) for i, name in enumerate(["wasm_leaf", "wasm_middle", "wasm_outer"])])
    return b"\0asm\1\0\0\0" + b"".join([
        section(1, vector([FUNCTION + vector([I32]) + vector([I32])])), section(3, vector([unsigned(0)] * len(codes))),
        section(7, vector([text("outer") + b"\0" + unsigned(2)])), section(10, vector([unsigned(len(code)) + code for code in codes])),
        section(0, text("name") + section(1, names))])
