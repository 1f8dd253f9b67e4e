#!/usr/bin/env python3
"""Replays a log of VMC packets (.vmclog) over the loopback, again and again, for a look at live motion in the window.

    python3 tests/send_vmclog.py ../shared/motion/live/vmc_walk.vmclog [PORT]

The log holds records of arrival (f64 seconds), length (u32) and bytes, little-endian.
"""

import socket
import struct
import sys
import time


def records(path):
    with open(path, "rb") as log:
        while head := log.read(12):
            arrival, length = struct.unpack("<dI", head)
            yield arrival, log.read(length)


def main():
    log = list(records(sys.argv[1]))
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 39539
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        start = time.monotonic()
        for arrival, packet in log:
            due = start + arrival - log[0][0]
            time.sleep(max(0.0, due - time.monotonic()))
            sender.sendto(packet, ("127.0.0.1", port))


if __name__ == "__main__":
    main()
