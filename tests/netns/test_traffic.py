"""Two hosts, two daemons: ping and iperf3 over every kind and option set, and over the examples."""

import json
import os
import re
import subprocess
from dataclasses import dataclass

from lib import (ARGUMENTS, ETHTOOL_SGRO, ETHTOOL_STSO, Daemon, Namespace, Skip, engine_line,
                 expect, expect_equal, join, run_tests, wait_for)

UDP_RATE = "20M"


@dataclass
class Row:
    """A tunnel between the hosts; `back` where the far end's options differ."""
    name: str
    kind: str
    options: str = ""
    back: str = ""
    inner4: bool = True
    inner6: bool = True


ROWS = [
    Row("plain", "gre"),
    Row("key", "gre", "key: 42"),
    Row("csum", "gre", "csum: true"),
    Row("seq", "gre", "seq: true"),
    Row("all3", "gre", "key: 7, csum: true, seq: true"),
    Row("twokeys", "gre", "ikey: 10, okey: 20", "ikey: 20, okey: 10"),
    Row("four", "ipip", inner6=False),
    Row("six", "sit", inner4=False),
]

# Counters of the host that must stay still: a packet that arrives damaged shows here.
DAMAGE = ("TcpInCsumErrors", "TcpInErrs", "UdpInCsumErrors", "Udp6InCsumErrors",
          "IcmpInCsumErrors", "Icmp6InCsumErrors", "IpInHdrErrors", "IpInCsumErrors",
          "IpReasmFails", "Ip6InHdrErrors", "Ip6InTruncatedPkts", "Ip6ReasmFails")


def two_hosts():
    """Namespaces "a" and "b" with an address pair on the wire for each row."""
    hosts = Namespace("a"), Namespace("b")
    join(*hosts)
    for side, host in enumerate(hosts):
        for index in range(len(ROWS)):
            host.ip(f"address add 198.51.100.{10 + index + 100 * side}/24 dev wire")
    return hosts


def configuration(side):
    lines = ["version: 1", "tunnels:"]
    for index, row in enumerate(ROWS):
        here, there = 10 + index + 100 * side, 10 + index + 100 * (1 - side)
        options = row.back if side and row.back else row.options
        addresses = []
        if row.inner4:
            addresses.append(f"10.{index}.0.{side + 1}/30")
        if row.inner6:
            addresses.append(f'"fd00:{index}::{side + 1}/64"')
        lines.append(f"  {row.name}: {{type: {row.kind}, local: 198.51.100.{here}, "
                     f"remote: 198.51.100.{there}, addresses: [{', '.join(addresses)}]"
                     + (f", {options}" if options else "") + "}")
    return "\n".join(lines) + "\n" + engine_line()


def ping(host, target, *options, count=20):
    """Sends pings and wants every answer; returns ping's output."""
    out = host.run(["ping", "-n", "-q", "-c", str(count), "-i", "0.01", "-W", "2", *options,
                    target], check=False)[1]
    expect(re.search(rf"{count} packets transmitted, {count} received", out),
           f"ping {target} from {host.label}: not every answer came:\n{out}")
    return out


