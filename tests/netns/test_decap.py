"""Packets made by scapy come in from outside: what comes out inside, and which drop is counted.

The peer is no host: its end of the wire has no address, and this program writes frames there. What
comes out of a tunnel is seen on its interface. Each case is followed by a marker packet; what has
come out when the marker comes out is the case's result: no test waits for what does not come.
"""

from dataclasses import dataclass
from typing import Optional, Tuple

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import ICMPv6ND_NS, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import GRE
from scapy.packet import Raw

from lib import (Daemon, Namespace, Tap, closing_all, engine_line, expect, expect_equal, join,
                 run_tests, wait_for)

LOCAL = "198.51.100.1"
PEER = "198.51.100.2"

CONFIG = """
version: 1
tunnels:
  plain:    {type: gre,  local: 198.51.100.1, remote: 198.51.100.2}
  key0:     {type: gre,  local: 198.51.100.1, remote: 198.51.100.2, key: 0}
  key7:     {type: gre,  local: 198.51.100.1, remote: 198.51.100.2, key: 7}
  twokeys:  {type: gre,  local: 198.51.100.1, remote: 198.51.100.2, ikey: 10, okey: 20}
  icsum:    {type: gre,  local: 198.51.100.1, remote: 198.51.100.3, icsum: true}
  strict:   {type: gre,  local: 198.51.100.1, remote: 198.51.100.4, strict_csum: true}
  window:   {type: gre,  local: 198.51.100.1, remote: 198.51.100.5, iseq: true}
  wrap:     {type: gre,  local: 198.51.100.1, remote: 198.51.100.6, iseq: true}
  half:     {type: gre,  local: 198.51.100.1, remote: 198.51.100.7, iseq: true}
  floating: {type: gre,  remote: 198.51.100.8}
  all3:     {type: gre,  local: 198.51.100.1, remote: 198.51.100.10, key: 0.0.1.0, csum: true,
             seq: true}
  four:     {type: ipip, local: 198.51.100.1, remote: 198.51.100.2}
  six:      {type: sit,  local: 198.51.100.1, remote: 198.51.100.2}
"""
TUNNELS = [line.split(":")[0].strip() for line in CONFIG.splitlines() if "type:" in line]


@dataclass
class Case:
    """One packet from outside and what must become of it."""
    name: str
    outer: bytes
    comes_out: Optional[Tuple[str, bytes]] = None  # tunnel, inner packet
    drop: Optional[str] = None
    frames: Tuple[bytes, ...] = ()  # instead of `outer`: what is sent for one outer packet


def inner4(payload=b"ringway " * 4, **fields):
    fields = {"src": "10.1.0.1", "dst": "10.99.0.1", "id": 7, **fields}
    return bytes(IP(**fields) / UDP(sport=1000, dport=2000) / Raw(payload))


def inner6(payload=b"ringway " * 4, **fields):
    fields = {"src": "2001:db8:1::1", "dst": "2001:db8:99::1", **fields}
    return bytes(IPv6(**fields) / UDP(sport=1000, dport=2000) / Raw(payload))


def outer(payload, proto=47, **fields):
    fields = {"src": PEER, "dst": LOCAL, "id": 1, **fields}
    return bytes(IP(proto=proto, **fields) / Raw(payload))


def gre(inner=None, proto=0x0800, flags=0, tail=b"", **outer_fields):
    """A GRE packet with the flag word and the option bytes as they are given."""
    inner = inner4() if inner is None else inner
    return outer(flags.to_bytes(2, "big") + proto.to_bytes(2, "big") + tail + inner, **outer_fields)


def scapy_gre(inner, proto=0x0800, remote=PEER, **options):
    """A GRE packet as scapy builds it, checksum included."""
    return bytes(IP(src=remote, dst=LOCAL, id=1) / GRE(proto=proto, **options) / Raw(inner))


def sequenced(number, remote):
    return gre(flags=0x1000, tail=number.to_bytes(4, "big"), src=remote)


def flipped(packet, at):
    """The packet with one bit of its byte `at` (from the end if negative) turned over."""
    changed = bytearray(packet)
    changed[at] ^= 0x10
    return bytes(changed)


