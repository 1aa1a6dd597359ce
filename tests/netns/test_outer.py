"""What leaves: outer packets of every kind and option set, judged by scapy, tshark and the RFCs.

Inner packets are written to the tunnel's interface through a packet socket, so that every bit of
them is ours; outer packets are caught at the other end of the wire, which is no host.
"""

import os
import struct
import tempfile
from dataclasses import dataclass, field

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE
from scapy.packet import Raw
from scapy.utils import PcapWriter

from lib import (ETH_P_IP, Daemon, Namespace, Tap, closing_all, engine_line, expect, expect_equal,
                 join, run_tests, wait_for)

LOCAL = "198.51.100.1"
NOT_ECT, ECT1, ECT0, CE = range(4)


@dataclass
class Tunnel:
    """The options of one tunnel as YAML, and again as what must be seen outside."""
    name: str
    kind: str
    yaml: str = ""
    key: int = -1  # -1: none
    csum: bool = False
    seq: bool = False
    ttl: int = 64  # 0: inherit
    tos: int = -1  # -1: inherit
    pmtudisc: bool = True
    ignore_df: bool = False
    ecn: str = "rfc6040"
    remote: str = ""
    sent: list = field(default_factory=list)

    def families(self):
        return {"gre": (4, 6), "ipip": (4,), "sit": (6,)}[self.kind]


TUNNELS = [
    Tunnel("plain", "gre"),
    Tunnel("key", "gre", "key: 1.2.3.4", key=0x01020304),
    Tunnel("keyzero", "gre", "key: 0", key=0),
    Tunnel("keymax", "gre", "key: 4294967295", key=0xFFFFFFFF),
    Tunnel("csum", "gre", "csum: true", csum=True),
    Tunnel("seq", "gre", "seq: true", seq=True),
    Tunnel("all3", "gre", "key: 33490175, csum: true, seq: true", key=33490175, csum=True,
           seq=True),
    Tunnel("csumkey", "gre", "ocsum: true, okey: 5", key=5, csum=True),
    Tunnel("keyseq", "gre", "oseq: true, key: 5", key=5, seq=True),
    Tunnel("twokeys", "gre", "ikey: 10, okey: 20", key=20),
    Tunnel("ikeyonly", "gre", "ikey: 10, icsum: true, iseq: true"),
    Tunnel("ttlten", "gre", "ttl: 10", ttl=10),
    Tunnel("ttlinherit", "gre", "ttl: inherit", ttl=0),
    Tunnel("tosfixed", "gre", "tos: 16", tos=0x10),
    Tunnel("nopmtudisc", "gre", "pmtudisc: false", pmtudisc=False),
    Tunnel("ignoredf", "gre", "pmtudisc: false, ignore_df: true", pmtudisc=False, ignore_df=True),
    Tunnel("ecnlinux", "gre", "ecn: linux", ecn="linux"),
    Tunnel("ecnoff", "gre", "ecn: off", ecn="off"),
    Tunnel("four", "ipip"),
    Tunnel("fourttl", "ipip", "ttl: inherit, tos: 184", ttl=0, tos=0xB8),
    Tunnel("fournopm", "ipip", "pmtudisc: false, ecn: linux", pmtudisc=False, ecn="linux"),
    Tunnel("six", "sit"),
    Tunnel("sixttl", "sit", "ttl: inherit, tos: 40", ttl=0, tos=0x28),
    Tunnel("sixnopm", "sit", "pmtudisc: false, ecn: off", pmtudisc=False, ecn="off"),
]
for number, tunnel in enumerate(TUNNELS):
    tunnel.remote = f"198.51.100.{number + 10}"


def configuration():
    lines = ["version: 1", "tunnels:"]
    for tunnel in TUNNELS:
        options = f", {tunnel.yaml}" if tunnel.yaml else ""
        lines.append(f"  {tunnel.name}: {{type: {tunnel.kind}, local: {LOCAL}, "
                     f"remote: {tunnel.remote}{options}}}")
    return "\n".join(lines) + "\n" + engine_line()