def iperf(client, server, address, *options):
    """One iperf3 run; returns its JSON as the client saw it."""
    listener = server.start(["iperf3", "-s", "-1", "--forceflush", "-B", address],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in listener.stdout:
            if "listening" in line:
                break
        out = client.run(["iperf3", "-c", address, "-J", *options], check=False)[1]
        listener.wait(10)
    finally:
        listener.kill()
        listener.communicate()
    result = json.loads(out)
    expect("error" not in result, f"iperf3 to {address}: {result.get('error')}")
    return result


def drops(daemon, ignore=()):
    return [(d.get("tunnel") or d.get("port"), d["reason"], d["count"])
            for d in daemon.json("show", "drops")["drops"]
            if d["count"] and d["reason"] not in ignore]


def damage(host, before):
    now = host.counters()
    return {name: now[name] - before.get(name, 0) for name in DAMAGE
            if now.get(name, 0) != before.get(name, 0)}


def balance(daemon):
    """Whether every packet a daemon has read was written or is counted as dropped."""
    ports = daemon.json("show", "ports")["ports"]
    read = sum(port["rx_packets"] for port in ports)
    written = sum(port["tx_packets"] for port in ports)
    dropped = sum(d["count"] for d in daemon.json("show", "drops")["drops"])
    return read == written + dropped


def test_ping_every_kind():
    a, b = two_hosts()
    with Daemon(a, configuration(0)) as first, Daemon(b, configuration(1)) as second:
        before = [host.counters() for host in (a, b)]
        for index, row in enumerate(ROWS):
            mtu = a.ip_json(f"link show {row.name}")[0]["mtu"]
            if row.inner4:
                ping(a, f"10.{index}.0.2")
                ping(b, f"10.{index}.0.1", "-s", "1", "-c", "3", count=3)
                ping(a, f"10.{index}.0.2", "-M", "do", "-s", str(mtu - 28), count=5)
                # Fragments of the inner packet, made by the host.
                ping(a, f"10.{index}.0.2", "-s", "4000", count=5)
            if row.inner6:
                ping(a, f"fd00:{index}::2")
                ping(a, f"fd00:{index}::2", "-M", "do", "-s", str(mtu - 48), count=5)
                ping(a, f"fd00:{index}::2", "-s", "4000", count=5)
            print(f"  {row.name}: all answered, mtu {mtu}")
        for host, daemon, counters in ((a, first, before[0]), (b, second, before[1])):
            expect_equal(damage(host, counters), {}, f"{host.label}: damaged packets")
            expect_equal(drops(daemon), [], f"{host.label}: drops")
            wait_for(lambda: balance(daemon),  # pylint: disable=cell-var-from-loop
                     f"{host.label}: packets in = packets out + drops")


def test_mtu_is_path_less_overhead():
    """Without `mtu` the interface gets what the wire carries, less the headers put in front."""
    a, b = two_hosts()
    wanted = {"plain": 1476, "key": 1472, "csum": 1472, "seq": 1472, "all3": 1464, "twokeys": 1472,
              "four": 1480, "six": 1480}
    with Daemon(a, configuration(0)):
        got = {row.name: a.ip_json(f"link show {row.name}")[0]["mtu"] for row in ROWS}
        expect_equal(got, wanted, "mtu of the interfaces")
    del b


def test_iperf_every_kind():
    a, b = two_hosts()
    with Daemon(a, configuration(0)) as first, Daemon(b, configuration(1)) as second:
        before = [host.counters() for host in (a, b)]
        for index, row in enumerate(ROWS):
            for family in [4] * row.inner4 + [6] * row.inner6:
                far = f"10.{index}.0.2" if family == 4 else f"fd00:{index}::2"
                tcp = iperf(a, b, far, "-n", "24M")
                # iperf3's server stops counting when the client says that it has sent all.
                arrived = tcp["end"]["sum_received"]["bytes"]
                expect(arrived > 20 << 20, f"{row.name} TCP: only {arrived} bytes of 24 MB arrived")
                back = iperf(a, b, far, "-n", "8M", "-R")
                udp = iperf(a, b, far, "-u", "-b", UDP_RATE, "-n", "2M", "-l", "1000")
                lost = udp["end"]["sum"]["lost_packets"]
                expect_equal(lost, 0, f"{row.name} UDP at {UDP_RATE}bit/s: datagrams lost")
                print(f"  {row.name} IPv{family}: TCP "
                      f"{tcp['end']['sum_received']['bits_per_second'] / 1e6:.0f} Mbit/s, back "
                      f"{back['end']['sum_received']['bits_per_second'] / 1e6:.0f} Mbit/s, UDP "
                      f"{udp['end']['sum']['packets']} datagrams, {lost} lost")
        for host, daemon, counters in ((a, first, before[0]), (b, second, before[1])):
            expect_equal(damage(host, counters), {}, f"{host.label}: damaged packets")
            # TCP finds the limit of the queues; nothing else may go wrong.
            expect_equal(drops(daemon, ignore=("queue_full",)), [], f"{host.label}: drops")
            wait_for(lambda: balance(daemon),  # pylint: disable=cell-var-from-loop
                     f"{host.label}: packets in = packets out + drops")


def test_merged_by_the_receiving_interface():
    """C13: the kernel merges trains of tunnelled TCP segments before a raw socket sees them, and
    leaves their checksum unfinished (GRO, on by default on real interfaces)."""
    a, b = two_hosts()
    for host in (a, b):
        # Without TSO a veth is like a plain interface; only then does its other end do GRO
        # (drivers/net/veth.c veth_skb_is_eligible_for_gro).
        host.set_offload("wire", ETHTOOL_STSO, False)
        host.set_offload("wire", ETHTOOL_SGRO, True)
        # A veth hands over each packet at once; this lets it wait for more, as an interrupt does.
        status, _, err = host.run(["unshare", "--mount", "sh", "-c", "mount -t sysfs none /sys && "
                                   "echo 1000000 >/sys/class/net/wire/gro_flush_timeout"],
                                  check=False)
        if status != 0:
            raise Skip(f"gro_flush_timeout cannot be set here: {err.strip()}")
    with Daemon(a, configuration(0)), Daemon(b, configuration(1)) as second:
        before = b.counters()
        for index, row in enumerate(ROWS):
            if row.name not in ("plain", "four", "six"):
                continue
            far = f"10.{index}.0.2" if row.inner4 else f"fd00:{index}::2"
            # Long enough to be merged whenever segments arrive back to back.
            result = iperf(a, b, far, "-n", "48M", "-w", "512K")
            print(f"  {row.name}: {result['end']['sum_received']['bits_per_second'] / 1e6:.0f} "
                  f"Mbit/s, {result['end']['sum_sent']['retransmits']} retransmissions")
        ports = {p["name"]: p for p in second.json("show", "ports")["ports"]}
        merged = {name: port["rx_bytes"] / port["rx_packets"] for name, port in ports.items()
                  if name.startswith("raw")}
        print("  bytes per datagram at the raw sockets: "
              + ", ".join(f"{name} {size:.0f}" for name, size in merged.items()))
        expect(any(size > 1500 for size in merged.values()),
               f"nothing was merged, so nothing was tested: {merged}")
        expect_equal(damage(b, before), {}, "b: damaged packets")
        expect_equal(drops(second, ignore=("queue_full",)), [], "b: drops")


def with_engine(path):
    with open(os.path.join(ARGUMENTS.source, "examples", path), encoding="utf-8") as file:
        return file.read() + engine_line()


def test_examples():
    """The example files do what their README says."""
    # folder, the file of each side, addresses and pings between them
    rows = [("gre-two-sites", ("paris", "berlin"), ("10.10.0.1/32", "10.20.0.1/32"),
             ["10.255.0.2", "fd00:255::2", "10.20.0.1"]),
            ("ipip-two-sites", ("paris", "berlin"), ("10.10.0.1/32", "10.20.0.1/32"),
             ["10.255.0.2", "10.20.0.1"]),
            ("sit-6in4", ("home", "broker"), ("2001:db8:471::1/128", "2001:db8:1000::1/128"),
             ["2001:db8:470::1", "2001:db8:1000::1"])]
    for folder, files, networks, targets in rows:
        a, b = Namespace(files[0]), Namespace(files[1])
        join(a, b)
        for host, address, network in ((a, "198.51.100.1", networks[0]),
                                       (b, "198.51.100.2", networks[1])):
            host.ip(f"address add {address}/24 dev wire")
            host.ip(f"address add {network} dev lo")
        with Daemon(a, with_engine(f"{folder}/{files[0]}.yaml")), \
                Daemon(b, with_engine(f"{folder}/{files[1]}.yaml")):
            for target in targets:
                ping(a, target, count=5)
            ping(a, targets[-1], "-I", networks[0].split("/")[0], count=5)
        print(f"  {folder}: {', '.join(targets)} answered")


if __name__ == "__main__":
    run_tests(globals())