def with_bytes(packet, at, new):
    return packet[:at] + new + packet[at + len(new):]


# ------------------------------------------------------------------ the cases
def gre_header_cases():
    four, six = inner4(), inner6()
    yield Case("plain v4", gre(), ("plain", four))
    yield Case("plain v6", gre(six, 0x86DD), ("plain", six))
    yield Case("odd length", gre(inner4(b"odd")), ("plain", inner4(b"odd")))
    yield Case("key 0 is not no key", scapy_gre(four, key_present=1, key=0), ("key0", four))
    yield Case("key 7", scapy_gre(four, key_present=1, key=7), ("key7", four))
    yield Case("ikey of two", scapy_gre(four, key_present=1, key=10), ("twokeys", four))
    yield Case("okey is not ikey", scapy_gre(four, key_present=1, key=20), drop="no_tunnel")
    yield Case("wrong key", scapy_gre(four, key_present=1, key=8), drop="no_tunnel")
    yield Case("missing key", scapy_gre(four, remote="198.51.100.10"), drop="no_tunnel")
    yield Case("unexpected key", scapy_gre(four, remote="198.51.100.3", key_present=1, key=1),
               drop="no_tunnel")
    for version in range(1, 8):
        yield Case(f"version {version}", gre(flags=version), drop="bad_gre_version")
    yield Case("PPTP", gre(proto=0x880B, flags=0x3001, tail=bytes(8)), drop="bad_gre_version")
    for bit in (0x4000, 0x0800, 0x0400):
        yield Case(f"flag {bit:#06x}", gre(flags=bit, tail=bytes(4)), drop="bad_gre_flags")
    yield Case("reserved bits are ignored", gre(flags=0x0378), ("plain", four))
    for proto in (0x1234, 0x6558, 0x88BE, 0x8847, 0x0000):
        yield Case(f"protocol type {proto:#06x}", gre(proto=proto), drop="unknown_protocol")
    yield Case("WCCP without redirect header", gre(proto=0x883E), ("plain", four))
    yield Case("WCCP with redirect header", gre(proto=0x883E, tail=b"\x00\x01\x02\x03"),
               ("plain", four))
    for length in range(4):
        yield Case(f"GRE cut to {length} bytes", outer(bytes(length)), drop="truncated")
    for flags, needed in ((0x8000, 8), (0x2000, 8), (0x1000, 8), (0xA000, 12), (0xB000, 16)):
        header = flags.to_bytes(2, "big") + b"\x08\x00" + bytes(needed - 4)
        yield Case(f"options {flags:#06x} cut off", outer(header[:needed - 1]), drop="truncated")


def gre_checksum_cases():
    four = inner4()
    good = scapy_gre(four, chksum_present=1)
    yield Case("checksum not asked for is verified", good, ("plain", four))
    yield Case("checksum not asked for is wrong", flipped(good, -1), drop="bad_gre_checksum")
    yield Case("wrong in the GRE header", flipped(good, 26), drop="bad_gre_checksum")
    odd = inner4(b"odd")
    yield Case("checksum over an odd length", scapy_gre(odd, chksum_present=1), ("plain", odd))
    of_three = {"remote": "198.51.100.3"}
    yield Case("checksum wanted, there", scapy_gre(four, chksum_present=1, **of_three),
               ("icsum", four))
    yield Case("checksum wanted, missing", scapy_gre(four, **of_three),
               drop="missing_gre_checksum")
    yield Case("checksum wanted, wrong",
               flipped(scapy_gre(four, chksum_present=1, **of_three), -3), drop="bad_gre_checksum")
    yield Case("checksum refused when strict",
               scapy_gre(four, chksum_present=1, remote="198.51.100.4"),
               drop="unexpected_gre_checksum")
    yield Case("strict, no checksum", scapy_gre(four, remote="198.51.100.4"), ("strict", four))
    everything = {"chksum_present": 1, "key_present": 1, "key": 256, "seqnum_present": 1}
    yield Case("checksum, key and sequence",
               scapy_gre(four, remote="198.51.100.10", seqence_number=0, **everything),
               ("all3", four))
    yield Case("of these the sequence is old",
               scapy_gre(four, remote="198.51.100.10", seqence_number=0, **everything),
               drop="old_sequence")


