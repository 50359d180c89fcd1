#!/usr/bin/env python3
"""Writes a program of chains of calls, as make_shapes.py does in C, in another language, for samplers.

usage: make_chains.py fortran|rust|go|d > FILE

Each function is called by one other only, which its name tells, and turns until it is ended.
"""

import collections
import sys

DEPTH = 4
LETTERS = "abcdefgh"
# head and foot of the program; function: {name} with `x` as its argument, {shape} as its body; call: of the next function; leaf: work
# instead of it; turn: one line for each chain; shapes: bodies, in which {call} is the call.
Language = collections.namedtuple("Language", "head function call leaf turn foot shapes")

FORTRAN = Language(
    head="""module chains
use iso_c_binding
implicit none
integer(c_long), volatile :: never = 0
contains
function work(given) bind(C, name="work") result(x)
integer(c_long), value :: given
integer(c_long) :: x
integer :: i
x = given
do i = 1, 40
x = ieor(ishft(x, 7), ishft(x, -9)) + i
end do
end function
function many(a, b, c, d, e, f, g, h, i, j) bind(C, name="many") result(r)
integer(c_long), value :: a, b, c, d, e, f, g, h, i, j
integer(c_long) :: r
r = work(a + b) + c * d + e + f + g * h + i + j
end function
""",
    function="""function {name}(given) bind(C, name="{name}") result(r)
integer(c_long), value :: given
integer(c_long) :: r, x
{shape}
end function
""",
    call="{name}(x + {salt})", leaf="work(x + {salt})", turn="x = x + {name}(x)",
    foot="""function turn(given) bind(C, name="turn") result(x)
integer(c_long), value :: given
integer(c_long) :: x
x = given
{turns}
end function
end module
program main
use chains
implicit none
integer(c_long) :: x
x = 1
do while (never == 0)
x = turn(x)
end do
end program
""",
    shapes={
        "plain": "x = work(given)\nx = x + {call}\nr = work(x) + 1",
        "saved": "integer(c_long) :: a, b, c, d, e\nx = given\na = work(x)\nb = work(a)\nc = work(b)\nd = work(c)\ne = work(d)\n"
                 "x = {call}\nr = work(ieor(a, b)) + c + d * 3 + e + x",
        "large": "integer(c_long), volatile :: room(600)\nx = given\nroom(1 + iand(x, 511_c_long)) = x\nx = x + {call}\nr = x + room(18)",
        "automatic": "integer(c_long), volatile :: room(iand(given, 31_c_long) + 2)\nx = given\nroom(1) = x\nx = x + {call}\nr = x + room(1)",
        "early": "x = given\nif (never /= 0) then\nr = x\nreturn\nend if\nx = {call}\nif (iand(x, 1_c_long) /= 0) then\nr = x * 3\nreturn\n"
                 "end if\nr = work(x) + 7",
        "cases": "x = given\nselect case (iand(x, 7_c_long))\ncase (0)\nx = x + 3\ncase (1)\nx = work(x)\ncase (2)\nr = {call} + 4\nreturn\n"
                 "case (5)\nx = x - 9\ncase default\nx = x + 1\nend select\nx = x + {call}\nr = x + 2",
        "floats": "real(c_double) :: a, b\nx = given\na = real(iand(x, 1023_c_long), c_double)\nb = sqrt(a + 1)\nx = x + {call}\n"
                  "r = x + int(a + b * a, c_long)",
        "loop": "integer :: i\nx = given\nr = 0\ndo i = 1, 2\nr = r + {call}\nx = work(x + i)\nend do\nr = r + x",
        "many": "x = given\nr = many(x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9) + {call}",
        "bare": "x = ieor(given, ishft(given, -7))\nr = {call} + x",
    })

