"""
A rank of Open MPI without a compiler of MPI: all but ODD wait for each other in MPI_Barrier, where it never comes.

    mpi_rank.py ODD FOLDER      each that has begun says so there
"""

import ctypes
import os
import sys
import time

mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)


def stuck_on_lock():
    while True:
        time.sleep(1000)


def reduce_all():
    world = ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")
    mpi.MPI_Barrier(ctypes.byref(world))


mpi.MPI_Init(None, None)
with open(f"{sys.argv[2]}/began-{os.environ['OMPI_COMM_WORLD_RANK']}", "w", encoding="utf-8"):
    pass
if os.environ["OMPI_COMM_WORLD_RANK"] == sys.argv[1]:
    stuck_on_lock()
reduce_all()
