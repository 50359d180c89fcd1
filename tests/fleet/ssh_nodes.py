"""
Nodes that are reached by ssh, on this machine: each, and home, has namespaces of its own (network, mounts, names, processes), an
sshd, and an address on one bridge. Nothing of it is seen outside; it ends with its folder, by process numbers.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

NEEDED = ("sshd", "ssh", "ssh-keygen", "ip", "unshare", "nsenter")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
SSHD = """
Port 22
HostKey {folder}/host
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
MaxStartups 100
Subsystem sftp internal-sftp
"""
SSH = """
Host *
  IdentityFile {folder}/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""
# Home's names and keys are nobody else's.
ROOM = """
set -e
hostname {name}
mount -t tmpfs -o size=64m,mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=0700 tmpfs /root
mkdir -m 700 /root/.ssh
cp {folder}/config /root/.ssh/config
mount --bind {folder}/hosts /etc/hosts
mkdir -p /run/sshd
ip link set lo up
exec "$@"
"""


def missing():
    """What is not installed here."""
    return [name for name in NEEDED if not shutil.which(name, path=PATH)]


class SshNodes:
    def __init__(self, names):
        self.names, self.rooms, self.processes = names, {}, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="limpet-ssh-", dir="/var/tmp"))
        self.environment = {"PATH": PATH, "HOME": "/root", "LC_ALL": "C"}

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words):
        subprocess.run([str(word) for word in words], env=self.environment, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)

    def begin(self):
        self.folder.chmod(0o755)
        for name in ("host", "key"):
            self.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name)
        hosts = [f"10.99.0.{number} {name}" for number, name in enumerate(["home", *self.names], 1)]
        for name, text in (("sshd_config", SSHD), ("config", SSH), ("hosts", "\n".join(["127.0.0.1 localhost", *hosts, ""])),
                           ("hosts.list", "\n".join([*self.names, ""]))):
            (self.folder / name).write_text(text.format(folder=self.folder), encoding="utf-8")
        home = self.room("home", "sleep", "1000000")
        self.run(*self.inside("home"), "ip", "link", "add", "switch", "type", "bridge")
        self.run(*self.inside("home"), "ip", "link", "set", "switch", "up")
        self.run(*self.inside("home"), "ip", "address", "add", "10.99.0.1/24", "dev", "switch")
        for number, name in enumerate(self.names, 2):
            node = self.room(name, shutil.which("sshd", path=PATH), "-D", "-e", "-f", self.folder / "sshd_config")
            self.run("ip", "link", "add", f"lp{number}", "netns", home, "type", "veth", "peer", "name", "uplink", "netns", node)
            self.run(*self.inside("home"), "ip", "link", "set", f"lp{number}", "master", "switch", "up")
            self.run(*self.inside(name), "ip", "address", "add", f"10.99.0.{number}/24", "dev", "uplink")
            self.run(*self.inside(name), "ip", "link", "set", "uplink", "up")
        for name in self.names:
            self.wait(lambda name=name: not self.ask("ssh", "-oBatchMode=yes", name, "true").returncode, f"ssh to {name}")

    def room(self, name, *words):
        """A node's first process, in namespaces of its own; its number."""
        script = ROOM.format(name=name, folder=self.folder)
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                ["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "--", "sh", "-c",
                 script, "node", *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        self.wait(lambda: children.read_text().split(), name)
        self.rooms[name] = int(children.read_text().split()[0])
        comm = pathlib.Path(f"/proc/{self.rooms[name]}/comm")
        self.wait(lambda: comm.read_text().strip() != "sh", name)
        return self.rooms[name]

    def inside(self, name):
        return ("nsenter", "--target", str(self.rooms[name]), "--mount", "--uts", "--net", "--pid", "--")

    def wait(self, condition, what, patience_s=60):
        deadline = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} does not come up")
            time.sleep(0.1)

    def ask(self, *words, name="home", **options):
        """What a command says there."""
        return subprocess.run([*self.inside(name), *map(str, words)], env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd="/", check=False, **options)

    def start(self, *words, name="home"):
        with open(self.folder / "job.log", "ab") as log:
            process = subprocess.Popen([*self.inside(name), *map(str, words)], env=self.environment, cwd="/",
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        self.processes.append(process)
        return process