RUST = Language(
    head="""#[inline(always)]
fn keep<T>(x: T) -> T {
    unsafe {
        let kept = std::ptr::read_volatile(&x);
        std::mem::forget(x);
        kept
    }
}
#[no_mangle] #[inline(never)]
pub extern "C" fn work(mut x: i64) -> i64 {
    for i in 0..40 { x = keep(x.wrapping_mul(6364136223846793005).wrapping_add(i)); }
    x
}
#[no_mangle] #[inline(never)]
pub extern "C" fn many(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i64, i: i64, j: i64) -> i64 {
    work(a ^ b) ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j
}
""",
    function="""#[no_mangle] #[inline(never)]
pub extern "C" fn {name}(mut x: i64) -> i64 {{
    {shape}
}}
""",
    call="{name}(x ^ {salt})", leaf="work(x ^ {salt})", turn="    x ^= {name}(x);",
    foot="""#[no_mangle] #[inline(never)]
pub extern "C" fn turn(mut x: i64) -> i64 {{
{turns}
    x
}}
fn main() {{
    let mut x = 1;
    loop {{ x = keep(turn(x)); }}
}}
""",
    shapes={
        "plain": "x = work(x); x ^= {call}; work(x) ^ 1",
        "saved": "let a = work(x); let b = work(a); let c = work(b); let d = work(c); let e = work(d); x = {call}; work(a ^ b) ^ c ^ d ^ e ^ x",
        "large": "let mut room = [0u8; 5000]; room[(x & 4095) as usize] = 1; keep(&mut room); x ^= {call}; keep(&room);"
                 " x ^ room[17] as i64",
        "probed": "let mut room = [0u8; 20000]; room[(x & 16383) as usize] = 1; keep(&mut room); x ^= {call}; keep(&room);"
                " x ^ room[17] as i64",
        "heap": "let mut room = vec![x; 20]; keep(&mut room); x ^= {call}; x ^ room[3]",
        "early": "if keep(x) == 77 {{ return x; }} x = {call}; if x & 1 == 1 {{ return x ^ 3; }} work(x) ^ 7",
        "cases": "match x & 7 {{ 0 => x ^= 3, 1 => x = work(x), 2 => return {call} ^ 4, 5 => x ^= 9, _ => x ^= 1 }} x ^= {call}; x ^ 2",
        "floats": "let a = (x & 1023) as f64; let b = (a + 1.0).sqrt(); x ^= {call}; x ^ (a + b * a) as i64",
        "loop": "let mut sum = 0; for i in 0..2 {{ sum ^= {call}; x = work(x ^ i); }} sum ^ x",
        "closure": "let add = |y: i64| work(y ^ x); let z = add(3); x ^= {call}; x ^ z",
        "many": "many(x, x ^ 1, x ^ 2, x ^ 3, x ^ 4, x ^ 5, x ^ 6, x ^ 7, x ^ 8, x ^ 9) ^ {call}",
        "bare": "x ^= x >> 7; {call} ^ x",
    })

GO = Language(
    head="""package main

import "math"

var never int64
var sink interface{}

//go:noinline
func work(x int64) int64 {
	for i := int64(0); i < 40; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j int64) int64 {
	return work(a+b) + c*d + e + f + g*h + i + j + int64(math.Sqrt(float64(a&1023)))
}
""",
    function="""
//go:noinline
func {name}(x int64) int64 {{
	{shape}
}}
""",
    call="{name}(x + {salt})", leaf="work(x + {salt})", turn="\tx += {name}(x)",
    foot="""
//go:noinline
func turn(x int64) int64 {{
{turns}
	return x
}}

func main() {{
	for x := int64(1); never == 0; {{
		x = turn(x)
	}}
}}
""",
    shapes={
        "plain": "x = work(x); x += {call}; x = work(x); return x + 1",
        "saved": "a := work(x); b := work(a); c := work(b); d := work(c); x = {call}; return work(a ^ b) + c + d*3 + x",
        "large": "var room [5000]byte; room[x&4095] = 1; x += {call}; return x + int64(room[17]) + int64(room[x&4095])",
        "early": "if never == 1 {{ return x }}; x = {call}; if x&1 == 1 {{ return x * 3 }}; return work(x) + 7",
        "cases": "switch x & 7 {{ case 0: x += 3; case 1: x = work(x); case 2: return {call} + 4; case 5: x -= 9; default: x++ }};"
                 " x += {call}; return x + 2",
        "floats": "a := float64(x & 1023); b := math.Sqrt(a + 1); x += {call}; return x + int64(a+b*a)",
        "loop": "sum := int64(0); for i := int64(0); i < 2; i++ {{ sum += {call}; x = work(x + i) }}; return sum + x",
        "deferred": "y := work(x); x += {call}; if never == 3 {{ defer work(y) }}; return x + y",
        "many": "return many(x, x+1, x+2, x+3, x+4, x+5, x+6, x+7, x+8, x+9) + {call}",
        "bare": "x ^= x >> 7; return {call} + x",
    })

