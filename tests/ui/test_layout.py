#!/usr/bin/env python3
"""
The layout of flame graphs on the page, without a browser: of random trees, by name and by weight, whole and zoomed, each
frame wider than half a pixel is painted as wide as it is, over no other, and found under the pointer.

Skipped (77) where there is no node, no esbuild, or no source of the page.  tests/ui_page/flame.mjs looks at the canvas itself.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "ui/src/panels/flame/layout.ts"


class Layout(unittest.TestCase):
    def test_frames_are_painted(self):
        with tempfile.TemporaryDirectory(prefix="limpet-layout-") as folder:
            bundle = pathlib.Path(folder) / "layout.mjs"
            subprocess.run(["esbuild", "--bundle", "--format=esm", "--log-level=warning", f"--outfile={bundle}",
                            str(HERE / "layout.mjs")], check=True, timeout=60)
            result = json.loads(subprocess.run(["node", str(bundle)], check=True, capture_output=True, timeout=60).stdout)
        self.assertEqual(result["wrong"], [])
        self.assertGreater(result["frames"], 1000)
        print(f"{result['frames']} frames of {result['trees']} trees")


if __name__ == "__main__":
    missing = [name for name in ("node", "esbuild") if not shutil.which(name)]
    if missing or not SOURCE.exists():
        print(f"skipped: there is no {' and no '.join(missing) or SOURCE}, with which the page's code is run")
        sys.exit(77)
    unittest.main()