def inner_packets(family):
    """Every ECN code point, two DSCPs, DF set and clear, odd and even lengths, TCP, UDP, ICMP."""
    number = 0
    for ecn in (NOT_ECT, ECT1, ECT0, CE):
        for dscp in (0, 0xB8):
            for dont_fragment in (True, False):
                number += 1
                payload = Raw(bytes(range(1, 40 + number)))
                upper = [UDP(sport=1000, dport=2000) / payload,
                         TCP(sport=1000, dport=2000, flags="PA", seq=number) / payload,
                         UDP(sport=1000, dport=2001) / Raw(b"z" * 1000)][number % 3]
                if family == 4:
                    yield bytes(IP(src="10.1.0.1", dst="10.99.0.1", tos=dscp | ecn, ttl=33,
                                   id=number, flags="DF" if dont_fragment else 0) / upper)
                else:
                    yield bytes(IPv6(src="2001:db8:1::1", dst="2001:db8:99::1", tc=dscp | ecn,
                                     hlim=33) / upper)
    if family == 4:
        yield bytes(IP(src="10.1.0.1", dst="10.99.0.1", ttl=1) / ICMP() / Raw(b"last hop"))


def sum16(data):
    """RFC 1071: the ones' complement sum; 0xffff if a checksum within verifies."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def wanted_outer(tunnel, inner, index):
    """The fields of the outer header by semantics of RFC 2003, 2784, 2890 and 6040."""
    if inner[0] >> 4 == 4:
        tos, ttl, inner_df = inner[1], inner[8], bool(inner[6] & 0x40)
    else:
        tos, ttl, inner_df = (inner[0] << 4 | inner[1] >> 4) & 0xFF, inner[7], False
    ecn = tos & 3
    if tunnel.ecn == "off":
        ecn = NOT_ECT
    elif tunnel.ecn == "linux" and ecn == CE:
        ecn = ECT0
    dscp = (tos if tunnel.tos < 0 else tunnel.tos) & 0xFC
    wanted = {
        "version and IHL": 0x45,
        "tos": dscp | ecn,
        "protocol": {"gre": 47, "ipip": 4, "sit": 41}[tunnel.kind],
        "ttl": tunnel.ttl or ttl,
        "DF": tunnel.pmtudisc or (inner_df and not tunnel.ignore_df),
        "other flags and offset": 0,
        "header sum": 0xFFFF,
        "source": LOCAL,
        "destination": tunnel.remote,
        "inner": inner,
    }
    overhead = 20
    if tunnel.kind == "gre":
        flags = 0x8000 * tunnel.csum | 0x2000 * (tunnel.key >= 0) | 0x1000 * tunnel.seq
        overhead += 4 + 4 * (tunnel.csum + (tunnel.key >= 0) + tunnel.seq)
        wanted.update({"gre flags": flags,
                       "gre type": 0x0800 if inner[0] >> 4 == 4 else 0x86DD})
        if tunnel.csum:
            wanted.update({"gre sum": 0xFFFF, "gre reserved1": 0})
        if tunnel.key >= 0:
            wanted["gre key"] = tunnel.key
        if tunnel.seq:
            wanted["gre sequence"] = index
    wanted["total length"] = wanted["length"] = overhead + len(inner)
    return wanted


def seen_outer(packet):
    """The same fields, read from the bytes where RFC 791 and 2784 put them."""
    seen = {
        "version and IHL": packet[0],
        "tos": packet[1],
        "total length": int.from_bytes(packet[2:4], "big"),
        "length": len(packet),
        "DF": bool(packet[6] & 0x40),
        "other flags and offset": int.from_bytes(packet[6:8], "big") & 0xBFFF,
        "ttl": packet[8],
        "protocol": packet[9],
        "header sum": sum16(packet[:20]),
        "source": ".".join(map(str, packet[12:16])),
        "destination": ".".join(map(str, packet[16:20])),
    }
    at = 20
    if packet[9] == 47:
        flags = int.from_bytes(packet[20:22], "big")
        seen.update({"gre flags": flags, "gre type": int.from_bytes(packet[22:24], "big")})
        at = 24
        if flags & 0x8000:
            seen["gre sum"] = sum16(packet[20:])
            seen["gre reserved1"] = int.from_bytes(packet[at + 2:at + 4], "big")
            at += 4
        for bit, name in ((0x2000, "gre key"), (0x1000, "gre sequence")):
            if flags & bit:
                seen[name] = int.from_bytes(packet[at:at + 4], "big")
                at += 4
    seen["inner"] = packet[at:]
    return seen


def judge_by_scapy(packet, what):
    """scapy finds the layers; built anew with scapy's own sums, the packet is the same."""
    parsed = IP(packet)
    if parsed.proto == 47:
        layer = parsed[GRE]
        expect(isinstance(layer.payload, (IP, IPv6)), f"{what}: scapy sees no IP in the GRE")
        if layer.chksum_present:
            layer.chksum = None
    else:
        expect(isinstance(parsed.payload, (IP, IPv6)), f"{what}: scapy sees no IP in the IP")
    parsed.chksum = None
    parsed.len = None
    expect_equal(bytes(parsed), packet, f"{what}: scapy would have built it otherwise")


