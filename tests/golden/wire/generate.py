#!/usr/bin/python3
"""Makes the packets that tests/unit/golden_test.cc compares the builder and parsers with.

Our builder shares our misunderstandings; scapy does not. Regenerate, after adding a packet here
and its twin in golden_test.cc, with scapy 2.5.0 (Debian 12: python3-scapy):

    tests/golden/wire/generate.py

It writes packets.txt (for each packet: name, bytes, and what scapy found in it) and packets.pcap
(the same packets in the same order, by scapy's own pcap writer) beside itself.
"""
import pathlib

from scapy.all import AH, GRE, ICMP, IP, TCP, UDP, Dot1Q, Ether, Raw, raw
from scapy.layers.inet import IPOption_NOP, IPOption_RR
from scapy.layers.inet6 import (ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest,
                                ICMPv6PacketTooBig, ICMPv6TimeExceeded, IPv6,
                                IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting, PadN)
from scapy.utils import PcapWriter


def data(count):
    return Raw(bytes(i % 256 for i in range(count)))


def ip(**fields):
    return IP(src="10.0.0.1", dst="10.0.0.2", **{"id": 0, **fields})


def inner():
    return IP(src="192.168.1.1", dst="192.168.2.1", id=7, ttl=63)


def ip6(**fields):
    return IPv6(src="2001:db8::1", dst="2001:db8::2", **{"hlim": 64, **fields})


def inner6():
    return IPv6(src="fd00::1", dst="fd00::2", hlim=63)


def udp(**fields):
    return UDP(**{"sport": 1000, "dport": 2000, **fields})


def tcp(**fields):
    return TCP(**{"sport": 1000, "dport": 2000, "flags": "A", **fields})


def frame(**fields):
    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", **fields)


def udp_summing_to_zero():
    """The two bytes of payload with which the computed checksum is 0, sent as 0xffff."""
    for value in range(65536):
        packet = ip() / udp(chksum=0) / Raw(value.to_bytes(2, "big"))
        pseudo = (bytes([10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 0, 10]) + raw(packet)[20:])
        total = sum(int.from_bytes(pseudo[i:i + 2], "big") for i in range(0, len(pseudo), 2))
        while total > 0xffff:
            total = (total & 0xffff) + (total >> 16)
        if total == 0xffff:
            return ip() / udp() / Raw(value.to_bytes(2, "big"))
    raise AssertionError("no such payload")


