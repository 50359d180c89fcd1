"""Counters of devices, as tools of AMD's SDK ask for them: on the stand-in device, by definitions of limpet's own."""

import os
import pathlib
import subprocess
import unittest

from sdk import ToolCase, Work, harness, tool

MADE_UP = pathlib.Path(__file__).resolve().parent.parent / "counters/amd"
os.environ.update(HSA_MODEL_TOPOLOGY=str(MADE_UP / "topology"), ROCPROFILER_METRICS_PATH=str(MADE_UP / "definitions"))

from standin import STANDIN  # noqa: E402

DEVICES = ("257", "258")  # handles; the first agent is a processor
XCCS, ENGINES, CHANNELS = 2, 4, 4
APPEND = 2
INVALID = "19"
EXTRA = """
rocprofiler-sdk:
  counters:
  - name: OWN
    description: Hits, by another name.
    definitions:
    - architectures: [gfx942]
      block: TCC
      event: 17
  - name: EXTRA
    description: Three times the hits.
    definitions:
    - architectures: [gfx942]
      expression: 3*reduce(TCC_HIT,sum)
  - name: NONSENSE
    description: Of nothing.
    definitions:
    - architectures: [gfx942]
      expression: NOWHERE+1
"""
LONG = "# and on\n" * 16384