def judge_by_tshark(namespace, packets):
    """No packet draws a warning, all checksums are good, and the keys and numbers are read back."""
    fields = ["frame.protocols", "_ws.expert.message", "_ws.expert.severity",
              "ip.checksum.status", "gre.checksum.status", "gre.key", "gre.sequence_number"]
    handle, path = tempfile.mkstemp(suffix=".pcap", prefix="ringway-test-")
    os.close(handle)
    try:
        with PcapWriter(path, linktype=101) as file:  # LINKTYPE_RAW
            for packet, _ in packets:
                file.write(packet)
        command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=|",
                   "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
                   "-o", "tcp.check_checksum:TRUE", "-o", "tcp.analyze_sequence_numbers:FALSE"]
        for name in fields:
            command += ["-e", name]
        lines = namespace.run(command)[1].splitlines()
    finally:
        os.unlink(path)
    expect_equal(len(lines), len(packets), "packets that tshark read")
    for line, (_, what) in zip(lines, packets):
        protocols, message, severity, ip_sums, gre_sum, key, sequence = line.split("|")
        severities = [int(value) for value in severity.split(",") if value]
        expect(all(value < 0x600000 for value in severities), f"{what}: tshark says: {message}")
        expect(set(ip_sums.split(",")) <= {"1"}, f"{what}: tshark: IP checksum status {ip_sums}")
        stack = protocols.split(":")
        tunnel = next(t for t in TUNNELS if t.name == what.split()[0])
        expect(stack[:2] == ["raw", "ip"] and ("gre" in stack) == (tunnel.kind == "gre"),
               f"{what}: tshark sees {protocols}")
        if tunnel.csum:
            expect_equal(gre_sum, "1", f"{what}: tshark: GRE checksum status")
        expect_equal(int(key, 16) if key else -1, tunnel.key, f"{what}: tshark: key")
        expect_equal(sequence != "", tunnel.seq, f"{what}: tshark: has a sequence number")


def send_and_catch(host, wire, tunnel):
    """Writes all inner packets to the tunnel's interface; returns the outer packets in order."""
    tap = Tap(host, tunnel.name)
    with closing_all(tap):
        for family in tunnel.families():
            for inner in inner_packets(family):
                tap.send(inner)
                tunnel.sent.append(inner)
    caught = wire.collect(lambda seen: len(seen) >= len(tunnel.sent),
                          f"{len(tunnel.sent)} outer packets of '{tunnel.name}'")
    return [packet for _, packet in caught]


