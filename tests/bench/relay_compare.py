"""200-byte UDP frames through a GRE tunnel: Ringway on each engine against a blocking relay.

    namespace a: udp_load send -> TUN -> endpoint -> raw socket -> veth
    namespace b:                         veth -> raw socket -> endpoint -> TUN -> udp_load sink

The endpoints are, in turn, two of tests/bench/relay.cc (one blocking read and one blocking write
per packet) and two ringwayd. The turns alternate (relay, io_uring, epoll, relay, ...), so that what
else the machine does falls on all alike; the table shows medians, the last line the same as JSON.

"flat out": the sender sends all it can; packets that arrive, per second. "paced": at a rate that
all should manage; loss, and CPU time of both endpoints together for each packet that arrives.
"""

import argparse
import contextlib
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../netns"))
import lib  # pylint: disable=wrong-import-position

FRAME_BYTES = 200
PAYLOAD_BYTES = FRAME_BYTES - 14 - 20 - 8  # Ethernet, IPv4, UDP
CONTENDERS = ("relay", "io_uring", "epoll")
INNER = ("10.255.0.1", "10.255.0.2")
OUTER = ("198.51.100.1", "198.51.100.2")


class Endpoint:
    """One side's process, whichever it is."""

    def __init__(self, contender, namespace, side):
        self.daemon = None
        here, there = OUTER[side], OUTER[1 - side]
        if contender == "relay":
            self.process = namespace.start([lib.ARGUMENTS.relay, "tunnel", here, there],
                                           stderr=subprocess.PIPE, text=True)
            line = self.process.stderr.readline()
            lib.expect(line == "relay: ready\n", f"the relay did not start: {line}")
            namespace.ip("link set tunnel mtu 1476 up")
            namespace.ip(f"address add {INNER[side]}/30 dev tunnel")
        else:
            self.daemon = lib.Daemon(
                namespace, f"version: 1\ndaemon: {{engine: {contender}}}\ntunnels:\n"
                f"  tunnel: {{type: gre, local: {here}, remote: {there}, "
                f"addresses: [{INNER[side]}/30]}}\n")
            self.process = self.daemon.process

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime, stime

    def close(self):
        if self.daemon:
            self.daemon.close()
            return
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def measure(a, b, endpoints, seconds, rate):
    """One run of the load; returns packets per second, loss and CPU microseconds per packet."""
    load = lib.ARGUMENTS.load
    sink = b.start([load, "sink", "9000", str(seconds + 0.5)], stdout=subprocess.PIPE, text=True)
    try:
        lib.expect("ready" in sink.stdout.readline(), "the sink did not start")
        before = sum(endpoint.cpu_seconds() for endpoint in endpoints)
        sent = json.loads(a.run([load, "send", INNER[1], "9000", str(PAYLOAD_BYTES), str(seconds),
                                 str(rate)])[1])
        received = json.loads(sink.communicate(timeout=seconds + 10)[0])
    finally:
        sink.kill()
        sink.wait()
    cpu = sum(endpoint.cpu_seconds() for endpoint in endpoints) - before
    lib.expect(received["received"] > 0, "nothing arrived")
    return {"pps": received["received"] / received["seconds"] if received["seconds"] else 0.0,
            "loss_percent": 100 * (1 - received["received"] / sent["sent"]),
            "cpu_us": 1e6 * cpu / received["received"]}


def turn(contender, seconds, rate):
    """Both measurements with one contender, in fresh namespaces."""
    a, b = lib.Namespace("a"), lib.Namespace("b")
    lib.join(a, b)
    for side, namespace in enumerate((a, b)):
        namespace.ip(f"address add {OUTER[side]}/24 dev wire")
    endpoints = []
    try:
        for side, namespace in enumerate((a, b)):
            endpoints.append(Endpoint(contender, namespace, side))
        # Afterwards ARP is done, and every page has been touched.
        a.run(["ping", "-q", "-c", "3", "-i", "0.01", "-W", "2", INNER[1]])
        return {"flat": measure(a, b, endpoints, seconds, 0),
                "paced": measure(a, b, endpoints, seconds, rate)}
    finally:
        for endpoint in endpoints:
            endpoint.close()


def put_first():
    """Puts this run, and all that it starts, before whatever else the machine is doing."""
    with contextlib.suppress(OSError):
        os.setsid()  # a scheduler group of its own, where those exist; fails if there is one
    with contextlib.suppress(OSError):
        os.nice(-15)


def machine():
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} CPUs, Linux {platform.release()}"


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True,
                          text=True, cwd=os.path.dirname(os.path.abspath(__file__)), check=False)
    return done.stdout.strip() or "unknown"


def summary(turns):
    """Median, least and most of each figure."""
    out = {}
    for kind in ("flat", "paced"):
        for figure in ("pps", "loss_percent", "cpu_us"):
            values = [t[kind][figure] for t in turns]
            out[f"{kind}_{figure}"] = {"median": round(statistics.median(values), 3),
                                       "min": round(min(values), 3), "max": round(max(values), 3)}
    return out


def print_table(results):
    base = results["relay"]["flat_pps"]["median"]
    print(f"{'endpoint':<18} {'flat out':>12} {'':>9} {'CPU/packet':>11}   {'paced: loss':>11} "
          f"{'CPU/packet':>11}")
    for contender in CONTENDERS:
        r = results[contender]
        name = "blocking relay" if contender == "relay" else f"ringway {contender}"
        flat, flat_cpu, loss, paced_cpu = (
            r[figure]["median"]
            for figure in ("flat_pps", "flat_cpu_us", "paced_loss_percent", "paced_cpu_us"))
        print(f"{name:<18} {flat:>8.0f} pps {flat / base:>8.2f}x {flat_cpu:>8.2f} us"
              f"   {loss:>9.2f} % {paced_cpu:>8.2f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ringwayd", "ringway", "relay", "load"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each run (default: 3)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default: 5)")
    parser.add_argument("--rate", type=int, default=40_000, help="paced: datagrams a second")
    parser.add_argument("--smoke", action="store_true", help="short, once: does it run at all?")
    parser.add_argument("--strict", action="store_true",
                        help="exit status 1 if ringway is slower than the relay")
    parser.parse_args(namespace=lib.ARGUMENTS)
    arguments = lib.ARGUMENTS
    lib.need_root_and_tun()
    if arguments.smoke:
        arguments.seconds, arguments.rounds, arguments.rate = 0.3, 1, 5_000
    else:
        put_first()

    turns = {contender: [] for contender in CONTENDERS}
    for number in range(arguments.rounds):
        for contender in CONTENDERS:
            done = turn(contender, arguments.seconds, arguments.rate)
            turns[contender].append(done)
            print(f"round {number + 1} of {arguments.rounds}, {contender}: "
                  f"{done['flat']['pps']:.0f} pps", file=sys.stderr, flush=True)
    results = {contender: summary(turns[contender]) for contender in CONTENDERS}
    print(f"{FRAME_BYTES}-byte UDP frames, one sender; medians of {arguments.rounds}; paced at "
          f"{arguments.rate} a second")
    print_table(results)
    print(json.dumps({"bench": "relay_compare", "command": shlex.join(sys.argv), "commit": commit(),
                      "machine": machine(), "frame_bytes": FRAME_BYTES,
                      "seconds": arguments.seconds, "rounds": arguments.rounds,
                      "rate": arguments.rate, "results": results}))
    slower = [c for c in CONTENDERS[1:] if results[c]["flat_pps"]["median"]
              < results["relay"]["flat_pps"]["median"]]
    if arguments.strict and slower:
        print(f"slower than the blocking relay: {', '.join(slower)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