def gre_sequence_cases():
    four = inner4()
    rows = [("window", "198.51.100.5",
             [(5, 1), (5, 0), (4, 0), (6, 1), (100, 1), (99, 0), (101, 1)]),
            ("wrap", "198.51.100.6", [(0xFFFFFFFE, 1), (0xFFFFFFFF, 1), (0, 1), (1, 1),
                                      (0xFFFFFFFF, 0)]),
            # Half of the numbers are behind, half ahead (RFC 1982): 0 is followed by 0x7fffffff
            # but not by 0x80000001.
            ("half", "198.51.100.7", [(0, 1), (0x80000001, 0), (0x7FFFFFFF, 1)])]
    for tunnel, remote, numbers in rows:
        for number, accepted in numbers:
            yield Case(f"{tunnel}: sequence {number:#x}", sequenced(number, remote),
                       (tunnel, four) if accepted else None, None if accepted else "old_sequence")
    yield Case("sequence wanted, missing", gre(src="198.51.100.5"), drop="missing_sequence")
    yield Case("sequence not wanted is skipped", sequenced(1, PEER), ("plain", four))
    yield Case("and not checked", sequenced(1, PEER), ("plain", four))


def endpoint_cases():
    four, six = inner4(), inner6()
    for source in ("198.51.100.77", "198.51.100.254", "203.0.113.2"):
        yield Case(f"gre from {source}", gre(src=source), drop="no_tunnel")
        yield Case(f"ipip from {source}", outer(four, 4, src=source), drop="no_tunnel")
        yield Case(f"sit from {source}", outer(six, 41, src=source), drop="no_tunnel")
    yield Case("to another address of ours", gre(dst="198.51.100.9"), drop="no_tunnel")
    yield Case("any local: one address", gre(src="198.51.100.8"), ("floating", four))
    yield Case("any local: the other", gre(src="198.51.100.8", dst="198.51.100.9"),
               ("floating", four))
    yield Case("options in the outer header", gre(options=[IPOption_NOP()] * 4), ("plain", four))


def inner_cases():
    four, six = inner4(), inner6()
    for name, tunnel, wrap in (("gre", "plain", gre), ("ipip", "four", lambda p: outer(p, 4))):
        yield Case(f"{name} v4", wrap(four), (tunnel, four))
        yield Case(f"{name} trailing padding", wrap(four + b"\xaa" * 9), (tunnel, four))
        yield Case(f"{name} inner cut", wrap(four[:-1]), drop="bad_inner_header")
        yield Case(f"{name} inner header cut", wrap(four[:19]), drop="bad_inner_header")
        yield Case(f"{name} no inner", wrap(b""), drop="bad_inner_header")
        yield Case(f"{name} inner IHL 4", wrap(with_bytes(four, 0, b"\x44")),
                   drop="bad_inner_header")
        yield Case(f"{name} inner total length 19", wrap(inner4(len=19)), drop="bad_inner_header")
        yield Case(f"{name} inner version 5", wrap(with_bytes(four, 0, b"\x55")),
                   drop="bad_inner_header")
        yield Case(f"{name} inner checksum", wrap(flipped(four, 8)), drop="bad_inner_header")
        yield Case(f"{name} inner to the encapsulator", wrap(inner4(dst=PEER)), drop="loop")
        fragment = inner4(flags="MF", frag=3)
        yield Case(f"{name} inner fragment", wrap(fragment), (tunnel, fragment))
    yield Case("gre says v4, is v6", gre(six, 0x0800), drop="bad_inner_header")
    yield Case("gre says v6, is v4", gre(four, 0x86DD), drop="bad_inner_header")
    yield Case("ipip with v6 inside", outer(six, 4), drop="bad_inner_header")
    yield Case("sit with v4 inside", outer(four, 41), drop="bad_inner_header")
    for name, tunnel, wrap in (("gre", "plain", lambda p: gre(p, 0x86DD)),
                               ("sit", "six", lambda p: outer(p, 41))):
        yield Case(f"{name} v6", wrap(six), (tunnel, six))
        yield Case(f"{name} v6 trailing padding", wrap(six + b"\xaa" * 9), (tunnel, six))
        yield Case(f"{name} v6 inner cut", wrap(six[:-1]), drop="bad_inner_header")
        yield Case(f"{name} v6 header cut", wrap(six[:39]), drop="bad_inner_header")
        empty = bytes(IPv6(src="2001:db8:1::1", dst="2001:db8:99::1", nh=59))
        yield Case(f"{name} v6 without payload", wrap(empty), (tunnel, empty))
    for source in ("ff02::1", "::1", "::ffff:1.2.3.4", "::1.2.3.4"):
        yield Case(f"sit inner source {source}", outer(inner6(src=source), 41),
                   drop="martian_source")
    solicitation = bytes(IPv6(src="::", dst="ff02::1:ff00:1", hlim=255)
                         / ICMPv6ND_NS(tgt="2001:db8:470::1"))
    yield Case("sit source :: is duplicate address detection", outer(solicitation, 41),
               ("six", solicitation))
    ping = bytes(IP(src="10.1.0.1", dst="10.99.0.1") / ICMP() / Raw(b"x" * 1448))
    yield Case("full size", gre(ping), ("plain", ping))
    ping6 = bytes(IPv6(src="2001:db8:1::1", dst="2001:db8:99::1")
                  / ICMPv6EchoRequest(data=b"y" * 1432))
    yield Case("full size v6", outer(ping6, 41), ("six", ping6))


