"""
A cluster of Slurm on this machine, from Debian's packages: one munged, one slurmctld, and a slurmd for each node. Nodes
may each have namespaces of their own (mounts, names, processes, clocks since boot). All of it lies in one folder, and ends
with it, by process numbers.
"""

import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

NEEDED = ("slurmctld", "slurmd", "srun", "munged")
CONFIG = """
ClusterName=limpet
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmctldPidFile={folder}/ctld.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdSpoolDir={folder}/spool-%n
StateSaveLocation={folder}/state
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdTimeout=15
SlurmctldTimeout=15
InactiveLimit=0
KillWait=2
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
NodeName=v[1-{count}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=16 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """What is not installed here."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return [name for name in NEEDED if not shutil.which(name, path=path)]


def ports_free(count):
    """The first of so many ports in a row that nobody has."""
    for first in range(20000, 60000, count + 7):
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.create_server(("", port), reuse_port=False))
            return first
    raise OSError("no free ports")


class Cluster:
    def __init__(self, count, namespaced=False):
        self.count, self.namespaced, self.processes, self.nodes = count, namespaced, [], {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="limpet-cluster-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        for name in ("state", "munge", "shared"):
            (self.folder / name).mkdir(mode=0o755)
        (self.folder / "shared").chmod(0o1777)
        first = ports_free(count + 1)
        config = CONFIG.format(folder=self.folder, host=socket.gethostname(), port=first, count=count, first=first + 1,
                               last=first + count)
        self.config = self.folder / "slurm.conf"
        self.config.write_text(config, encoding="utf-8")
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        self.environment = {"PATH": path, "SLURM_CONF": str(self.config), "HOME": "/", "LC_ALL": "C"}

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.processes):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            if process.poll() is None:
                process.kill()
                process.wait()
        self.steps_end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def steps_end(self):
        """Daemons of steps are their own masters: those of this cluster have its folder among their variables."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"SLURM_CONF={self.config}".encode() in (entry / "environ").read_bytes().split(b"\0") \
                        and int(entry.name) != os.getpid():
                    os.kill(int(entry.name), signal.SIGKILL)

    def daemon(self, *words):
        with open(self.folder / "daemons.log", "ab") as log:
            process = subprocess.Popen([str(word) for word in words], env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        return process

    def begin(self):
        munge = self.folder / "munge"
        (munge / "key").write_bytes(secrets.token_bytes(128))
        (munge / "key").chmod(0o400)
        self.daemon("munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait(lambda: (munge / "socket").exists(), "munged")
        self.daemon("slurmctld", "-D", "-c")
        for number in range(1, self.count + 1):
            self.node_begin(f"v{number}", number)
        self.wait(self.is_up, "Slurm")

    def node_begin(self, name, number):
        before = []
        if self.namespaced:
            # Each as if it were a machine of its own, that was started at another time.
            before = ["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child", "--time", "--boottime",
                      str(1000 * number), "--", "sh", "-c", f"hostname {name}; mount -t tmpfs -o size=96m,mode=1777 tmpfs /tmp; exec \"$@\"", "node"]
        self.nodes[name] = self.daemon(*before, "slurmd", "-D", "-N", name)

    def is_up(self):
        states = self.ask("sinfo", "--noheader", "--Node", "--format=%N %T").split("\n")
        return sum(line.endswith(" idle") for line in states) == self.count

    def wait(self, condition, what, patience_s=90):
        deadline = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} does not come up: see {self.folder}")
            time.sleep(0.1)

    def ask(self, *words, user=None, check=False, **options):
        """What a command says."""
        return subprocess.run([*self.become(user), *map(str, words)], env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=check, cwd="/", **options).stdout

    @staticmethod
    def become(user):
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"] if user else []

    def start(self, *words, user=None, **options):
        process = subprocess.Popen([*self.become(user), *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL,
                                   start_new_session=True, cwd="/", **options)
        self.processes.append(process)
        return process
