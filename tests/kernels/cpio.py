"""Writes initramfs images: the "newc" cpio format, several archives one after another.

Runs on the developer's machine. Owners are always root and device nodes are plain entries, so no
right is needed to build an image.
"""

import os
import stat


class Cpio:
    """One archive being appended to an open binary file."""

    def __init__(self, out):
        self.out, self.inode = out, 0

    def entry(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        raw = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(raw), 0)
        self.out.write(b"070701" + b"".join(b"%08X" % field for field in fields) + raw)
        self.pad()
        self.out.write(data)
        self.pad()

    def pad(self):
        self.out.write(b"\0" * (-self.out.tell() % 4))

    def directory(self, name):
        self.entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o755):
        self.entry(name, stat.S_IFREG | mode, data)

    def symlink(self, name, to):
        self.entry(name, stat.S_IFLNK | 0o777, to.encode())

    def node(self, name, major, minor):
        self.entry(name, stat.S_IFCHR | 0o600, device=(major, minor))

    def tree(self, root, prefix="", skip=()):
        """Everything under root, as prefix/...; other kinds of files are left out."""
        for parent, folders, files in os.walk(root):
            base = os.path.normpath(os.path.join(prefix, os.path.relpath(parent, root)))
            folders[:] = [name for name in folders if os.path.normpath(os.path.join(base, name)) not in skip]
            for name in folders + files:
                self.add(os.path.join(parent, name), os.path.normpath(os.path.join(base, name)))

    def add(self, path, name):
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            self.symlink(name, os.readlink(path))
        elif stat.S_ISDIR(mode):
            self.entry(name, mode)
        elif stat.S_ISREG(mode):
            with open(path, "rb") as data:
                self.entry(name, mode, data.read())

    def close(self):
        self.entry("TRAILER!!!", 0)
        self.out.write(b"\0" * (-self.out.tell() % 512))
