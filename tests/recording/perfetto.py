"""
Reads Perfetto traces without Perfetto: decodes protocol buffers by the rules of their encoding and
checks what a viewer relies on.  Knows nothing of limpet's code.
"""

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5

# perfetto_trace.proto
TRACE_PACKET = 1
PACKET = dict(clocks=6, timestamp=8, sequence=10, event=11, interned=12, flags=13, track=60)
TRACK = dict(uuid=1, name=2, process=3, thread=4, parent=5, counter=8)
EVENT = dict(category=3, annotation=4, type=9, name_id=10, track=11, name=23,
             amount=30, flow=47)
INTERNED = dict(categories=1, names=2, annotations=3)
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS_INTERNED = 1, 2
CLOCKS = {1: "realtime", 3: "monotonic", 5: "monotonic_raw", 6: "boottime"}


class Wrong(Exception):
    """The trace breaks a rule."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise Wrong("a varint of more than ten bytes")


def fields(data):
    """(field number, value) of a message; nested messages and texts are bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == LENGTH:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise Wrong("a message that ends too early")
        elif wire == FIXED64:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            raise Wrong(f"wire type {wire}")
        yield number, value


def message(data):
    """field number: list of values."""
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def one(found, number, default=None):
    values = found.get(number, [default])
    if len(values) != 1:
        raise Wrong(f"field {number} comes {len(values)} times")
    return values[0]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Trace:
    """Everything in a file.  slices, marks: dicts with name, category, begin, end, pid, tid, track, args."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.slices, self.marks, self.tracks, self.clocks = [], [], {}, []
        self.names, self.open = {}, {}
        self.amounts = {}  # of counters, by the name of their track: (time, value) in order
        self.last = {}
        for number, packet in fields(data):
            if number != TRACE_PACKET:
                raise Wrong(f"field {number} beside packets")
            self.packet(message(packet))
        still_open = sum(len(slices) for slices in self.open.values())
        if still_open:
            raise Wrong(f"{still_open} slices never end")

    def packet(self, packet):
        sequence = one(packet, PACKET["sequence"])
        if not sequence:
            raise Wrong("a packet without a sequence")
        flags = one(packet, PACKET["flags"], 0)
        if flags & CLEARED:
            self.names[sequence] = {kind: {} for kind in INTERNED}
        for interned in packet.get(PACKET["interned"], []):
            self.intern(sequence, message(interned))
        for snapshot in packet.get(PACKET["clocks"], []):
            self.snapshot(message(snapshot))
        for track in packet.get(PACKET["track"], []):
            self.track(message(track))
        for event in packet.get(PACKET["event"], []):
            if not flags & NEEDS_INTERNED:
                raise Wrong("an event that does not say that it needs names")
            self.event(sequence, one(packet, PACKET["timestamp"]), message(event))

    def intern(self, sequence, interned):
        for kind, number in INTERNED.items():
            for entry in map(message, interned.get(number, [])):
                self.names[sequence][kind][one(entry, 1)] = one(entry, 2).decode()

    def snapshot(self, snapshot):
        clocks = [message(clock) for clock in snapshot[1]]
        self.clocks.append({CLOCKS[one(clock, 1)]: one(clock, 2) for clock in clocks})

    def track(self, track):
        uuid, parent = one(track, TRACK["uuid"]), one(track, TRACK["parent"])
        if uuid in self.tracks:
            raise Wrong(f"track {uuid} comes twice")
        if parent is not None and parent not in self.tracks:
            raise Wrong(f"the parent of track {uuid} is not known")
        found = dict(self.tracks.get(parent, {}))
        if TRACK["process"] in track:
            process = message(one(track, TRACK["process"]))
            found.update(pid=one(process, 1), process=one(process, 6).decode())
        if TRACK["thread"] in track:
            thread = message(one(track, TRACK["thread"]))
            if one(thread, 1) != found["pid"]:
                raise Wrong("a thread of another process than its parent")
            found.update(tid=one(thread, 2), thread=one(thread, 5).decode())
        if TRACK["name"] in track:
            found["track_name"] = one(track, TRACK["name"]).decode()
        found["is_counter"] = TRACK["counter"] in track
        self.tracks[uuid] = found

    def event(self, sequence, time, event):
        track = one(event, EVENT["track"])
        if track not in self.tracks:
            raise Wrong(f"an event on the unknown track {track}")
        if time < self.last.get(track, 0):
            raise Wrong(f"track {track} goes back in time")
        self.last[track] = time
        kind = one(event, EVENT["type"])
        if (kind == COUNTER) != self.tracks[track]["is_counter"]:
            raise Wrong("a counter on a track for slices, or a slice on one for a counter")
        if kind == COUNTER:
            amounts = self.amounts.setdefault(self.tracks[track]["track_name"], [])
            amounts.append((time, signed(one(event, EVENT["amount"]))))
            return
        stack = self.open.setdefault(track, [])
        if kind == BEGIN:
            stack.append(self.begin(sequence, time, track, event))
        elif kind == END:
            if not stack:
                raise Wrong(f"an end without a beginning on track {track}")
            slice_ = stack.pop()
            slice_["end"] = time
            self.slices.append(slice_)
        elif kind == INSTANT:
            self.marks.append(self.begin(sequence, time, track, event))
        else:
            raise Wrong(f"an event of type {kind}")

    def begin(self, sequence, time, track, event):
        names = self.names[sequence]
        name = one(event, EVENT["name"])
        name = name.decode() if name is not None else names["names"][one(event, EVENT["name_id"])]
        args = dict(self.annotation(names, message(entry)) for entry in event.get(EVENT["annotation"], []))
        category = names["categories"][one(event, EVENT["category"])]
        return dict(self.tracks[track], name=name, category=category, begin=time, args=args, track=track,
                    flows=event.get(EVENT["flow"], []))

    @staticmethod
    def annotation(names, entry):
        name = names["annotations"][one(entry, 1)]
        readers = {3: int, 4: signed, 6: lambda text: text.decode(), 7: hex}
        found = [readers[number](values[0]) for number, values in entry.items() if number in readers]
        if len(found) != 1:
            raise Wrong(f"annotation {name} has {len(found)} values")
        return name, found[0]