def ecn_cases():
    # RFC 6040 section 4.2, figure 4. Rows: inner; columns: outer Not-ECT, ECT(0), ECT(1), CE.
    # The code points are Not-ECT 0, ECT(1) 1, ECT(0) 2, CE 3.
    table = {0: {0: 0, 2: 0, 1: 0, 3: "ecn_violation"},
             2: {0: 2, 2: 2, 1: 1, 3: 3},
             1: {0: 1, 2: 1, 1: 1, 3: 3},
             3: {0: 3, 2: 3, 1: 3, 3: 3}}
    kinds = [("gre v4", "plain", lambda ecn: inner4(tos=0xB8 | ecn), lambda p, e: gre(p, tos=e)),
             ("gre v6", "plain", lambda ecn: inner6(tc=0xB8 | ecn),
              lambda p, e: gre(p, 0x86DD, tos=e)),
             ("ipip", "four", lambda ecn: inner4(tos=0xB8 | ecn), lambda p, e: outer(p, 4, tos=e)),
             ("sit", "six", lambda ecn: inner6(tc=0xB8 | ecn), lambda p, e: outer(p, 41, tos=e))]
    for kind, tunnel, make, wrap in kinds:
        for inside, row in table.items():
            for outside, result in row.items():
                # The outer DSCP (0x28) must not come in.
                packet = wrap(make(inside), 0x28 | outside)
                name = f"{kind} ECN inner {inside} outer {outside}"
                if isinstance(result, str):
                    yield Case(name, packet, drop=result)
                else:
                    yield Case(name, packet, (tunnel, make(result)))


def fragment_cases():
    for name, proto, tunnel, inner, header in (
            ("gre", 47, "plain", inner4(b"f" * 1400), b"\x00\x00\x08\x00"),
            ("ipip", 4, "four", inner4(b"f" * 1400), b""),
            ("sit", 41, "six", inner6(b"f" * 1400), b"")):
        body = header + inner
        first = outer(body[:808], proto, id=77, flags="MF")
        second = outer(body[808:], proto, id=77, frag=101)
        yield Case(f"{name} outer fragments", b"", (tunnel, inner), frames=(first, second))
        # Other way round, and with another id, so that it is another packet.
        first = outer(body[:808], proto, id=78, flags="MF")
        second = outer(body[808:], proto, id=78, frag=101)
        yield Case(f"{name} outer fragments, last first", b"", (tunnel, inner),
                   frames=(second, first))


def tcp_cases():
    segment = bytes(IP(src="10.1.0.1", dst="10.99.0.1", flags="DF")
                    / TCP(sport=5000, dport=80, flags="A", seq=1, ack=1) / Raw(b"t" * 1400))
    yield Case("a TCP segment comes out untouched", gre(segment), ("plain", segment))


