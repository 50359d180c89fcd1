#!/usr/bin/env python3
"""
What rocprofv3 can be told: every option of AMD's is served or refused by its name; input files; the help.
"""

import os
import shutil
import unittest

from profiled import Profiled, files

# AMD's, with what stands behind them.
REFUSED = """--pmc-groups x|--replay-mode kernel|--kernel-replay-beta-enabled|
--spm A|--spm-beta-enabled|--pc-sampling-beta-enabled|--pc-sampling-unit time|--pc-sampling-method host_trap|
--pc-sampling-interval 1|--att|--advanced-thread-trace|--att-target-cu 1|--att-library-path x|--kfd-trace|--ompt-trace|--ompt-trace a b|
--kokkos-trace|--rocshmem-trace|--hipfile-trace|--hip-graph-trace|--hip-event-trace|
--output-config|--minimum-output-data 4|--perfetto-backend system|
--perfetto-buffer-size 1|--perfetto-buffer-fill-policy ring|--perfetto-shmem-size-hint 1|--profile-mpi-ranks 0|
--mpi-world-rank-variable X|--mpi-world-size-variable X|--preload x.so|--rocm-root /opt|--sdk-soversion 1|
--sdk-version 1|--benchmark-mode x|--echo|-f otf2""".replace("\n", "").split("|")
WRONG = {
    "unknown option --hip-trase": ["--hip-trase"],
    "unknown option -x": ["-x"],
    "unexpected argument '17'": ["--hip-trace", "17"],
    "both a process and a program": ["--hip-trace", "--", "ls", "-l"],
    "no trace was requested": [],
    "is not a process ID": ["--hip-trace", "-p", "x"],
    "not a number of milliseconds": ["--hip-trace", "--attach-duration-msec", "soon"],
    "is not a collection period": ["--hip-trace", "-P", "1:2"],
    "exclude each other": ["--hip-trace", "-P", "1:2:1", "--selected-regions"],
    "invalid value 'xml' for --output-format": ["--hip-trace", "-f", "csv", "xml"],
    "invalid value 'x' for --agent-index": ["--hip-trace", "-A", "x"],
    "invalid value 'years' for --summary-units": ["--hip-trace", "-u", "years"],
    "invalid value 'loud' for --log-level": ["--hip-trace", "--log-level", "loud"],
    "invalid value 'maybe' for --hip-trace": ["--hip-trace=maybe"],
    "--output-file needs NAME": ["--hip-trace", "-o"],
    "has several jobs": ["-i", "two.json"],
    "'one.json' and the command line do not agree on output_file": ["-i", "one.json", "-o", "other"],
    "no AMD device": ["-i", "counters.txt"],
    "Multi-pass counter collection": ["--pmc", "A", "--pmc", "B"],
    "is not compatible with attach mode": ["-i", "passes.txt"],
    "--pmc combined with input-file pmc) is not": ["-i", "counters.txt", "--pmc", "GRBM_COUNT"],
    "invalid regular expression '('": ["--kernel-trace", "--kernel-include-regex", "("],
    "invalid regular expression '[' for a summary": ["--kernel-trace", "--summary-groups", "["],
    "'0' is not a range of iterations": ["--kernel-trace", "--kernel-iteration-range", "0"],
    "unknown setting 'hip_trase'": ["-i", "typo.yaml"],
    "read 'nowhere.json'": ["-i", "nowhere.json"],
    "its name must end in": ["-i", "/dev/null"],
    "it is not JSON": ["-i", "broken.json"],
    "does not understand line 2 of its YAML": ["-i", "broken.yaml"],
    "there is no job in it": ["-i", "empty.yaml"],
}
FILES = {
    "one.json": '{"jobs": [{"hip_trace": true, "output_file": "a\\u0062c", "output_format": ["csv", "json"],'
                ' "kernel_include_regex": null, "att": false, "sys_trace": false, "summary_groups": []}]}',
    "two.json": '{"jobs": [{"hip_trace": true}, {"kernel_trace": true}]}',
    "broken.json": '{"jobs": [{"hip_trace": true}',
    "one.yaml": "# a job\njobs:\n  - hip_trace: true\n    output_file: 'abc'   # its name\n"
                "    output_format:\n      - csv\n      - \"json\"\n    pc_sampling_interval: 0\n",
    "inline.yml": "---\njobs:\n- kernel_trace: false\n  hip_trace: True\n  output_format: [ csv, 'json' ]\n"
                  "  output_file: abc\n",
    "typo.yaml": "jobs:\n  - hip_trase: true\n",
    "broken.yaml": "jobs:\n  - &a hip_trace: true\n",
    "empty.yaml": "jobs:\n",
    "counters.txt": "# counters\npmc: SQ_WAVES GRBM_COUNT\n",
    "passes.txt": "pmc: SQ_WAVES\npmc: GRBM_COUNT\n",
}


