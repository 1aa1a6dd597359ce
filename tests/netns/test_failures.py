"""Whatever can be missing: one clear message with cause and cure, the documented exit status, and
nothing half-configured left behind."""

import errno
import os
import shutil
import subprocess
import tempfile

from lib import (ARGUMENTS, Daemon, Namespace, Skip, engine_line, expect, expect_equal, join,
                 run_tests, wait_for)

EX_UNAVAILABLE, EX_NOPERM, EX_CONFIG = 69, 77, 78  # sysexits.h

GOOD = """version: 1
tunnels:
  paris: {type: gre, local: 198.51.100.1, remote: 198.51.100.2, addresses: [10.255.0.1/30]}
"""


def host_with_address():
    host, peer = Namespace("host"), Namespace("peer")
    join(host, peer)
    host.ip("address add 198.51.100.1/24 dev wire")
    return host


def failing(host, config, launcher=()):
    """Starts a daemon that must fail; returns (exit status, its log)."""
    before = host.interfaces()
    daemon = Daemon(host, config, launcher=launcher, wait=False)
    try:
        try:
            status = daemon.process.wait(15)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"ringwayd should have failed; its log:\n{daemon.log()}") from None
        log = daemon.log().replace(daemon.folder, "FOLDER")
        expect(not os.path.exists(daemon.socket), f"a control socket was left behind\n{log}")
    finally:
        daemon.close()
    wait_for(lambda: host.interfaces() == before, "no interface left behind")
    expect("ready" not in log, f"the ready line in spite of failure:\n{log}")
    errors = [line for line in log.splitlines() if "error" in line or line.startswith("ringwayd: ")]
    expect(errors, f"no message:\n{log}")
    return status, log


def expect_message(log, *words):
    for word in words:
        expect(word.lower() in log.lower(), f"the message does not say '{word}':\n{log}")
    print("\n".join("    " + line for line in log.rstrip().splitlines()))


# Runs a command in a mount namespace whose /dev/net is empty, or holds a tun device for everybody.
WITHOUT_TUN = ["unshare", "--mount", "sh", "-c",
               'mount -t tmpfs none /dev/net && exec "$@"', "sh"]
TUN_FOR_ALL = ["unshare", "--mount", "sh", "-c",
               'mount -t tmpfs -o mode=755 none /dev/net && mknod -m 666 /dev/net/tun c 10 200 '
               '&& exec "$@"', "sh"]
TUN_FOR_ROOT = ["unshare", "--mount", "sh", "-c",
                'mount -t tmpfs -o mode=755 none /dev/net && mknod -m 600 /dev/net/tun c 10 200 '
                '&& exec "$@"', "sh"]
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
WITH_RAW = [*AS_NOBODY, "--inh-caps", "+net_raw", "--ambient-caps", "+net_raw"]


def can(launcher):
    return subprocess.run([*launcher, "true"], check=False, capture_output=True).returncode == 0


def test_bad_configuration():
    host = host_with_address()
    config = GOOD + "  paris: {type: gree, remote: 1.2.3.400}\n" + engine_line()
    status, log = failing(host, config)
    expect_equal(status, EX_CONFIG, "exit status of the daemon")
    expect_message(log, "FOLDER/ringway.yaml:4:3: error:", "'paris'")
    daemon = Daemon(host, config, wait=False)
    try:
        daemon.process.wait(15)
        status, out, err = daemon.command("check", daemon.config, check=False)
        expect_equal(status, 3, f"exit status of ringway check\n{out}{err}")
        expect("ringway.yaml:4:3: error:" in out + err, f"the same message from check:\n{out}{err}")
        status, out, err = host.run([ARGUMENTS.ringwayd, "--config", daemon.config, "--check"],
                                    check=False)
        expect_equal(status, EX_CONFIG, f"exit status of ringwayd --check\n{out}{err}")
    finally:
        daemon.close()
    status, _, err = host.run([ARGUMENTS.ringwayd, "--config", "/nonexistent/ringway.yaml"],
                              check=False)
    expect_equal(status, EX_CONFIG, f"exit status for a missing file\n{err}")
    expect("/nonexistent/ringway.yaml" in err, f"the message names the file:\n{err}")


