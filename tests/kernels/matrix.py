"""The matrix of kernels and architectures (filled in with the attach engine)."""

import archive


def run(arches, versions, options):
    raise archive.Unavailable("the attach engine is not built yet")
