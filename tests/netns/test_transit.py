"""Three sites: what comes through one tunnel of the hub goes straight on into another.

          a 10.10.0.1                hub                 b 10.20.0.1
          TUN "hub"  == GRE ==  "paris" "berlin"  == GRE ==  TUN "hub"
          198.51.100.2           198.51.100.1            198.51.100.3

The configurations are those of examples/three-sites. The hub's host does not forward.
"""

import contextlib
import os

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Raw

from lib import (ARGUMENTS, Daemon, Namespace, Tap, closing_all, engine_line, expect_equal, join,
                 run_tests, wait_for)


def configuration(name):
    path = os.path.join(ARGUMENTS.source, "examples/three-sites", name + ".yaml")
    with open(path, encoding="utf-8") as file:
        return file.read() + engine_line()


class Sites:
    """The three hosts, joined by a bridge within the hub's namespace, and their daemons."""

    def __init__(self):
        self.hub, self.paris, self.berlin = (Namespace(n) for n in ("hub", "paris", "berlin"))
        self.hub.ip("link add net type bridge")
        self.hub.ip("link set net up")
        self.hub.sysctl("net/ipv6/conf/net/disable_ipv6", 1)
        self.hub.ip("address add 198.51.100.1/24 dev net")
        for index, (host, lan4, lan6) in enumerate(((self.paris, "10.10.0.1", "fd00:10::1"),
                                                    (self.berlin, "10.20.0.1", "fd00:20::1"))):
            join(self.hub, host, f"port{index}", "wire")
            self.hub.ip(f"link set port{index} master net")
            host.ip(f"address add 198.51.100.{index + 2}/24 dev wire")
            host.ip(f"address add {lan4}/32 dev lo")
            host.ip(f"address add {lan6}/128 dev lo")
        self.hub.sysctl("net/ipv4/ip_forward", 0)
        self.hub.sysctl("net/ipv6/conf/all/forwarding", 0)
        self.daemons = []
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for host in (self.hub, self.paris, self.berlin):
                daemon = Daemon(host, configuration(host.label))
                self.daemons.append(stack.enter_context(daemon))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)


def nonzero(daemon):
    return {(d.get("tunnel"), d["reason"]): d["count"]
            for d in daemon.json("show", "drops")["drops"] if d["count"]}


def test_ping_across_the_hub():
    with Sites() as sites:
        for source, target in (("10.10.0.1", "10.20.0.1"), ("fd00:10::1", "fd00:20::1")):
            out = sites.paris.run(["ping", "-n", "-c", "5", "-i", "0.01", "-I", source, target])[1]
            ttls = [word for word in out.split() if word.startswith("ttl=")]
            expect_equal(ttls, ["ttl=63"] * 5, f"TTL of the answers from {target}: one hop")
        hub = sites.daemons[0]
        expect_equal(nonzero(hub), {}, "drops of the hub")
        tunnels = {t["name"]: t for t in hub.json("show", "tunnels")["tunnels"]}
        for name in ("paris", "berlin"):
            expect_equal((tunnels[name]["rx_packets"], tunnels[name]["forwarded"],
                          tunnels[name]["tx_packets"]), (10, 10, 10), f"{name}: packets")
        written = [p["tx_packets"] for p in hub.json("show", "ports")["ports"]
                   if p["name"] in ("paris", "berlin")]
        expect_equal(written, [0, 0], "packets that the hub's own host got to see")


def test_ttl():
    """One less for each packet that goes on; the last hop is counted, and nothing goes on."""
    with Sites() as sites:
        hub = sites.daemons[0]
        inject = Tap(sites.paris, "hub")
        arrive = Tap(sites.berlin, "hub")
        with closing_all(inject, arrive):
            def four(ttl, number):
                return bytes(IP(src="10.10.0.1", dst="10.20.0.1", ttl=ttl, id=number)
                             / UDP(sport=9, dport=9) / Raw(b"transit"))

            def six(limit, number):
                return bytes(IPv6(src="fd00:10::1", dst="fd00:20::1", hlim=limit, fl=number)
                             / UDP(sport=9, dport=9) / Raw(b"transit"))
            for number, make in enumerate((four, six)):
                for ttl in (1, 0, 64, 255, 2, 1, 3):
                    inject.send(make(ttl, number))
                seen = arrive.collect(lambda packets: len(packets) >= 4, "four packets in berlin")
                expect_equal([packet for _, packet in seen],
                             [make(ttl, number) for ttl in (63, 254, 1, 2)],
                             "packets in berlin, byte for byte")
                wait_for(lambda: nonzero(hub).get(("paris", "ttl_exceeded"))
                         == 3 * (number + 1),  # pylint: disable=cell-var-from-loop
                         "three packets counted as ttl_exceeded")
            expect_equal(nonzero(hub), {("paris", "ttl_exceeded"): 6}, "drops of the hub")


def test_ecn_across_the_hub():
    """A mark that the first tunnel suffers is inside when the packet enters the second."""
    with Sites() as sites:
        inject = Tap(sites.paris, "hub")
        arrive = Tap(sites.berlin, "hub")
        wire = Tap(sites.berlin, "wire", 0x0800)
        with closing_all(inject, arrive, wire):
            packet = IP(src="10.10.0.1", dst="10.20.0.1", tos=0xB9) / UDP() / Raw(b"mark")
            inject.send(bytes(packet))
            outer = wire.collect(lambda seen: any(p[9] == 47 for _, p in seen), "the outer packet")
            expect_equal([p[1] for _, p in outer if p[9] == 47], [0xB9],
                         "outer TOS on the last leg")
            inner = arrive.collect(lambda seen: seen, "the inner packet")
            expect_equal(inner[0][1][1], 0xB9, "inner TOS")


def test_destinations_without_a_route_go_to_the_host():
    with Sites() as sites:
        inject = Tap(sites.paris, "hub")
        host = Tap(sites.hub, "paris")
        with closing_all(inject, host):
            packet = bytes(IP(src="10.10.0.1", dst="10.30.0.1", ttl=1) / UDP() / Raw(b"host"))
            inject.send(packet)
            seen = host.collect(lambda packets: packets, "the packet on the hub's interface")
            expect_equal(seen[0][1], packet, "the packet, its TTL as it was")


if __name__ == "__main__":
    run_tests(globals())
