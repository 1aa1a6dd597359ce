"""While the daemon runs, the host never says "protocol unreachable" (ICMP 3/2) to a peer.

The kernel says so for a protocol that no raw socket wants, and also when every raw socket's buffer
is full (net/ipv4/raw.c raw_v4_input): then peers would take the tunnel down under load.
"""

import signal

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE
from scapy.packet import Raw

from lib import (ETH_P_IP, Daemon, Namespace, Tap, closing_all, engine_line, expect, expect_equal,
                 join, run_tests, wait_for)

CONFIG = """
version: 1
tunnels:
  paris: {type: gre,  local: 198.51.100.1, remote: 198.51.100.2}
  four:  {type: ipip, local: 198.51.100.1, remote: 198.51.100.2}
  six:   {type: sit,  local: 198.51.100.1, remote: 198.51.100.2}
"""
FLOOD = 20_000


def outer_packets():
    inner4 = IP(src="10.1.0.1", dst="10.99.0.1") / UDP() / Raw(b"x" * 1300)
    inner6 = IPv6(src="2001:db8::1", dst="2001:db8:99::1") / UDP() / Raw(b"x" * 1300)
    base = {"src": "198.51.100.2", "dst": "198.51.100.1"}
    return {47: bytes(IP(**base) / GRE() / inner4),
            4: bytes(IP(proto=4, **base) / inner4),
            41: bytes(IP(proto=41, **base) / inner6)}


def complaints(wire):
    """ICMP errors from the host: [(type, code, quoted protocol)]."""
    return [(p[20], p[21], p[28 + 9]) for _, p in wire.read() if p[9] == 1 and p[20] == 3]


def raw_socket_drops(host):
    """Packets that the host's raw sockets had no room for."""
    with host, open("/proc/thread-self/net/raw", encoding="ascii") as file:
        return sum(int(line.split()[-1]) for line in file.readlines()[1:])


def test_no_protocol_unreachable():
    host, peer = Namespace("host"), Namespace("peer")
    mac, peer_mac = join(host, peer)
    host.ip("address add 198.51.100.1/24 dev wire")
    host.ip(f"neighbor add 198.51.100.2 lladdr {peer_mac} dev wire")
    host.sysctl("net/ipv4/icmp_ratelimit", 0)
    frames = outer_packets()
    wire = Tap(peer, "wire", ETH_P_IP)
    with closing_all(wire):
        for protocol, frame in frames.items():
            wire.send(frame, mac)
            seen = wire.collect(lambda packets: any(p[9] == 1 for _, p in packets),
                                f"the kernel's complaint about protocol {protocol}")
            icmp = [(p[20], p[21], p[37]) for _, p in seen if p[9] == 1]
            expect_equal(icmp, [(3, 2, protocol)], "without a daemon: protocol unreachable")
        with Daemon(host, CONFIG + engine_line()) as daemon:
            for frame in frames.values():
                for _ in range(100):
                    wire.send(frame, mac)
            received = wait_for(lambda: sum(t["rx_packets"] for t in
                                            daemon.json("show", "tunnels")["tunnels"]) == 300,
                                "300 packets to be decapsulated")
            expect(received, "packets")
            expect_equal(complaints(wire), [], "ICMP errors while the daemon works")

            daemon.process.send_signal(signal.SIGSTOP)
            for _ in range(FLOOD):
                for frame in frames.values():
                    wire.send(frame, mac)
            dropped = wait_for(lambda: raw_socket_drops(host), "the raw sockets to overflow")
            found = complaints(wire)
            daemon.process.send_signal(signal.SIGCONT)
            expect_equal(found, [], "ICMP errors while the daemon stands still, buffers full")
            print(f"  {dropped} packets found full buffers, no ICMP error was sent")
            # And it goes on afterwards.
            inside = Tap(host, "paris")
            with closing_all(inside):
                last = bytes(IP(src="10.1.0.9", dst="10.99.0.1") / UDP() / Raw(b"after"))
                outer = bytes(IP(src="198.51.100.2", dst="198.51.100.1") / GRE(proto=0x0800) / last)

                def arrived():
                    wire.send(outer, mac)  # the first ones may still find the buffers full
                    return any(p == last for _, p in inside.read())
                wait_for(arrived, "a packet through the tunnel after SIGCONT")


if __name__ == "__main__":
    run_tests(globals())
