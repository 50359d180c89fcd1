"""Programs by others that work for a while at inputs made here: each is a package of Ubuntu, a way to make what it reads, and a command.

They run in a root of Ubuntu 24.04, in a folder of their own. Ubuntu compiles its packages with frame pointers.
"""

import collections
import random
import struct
import wave

SEED = 31
WORDS = 200000
RATE_HZ = 44100
NOISE_S = 400

Program = collections.namedtuple("Program", "name packages prepare command")


def program(name, command, packages=None, prepare=":"):
    return Program(name, (packages or name).split(), prepare, command)


PICTURE = "[ -s big.png ] || convert -size 3000x2000 plasma:red-blue -seed 31 big.png"
PAGES = "[ -s pages.pdf ] || { enscript -q -p pages.ps words.txt && ps2pdf pages.ps pages.pdf; }"

FRAMES = "[ -s big.yuv ] || head -c 34560000 noise.wav > big.yuv"

PROGRAMS = (
    program("aomenc", "aomenc --i420 -w 640 -h 360 --cpu-used=4 --threads=1 --ivf -o big.ivf big.yuv", "aom-tools", FRAMES),
    program("argon2", "argon2 saltsaltsalt -t 2000 -m 14 -p 1 < pi.bc", "argon2"),
    program("bash", "bash -c 'f() { if (( $1 < 2 )); then r=1; else f $(( $1 - 1 )); local a=$r; f $(( $1 - 2 )); "
                    "(( r += a )); fi; }; f 27; echo $r'"),
    program("bc", "bc -l pi.bc < /dev/null"),
    program("brotli", "brotli -q 11 -w 24 -f -o /dev/null words.txt"),
    program("bzip2", "bzip2 -9 -c noise.wav > /dev/null"),
    program("cadical", "cadical -q holes.cnf"),
    program("clang", "clang-18 -O2 -w -c -o /dev/null big.c", "clang-18"),
    program("clustalo", "clustalo -i proteins.fa -o /dev/null --force --threads 1", "clustalo"),
    program("cwebp", "cwebp -quiet -q 90 -m 6 -pass 10 big.png -o /dev/null", "webp imagemagick", PICTURE),
    program("dash", "dash -c 'n=0; while [ $n -lt 9000000 ]; do n=$((n + 1)); case $n in *77) x=${n#7};; esac; done'"),
    program("dot", "dot -Tsvg -o /dev/null graph.dot", "graphviz"),
    program("doxygen", "doxygen doxyfile", prepare="printf 'INPUT=/usr/include\\nRECURSIVE=YES\\nEXTRACT_ALL=YES\\nQUIET=YES\\nWARNINGS=NO\\n"
                       "FILE_PATTERNS=*.h\\nGENERATE_LATEX=NO\\nOUTPUT_DIRECTORY=doxygen\\n' > doxyfile"),
    program("ecm", "ecm -q 3e6 < mersenne", "gmp-ecm"),
    program("flac", "flac -s -f -8 -e -p -o /dev/null noise.wav"),
    program("geng", "nauty-geng -u 11", "nauty"),
    program("gp", "gp -q -s 64M factors.gp < /dev/null", "pari-gp"),
    program("ghostscript", "gs -q -dNOPAUSE -dBATCH -sDEVICE=png16m -r300 -dTextAlphaBits=4 -sOutputFile=/dev/null pages.ps",
            "ghostscript enscript", PAGES),
    program("git", "git -c core.pager=cat diff --no-index --minimal --stat lines.txt others.txt",
            prepare="cat words.txt words.txt words.txt | tr ' ' '\\n' > lines.txt; cat other.txt other.txt other.txt | tr ' ' '\\n' > others.txt"),
    program("glpsol", "glpsol --lp knapsack.lp", "glpk-utils"),
    program("gnuplot", "gnuplot -e 'set terminal unknown; set samples 4000; set isosamples 2000; "
                       "splot besj0(sqrt(x*x+y*y))*gamma(abs(x)+1)'", "gnuplot-nox"),
    program("gpg", "gpg --batch --passphrase x --symmetric --compress-algo none --cipher-algo CAMELLIA256 -o /dev/null --yes /dev/zero", "gnupg"),
    program("imagemagick", "convert big.png -resize 1500x -blur 0x12 -swirl 90 -paint 4 null:", "imagemagick", PICTURE),
    program("jq", "jq -n '[range(3000000) | {a: (. % 1000), b: tostring}] | group_by(.a) | map(length) | add'"),
    program("lame", "lame --quiet -V 0 -q 0 noise.wav /dev/null"),
    program("minimap2", "minimap2 -t 1 -x map-ont -c genome.fa reads.fa"),
    program("nasm", "nasm -f elf64 -o /dev/null big.asm"),
    program("ngspice", "ngspice -b ring.cir", "ngspice"),
    program("optipng", "optipng -quiet -o7 -clobber -out small.png big.png", "optipng imagemagick", PICTURE),
    program("opusenc", "opusenc --quiet --comp 10 noise.wav /dev/null", "opus-tools"),
    program("pdftoppm", "pdftoppm -r 200 pages.pdf page", "poppler-utils ghostscript enscript", PAGES),
    program("povray", "povray -D +Iscene.pov +W1200 +H900 +A0.1 +WT1 -GA +O/dev/null", "povray"),
    program("ripgrep", "rg -j1 -c '(\\w+)ing\\s+(\\w+)ed|[aeiou]{3}[^aeiou]{4}' long.txt", "ripgrep",
            "[ -s long.txt ] || for n in $(seq 300); do cat words.txt; done > long.txt"),
    program("sox", "sox noise.wav -n reverb 80 pitch 300 tempo 1.3"),
    program("speexenc", "speexenc --quality 10 --comp 10 noise.wav /dev/null", "speex"),
    program("stockfish", "stockfish bench 64 1 17", "stockfish"),
    program("tclsh", "tclsh work.tcl", "tcl"),
    program("tesseract", "tesseract page-1.ppm stdout", "tesseract-ocr tesseract-ocr-eng poppler-utils ghostscript enscript",
            PAGES + "; [ -s page-1.ppm ] || pdftoppm -r 200 -l 1 -singlefile pages.pdf page-1"),
    program("vvp", "vvp counter.vvp", "iverilog", "iverilog -o counter.vvp counter.v"),
    program("x265", "x265 --input big.yuv --input-res 640x360 --fps 25 --pools 1 --log-level error -o big.hevc", "x265", FRAMES),
    program("xsltproc", "xsltproc sum.xsl big.xml", "xsltproc"),
    program("yosys", "yosys -q -p 'synth -flatten; abc -g gates' wide.v", "yosys"),
    program("z3", "z3 holes.smt2"),
    program("zopfli", "zopfli -c words.txt > /dev/null"),
)


