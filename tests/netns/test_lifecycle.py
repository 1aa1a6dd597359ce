"""What a daemon sets up, and that it takes exactly that away again, however it ends."""

import os
import signal
import socket
import tempfile

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import GRE
from scapy.packet import Raw

from lib import (ARGUMENTS, Daemon, Namespace, Tap, closing_all, engine_line, expect,
                 expect_equal, join, run_tests, wait_for)

CONFIG = """
version: 1
tunnels:
  paris:
    type: gre
    local: 198.51.100.1
    remote: 198.51.100.2
    key: 42
    mtu: 1400
    addresses: [10.255.0.1/30, "fd00:255::1/64"]
    routes: [10.20.0.0/16, {to: 10.30.0.0/16, metric: 200}, "fd00:20::/48"]
  london:
    type: ipip
    interface: rw-london
    local: 198.51.100.1
    remote: 198.51.100.3
    addresses: [10.255.1.1/30]
"""


def host_on_a_wire():
    """A host 198.51.100.1, and a bare end of the wire that its neighbour entries point to."""
    host, peer = Namespace("host"), Namespace("peer")
    mac, peer_mac = join(host, peer)
    host.ip("address add 198.51.100.1/24 dev wire")
    for last in (2, 3, 4):
        host.ip(f"neighbor add 198.51.100.{last} lladdr {peer_mac} dev wire")
    return host, peer, mac


def picture(host):
    """Interfaces, addresses, routes and rules, as `ip` tells them; counters and timers left out."""
    links = {link["ifname"]: (link["mtu"], sorted(set(link["flags"]) & {"UP"}))
             for link in host.ip_json("link show")}
    addresses = sorted((link["ifname"], a["local"], a["prefixlen"])
                       for link in host.ip_json("address show") for a in link["addr_info"])
    routes = sorted((family, r.get("table", "main"), r.get("type", "unicast"), r["dst"],
                     r.get("dev", ""), r.get("metric", 0))
                    for family in ("-4", "-6")
                    for r in host.ip_json(f"{family} route show table all")
                    # The kernel's own: made when an interface first has a carrier, and kept.
                    if r["dst"] != "ff00::/8")
    rules = host.ip("-4 rule show") + host.ip("-6 rule show")
    return {"links": links, "addresses": addresses, "routes": routes, "rules": rules}


def test_set_up_and_taken_away():
    for number in (signal.SIGTERM, signal.SIGINT):
        host, _, _ = host_on_a_wire()
        before = picture(host)
        daemon = Daemon(host, CONFIG + engine_line())
        with daemon:
            during = picture(host)
            expect_equal(during["links"]["paris"], (1400, ["UP"]), "interface paris")
            expect_equal(during["links"]["rw-london"], (1480, ["UP"]), "interface rw-london")
            added = [a for a in during["addresses"] if a not in before["addresses"]]
            expect_equal(added, [("paris", "10.255.0.1", 30), ("paris", "fd00:255::1", 64),
                                 ("rw-london", "10.255.1.1", 30)], "addresses added")
            main = [r[3:] for r in during["routes"] if r[1] == "main" and r not in before["routes"]]
            for wanted in (("10.20.0.0/16", "paris", 0), ("10.30.0.0/16", "paris", 200),
                           ("fd00:20::/48", "paris", 1024)):
                expect(wanted in main, f"route {wanted} is missing; there are {main}")
            expect(os.path.exists(daemon.socket), "the control socket is missing")
            expect_equal(daemon.stop(number), 0, f"exit status after {number.name}")
            expect_equal(picture(host), before, f"the host after {number.name}")
            expect(not os.path.exists(daemon.socket), "the control socket was left behind")
        print(f"  {number.name}: everything as before")