# ------------------------------------------------------------------ running them
class Bench:
    """The host with the daemon, and the bare end of the wire from which frames come."""

    def __init__(self):
        self.host = Namespace("host")
        self.peer = Namespace("peer")
        self.mac, _ = join(self.host, self.peer)
        for address in (LOCAL, "198.51.100.9"):
            self.host.ip(f"address add {address}/24 dev wire")
        # A way back to each source, or the host's route check would have to be told of it.
        self.host.ip("route add default dev wire")
        self.daemon = Daemon(self.host, CONFIG + engine_line())
        self.wire = Tap(self.peer, "wire")
        self.inside = Tap(self.host)
        self.markers = 0

    def close(self):
        self.wire.close()
        self.inside.close()

    def through(self, case):
        """Sends a case and a marker; returns what came out of tunnels before the marker."""
        self.markers += 1
        marker = inner4(b"marker %d" % self.markers, src="10.1.0.254")
        for frame in case.frames or (case.outer,):
            self.wire.send(frame, self.mac)
        self.wire.send(gre(marker), self.mac)
        seen = self.inside.collect(lambda packets: ("plain", marker) in packets,
                                   f"the marker after '{case.name}'")
        return [packet for packet in seen if packet[0] in TUNNELS and packet[1] != marker]

    def rx_packets(self):
        """Outer packets that the raw sockets have received."""
        return sum(port["rx_packets"] for port in self.daemon.json("show", "ports")["ports"]
                   if port["name"].startswith("raw"))

    def drops(self):
        return drops_by_reason(self.daemon)


def drops_by_reason(daemon):
    """{"no_tunnel": 3}, of all places together, without zeros."""
    total = {}
    for entry in daemon.json("show", "drops")["drops"]:
        if entry["count"]:
            total[entry["reason"]] = total.get(entry["reason"], 0) + entry["count"]
    return total


def run_cases(cases):
    cases = list(cases)
    bench = Bench()
    problems = []
    with closing_all(bench), bench.daemon:
        before = bench.drops()
        received_before = bench.rx_packets()
        delivered = 0
        for case in cases:
            came_out = bench.through(case)
            after = bench.drops()
            new_drops = {reason: after[reason] - before.get(reason, 0) for reason in after
                         if after[reason] != before.get(reason, 0)}
            before = after
            delivered += len(came_out)
            try:
                if case.comes_out:
                    expect_equal([name for name, _ in came_out], [case.comes_out[0]],
                                 f"{case.name}: tunnels it came out of (drops: {new_drops})")
                    expect_equal(came_out[0][1], case.comes_out[1], f"{case.name}: inner packet")
                else:
                    expect_equal(came_out, [], f"{case.name}: must not come out")
                expect_equal(new_drops, {case.drop: 1} if case.drop else {},
                             f"{case.name}: drops counted")
            except AssertionError as problem:
                problems.append(str(problem))
        # Balance: each outer packet either came out or is counted under one reason.
        total = len(cases) + bench.markers
        expect_equal(bench.rx_packets() - received_before, total, "outer packets received")
        expect_equal(delivered + bench.markers + sum(before.values()), total,
                     "packets that came out and drops, together")
        written = wait_for(lambda: sum(port["tx_packets"] for port in
                                       bench.daemon.json("show", "ports")["ports"]
                                       if port["name"] in TUNNELS) == delivered + bench.markers,
                           "the ports' tx counters to reach what came out")
        expect(written, "tx counters")
    expect(not problems, f"{len(problems)} of {len(cases)} cases:\n" + "\n".join(problems))
    print(f"  {len(cases)} cases")


def test_gre_headers():
    run_cases(gre_header_cases())


def test_gre_checksums():
    run_cases(gre_checksum_cases())


def test_gre_sequence_numbers():
    run_cases(gre_sequence_cases())


def test_endpoints():
    run_cases(endpoint_cases())


def test_what_is_inside():
    run_cases([*inner_cases(), *tcp_cases()])


def test_ecn_table():
    run_cases(ecn_cases())


def test_outer_fragments():
    run_cases(fragment_cases())


if __name__ == "__main__":
    run_tests(globals())