def write_inputs(folder):
    """What the commands above read, the same each time."""
    chance = random.Random(SEED)
    for name, make in INPUTS.items():
        (folder / name).write_text(make(chance))
    write_noise(folder / "noise.wav", chance)


def write_noise(path, chance):
    with wave.open(str(path), "wb") as sound:
        sound.setparams((2, 2, RATE_HZ, 0, "NONE", ""))
        second = b"".join(struct.pack("<hh", chance.randint(-9000, 9000), (n * 91) % 16000 - 8000) for n in range(RATE_HZ))
        for _ in range(NOISE_S):
            cut = chance.randrange(0, len(second), 4)
            sound.writeframes(second[cut:] + second[:cut])


def make_words(chance):
    word = lambda: "".join(chance.choice("etaoinshrdlu") for _ in range(chance.randint(2, 9)))  # noqa: E731
    known = [word() + chance.choice(("ing", "ed", "", "s")) for _ in range(4000)]
    return "".join(chance.choice(known) + (" " if n % 11 else ".\n") for n in range(WORDS))


def make_holes(chance, holes=9):
    """One pigeon more than holes: no solution, and many ways to look for it."""
    at = lambda pigeon, hole: pigeon * holes + hole + 1  # noqa: E731
    clauses = [[at(pigeon, hole) for hole in range(holes)] for pigeon in range(holes + 1)]
    clauses += [[-at(one, hole), -at(other, hole)] for hole in range(holes) for one in range(holes + 1) for other in range(one)]
    chance.shuffle(clauses)
    return clauses, at(holes, holes - 1)