D = Language(
    head="""import core.stdc.stdlib : alloca;
import std.math : sqrt;
__gshared long never;
extern (C):
pragma(inline, false) long work(long x)
{
	foreach (i; 0 .. 40)
		x = x * 6364136223846793005 + i + never;
	return x;
}
pragma(inline, false) long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	return work(a + b) + c * d + e + f + g * h + i + j;
}
""",
    function="""pragma(inline, false) long {name}(long x)
{{
	{shape}
}}
""",
    call="{name}(x + {salt})", leaf="work(x + {salt})", turn="\tx += {name}(x);",
    foot="""pragma(inline, false) long turn(long x)
{{
{turns}
	return x;
}}
int main()
{{
	for (long x = 1; never == 0;)
		x = turn(x);
	return 0;
}}
""",
    shapes={
        "plain": "x = work(x); x += {call}; x = work(x); return x + 1;",
        "saved": "long a = work(x), b = work(a), c = work(b), d = work(c), e = work(d); x = {call}; return work(a ^ b) + c + d * e + x;",
        "large": "char[5000] room = 0; room[x & 4095] = 1; x += {call}; return x + room[17] + room[x & 4095];",
        "alloca": "auto room = cast(char*) alloca((x & 255) + 16); room[3] = cast(char) x; x += {call}; return x + room[3];",
        "early": "if (never == 1) return x; x = {call}; if (x & 1) return x * 3; return work(x) + 7;",
        "cases": "switch (x & 7) {{ case 0: x += 3; break; case 1: x = work(x); break; case 2: return {call} + 4; case 5: x -= 9; break;"
                 " default: x++; }} x += {call}; return x + 2;",
        "floats": "double a = cast(double)(x & 1023), b = sqrt(a + 1); x += {call}; return x + cast(long)(a + b * a);",
        "loop": "long sum = 0; foreach (i; 0 .. 2) {{ sum += {call}; x = work(x + i); }} return sum + x;",
        "many": "return many(x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9) + {call};",
        "bare": "x ^= x >> 7; return {call} + x;",
    })

LANGUAGES = {"fortran": FORTRAN, "rust": RUST, "go": GO, "d": D}


def chain(language, number, shapes):
    names = [f"c{number:02}_{letter}" for letter in LETTERS[:len(shapes)]]
    for name, shape, callee in reversed(list(zip(names, shapes, [*names[1:], None]))):
        # Compilers make one function of two that are equal: no two have the same number.
        salt = DEPTH * number + names.index(name)
        call = (language.call if callee else language.leaf).format(name=callee, salt=salt)
        yield language.function.format(name=name, shape=language.shapes[shape].format(call=call))


def program(language):
    shapes = list(language.shapes)
    yield language.head
    for number in range(len(shapes)):
        yield from chain(language, number, [shapes[(number + step * (number % 5 + 1)) % len(shapes)] for step in range(DEPTH)])
    turns = "\n".join(language.turn.format(name=f"c{number:02}_a") for number in range(len(shapes)))
    yield language.foot.format(turns=turns)


if __name__ == "__main__":
    sys.stdout.write("".join(program(LANGUAGES[sys.argv[1]])))