def test_good_configuration_is_only_checked():
    host = host_with_address()
    before = host.interfaces()
    daemon = Daemon(host, GOOD + engine_line())
    with daemon:
        status, out, err = daemon.command("check", daemon.config)
        expect_equal(status, 0, f"exit status of check\n{out}{err}")
    example = os.path.join(ARGUMENTS.source, "examples/gre-two-sites/paris.yaml")
    host.run([ARGUMENTS.ringwayd, "--config", example, "--check"])
    expect_equal(host.interfaces(), before, "interfaces after --check")


def test_missing_permission():
    if not can([*TUN_FOR_ALL]):
        raise Skip("no right to mount and to make a device node")
    host = host_with_address()
    # A copy, since the build folder may be closed to others.
    handle, copy = tempfile.mkstemp(prefix="ringway-test-")
    os.close(handle)
    original = ARGUMENTS.ringwayd
    shutil.copy(original, copy)
    os.chmod(copy, 0o755)
    ARGUMENTS.ringwayd = copy
    try:
        rows = [("no capability at all", [*TUN_FOR_ALL, *AS_NOBODY], ("CAP_NET_RAW",)),
                ("CAP_NET_RAW only", [*TUN_FOR_ALL, *WITH_RAW], ("CAP_NET_ADMIN", "paris")),
                ("/dev/net/tun for root only", [*TUN_FOR_ROOT, *WITH_RAW], ("/dev/net/tun",)),
                ("root without CAP_NET_RAW", ["setpriv", "--bounding-set", "-net_raw"],
                 ("CAP_NET_RAW",))]
        for name, launcher, words in rows:
            print(f"  {name}")
            status, log = failing(host, GOOD + engine_line(), launcher)
            expect_equal(status, EX_NOPERM, f"{name}: exit status\n{log}")
            expect_message(log, *words)
    finally:
        ARGUMENTS.ringwayd = original
        os.unlink(copy)


def test_missing_tun_device():
    if not can(WITHOUT_TUN):
        raise Skip("no right to mount")
    host = host_with_address()
    status, log = failing(host, GOOD + engine_line(), WITHOUT_TUN)
    expect_equal(status, EX_UNAVAILABLE, f"exit status\n{log}")
    expect_message(log, "/dev/net/tun", "modprobe tun")


def test_io_uring_forbidden():
    if ARGUMENTS.engine != "io_uring":
        raise Skip("asks about io_uring, and is asked once")
    if not ARGUMENTS.deny:
        raise Skip("the program deny_io_uring was not built")
    host = host_with_address()
    forced = GOOD + "daemon: {engine: io_uring}\n"
    automatic = GOOD + "daemon: {engine: auto}\n"
    for name, wanted in (("EPERM", EX_NOPERM), ("ENOSYS", EX_UNAVAILABLE),
                         ("ENOMEM", EX_UNAVAILABLE)):
        launcher = [ARGUMENTS.deny, name, "setup"]
        text = os.strerror(getattr(errno, name))
        with Daemon(host, automatic, launcher=launcher) as daemon:
            status = daemon.json("status")
            engine = status["engine"]
            expect_equal(engine["name"], "epoll", f"{name}: engine chosen")
            expect(text in engine["reason"], f"{name}: the reason does not say '{text}': {engine}")
            expect("epoll" in daemon.command("status")[1], f"{name}: status names the engine")
            print(f"  {name}: {engine['reason']}")
        status, log = failing(host, forced, launcher)
        expect_equal(status, wanted, f"{name}: exit status when forced\n{log}")
        expect_message(log, "io_uring", text)