EXTENSIONS = (AH, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting)
OPTIONS = [("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 2)), ("NOP", None), ("WScale", 7)]

PACKETS = {
    "udp": ip() / udp() / data(200),
    "udp odd": ip() / udp() / data(201),
    "udp empty": ip() / udp(),
    "udp no checksum": ip() / udp(chksum=0) / data(3),
    "udp computed zero": udp_summing_to_zero(),
    "ipv4 fields": ip(ttl=1, tos=0xb9, id=0xfffe, flags="DF") / udp() / data(4),
    "ipv4 options": ip(options=[IPOption_NOP(), IPOption_RR(routers=["0.0.0.0"] * 3)])
                    / udp() / data(9),
    "ipv4 first fragment": ip(id=77, flags="MF", proto=253) / data(64),
    "ipv4 later fragment": ip(id=77, frag=8, proto=17) / data(33),
    "tcp": ip() / tcp(seq=1, ack=2, window=512) / data(1460),
    "tcp syn options": ip() / tcp(seq=0xffffffff, ack=0, flags="SEC", window=65535,
                                  options=OPTIONS),
    "tcp all flags": ip() / tcp(seq=5, ack=6, flags="FSRPAUEC", urgptr=9, window=8192) / data(7),
    "icmp echo": ip() / ICMP(type=8, id=1, seq=1) / data(56),
    "icmp echo reply": ip() / ICMP(type=0, id=0x1234, seq=0xffff) / data(57),
    "icmp too big": ip() / ICMP(type=3, code=4, nexthopmtu=1400)
                    / Raw(raw(inner() / udp() / data(100))[:28]),
    "icmp ttl": ip() / ICMP(type=11, code=0) / Raw(raw(inner() / udp() / data(100))[:28]),
    "udp6": ip6() / udp() / data(200),
    "udp6 odd": ip6() / udp() / data(1),
    "ipv6 fields": ip6(tc=0xb9, fl=0xabcde, hlim=255) / udp() / data(4),
    "tcp6": ip6() / tcp(seq=1, ack=2, flags="PA", window=8192) / data(99),
    "icmp6 echo": ip6() / ICMPv6EchoRequest(id=1, seq=1) / data(56),
    "icmp6 echo reply": ip6() / ICMPv6EchoReply(id=9, seq=8) / data(3),
    "icmp6 too big": ip6() / ICMPv6PacketTooBig(mtu=1280) / inner6() / udp() / data(5),
    "icmp6 unreachable": ip6() / ICMPv6DestUnreach(code=4) / inner6() / udp(),
    "icmp6 ttl": ip6() / ICMPv6TimeExceeded() / inner6() / udp(),
    "ipv6 nothing": ip6(nh=59),
    "hop by hop": ip6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)]) / udp() / data(8),
    "destination options": ip6() / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 12)])
                           / tcp(window=8192),
    "routing": ip6() / IPv6ExtHdrRouting(type=253, segleft=0, reserved=0, addresses=[])
               / udp() / data(2),
    "authentication": ip6() / AH(nh=17, payloadlen=4, spi=0, seq=0, icv=b"\0" * 12)
                      / Raw(raw(ip6() / udp() / data(6))[40:]),
    "atomic fragment": ip6() / IPv6ExtHdrFragment(id=0xdeadbeef) / udp() / data(6),
    "ipv6 later fragment": ip6() / IPv6ExtHdrFragment(nh=17, offset=185, m=1, id=5) / data(16),
    "all extensions": ip6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)])
                      / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
                      / IPv6ExtHdrRouting(type=253, segleft=0, reserved=0, addresses=[])
                      / IPv6ExtHdrFragment(id=1) / udp() / data(11),
    "ipip": ip() / inner() / udp() / data(20),
    "sit": ip() / inner6() / udp() / data(20),
    "gre": ip() / GRE() / inner() / udp() / data(20),
    "gre6": ip() / GRE() / inner6() / udp() / data(20),
    "gre key": ip() / GRE(key_present=1, key=0x0a0b0c0d) / inner() / udp() / data(20),
    "gre key zero": ip() / GRE(key_present=1, key=0) / inner6() / tcp(window=8192) / data(20),
    "gre csum": ip() / GRE(chksum_present=1) / inner() / udp() / data(20),
    "gre csum odd": ip() / GRE(chksum_present=1) / inner() / udp() / data(21),
    "gre sequence": ip() / GRE(seqnum_present=1, seqence_number=0xffffffff) / inner() / udp()
                    / data(20),
    "gre csum key": ip() / GRE(chksum_present=1, key_present=1, key=1) / inner() / udp()
                    / data(20),
    "gre csum sequence": ip() / GRE(chksum_present=1, seqnum_present=1, seqence_number=2)
                         / inner6() / udp() / data(20),
    "gre key sequence": ip() / GRE(key_present=1, key=3, seqnum_present=1, seqence_number=4)
                        / inner() / udp() / data(20),
    "gre all": ip() / GRE(chksum_present=1, key_present=1, key=5, seqnum_present=1,
                          seqence_number=6) / inner6() / udp() / data(23),
    "gre keepalive": ip() / GRE(proto=0x0800) / IP(src="10.0.0.2", dst="10.0.0.1", id=0)
                     / GRE(proto=0),
    "gre ethernet": ip() / GRE(proto=0x6558) / frame() / inner() / udp() / data(20),
    "gre vlan": ip() / GRE(proto=0x6558) / frame() / Dot1Q(vlan=5, prio=1) / inner() / udp(),
    "gre reserved bits": ip() / GRE(recursion_control=3, flags=0x1f) / inner() / udp(),
    "gre routing": ip() / Raw(b"\x40\x00\x08\x00") / Raw(raw(inner() / udp())),
    "gre version": ip() / GRE(version=1) / inner() / udp(),
}

# scapy takes a payload given as Raw for what it is and does not name its protocol.
PACKETS["icmp too big"][IP].proto = 1
PACKETS["gre routing"][IP].proto = 47


def found(packet):
    """What scapy's dissection says that our parsers must say too."""
    words = []
    if IP in packet and packet[IP].proto == 47 and packet[IP].version == 4 and GRE in packet:
        gre = packet[GRE]
        words += [f"gre_protocol={gre.proto}", f"gre_version={gre.version}"]
        words += [f"gre_bytes={len(raw(gre)) - len(raw(gre.payload))}"]
        words += [f"gre_csum={gre.chksum_present}"]
        words += [f"gre_key={gre.key}"] if gre.key_present else []
        words += [f"gre_sequence={gre.seqence_number}"] if gre.seqnum_present else []
    if isinstance(packet, IPv6):
        layer = packet
        while isinstance(layer.payload, EXTENSIONS):
            layer = layer.payload
        upper = len(raw(packet)) - len(raw(layer.payload))
        words += [f"upper={layer.nh}", f"upper_offset={upper}"]
        words += [f"fragment={int(IPv6ExtHdrFragment in packet)}"]
    return words


def main():
    here = pathlib.Path(__file__).parent
    lines = ["# Written by generate.py with scapy. Do not edit."]
    writer = PcapWriter(str(here / "packets.pcap"), linktype=101, nano=False)
    writer.write_header(None)
    for name, packet in PACKETS.items():
        content = raw(packet)
        dissected = packet.__class__(content)
        lines.append(" ".join([name.replace(" ", "_"), content.hex(), *found(dissected)]))
        writer.write_packet(content, sec=1, usec=2)
    writer.close()
    (here / "packets.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
