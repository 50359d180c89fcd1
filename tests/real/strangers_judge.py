"""Judges limpet's stacks by what machine code allows and by chains of frame pointers."""

import collections
import pathlib
import random

from elf_image import Image
from machine_calls import CALLED, IMPOSSIBLE, Code

PATH_DEPTH = 24  # functions, innermost first, that paths are compared by
SPLITS = 8
FAULTS = 300  # stacks that are spoiled, to see how many of them are found
EXAMPLES_MOST = 6
IMAGES = {}  # by path: libraries are shared by many programs

Verdict_ = collections.namedtuple("Verdict_", "kind why")
FINE = Verdict_("fine", "")


def distance(one, other):
    """Half of the sum of all differences of shares: 0 the same, 1 nothing in common."""
    first, second = sum(one.values()), sum(other.values())
    return sum(abs(one[key] / first - other[key] / second) for key in one.keys() | other.keys()) / 2 if first and second else 0.0


def distance_by_chance(one, other):
    """What two random parts of all of it, as large as these, are apart."""
    everything, size, chance = list((one + other).elements()), sum(one.values()), random.Random(0)
    found = []
    for _ in range(SPLITS):
        chance.shuffle(everything)
        found.append(distance(collections.Counter(everything[:size]), collections.Counter(everything[size:])))
    return sum(found) / SPLITS


def beyond_chance(one, other):
    return max(distance(one, other) - distance_by_chance(one, other), 0.0)


class Verdict:
    """Of one sampler."""

    def __init__(self):
        self.samples = self.complete = self.wrong = self.guessed_wrong = self.unconfirmed = self.incomplete = self.guessed = self.lost = 0
        self.reference, self.ends, self.examples, self.apart = 0, collections.Counter(), collections.Counter(), (0.0, 0.0)

    def add(self, end, is_guessed, verdict, count):
        self.samples += count
        self.guessed += count * is_guessed
        if end != "complete":
            self.incomplete += count
            self.ends[end] += count
            return
        self.complete += count * (not is_guessed)
        self.wrong += count * (verdict.kind == "wrong" and not is_guessed)
        self.guessed_wrong += count * (verdict.kind == "wrong" and is_guessed)
        self.unconfirmed += count * (verdict.kind == "unconfirmed")
        if verdict.why:
            self.examples[verdict] += count

    def cells(self):
        return (self.samples, self.wrong, self.guessed_wrong, self.unconfirmed, self.incomplete, self.guessed, self.lost, self.reference,
                " ".join(f"{100 * part:.1f} %" for part in self.apart))  # fmt: skip

    def text(self):
        return f"{self.samples} samples, {self.wrong} wrong, {self.unconfirmed} unconfirmed, {self.incomplete} incomplete, {self.guessed} guessed"

    def lines(self):
        for end, count in self.ends.most_common():
            yield f"{count} incomplete: {end}"
        for verdict, count in sorted(self.examples.items(), key=lambda item: (item[0].kind != "wrong", -item[1]))[:EXAMPLES_MOST]:
            yield f"{count} {verdict.kind}: {verdict.why}"