def test_killed_and_started_again():
    """C65, C66: nothing stands in the way of the next start, at once, again and again."""
    host, _, _ = host_on_a_wire()
    before = picture(host)
    for turn in range(10):
        first = Daemon(host, CONFIG + engine_line())
        try:
            expect("paris" in host.interfaces(), f"turn {turn}: no interface")
            first.process.kill()  # and no wait for what the kernel does then
            second = Daemon(host, CONFIG + engine_line())
            second.close()
        finally:
            first.close()
        wait_for(lambda: picture(host) == before, f"turn {turn}: the host as before")
    # The same socket, left behind by a killed daemon, is no hindrance either.
    with Daemon(host, CONFIG + engine_line()) as daemon:
        daemon.process.kill()
        daemon.process.wait()
        expect(os.path.exists(daemon.socket), "SIGKILL should leave the socket behind")
        wait_for(lambda: picture(host) == before, "the host as before")
        with open(daemon.log_path, "wb") as log:
            daemon.process = host.start(daemon.process.args, stdout=log, stderr=log)
        daemon.wait_ready()
        expect_equal(daemon.command("status")[0], 0, "ringway status over the reused socket")


def test_persistent_interface_is_kept():
    """An interface that was there before stays, with what others have given it."""
    host, _, _ = host_on_a_wire()
    host.ip("tuntap add dev paris mode tun vnet_hdr")
    host.ip("link set paris mtu 1300 up")
    host.ip("address add 10.9.9.9/32 dev paris")
    host.ip("address add 10.255.0.1/30 dev paris")  # one that the daemon is to set, too
    host.ip("route add 10.99.0.0/16 dev paris")
    before = picture(host)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with Daemon(host, CONFIG + engine_line()) as daemon:
            during = picture(host)
            for address in (("paris", "10.9.9.9", 32), ("paris", "10.255.0.1", 30),
                            ("paris", "fd00:255::1", 64)):
                expect(address in during["addresses"], f"address {address} is missing")
            daemon.process.send_signal(number)
            status = daemon.process.wait(10)
            expect_equal(status, 0 if number == signal.SIGTERM else -number, "exit status")
        if number == signal.SIGTERM:
            expect_equal(picture(host), before, "the host after SIGTERM")
            print("  SIGTERM: interface, its mtu, foreign addresses and routes as before")
    expect("paris" in host.interfaces(), "the interface is gone after SIGKILL")
    addresses = picture(host)["addresses"]
    expect(("paris", "10.9.9.9", 32) in addresses, "the foreign address is gone after SIGKILL")


def test_two_daemons_side_by_side():
    host, peer, mac = host_on_a_wire()
    configs = [f"version: 1\ntunnels:\n  {name}: {{type: gre, local: 198.51.100.1, "
               f"remote: 198.51.100.{last}, addresses: [10.255.{last}.1/30]}}\n" + engine_line()
               for name, last in (("one", 2), ("two", 3))]
    wire, inside = Tap(peer, "wire"), Tap(host)
    inner = bytes(IP(src="10.1.0.1", dst="10.99.0.1") / UDP() / Raw(b"for one of them"))
    with closing_all(wire, inside), Daemon(host, configs[0]) as one:
        with Daemon(host, configs[1]) as two:
            names = [[t["name"] for t in d.json("show", "tunnels")["tunnels"]] for d in (one, two)]
            expect_equal(names, [["one"], ["two"]], "each daemon knows its own tunnel")
            for name, last in (("one", 2), ("two", 3)):
                outer = IP(src=f"198.51.100.{last}", dst="198.51.100.1") / GRE(proto=0x0800) / inner
                wire.send(bytes(outer), mac)
                seen = inside.collect(lambda packets: any(p == inner for _, p in packets),
                                      f"the packet for '{name}'")
                expect_equal([n for n, p in seen if p == inner], [name], "where it came out")
        expect_equal(one.command("status")[0], 0, "status of the first after the second has ended")
        expect("two" not in host.interfaces(), "the second's interface is left")
        outer = IP(src="198.51.100.2", dst="198.51.100.1") / GRE(proto=0x0800) / inner
        wire.send(bytes(outer), mac)
        inside.collect(lambda packets: any(p == inner for _, p in packets), "the packet for 'one'")


