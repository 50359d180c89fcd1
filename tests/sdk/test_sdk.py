"""Tools written for AMD's SDK, in a live process and from the start: each service, by what a tool of ours saw."""

import os
import pathlib
import re
import unittest

from sdk import CASES, ToolCase, Work, did, driver, harness, tool

ROUNDS = 20
RESTARTS = 3
DEVICE = "257"  # the handle of the first one


def own_threads(pid):
    """Names of limpet's threads in a process."""
    names = [path.read_text().strip() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm")]
    return [name for name in names if name.startswith("limpet")]


class SdkTest(ToolCase):
    def work(self, **variables):
        work = Work(**variables)
        self.addCleanup(work.close)
        return work

    def assert_counts(self, done):
        """Each call once before and once after; functions that the program does not count are not compared."""
        counts = self.log.counts()
        for name, number in done.items():
            if name in counts or number and name.startswith(("hip", "__hip", "roctx")):
                self.assertEqual(counts.get(name), (number, number), name)
        self.assertIn("hipLaunchKernel", counts)
        self.assertIn("hsa_amd_memory_pool_allocate", counts)

    def test_callbacks_see_every_call_of_a_live_process(self):
        for name, case in CASES.items():
            with self.subTest(name):
                self.log.clear()
                work = self.work(**case)
                tables = work.tables()
                before = work.words(tables)
                attached = self.attach(work, "callbacks")
                done = did(work.ask("go", ROUNDS))
                self.leave(attached)
                self.assert_counts(done)
                fields = self.log.fields("detach")
                self.assertEqual({fields[key] for key in ("ids", "threads", "sizes", "data")}, {0})
                self.assertGreater(fields["nested"], 0)
                self.assertEqual(work.words(tables), before)
                self.assertGreater(len(work.ask("go", 1)), 0)

    def open_runtimes(self, work):
        """The program loads them while a tool is attached; where it is seen that calls lead to limpet, by library."""
        tables = work.tables()
        slots = {"libamdhip64": tables["hip"][0][0] + 8 + 8 * 90, "libroctx64": tables["roctx"][0][0] + 8}
        self.assertTrue(harness.wait_until(
            lambda: all(work.leads_out_of(library, slot) for library, slot in slots.items())), "calls are not seen")
        return slots

    def test_runtimes_that_come_later(self):
        for name, arguments in (("unprepared", ()), ("limpets door", ()), ("amds", ()), ("amds", ("--children",))):
            with self.subTest(name, arguments=arguments):
                self.log.clear()
                work = self.work(program="standin_late", **CASES[name])
                attached = self.attach(work, "callbacks", arguments=arguments)
                slots = self.open_runtimes(work)
                done = did(work.ask("go", ROUNDS))
                self.leave(attached)
                counts = self.log.counts()
                for function, number in done.items():
                    self.assertEqual(counts[function], (number, number))
                self.assertFalse([library for library, slot in slots.items() if work.leads_out_of(library, slot)])
                work.ask("go", 1)

    def test_runtimes_that_are_unloaded(self):
        """Nothing is written where their tables were, and what is loaded there next is not harmed."""
        for name in ("unprepared", "limpets door", "amds"):
            with self.subTest(name):
                work = self.work(program="standin_late", **CASES[name])
                work.tables()
                for _ in range(2):
                    attached = self.attach(work, "callbacks", "buffers")
                    work.ask("go", ROUNDS)
                    self.assertEqual(did(work.ask("close")), {"close": 1})
                    work.tables()
                    work.ask("go", ROUNDS)
                    work.ask("close")
                    self.leave(attached)
                    work.tables()
                    work.ask("go", 1)
                work.process.stdin.close()
                self.assertEqual(work.process.wait(harness.PATIENCE_S), 0)

    def test_pictures_of_rocdecode_and_rocjpeg(self):
        work = self.work(program="standin_video")
        attached = self.attach(work, "callbacks")
        done = did(work.ask("go", ROUNDS))
        self.leave(attached)
        self.assertEqual(self.log.counts(), {name: (number, number) for name, number in done.items()})
        fields = self.log.fields("detach")
        self.assertEqual({fields[key] for key in ("ids", "threads", "sizes", "data")}, {0})
        work.ask("go", 1)

    def test_arguments_are_told_as_text(self):
        work = self.work()
        work.tables()
        attached = self.attach(work, "callbacks")
        work.ask("go", 1)
        self.leave(attached)
        told = {(words[1], words[3]): words[4:] for words in self.log.lines("argument")}
        self.assertEqual(told["259", "sizeBytes"], ["size_t", "0", "8"])
        self.assertEqual(told["259", "kind"], ["hipMemcpyKind", "0", "1"])
        self.assertEqual(told["214", "numBlocks"], ["rocprofiler_dim3_t", "0", "{x=2,", "y=3,", "z=4}"])
        self.assertEqual(told["214", "sharedMemBytes"][-1], "77")
        self.assertEqual(told["1", "message"], ["const", "char*", "1", "round"])
        self.assertTrue(told["259", "dst"][-1].startswith("0x"))

    def test_attached_again(self):
        work = self.work()
        work.tables()
        for _ in range(3):
            attached = self.attach(work, "callbacks")
            done = did(work.ask("go", 5))
            self.leave(attached)
            self.assert_counts(done)
            work.ask("go", 1)
        self.assertEqual([words[0] for words in self.log.lines() if words[0] in ("again", "attach")],
                         ["again", "attach", "attach", "attach"])
        self.assertEqual(self.log.lines("again"), [["again", "15"]])

    def test_buffers(self):
        work = self.work()
        work.tables()
        for _ in range(2):
            attached = self.attach(work, "buffers")
            done = did(work.ask("go", ROUNDS))
            self.leave(attached)
            self.assert_counts(done)
            fields = self.log.fields("detach")
            calls = sum(before for before, _ in self.log.counts().values())
            hip = sum(number for name, number in done.items() if name.startswith("hip"))
            self.assertEqual((fields["wrong"], fields["future"]), (0, 0))
            self.assertEqual(fields["retirements"], calls)
            self.assertEqual(fields["extended"], hip)
            self.assertEqual((fields["dropped"], fields["own"]), (1, 1))
            # The control thread is gone a moment after limpet has ended.
            self.assertTrue(harness.wait_until(lambda: not own_threads(work.pid)), own_threads(work.pid))
            self.log.clear()

    def test_several_tools_at_once(self):
        work = self.work()
        work.tables()
        attached = self.attach(work, "callbacks", "buffers", "external")
        done = did(work.ask("go", ROUNDS))
        self.leave(attached)
        self.assert_counts(done)
        lines = [words for words in self.log.lines("call") if words[2] == "hipMalloc"]
        self.assertEqual([words[3:] for words in lines], [[str(done["hipMalloc"])] * 2] * 2)

    def test_external_correlation_ids(self):
        work = self.work()
        work.tables()
        attached = self.attach(work, "external")
        done = did(work.ask("go", ROUNDS))
        self.leave(attached)
        calls = sum(number for name, number in done.items() if name.startswith("hip"))
        words = self.log.lines("detach")[-1]
        self.assertEqual(words[1:], ["pushed", str(calls), "0", "asked", str(2 * calls), "0",
                                     "requests", str(calls), "records", str(calls)])

    def test_names_texts_and_what_is_not_served(self):
        work = self.work()
        work.tables()
        self.leave(self.attach(work, "names"))
        statuses = {int(words[1]): words[2:] for words in self.log.lines("status")}
        self.assertEqual(statuses[19], "ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT: Function invoked "
                                       "with one or more invalid arguments".split())
        self.assertEqual(statuses[21][0], "ROCPROFILER_STATUS_ERROR_FINALIZED:")
        self.assertEqual([statuses[-1], statuses[41]], [["-:", "-"]] * 2)
        self.assertTrue(all(statuses[i][0].startswith("ROCPROFILER_STATUS_") for i in range(41)))
        kinds = {words[2]: words for words in self.log.lines("callback")}
        self.assertEqual(kinds["HIP_RUNTIME_API"], ["callback", "5", "HIP_RUNTIME_API", "1", "477", "hipApiName"])
        self.assertEqual(len(kinds), 22)
        self.assertEqual(len(self.log.lines("buffer")), 33)
        self.assertEqual(self.log.lines("visits"), [["visits", "4"]])
        self.assertEqual(self.log.lines("table"), [["table", "HIP", "(runtime)", "4"]])
        self.assertEqual(self.log.lines("refused"), [["refused", "4", "5", "19"]])
        self.assertEqual(self.log.lines("services"), [["services", "4", "17", "3", "2"]])
        self.assertEqual(self.log.lines("unserved"), [["unserved", "37", "19", "37", "7"]])
        self.assertEqual(self.log.lines("sizes"), [["sizes", "18", "19"]])
        self.assertEqual([words[4] for words in self.log.lines("agent")], ["1", "2", "2"])

    def test_every_function_is_there_and_documented(self):
        table = (pathlib.Path(__file__).resolve().parents[2] / "docs/sdk.md").read_text().split("## Functions")[1]
        names = re.findall(r"^\| `([a-z_]+)` \|", table, re.MULTILINE)
        self.assertEqual(names, sorted(set(names)))
        self.assertEqual(len(names), 68)
        library = pathlib.Path(os.environ["SDK"]).read_bytes()
        self.assertEqual([name for name in names if f"\0rocprofiler_{name}\0".encode() not in library], [])

    def test_what_devices_do(self):
        work = self.work()
        work.tables()
        attached = self.attach(work, "work")
        done = did(work.ask("go", ROUNDS))
        self.leave(attached)
        self.assertEqual(self.log.lines("object"), [["object", "1", "memory://7100", DEVICE]])
        self.assertEqual(self.log.lines("gone"), [])
        self.assertEqual(self.log.lines("symbol")[0], ["symbol", "1", "hsa_kernel_0.kd"])
        fields = self.log.fields("detach")
        self.assertEqual(fields["wrong"], 0)
        self.assertEqual(fields["kernels"], done["kernels"])
        self.assertEqual(fields["named"], done["kernels"])
        self.assertEqual((fields["todevice"], fields["tohost"]),
                         (done["copies_to_device"], done["copies_to_host"]))
        self.assertEqual(fields["bytes"], done["bytes_to_device"] + done["bytes_to_host"])
        self.assertEqual((fields["allocated"], fields["freed"]), (done["hipMalloc"], done["hipFree"]))
        self.assertEqual(fields["memory"], done["bytes_allocated"])
        self.assertEqual(fields["scratch"], done["scratch"])

    def test_a_program_that_uses_hsa_without_hip(self):
        """Its code objects are told, those that are loaded later too; kernels and copies by packets and signals."""
        work = self.work(program="standin_hsa_work")
        work.ask("queue")
        attached = self.attach(work, "work")
        work.ask("go", 3)
        work.ask("late")
        self.leave(attached)
        self.assertEqual([words[2] for words in self.log.lines("object")], ["memory://7100", "memory://7101"])
        fields = self.log.fields("detach")
        self.assertEqual((fields["objects"], fields["symbols"], fields["wrong"]), (2, 6, 0))
        self.assertEqual((fields["kernels"], fields["named"]), (3 + 8 + 1, 3 + 8 + 1))
        self.assertEqual((fields["todevice"], fields["tohost"]), (3, 3))
        work.ask("go", 3)

    def test_unloaded_while_a_kernel_of_hsa_runs(self):
        """HSA calls a handler when the kernel ends: so the agent stays."""
        work = self.work(program="standin_hsa_work")
        attached = self.attach(work, "work", arguments=("--unload",))
        work.ask("go", 1)
        work.ask("endless")
        result = self.leave(attached)
        self.assertIn("HSA has a handler of it", " ".join(result.event("detached")["left"]), str(result))
        work.ask("release")
        work.ask("go", 1)

    def test_hsa_that_changes_between_two_visits(self):
        """Queues and signals of the first visit are gone, or new ones are in their places; agents are known again."""
        for between in ([], ["queue"], ["beside 1", "queue"], ["restart"]):
            with self.subTest(between):
                work = self.work(program="standin_hsa_work")
                for visit in range(3):
                    self.log.clear()
                    attached = self.attach(work, "work")
                    work.ask("go", 3)
                    self.leave(attached)
                    fields = self.log.fields("detach")
                    kernels = (visit + 1) * (3 + 8)
                    self.assertEqual((fields["kernels"], fields["named"], fields["wrong"]), (kernels, kernels, 0))
                    for words in between:
                        work.ask(*words.split())

    def phases(self, name):
        """Operation to its counts: without a phase, before, after."""
        return {int(words[1]): tuple(map(int, words[2:])) for words in self.log.lines(name)}

    def test_streams_ranges_and_kernels_that_are_queued(self):
        work = self.work()
        work.tables()
        attached = self.attach(work, "kinds")
        done = did(work.ask("go", ROUNDS))
        self.leave(attached)
        fields = self.log.fields("detach")
        self.assertEqual(fields["wrong"], 0)
        used = sum(done[name] for name in ("hipMemcpyAsync", "hipLaunchKernel", "hipStreamSynchronize"))
        self.assertEqual(self.phases("stream"), {0: (0, 0, 0), 1: (done["hipStreamCreate"], 0, 0),
                                                 2: (done["hipStreamDestroy"], 0, 0), 3: (0, used, used)})
        self.assertEqual(fields["streams"], done["hipStreamCreate"])
        marks, pushes, starts = done["roctxMarkA"], done["roctxRangePushA"], done["roctxRangeStartA"]
        self.assertEqual(self.phases("range"), {0: (0, marks, marks), 1: (0, pushes, pushes),
                                                2: (0, starts, starts), 3: (0, 0, 0)})
        self.assertEqual(self.log.lines("written")[0][1:], [str(marks), str(pushes), str(starts), "0"])
        kernels = self.phases("kernel")
        self.assertEqual(kernels[2], (done["kernels"], 0, 0))
        self.assertEqual(kernels[1][1], kernels[1][2])
        self.assertIn(kernels[1][1] - done["kernels"], (0, done["failed_launches"]))
        self.assertEqual((fields["named"], fields["external"]), (done["kernels"], done["kernels"]))
        # The number of a launch ends after its kernel was told, however slow either is.
        self.assertEqual(fields["early"], 0)
        self.assertGreaterEqual(fields["retired"], done["kernels"])

    def test_a_runtime_that_is_shut_down_and_starts_again(self):
        """Calls are seen as before; agents are known under new handles of HSA's; code objects go and come."""
        for name, case in CASES.items():
            with self.subTest(name):
                self.log.clear()
                work = self.work(program="standin_hsa_work", **case)
                attached = self.attach(work, "callbacks", "work")
                for _ in range(RESTARTS):
                    work.ask("go", 1)
                    work.ask("restart")
                work.ask("go", 1)
                self.leave(attached)
                counts = self.log.counts()
                self.assertEqual(counts["hsa_shut_down"], (RESTARTS, RESTARTS))
                self.assertEqual(counts["hsa_init"], (RESTARTS, RESTARTS))
                self.assertEqual(counts["hsa_queue_create"], (RESTARTS, RESTARTS))
                lives = [[str(i + 1), "memory://7100", DEVICE] for i in range(RESTARTS + 1)]
                self.assertEqual([words[1:] for words in self.log.lines("object")], lives)
                self.assertEqual([words[1:] for words in self.log.lines("gone")], lives[:-1])
                work.ask("go", 1)

    def test_a_runtime_that_several_threads_shut_down(self):
        """It is not asked for anything while one of them may be taking it down; the stand-in would end the program."""
        for name in ("unprepared", "limpets door"):
            with self.subTest(name):
                self.log.clear()
                work = self.work(program="standin_hsa_work", **CASES[name])
                attached = self.attach(work, "callbacks", "work")
                for _ in range(RESTARTS):
                    work.ask("together")
                    work.ask("go", 1)
                self.leave(attached)
                gone = [words[1] for words in self.log.lines("gone")]
                self.assertEqual(gone, [str(i + 1) for i in range(RESTARTS)])
                self.assertEqual(self.log.lines("object")[-1][1:], [str(RESTARTS + 1), "memory://7100", DEVICE])

    def test_a_runtime_that_several_threads_start_and_shut_down(self):
        for name in ("unprepared", "limpets door"):
            with self.subTest(name):
                self.log.clear()
                work = self.work(program="standin_hsa_work", **CASES[name])
                attached = self.attach(work, "callbacks", "work")
                work.ask("lives", 2)
                work.ask("go", 1)
                self.leave(attached)
                gone, come = self.log.lines("gone"), self.log.lines("object")
                self.assertEqual(len(come) - len(gone), 1, (come, gone))

    def test_tables_that_are_handed_over_again_are_no_restart(self):
        for restarts in (0, 2):
            with self.subTest(restarts=restarts):
                self.log.clear()
                work = self.work(program="standin_hsa_work", **CASES["limpets door"])
                attached = self.attach(work, "callbacks", "work")
                for _ in range(restarts):
                    work.ask("restart")
                gone = self.log.lines("gone")
                self.assertEqual(len(gone), restarts)
                for _ in range(2):
                    work.ask("replay")
                    work.ask("go", 1)
                self.leave(attached)
                self.assertEqual(self.log.lines("gone"), gone)
                self.assertEqual(len(self.log.lines("object")), restarts + 1)

    def test_bad_tools_harm_nobody(self):
        for name, hazard in (("hazards", "throw"), ("hazards", "again"), ("hazards", "lock"), ("hazards", "block"),
                             ("hazards", "destroy"), ("hazards", "request"), ("static", "throw"),
                             ("static", "request")):
            with self.subTest(hazard, tool=name):
                self.log.clear()
                work = self.work()
                work.tables()
                attached = self.attach(work, name, arguments=("--env", f"SDK_HAZARD={hazard}"))
                if hazard == "block":
                    work.tell("go", 1)
                    self.assertTrue(harness.wait_until(lambda: self.log.lines("blocked")), "no callback began")
                else:
                    work.ask("go", ROUNDS)
                self.leave(attached)
                self.assertGreater(int(self.log.lines("detach")[-1][2]), 0)
                if hazard == "block":
                    work.lines()
                work.ask("go", 2)

    def test_a_tool_that_throws_at_its_beginning_is_refused(self):
        work = self.work()
        work.tables()
        for name in ("hazards", "static"):
            result = harness.limpet("attach", work.pid, "--json", "--duration", "0", "--tool", tool(name),
                                    "--env", "SDK_HAZARD=initialize")
            self.assertNotEqual(result.code, 0)
            self.assertIn("initialize threw an exception", result.out + result.err)
            work.ask("go", 2)

    def test_tables_are_shown_and_kept(self):
        work = self.work()
        work.tables()
        attached = self.attach(work, "tables")
        done = did(work.ask("go", 5))
        result = attached.leave()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(int(words[1]) for words in self.log.lines("table")), [1, 2, 4, 8, 16, 32])
        self.assertEqual(self.log.lines("calls"), [["calls", str(done["hipMalloc"])]])
        # Its function is in a table: it must stay, and does, whoever wants it gone.
        attached = self.attach(work, "tables", arguments=("--unload",))
        attached.leave()
        work.ask("go", 2)

    def test_tables_are_shown_where_another_tool_sees_all_calls(self):
        """All that is in them leads to limpet by then."""
        work = self.work(ROCP_TOOL_LIBRARIES=str(tool("launched")), SDK_LOG=str(self.log.path))
        work.tables()
        attached = self.attach(work, "tables")
        done = did(work.ask("go", 5))
        self.leave(attached)
        self.assertEqual(sorted(int(words[1]) for words in self.log.lines("table")), [1, 2, 4, 8, 16, 32])
        self.assertEqual(self.log.lines("calls"), [["calls", str(done["hipMalloc"])]])

    def test_unloaded_when_nobody_is_inside(self):
        work = self.work()
        work.tables()
        attached = self.attach(work, "callbacks", arguments=("--unload",))
        work.ask("go", 2)
        self.leave(attached)
        self.assertEqual(len(self.log.lines("finalize")), 1)
        with open(f"/proc/{work.pid}/maps") as maps:
            self.assertNotIn("tool_callbacks", maps.read())
        work.ask("go", 2)

    def test_from_the_start_of_the_program(self):
        work = self.work(before=driver(self.log.folder.name), ROCP_TOOL_LIBRARIES=str(tool("launched")), SDK_LOG=str(self.log.path))
        work.tables()
        done = did(work.ask("go", ROUNDS))
        work.process.stdin.close()
        self.assertEqual(work.process.wait(harness.PATIENCE_S), 0)
        self.assertEqual(self.log.lines("wrong"), [])
        self.assert_counts(done)
        self.assertEqual(self.log.lines("finalize"), [["finalize", "16", "-1"]])
        self.assertEqual(self.log.lines("agents"), [["agents", "3"]])
        least, most = self.log.lines("at_once")[0][1:]
        self.assertEqual(least, most)
        self.assertNotEqual(most, "0")
        # A number without a list would be read by tools as a list: 206141652992 bytes, level 2, a link from 1 to 0. The other
        # device's driver tells numbers, and has no files.
        self.assertEqual([" ".join(words[1:]) for words in self.log.lines("parts")],
                         [f"banks 1 listed 1 {206141652992 % 2 ** 32}", "caches 2 listed 1 2", "links 1 listed 2 0",
                          "banks 0 none 0 0", "caches 0 none 0 0", "links 0 none 0 0"])


if __name__ == "__main__":
    unittest.main()