def make_cnf(chance):
    clauses, count = make_holes(chance)
    return f"p cnf {count} {len(clauses)}\n" + "".join(" ".join(map(str, clause)) + " 0\n" for clause in clauses)


def make_smt(chance):
    """Bit vectors: a number is the product of two others."""
    del chance
    return ("(set-logic QF_BV)\n(declare-const a (_ BitVec 40))\n(declare-const b (_ BitVec 40))\n"
            "(assert (= (bvmul a b) #x00d6e8feb8))\n(assert (bvugt a #x0000000001))\n(assert (bvugt b #x0000000001))\n"
            "(assert (bvult a #x0000100000))\n(assert (bvult b #x0000100000))\n(assert (= ((_ extract 2 0) (bvxor a b)) #b101))\n(check-sat)\n")


def make_c(chance):
    body = "".join(f"int f{n}(int a, int b) {{ int s = {chance.randint(1, 99)}; for (int i = 0; i < a; i++) {{ s += i * b ^ (s >> 3); "
                   f"if (s & {chance.randint(1, 64)}) s -= f{max(n - 1, 0)}(i / 2, s & 7); else b += s; }} return s; }}\n" for n in range(6000))
    return body + "int main(void) { return f5999(3, 4); }\n"


def make_proteins(chance):
    return "".join(f">p{n}\n{''.join(chance.choice('ACDEFGHIKLMNPQRSTVWY') for _ in range(300))}\n" for n in range(260))


def make_graph(chance):
    return "digraph g {\n" + "".join(f"n{chance.randrange(n)} -> n{n};\nn{chance.randrange(n)} -> n{n};\n" for n in range(1, 420)) + "}\n"


def make_knapsack(chance, items=90, rows=14):
    terms = lambda: " + ".join(f"{chance.randint(200, 999)} x{n}" for n in range(items))  # noqa: E731
    limits = "".join(f"c{row}: {terms()} <= {items * 180}\n" for row in range(rows))
    return f"Maximize\nobj: {terms()}\nSubject To\n{limits}Binary\n{' '.join(f'x{n}' for n in range(items))}\nEnd\n"


def make_genome(chance):
    """The same for the genome and for its reads."""
    del chance
    return ">g\n" + "".join(random.Random(SEED).choices("ACGT", k=2000000)) + "\n"


def make_reads(chance):
    genome = make_genome(chance)[3:-1]
    cut = lambda: (lambda at: genome[at:at + 6000])(chance.randrange(len(genome) - 6000))  # noqa: E731
    return "".join(f">r{n}\n{''.join(b if chance.random() > .08 else chance.choice('ACGT') for b in cut())}\n" for n in range(900))


def make_assembly(chance):
    return "default rel\n" + "".join(f"l{n}: mov rax, [rbx + {chance.randrange(4096)}]\nadd rcx, rax\njnz l{chance.randint(max(n - 90, 0), n)}\n"
                                     for n in range(160000))  # fmt: skip