def test_second_daemon_for_the_same_socket_or_interface():
    """Refused with a reason, and the first does not suffer."""
    host, _, _ = host_on_a_wire()
    with Daemon(host, CONFIG + engine_line()) as first:
        during = picture(host)
        other = CONFIG.replace("paris:", "rome:").replace("rw-london", "rw-rome").replace(
            "london:", "turin:").replace("10.255", "10.254").replace("10.20", "10.21").replace(
            "10.30", "10.31").replace("fd00", "fd01")
        for config, socket_path, word in ((CONFIG, "", "paris"),
                                          (other, first.socket, first.socket)):
            second = Daemon(host, config + engine_line(), wait=False)
            try:
                if socket_path:
                    second.process.kill()
                    second.process.wait()
                    with open(second.log_path, "wb") as log:
                        arguments = [a if a != second.socket else socket_path
                                     for a in second.process.args]
                        second.process = host.start(arguments, stdout=log, stderr=log)
                status = second.process.wait(10)
                log = second.log()
                expect(status not in (0, 78) and status > 0, f"exit status {status}\n{log}")
                expect(word in log, f"the message does not name {word}:\n{log}")
                print(f"  exit status {status}: {log.strip().splitlines()[0]}")
            finally:
                second.close()
            wait_for(lambda: picture(host) == during, "the first daemon's set-up untouched")
            expect_equal(first.command("status")[0], 0, "status of the first")


def test_traffic_from_the_first_moment():
    """C58: packets for the tunnels before, while and after they are made; each start is clean."""
    host, peer, mac = host_on_a_wire()
    wire = Tap(peer, "wire")
    inner = IP(src="10.1.0.1", dst="10.99.0.1") / UDP() / Raw(b"early")
    frames = [bytes(IP(src="198.51.100.2", dst="198.51.100.1")
                    / GRE(key_present=1, key=42) / inner),
              bytes(IP(src="198.51.100.3", dst="198.51.100.1", proto=4) / inner)]
    with closing_all(wire):
        for _ in range(5):
            daemon = Daemon(host, CONFIG + engine_line(), wait=False)
            with daemon:
                def ready():
                    for frame in frames * 50:
                        wire.send(frame, mac)
                    expect(daemon.process.poll() is None, f"ringwayd died:\n{daemon.log()}")
                    return "ringwayd: ready" in daemon.log()
                wait_for(ready, "the ready line under fire", 20)
                daemon.process.send_signal(signal.SIGTERM)
                while daemon.process.poll() is None:
                    for frame in frames * 50:
                        wire.send(frame, mac)
                expect_equal(daemon.process.returncode, 0, "exit status under fire")


def test_service_manager_is_told():
    """sd_notify(3): READY=1 when traffic can flow, STOPPING=1 at the end."""
    host, _, _ = host_on_a_wire()
    with tempfile.TemporaryDirectory(prefix="ringway-test-") as folder:
        path = os.path.join(folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(10)
            with Daemon(host, CONFIG + engine_line(),
                        launcher=["env", f"NOTIFY_SOCKET={path}"]) as daemon:
                seen = manager.recv(4096).decode()
                while "READY=1" not in seen:
                    seen += "\n" + manager.recv(4096).decode()
                expect("paris" in host.interfaces(), "READY=1 before the interface was there")
                daemon.process.send_signal(signal.SIGTERM)
                seen = manager.recv(4096).decode()
                while "STOPPING=1" not in seen:
                    seen += "\n" + manager.recv(4096).decode()
                expect_equal(daemon.process.wait(10), 0, "exit status")


def test_status_and_shows():
    """Every show has a JSON form with its schema; the table names what is configured."""
    host, _, _ = host_on_a_wire()
    with Daemon(host, CONFIG + engine_line()) as daemon:
        status = daemon.json("status")
        expect_equal(status.get("schema"), "ringway/1", "schema of status")
        expect_equal(status["engine"]["name"], ARGUMENTS.engine, "engine in the status")
        for what in ("drops", "tunnels", "ports", "capabilities"):
            expect_equal(daemon.json("show", what).get("schema"), "ringway/1", f"schema of {what}")
            expect(daemon.command("show", what)[1].strip(), f"show {what} prints nothing")
        table = daemon.command("status")[1]
        for word in ("paris", "london", "gre", "ipip", "198.51.100.2", "198.51.100.3"):
            expect(word in table, f"'{word}' is missing in the status:\n{table}")
        print("\n".join("  " + line for line in table.rstrip().splitlines()))


if __name__ == "__main__":
    run_tests(globals())