def test_local_as_interface():
    host = host_with_address()
    config = GOOD.replace("local: 198.51.100.1", "local: wire")
    with Daemon(host, config + engine_line()) as daemon:
        expect("198.51.100.1" in daemon.command("show", "tunnels")[1] + daemon.command("status")[1],
               "the address that the interface's name became is not shown")
    host.ip("address flush dev wire")
    status, log = failing(host, config + engine_line())
    expect(status in (EX_UNAVAILABLE, EX_CONFIG), f"exit status {status}\n{log}")
    expect_message(log, "wire", "address")
    status, log = failing(host, config.replace("local: wire", "local: nosuchif0") + engine_line())
    expect(status in (EX_UNAVAILABLE, EX_CONFIG), f"exit status {status}\n{log}")
    expect_message(log, "nosuchif0")


def test_nothing_half_configured():
    """The second of two tunnels cannot be: the first is not left behind either, and the persistent
    interface of the first is as it was."""
    host = host_with_address()
    host.ip("tuntap add dev paris mode tun vnet_hdr")
    before = host.ip_json("address show")
    config = GOOD + ("  rome: {type: ipip, interface: wire, local: 198.51.100.1, "
                     "remote: 198.51.100.3}\n") + engine_line()
    status, log = failing(host, config)
    expect(status in (1, EX_UNAVAILABLE), f"exit status {status}\n{log}")
    expect_message(log, "'wire'")
    expect_equal([(l["ifname"], l["mtu"], l["addr_info"], "UP" in l["flags"])
                  for l in host.ip_json("address show")],
                 [(l["ifname"], l["mtu"], l["addr_info"], "UP" in l["flags"]) for l in before],
                 "interfaces and addresses after the failure")


def test_command_line():
    host = host_with_address()
    rows = [(["--socket", "/nonexistent/ringway.sock", "status"], 4, "/nonexistent/ringway.sock"),
            (["frobnicate"], 2, "frobnicate"),
            (["check", "/nonexistent/ringway.yaml"], 3, "/nonexistent/ringway.yaml"),
            (["help", "RW1002"], 0, "RW1002"),
            (["help", "RW9999"], 7, "RW9999"),
            (["version"], 0, "ringway"),
            (["--version"], 0, "ringway"),
            (["--help"], 0, "status")]
    for arguments, wanted, word in rows:
        status, out, err = host.run([ARGUMENTS.ringway, *arguments], check=False)
        expect_equal(status, wanted, f"exit status of ringway {' '.join(arguments)}\n{out}{err}")
        expect(word in out + err, f"ringway {' '.join(arguments)} does not say {word}:\n{out}{err}")
    for arguments, wanted, word in ((["--help"], 0, "--config"), (["--version"], 0, "ringwayd"),
                                    ([], 2, "--config"),
                                    (["--config", "x.yaml", "--frob"], 2, "frob")):
        status, out, err = host.run([ARGUMENTS.ringwayd, *arguments], check=False)
        expect_equal(status, wanted, f"exit status of ringwayd {' '.join(arguments)}\n{out}{err}")
        expect(word in out + err,
               f"ringwayd {' '.join(arguments)} does not say {word}:\n{out}{err}")


def test_run_in_the_foreground():
    """`ringway run FILE` does what the daemon does, and its exit status tells the same."""
    host = host_with_address()
    daemon = Daemon(host, GOOD + engine_line(), wait=False)
    try:
        daemon.process.kill()
        daemon.process.wait()
        wait_for(lambda: "paris" not in host.interfaces(), "the killed daemon's interface to go")
        with open(daemon.log_path, "wb") as log:
            daemon.process = host.start(
                [ARGUMENTS.ringway, "--socket", daemon.socket, "run", daemon.config],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait_for(lambda: "ready" in daemon.log() or daemon.process.poll() is not None, "ready")
        expect(daemon.process.poll() is None, f"ringway run ended:\n{daemon.log()}")
        expect("paris" in host.interfaces(), "no interface")
        expect_equal(daemon.command("status")[0], 0, "status while it runs")
        expect_equal(daemon.stop(), 0, "exit status on SIGTERM")
        expect("paris" not in host.interfaces(), "the interface was left behind")
    finally:
        daemon.close()


if __name__ == "__main__":
    run_tests(globals())