class Settings(Profiled):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)

    def refuse(self, *arguments):
        """Nothing is touched: the number is that of no process."""
        running = self.start("-p", 4194303, *arguments, wait=False).finish(code=1)
        self.assertTrue(running.err.startswith("rocprofv3: error: "), running.err)
        return running.err

    def test_refused_by_name(self):
        for words in REFUSED:
            with self.subTest(words):
                err = self.refuse("--hip-trace", *words.split())
                option = "--extra-counters" if words.startswith("-E") else words.split()[0]
                self.assertIn("is not supported", err)
                self.assertIn("--output-format otf2" if words == "-f otf2" else option + " ", err)
                self.assertIn("why: ", err)

    def test_asked_for_nothing(self):
        for words in ("--kfd-trace false", "--att 0", "--pmc-groups=off", "--spm no"):
            with self.subTest(words):
                self.assertIn("there is no process", self.refuse("--hip-trace", *words.split()))

    def test_always_so(self):
        err = self.refuse("--hip-trace", "--attach-sync-output", "--disable-signal-handlers", "true", "--process-sync",
                          "--suppress-marker-preload", "--readlink", "--realpath", "false", "--group-by-queue", "-A", "type-relative", "-MT",
                          "--kernel-rename", "-Sunsec")
        self.assertIn("there is no process", err)

    def test_wrong(self):
        for words, arguments in WRONG.items():
            with self.subTest(words):
                self.assertIn(words, self.refuse(*arguments))

    def test_no_process_named(self):
        self.assertIn("no process given", self.start("--hip-trace", wait=False).finish(code=1).err)

    def test_the_width_of_sets_is_said(self):
        self.assertIn("without KFD", self.start("-p", 4194303, "-r", wait=False).finish(code=1).err)

    def test_levels(self):
        for arguments, says in ((("--log-level", "fatal"), False), (("--log-level", "error"), True)):
            running = self.start("-p", 4194303, "--hip-trace", *arguments, wait=False).finish(code=1)
            self.assertEqual(bool(running.err), says)

    def test_help(self):
        for arguments, text in ((["--help"], "--memory-copy-trace"), (["-h"], "usage: rocprofv3"),
                                (["-L"], "PC sampling, thread trace: none"), (["-v"], "of limpet")):
            running = self.start(*arguments, wait=False).finish()
            self.assertIn(text, running.out)
            self.assertEqual(running.err, "")

    def test_input_files(self):
        work = self.work()
        for name in ("one.json", "one.yaml", "inline.yml"):
            with self.subTest(name):
                did, _ = self.trace(work, "-i", name, "-d", "out", rounds=1)
                prefix = os.path.join(self.folder, "out", "abc")
                sums = files.sums_of_csv(prefix)
                self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipMalloc"][0], did["hipMalloc"])
                self.assertEqual({kind for kind, _ in sums}, {"HIP_RUNTIME_API_EXT", "HIP_COMPILER_API_EXT"})
                self.assertEqual(files.sums_of_json(prefix + "_results.json"), sums)
                self.assertNotIn("out/abc_results.db", self.made())
                shutil.rmtree(f"{self.folder}/out")

    def test_every_byte_of_a_file_may_be_wrong(self):
        """Cut and changed files are refused or used, never a crash."""
        for name in ("one.json", "one.yaml", "counters.txt"):
            text = FILES[name]
            ending = name[name.index("."):]
            for at in range(0, len(text), 7):
                for wrong in (text[:at], text[:at] + "\\" + text[at + 1:], text[:at] + "[" + text[at:]):
                    with open(os.path.join(self.folder, "x" + ending), "w") as file:
                        file.write(wrong)
                    self.refuse("-i", "x" + ending)


if __name__ == "__main__":
    unittest.main(verbosity=2)
