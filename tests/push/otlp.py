"""
Decodes what `limpet push --format otlp-v1development` sends: ExportProfilesServiceRequest of OpenTelemetry's protocol, by the
numbers that opentelemetry-proto 1.11 publishes; and what that says MUST be so is checked.
"""

import gzip
import shutil
import subprocess

from store import Profile, every

CALL = "/v1development/profiles"
REQUEST = "opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest"
MAPPING, LOCATION, FUNCTION, LINK, STRING, ATTRIBUTE, STACK = range(1, 8)


def one(data, number, missing=0):
    found = every(data, number)
    assert len(found) <= 1, f"field {number} is there {len(found)} times"
    return found[0] if found else missing


def any_text(value):
    return one(value, 1, b"").decode()


class Request:
    """All profiles of one request, each with the attributes of its resource."""

    def __init__(self, body, is_forwarded=False):
        """is_forwarded: a collector has decoded it, and encoded it anew in its own manner."""
        self.plain = gzip.decompress(body)
        self.tables = {number: every(one(self.plain, 2, b""), number) for number in range(1, 8)}
        assert all(self.tables.values()), "a table lacks its first item"
        for number in (MAPPING, LOCATION, FUNCTION, STRING, ATTRIBUTE, STACK):
            assert is_forwarded or self.tables[number][0] == b"", f"item 0 of table {number} is not empty"
        assert is_forwarded or [len(one(self.tables[LINK][0], field)) for field in (1, 2)] == [16, 8]
        self.strings = [text.decode() for text in self.tables[STRING]]
        for number in (LOCATION, FUNCTION, STRING, ATTRIBUTE, STACK):
            assert number == LOCATION or len(set(self.tables[number])) == len(self.tables[number]), f"table {number} has doubles"
        self.profiles = [OtlpProfile(self, resource, profile) for resource in every(self.plain, 1)
                         for scope in every(resource, 2) for profile in every(scope, 2)]

    def attribute(self, number):
        item = self.tables[ATTRIBUTE][number]
        return self.strings[one(item, 1)], any_text(one(item, 2, b""))

    def location(self, number):
        """Its functions, innermost first."""
        item = self.tables[LOCATION][number]
        assert one(item, 1) < len(self.tables[MAPPING])
        attributes = dict(self.attribute(index) for index in Profile.packed(one(item, 4, b"")))
        assert attributes["profile.frame.type"] in ("native", "kernel", "cpython"), attributes
        return [self.strings[one(self.tables[FUNCTION][one(line, 1)], 1)] for line in every(item, 3)]

    def stack(self, number):
        return [name for index in Profile.packed(one(self.tables[STACK][number], 1, b"")) for name in self.location(index)]


class OtlpProfile:
    def __init__(self, request, resource, data):
        pairs = [(one(item, 1, b"").decode(), any_text(one(item, 2, b""))) for item in every(one(resource, 1), 1)]
        self.attributes = dict(pairs)
        assert len(self.attributes) == len(pairs), "an attribute is there twice"
        self.type = tuple(request.strings[one(one(data, 1), field)] for field in (1, 2))
        self.time_ns, self.duration_ns, self.period = one(data, 3), one(data, 4), one(data, 6)
        self.id = one(data, 7)
        assert len(self.id) == 16
        self.samples = []
        for sample in every(data, 2):
            (value,) = Profile.packed(one(sample, 4, b""))
            self.samples.append((one(sample, 1), value))
        assert len({stack for stack, _ in self.samples}) == len(self.samples), "a stack is there twice"
        self.stacks = [request.stack(stack) for stack, _ in self.samples]


def protoc_decode(plain, protos):
    """The request as text, by the published protos in that folder."""
    return subprocess.run([shutil.which("protoc"), f"-I{protos}", f"--decode={REQUEST}",
                           "opentelemetry/proto/collector/profiles/v1development/profiles_service.proto"],
                          input=plain, capture_output=True, check=True).stdout.decode()