class Judge:
    """Of one program: it is told all samples first, since one look may confirm what another has seen."""

    def __init__(self, directory):
        self.directory, self.images, self.looks = pathlib.Path(directory), {}, []
        self.code, self.confirmed, self.known = Code(self.images), set(), {}

    def add(self, sampler, samples, chains, lost):
        samples = [one._replace(frames=tuple((self.open(path), address) for path, address in one.frames)) for one in samples]
        chains = [(when, tuple(self.by_address(self.open(path), offset) for path, offset in chain)) for when, chain in chains]
        for chain in {chain for _, chain in chains}:
            self.confirm(chain)
        self.looks.append((sampler, samples, chains, lost))

    def open(self, path):
        """The path inside of the root: who is outside of it may see another one."""
        path = path and path.removeprefix(str(self.directory))
        if path and path not in self.images and path.startswith("/"):
            file = self.directory / path.lstrip("/")
            if file not in IMAGES and file.is_file():
                IMAGES[file] = Image(file)
            if file in IMAGES:
                self.images[path] = IMAGES[file]
        return path

    def by_address(self, path, offset):
        image = self.images.get(path)
        return path, image.address(offset) if image else offset

    def function(self, frame, is_leaf):
        """(file, its extent); of code without a file the file alone."""
        path, address = frame
        image = self.images.get(path)
        return (path, image.function(address if is_leaf else address - 1)) if image else (path, None)

    def has_frame(self, frame):
        image = self.images.get(frame[0])
        return bool(image) and self.code.has_frame(image, frame[1])

    def confirm(self, chain):
        """Who returns where, by frame pointers: the innermost function counts where it has made its frame."""
        for number, (callee, caller) in enumerate(zip(chain, chain[1:])):
            if number or self.has_frame(callee):
                self.confirmed.add((self.function(callee, number == 0), caller))

    def pair(self, callee, caller, is_leaf):
        key = callee, caller, is_leaf
        if key not in self.known:
            self.known[key] = self.judge_pair(callee, caller, is_leaf)
        return self.known[key]

    def judge_pair(self, callee, caller, is_leaf):
        called, image = self.images.get(callee[0]), self.images.get(caller[0])
        function = self.function(callee, is_leaf)
        if image and self.code.is_signal(image, caller[1]) or called and self.code.is_signal(called, callee[1]):
            return FINE
        if image and not self.code.call_before(image, caller[1]):
            return Verdict_("wrong", f"{name(caller)} is behind no call")
        if not image or not called:
            return FINE if (function, caller) in self.confirmed else Verdict_("unconfirmed", f"{name(caller)} -> {name(callee)}: no file")
        allowed = self.code.verdict(called, function[1], image, caller[1])
        if allowed == CALLED or (function, caller) in self.confirmed:
            return FINE
        what = f"{name(caller)} -> {name((callee[0], function[1].start))} at {callee[1]:#x}"
        return Verdict_("wrong" if allowed == IMPOSSIBLE else "unconfirmed", what)

    def judge_stack(self, frames):
        open_one = FINE
        for number, (callee, caller) in enumerate(zip(frames, frames[1:])):
            found = self.pair(callee, caller, number == 0)
            if found.kind == "wrong":
                return found
            open_one = found if found.kind == "unconfirmed" else open_one
        image = self.images.get(frames[-1][0])
        if not image or not self.code.is_root(image, frames[-1][1]):
            return Verdict_("wrong", f"{name(frames[-1])} is no outermost function")
        return open_one

    def faults_found(self):
        """Of right stacks from which one frame was taken out, or in which one is there twice, how many are wrong, and how many unconfirmed."""
        chance = random.Random(0)
        right = sorted({frames for _, samples, _, _ in self.looks for _, frames, end, _ in samples
                        if end == "complete" and len(frames) > 3 and self.judge_stack(frames) is FINE}, key=repr)  # fmt: skip
        found = collections.Counter()
        for frames in (chance.choice(right) for _ in range(FAULTS if right else 0)):
            at = chance.randrange(1, len(frames) - 1)
            spoiled = frames[:at] + (frames[at + 1:] if chance.random() < 0.5 else frames[at:at + 1] + frames[at:])
            found[self.judge_stack(spoiled).kind] += 1
        return found

    def verdicts(self):
        found, ours, theirs = {}, {}, {}
        for sampler, samples, chains, lost in self.looks:
            verdict = found.setdefault(sampler, Verdict())
            verdict.lost += lost
            verdict.reference += len(chains)
            for (frames, end, is_guessed), count in collections.Counter(one[1:] for one in samples).items():
                verdict.add(end, is_guessed, self.judge_stack(frames) if end == "complete" else FINE, count)
            self.count_paths(ours.setdefault(sampler, ([], [])), [(one.time_ns, one.frames) for one in samples], chains, is_ours=True)
            self.count_paths(theirs.setdefault(sampler, ([], [])), chains, [(one.time_ns, one.frames) for one in samples], is_ours=False)
        for sampler, verdict in found.items():
            pairs = zip(ours[sampler], theirs[sampler])
            verdict.apart = tuple(beyond_chance(collections.Counter(one), collections.Counter(other)) for one, other in pairs)
        return found

    def count_paths(self, lists, stacks, others, is_ours):
        """Innermost functions and paths of the time that both have seen."""
        if not stacks or not others:
            return
        begin, end = others[0][0], others[-1][0]
        for when, frames in stacks:
            if begin <= when <= end:
                path = self.path(frames, is_ours)
                lists[0].append(path[0])
                lists[1].append(path)

    def path(self, frames, is_ours):
        """A function that has made no frame hides its caller from frame pointers, so it is left out here, too."""
        key = frames, is_ours
        if key not in self.known:
            is_hidden = is_ours and not self.has_frame(frames[0])
            kept = frames[:1] + frames[2 if is_hidden else 1:]
            self.known[key] = tuple(self.function(frame, number == 0) for number, frame in enumerate(kept[:PATH_DEPTH]))
        return self.known[key]


def name(frame):
    return f"{(frame[0] or '?').rsplit('/', 1)[-1]}+{frame[1]:#x}"