def make_ring(chance, stages=31):
    del chance
    parts = "".join(f"m{n}n s{(n + 1) % stages} s{n} 0 0 n w=2u l=1u\nm{n}p s{(n + 1) % stages} s{n} vdd vdd p w=4u l=1u\n"
                    f"c{n} s{n} 0 10f\n" for n in range(stages))  # fmt: skip
    return f"ring\n.model n nmos level=1\n.model p pmos level=1\nv vdd 0 5\n{parts}.ic v(s0)=0\n.print tran v(s0)\n.tran 0.02n 4000n uic\n.end\n"


def make_scene(chance):
    balls = "".join("sphere {{ <{:.2f}, {:.2f}, {:.2f}>, 0.6 pigment {{ color rgbt <{:.2f}, 0.5, 0.8, 0.4> }} finish {{ reflection 0.4 }} "
                    "interior {{ ior 1.4 }} }}\n".format(*(chance.uniform(-5, 5) for _ in range(3)), chance.random()) for _ in range(120))
    return ("#version 3.7;\nglobal_settings { assumed_gamma 1.0 max_trace_level 12 }\ncamera { location <0, 2, -12> look_at 0 }\n"
            f"light_source {{ <9, 20, -20> color rgb 1 area_light <3, 0, 0>, <0, 3, 0>, 5, 5 }}\nplane {{ y, -6 pigment {{ checker rgb 1, rgb 0 }} }}\n{balls}")


def make_tcl(chance):
    del chance
    return ("proc fib n { if {$n < 2} { return $n }; return [expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]}] }\n"
            "for {set i 0} {$i < 30} {incr i} { fib 25; set l {}; for {set k 0} {$k < 90000} {incr k} { lappend l [expr {($k * 7919) % 65537}] }\n"
            "set l [lsort -integer $l]; regsub -all {1([0-9])} $l {x\\1} m }\n")


def make_counter(chance):
    del chance
    return ("module main; reg [63:0] s; reg clk; integer i; wire [63:0] n = {s[62:0], s[63] ^ s[62] ^ s[60] ^ s[59]};\n"
            "initial begin s = 1; clk = 0; for (i = 0; i < 3000000; i = i + 1) begin #1 clk = ~clk; end $finish; end\n"
            "always @(posedge clk) s <= n; endmodule\n")


def make_wide(chance):
    lines = "".join(f"assign y[{n}] = (a[{chance.randrange(64)}] ^ b[{chance.randrange(64)}]) & (a * b) >> {chance.randrange(60)};\n" for n in range(64))
    return f"module wide(input [63:0] a, input [63:0] b, output [63:0] y, output [63:0] z);\n{lines}assign z = a / (b | 1);\nendmodule\n"


def make_xml(chance):
    return "<all>" + "".join(f"<item key='k{chance.randrange(900)}'><v>{n}</v></item>" for n in range(60000)) + "</all>"


def make_style(chance):
    del chance
    return ("<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:output method='text'/>"
            "<xsl:template match='/'><xsl:for-each select='all/item[position() &lt; 900]'><xsl:sort select='v' data-type='number'/>"
            "<xsl:value-of select='sum(/all/item[@key=current()/@key]/v)'/></xsl:for-each></xsl:template></xsl:stylesheet>")


INPUTS = {
    "words.txt": make_words, "other.txt": make_words, "holes.cnf": make_cnf, "holes.smt2": make_smt, "big.c": make_c,
    "proteins.fa": make_proteins, "graph.dot": make_graph, "knapsack.lp": make_knapsack, "genome.fa": make_genome,
    "reads.fa": make_reads, "big.asm": make_assembly, "ring.cir": make_ring, "scene.pov": make_scene, "work.tcl": make_tcl,
    "pi.bc": lambda _: "scale=9000; 4*a(1)\n", "mersenne": lambda _: "(2^997-1)/167560816514084819488737767976263150405095191554732902607\n", "factors.gp": lambda _: "for(n=1,10^6,factor(10^24+n))\n",
    "counter.v": make_counter, "wide.v": make_wide, "big.xml": make_xml, "sum.xsl": make_style,
}  # fmt: skip
