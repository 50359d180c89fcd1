"""Prerequisites of tests: a test whose programs are missing is skipped, and says which."""

import shutil
import unittest


def missing(*programs):
    return [program for program in programs if not shutil.which(program)]


def needs(*programs):
    """Decorates a test or a class of tests that runs these programs."""
    return unittest.skipIf(missing(*programs), f"needs {', '.join(missing(*programs))}")