class SdkCountersTest(ToolCase):
    def work(self, library="with", **variables):
        path = f"{STANDIN}/amd_register/old" + (f":{STANDIN}" if library else "")
        work = Work(library_path=path, program="standin_hsa_work", STANDIN_GFX="gfx942", **variables)
        self.addCleanup(work.close)
        work.ask("solo", 2)
        return work

    def counters(self):
        """Name to what was told of it."""
        return {words[2]: words for words in self.log.lines("counter")}

    def dimensions(self, name):
        number = self.counters()[name][1]
        return [tuple(words[2:]) for words in self.log.lines("dimension") if words[1] == number]

    def test_counters_are_listed_and_described(self):
        work = self.work()
        self.leave(self.attach(work, "counters"))
        self.assertEqual(self.log.lines("none"), [["none", "256", "39"]])
        listed = self.log.lines("counters")
        self.assertEqual([words[1] for words in listed], list(DEVICES))
        self.assertEqual(len({tuple(words[2:]) for words in listed}), 1, "two devices of one kind have the same ids")
        counters = self.counters()
        self.assertEqual(len(counters), int(listed[0][2]) + 4, "and four that the tool makes of them later")
        self.assertEqual(counters["SQ_WAVES"][3:6], ["block=SQ", "derived=0", "expression="])
        self.assertEqual(counters["TCC_HIT_sum"][3:6], ["block=", "derived=1", "expression=reduce(TCC_HIT,sum)"])
        self.assertTrue(all(words[-1] == "1" for words in counters.values()), counters)
        self.assertEqual(self.log.lines("unknown"), [["unknown", "8", "18", "7"]])

    def test_dimensions_are_those_of_the_device(self):
        work = self.work()
        self.leave(self.attach(work, "counters"))
        self.assertEqual(sorted(self.dimensions("SQ_WAVES")),
                         [("DIMENSION_SHADER_ENGINE", str(ENGINES), "3"), ("DIMENSION_XCC", str(XCCS), "1")])
        self.assertEqual(self.dimensions("TCC_HIT_sum"), [("DIMENSION_INSTANCE", "1", "7")])
        counters = self.counters()
        for name, instances in {"SQ_WAVES": XCCS * ENGINES, "TCC_HIT": XCCS * CHANNELS, "GRBM_COUNT": XCCS,
                                "HIT_SHARE": 1, "ITSELF": 0}.items():
            number = counters[name][1]
            told = [words for words in self.log.lines("instance") if words[1] == number]
            self.assertEqual(counters[name][-4:-2], [str(instances)] * 2, name)
            self.assertEqual(len({tuple(words) for words in told}), instances, name)
            for words in told:
                self.assertEqual(words[2], number)
                places = dict(word.split("=") for word in words[5:])
                self.assertEqual(words[4], places.get("DIMENSION_XCC", "0"))

    def test_configs_hold_what_fits_at_once(self):
        work = self.work()
        self.leave(self.attach(work, "counters"))
        self.assertEqual(self.log.lines("config"), [["config", "0", "1"]])
        self.assertEqual(self.log.lines("second"), [["second", "0", "1"]])
        # Too many of a block, no such counter, no such agent, made of itself, nowhere to put it.
        self.assertEqual(self.log.lines("refused"), [["refused", "38", "8", "7", "25", "19"]])
        self.assertEqual(self.log.lines("destroyed"), [["destroyed", "0", "30", "0"]])

    def test_tools_make_counters_of_others(self):
        """At each attach the same."""
        work = self.work()
        for _ in range(2):
            self.log.clear()
            self.leave(self.attach(work, "counters", arguments=("--unload",)))
            self.assertEqual(self.log.lines("created"), [["created", "0", "same", "0", "1", "other", "19"]])
            self.assertIn("derived=1", self.counters()["TWICE"])
            self.assertEqual(self.counters()["TWICE"][-4:-2], ["1", "1"])
            self.assertEqual(self.log.lines("zero"), [["zero", "0", "1"]], "a zero that the tool has counted ends a text")
            self.assertEqual(self.dimensions("ONE_XCC"), [("DIMENSION_INSTANCE", str(CHANNELS), "7")])
            self.assertEqual(sorted(self.dimensions("TWO_XCCS")),
                             [("DIMENSION_INSTANCE", str(CHANNELS), "7"), ("DIMENSION_XCC", str(XCCS), "1")])
            self.assertEqual(self.log.lines("of"), [["of", "created", "0", "0"]])
            # Of eleven all; then what is too deep or too long, no such agent, nowhere to put it.
            self.assertEqual(self.log.lines("nonsense"), [["nonsense", "11", "deep", "25", "wide", "25", "agent", "7", "null", "19"]])
            self.assertEqual(self.log.lines("long"), [["long", "8", "same", "0"]], "as long as there is room for texts")
            self.assertIn("LONG_0123456789", self.counters())
            self.assertEqual(self.log.lines("room"), [["room", "for", "52"]])

    def test_without_aqlprofile_there_are_no_dimensions(self):
        work = self.work(library=None)
        self.leave(self.attach(work, "counters"))
        self.assertEqual(self.counters()["SQ_WAVES"][-4:-2], ["0", "0"])
        self.assertEqual({words[1] for words in self.log.lines("asked")}, {"23"})

    def test_without_definitions_there_are_none_and_it_is_said(self):
        work = self.work()
        folder = os.environ.pop("ROCPROFILER_METRICS_PATH")
        self.addCleanup(os.environ.__setitem__, "ROCPROFILER_METRICS_PATH", folder)
        result = harness.limpet("attach", work.pid, "--tool", tool("counters"), "--env", f"SDK_LOG={self.log.path}",
                                "--duration", "1ms")
        self.assertEqual(result.code, 0, result)
        self.assertIn("warning: tools find no counters of devices: definitions of AMD's counters", result.err)
        self.assertEqual([words[2] for words in self.log.lines("none")], ["39"] * 3)

    def test_attached_again_and_unloaded(self):
        work = self.work()
        for _ in range(3):
            self.leave(self.attach(work, "counters", arguments=("--unload",)))
            self.assertEqual(len(self.log.lines("end")), 1)
            self.log.clear()
            self.assertTrue(harness.wait_until(lambda: not harness.limpet_mappings(work.pid)))
        work.ask("solo", 2)

    def bring(self, text, flags, work=None, arguments=()):
        """Attaches a tool that brings these definitions of gfx942; what it lists by name, each with its id and whether it can be collected."""
        path = self.log.path.parent / "extra.yaml"
        path.write_text(text)
        work = work or self.work()
        self.log.clear()
        self.leave(self.attach(work, "definitions", arguments=(
            "--env", f"SDK_DEFINITIONS={path}", "--env", f"SDK_FLAGS={flags}", *arguments)))
        return {words[1]: words[2:] for words in self.log.lines("counter")}

    def test_tools_bring_definitions(self):
        listed = self.bring(EXTRA, APPEND)
        self.assertEqual([self.log.lines(word)[0][1] for word in ("null", "large", "empty", "loaded")], [INVALID, INVALID, "0", "0"])
        self.assertEqual(self.log.lines("early"), [["early", "39"]], "none are told before limpet has read what the tool brings")
        self.assertEqual(self.log.lines("initialized"), [["initialized", "0"]])
        self.assertEqual(self.log.lines("again"), [["again", "0"]], "its ids are the same")
        self.assertEqual(self.log.lines("other"), [["other", "1"]], "ids were told: they cannot become others")
        self.assertEqual(self.log.lines("late"), [["late", "16"]])
        self.assertEqual(listed["EXTRA"][1], "0")
        self.assertEqual(listed["SQ_WAVES"][1], "0")
        self.assertEqual(listed["NONSENSE"][1], "25")

    def test_definitions_that_replace_are_all(self):
        listed = self.bring(EXTRA.replace("reduce(TCC_HIT,sum)", "reduce(OWN,sum)"), 0)
        self.assertEqual(sorted(listed), ["EXTRA", "NONSENSE", "OWN"])
        self.assertEqual(listed["EXTRA"][1], "0")

    def test_definitions_stay_with_the_tool(self):
        """At the next attach it has the same ids; unloaded, it brings them again."""
        work = self.work()
        first = self.bring(EXTRA, APPEND, work)
        again = self.bring(EXTRA, APPEND, work)
        self.assertEqual(self.log.lines("loaded"), [], "it was configured before")
        self.assertEqual(again, first)
        self.bring(EXTRA, APPEND, work, ("--unload",))
        unloaded = self.bring(EXTRA, APPEND, work, ("--unload",))
        self.assertEqual(self.log.lines("loaded"), [["loaded", "0"]])
        self.assertEqual(unloaded, first)

    def test_unloaded_tools_bring_them_again(self):
        """Also where the agent stays, which has told counters to who was here before."""
        work = self.work()
        result = self.unload(lambda: self.attach(work, "device", arguments=(
            "--env", f"SDK_SAMPLE={self.log.path.parent}/sample", "--unload")))
        self.assertIn("AMD's aqlprofile library calls it when the program ends", result.out + result.err)
        first = self.bring(EXTRA, APPEND, work, ("--unload",))
        self.assertEqual(self.log.lines("loaded"), [["loaded", "0"]])
        self.assertIn("EXTRA", first)
        self.assertEqual(self.bring(EXTRA, APPEND, work, ("--unload",)), first)
        self.assertEqual(self.log.lines("loaded"), [["loaded", "0"]])
        others = self.bring(EXTRA.replace("EXTRA", "CHANGED"), APPEND, work, ("--unload",))
        self.assertEqual(self.log.lines("loaded"), [["loaded", "0"]], "no tool has ids of the text before")
        self.assertEqual({name for name in others if name not in first}, {"CHANGED"})

    def test_ids_stay_where_another_tool_comes(self):
        """One that brings nothing: the tool before may be there still."""
        work = self.work()
        first = self.bring(EXTRA, APPEND, work)
        self.leave(self.attach(work, "counters"))
        listed = self.counters()
        self.assertEqual(listed["EXTRA"][1], first["EXTRA"][0])

    def test_long_definitions_are_fetched(self):
        self.assertIn("EXTRA", self.bring(EXTRA + LONG, APPEND))

    def test_definitions_that_cannot_be_fetched_are_told(self):
        """Here limpet may not make memory of their size: the attach goes on."""
        path = self.log.path.parent / "extra.yaml"
        path.write_text(EXTRA + LONG)
        work = self.work()
        result = subprocess.run(
            ["sh", "-c", "trap '' XFSZ; ulimit -f 12000; exec \"$@\"", "sh", harness.LIMPET, "attach", str(work.pid), "--tool", tool("definitions"),
             "--env", f"SDK_LOG={self.log.path}", "--env", f"SDK_DEFINITIONS={path}", "--env", "SDK_FLAGS=2", "--duration", "1ms"],
            capture_output=True, text=True, timeout=2 * harness.PATIENCE_S)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("warning: tools find no counters of devices: memory for definitions of a tool: File too large", result.stderr)
        self.assertEqual(self.log.lines("loaded") + self.log.lines("initialized"), [["loaded", "0"], ["initialized", "39"]])
        work.ask("solo", 2)

    def test_without_limpet_nobody_reads_definitions(self):
        path = self.log.path.parent / "extra.yaml"
        path.write_text(EXTRA)
        work = Work(ROCP_TOOL_LIBRARIES=str(tool("definitions")), SDK_LOG=str(self.log.path), SDK_DEFINITIONS=str(path), SDK_FLAGS="2")
        self.addCleanup(work.close)
        work.tables()
        self.assertTrue(harness.wait_until(lambda: self.log.lines("again")), self.log.lines())
        self.assertEqual(self.log.lines("loaded") + self.log.lines("again"), [["loaded", "37"], ["again", "37"]])

    def test_definitions_that_are_none_are_told(self):
        path = self.log.path.parent / "extra.yaml"
        path.write_text("rocprofiler-sdk: [\n")
        result = harness.limpet("attach", self.work().pid, "--tool", tool("definitions"), "--env", f"SDK_LOG={self.log.path}",
                                "--env", f"SDK_DEFINITIONS={path}", "--env", "SDK_FLAGS=2", "--duration", "1ms")
        self.assertEqual(result.code, 0, result)
        self.assertIn("warning: tools find no counters of devices: read 'definitions of a tool': line 2 is not understood", result.err)
        self.assertEqual(self.log.lines("initialized"), [["initialized", "39"]])
        self.assertEqual(self.log.lines("counter"), [])


if __name__ == "__main__":
    unittest.main()