def test_outer_packets():
    host, peer = Namespace("host"), Namespace("peer")
    _, peer_mac = join(host, peer)
    host.ip(f"address add {LOCAL}/24 dev wire")
    for tunnel in TUNNELS:
        host.ip(f"neighbor add {tunnel.remote} lladdr {peer_mac} dev wire")
    wire = Tap(peer, "wire", ETH_P_IP)
    everything = []
    with closing_all(wire), Daemon(host, configuration()) as daemon:
        for tunnel in TUNNELS:
            packets = send_and_catch(host, wire, tunnel)
            ids = [int.from_bytes(packet[4:6], "big") for packet in packets]
            expect_equal(ids, [(ids[0] + i) & 0xFFFF for i in range(len(ids))],
                         f"{tunnel.name}: outer identifications count up by one")
            for index, (inner, packet) in enumerate(zip(tunnel.sent, packets)):
                what = f"{tunnel.name} packet {index}"
                expect_equal(seen_outer(packet), wanted_outer(tunnel, inner, index), what)
                judge_by_scapy(packet, what)
                everything.append((packet, what))
            counted = next(t for t in daemon.json("show", "tunnels")["tunnels"]
                           if t["name"] == tunnel.name)
            expect_equal((counted["tx_packets"], counted["tx_bytes"]),
                         (len(tunnel.sent), sum(map(len, tunnel.sent))),
                         f"{tunnel.name}: packets and inner bytes counted")
        expect_equal([d for d in daemon.json("show", "drops")["drops"] if d["count"]], [],
                     "drops counted")
    judge_by_tshark(host, everything)
    print(f"  {len(everything)} packets of {len(TUNNELS)} tunnels")


def test_wrong_family():
    """IPv6 does not fit into ipip, nor IPv4 into sit: counted, and nothing leaves."""
    host, peer = Namespace("host"), Namespace("peer")
    _, peer_mac = join(host, peer)
    host.ip(f"address add {LOCAL}/24 dev wire")
    host.ip(f"neighbor add 198.51.100.2 lladdr {peer_mac} dev wire")
    config = (f"version: 1\ntunnels:\n"
              f"  four: {{type: ipip, local: {LOCAL}, remote: 198.51.100.2}}\n"
              f"  six: {{type: sit, local: {LOCAL}, remote: 198.51.100.2}}\n" + engine_line())
    four, six = next(inner_packets(4)), next(inner_packets(6))
    wire = Tap(peer, "wire", ETH_P_IP)
    with closing_all(wire), Daemon(host, config) as daemon:
        for name, refused, accepted in (("four", six, four), ("six", four, six)):
            tap = Tap(host, name)
            with closing_all(tap):
                tap.send(refused)
                tap.send(accepted)
            caught = wire.collect(lambda seen: seen, f"the packet that '{name}' may carry")
            expect_equal([packet[20:] for _, packet in caught], [accepted], f"{name}: what leaves")
            entries = [d for d in daemon.json("show", "drops")["drops"]
                       if d["count"] and d.get("tunnel") == name]
            expect_equal([(d["reason"], d["count"]) for d in entries], [("wrong_family", 1)],
                         f"{name}: drops counted")


def test_no_route_to_the_remote():
    """G42: counted while there is no route; flows as soon as there is one."""
    host, peer = Namespace("host"), Namespace("peer")
    _, peer_mac = join(host, peer)
    host.ip(f"address add {LOCAL}/32 dev wire")
    config = (f"version: 1\ntunnels:\n"
              f"  away: {{type: gre, local: {LOCAL}, remote: 203.0.113.9, mtu: 1476}}\n"
              + engine_line())
    inner = next(inner_packets(4))
    wire = Tap(peer, "wire", ETH_P_IP)
    with closing_all(wire), Daemon(host, config) as daemon:
        tap = Tap(host, "away")
        with closing_all(tap):
            tap.send(inner)

            def counted():
                return [(d["reason"], d["count"]) for d in daemon.json("show", "drops")["drops"]
                        if d["count"]]
            wait_for(counted, "the drop to be counted")
            expect_equal(counted(), [("remote_unreachable", 1)], "drops counted")
            host.ip("route add 203.0.113.9/32 dev wire")
            host.ip(f"neighbor add 203.0.113.9 lladdr {peer_mac} dev wire")
            tap.send(inner)
            caught = wire.collect(lambda seen: seen, "the packet after the route came")
            expect_equal(caught[0][1][24:], inner, "what is inside")


if __name__ == "__main__":
    run_tests(globals())
