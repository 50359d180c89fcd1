#!/usr/bin/env python3
"""Packs a file: gzip_file.py IN OUT. The same bytes give the same file, whenever and wherever it is built."""

import gzip
import pathlib
import sys


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    target.write_bytes(gzip.compress(source.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    main()
