"""What the network tests share: namespaces, wires, daemons, and how a test is run.

A namespace here has no name and no process: it lives as long as this program holds its descriptor.
Every process that is started dies with this program (PR_SET_PDEATHSIG). So nothing is left behind,
not even by SIGKILL.
"""

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
ETH_P_ALL = 0x0003
ETH_P_IP = 0x0800
PACKET_OUTGOING = 4
SO_RCVBUFFORCE = 33
SIOCETHTOOL = 0x8946
ETHTOOL_STSO, ETHTOOL_SGRO = 0x1F, 0x2C
SKIP = 77  # SKIP_RETURN_CODE in CMakeLists.txt

libc = ctypes.CDLL(None, use_errno=True)


def check_call(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def die_with_parent():
    """For preexec_fn: the kernel ends this child when the test ends."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


# ------------------------------------------------------------------ waiting
class TimedOut(AssertionError):
    pass


def wait_for(condition, what, seconds=10.0):
    """Returns the first true value of condition(); TimedOut after `seconds`, naming `what`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimedOut(f"waited {seconds:g} s in vain for: {what}")
        time.sleep(0.005)


# ------------------------------------------------------------------ namespaces
class Namespace:
    """A network namespace of our own. `with namespace:` puts this thread into it."""

    def __init__(self, label):
        self.label = label
        self.outer = []
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            check_call(libc.unshare(CLONE_NEWNET), "unshare(CLONE_NEWNET)")
            self.fd = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            check_call(libc.setns(home, CLONE_NEWNET), "setns")
        finally:
            os.close(home)
        self.ip("link set lo up")
        # No duplicate-address detection to wait for, and no link-local addresses, whose router
        # solicitations would be packets that no test has sent.
        for scope in ("default", "all"):
            self.sysctl(f"net/ipv6/conf/{scope}/accept_dad", 0)
            self.sysctl(f"net/ipv6/conf/{scope}/addr_gen_mode", 1)
            self.sysctl(f"net/ipv4/conf/{scope}/rp_filter", 0)

    def __enter__(self):
        self.outer.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        check_call(libc.setns(self.fd, CLONE_NEWNET), "setns")
        return self

    def __exit__(self, *_):
        home = self.outer.pop()
        check_call(libc.setns(home, CLONE_NEWNET), "setns")
        os.close(home)

    def path(self):
        """A name for `ip link ... netns`; valid while this program runs."""
        return f"/proc/{os.getpid()}/fd/{self.fd}"

    def start(self, arguments, **options):
        """subprocess.Popen within the namespace."""
        with self:
            return subprocess.Popen(arguments, preexec_fn=die_with_parent, **options)

    def run(self, arguments, check=True, seconds=60, **options):
        """Runs to the end and returns (status, stdout, stderr)."""
        process = self.start(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             stdin=subprocess.DEVNULL, text=True, **options)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise TimedOut(f"{' '.join(arguments)} still ran after {seconds} s") from None
        if check and process.returncode != 0:
            raise AssertionError(f"in {self.label}: {' '.join(arguments)}: exit status "
                                 f"{process.returncode}\n{out}{err}")
        return process.returncode, out, err

    def ip(self, command):
        return self.run(["ip", *command.split()])[1]

    def ip_json(self, command):
        out = self.run(["ip", "-json", *command.split()])[1]
        return json.loads(out) if out.strip() else []

    def sysctl(self, name, value):
        with self, open(f"/proc/sys/{name}", "w", encoding="ascii") as file:
            file.write(str(value))

    def counters(self):
        """/proc/net/snmp, netstat and snmp6 as one dictionary: {"TcpInCsumErrors": 0, ...}."""
        found = {}
        with self:
            for name in ("snmp", "netstat"):
                with open(f"/proc/thread-self/net/{name}", encoding="ascii") as file:
                    lines = file.read().splitlines()
                for head, values in zip(lines[::2], lines[1::2]):
                    group = head.split(":")[0].removesuffix("Ext")
                    found.update({group + key: int(value) for key, value in
                                  zip(head.split()[1:], values.split()[1:])})
            with open("/proc/thread-self/net/snmp6", encoding="ascii") as file:
                found.update({key: int(value) for key, value in map(str.split, file)})
        return found

    def interfaces(self):
        return {link["ifname"] for link in self.ip_json("link show")}

    def set_offload(self, interface, command, enabled):
        """As `ethtool -K INTERFACE gro|tso on|off`; `command` is ETHTOOL_SGRO or ETHTOOL_STSO."""
        value = ctypes.create_string_buffer(struct.pack("II", command, enabled))
        request = struct.pack("16sQ", interface.encode(), ctypes.addressof(value)) + bytes(16)
        with self, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)

    def packet_socket(self, interface=None, protocol=ETH_P_ALL):
        """An AF_PACKET socket of this namespace, below the link header."""
        with self:
            made = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(protocol))
        try:
            made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)  # room for a burst
        except PermissionError:
            pass  # root of a user namespace only: the default has to do
        if interface:
            with self:
                made.bind((interface, protocol))
        made.setblocking(False)
        return made


def join(one, other, name_in_one="wire", name_in_other="wire"):
    """A veth pair between two namespaces, up, without IPv6 noise. Returns the two MAC addresses."""
    one.ip(f"link add {name_in_one} type veth peer name {name_in_other} netns {other.path()}")
    macs = []
    for namespace, name in ((one, name_in_one), (other, name_in_other)):
        namespace.sysctl(f"net/ipv6/conf/{name}/disable_ipv6", 1)
        namespace.ip(f"link set {name} up")
        macs.append(namespace.ip_json(f"link show {name}")[0]["address"])
    wait_for(lambda: one.ip_json(f"link show {name_in_one}")[0]["operstate"] == "UP", "the veth")
    return macs


class Tap:
    """Sees and sends whole IP packets on one interface, or sees those of all interfaces."""

    def __init__(self, namespace, interface=None, protocol=ETH_P_ALL):
        self.interface = interface
        self.socket = namespace.packet_socket(interface, protocol)
        self.outgoing = False  # whether packets that this host sends are seen as well

    def send(self, packet, mac=None):
        """`packet`: bytes from the IP header on."""
        ethertype = ETH_P_IP if packet[0] >> 4 == 4 else 0x86DD
        target = bytes.fromhex(mac.replace(":", "")) if mac else b""
        self.socket.sendto(packet, (self.interface, ethertype, 0, 0, target))

    def read(self):
        """All packets that wait: [(interface, bytes)]."""
        packets = []
        while True:
            try:
                data, address = self.socket.recvfrom(70000)
            except BlockingIOError:
                return packets
            if address[2] == PACKET_OUTGOING and not self.outgoing:
                continue
            packets.append((address[0], data))

    def collect(self, enough, what, seconds=10.0):
        """Reads until enough(packets) is true; returns the packets."""
        packets = []

        def more():
            packets.extend(self.read())
            return enough(packets)

        try:
            wait_for(more, what, seconds)
        except TimedOut as error:
            shown = "\n".join(f"  {name}: {data[:64].hex()}" for name, data in packets[-8:])
            raise TimedOut(f"{error}; {len(packets)} packets came\n{shown}") from None
        return packets

    def close(self):
        self.socket.close()


# ------------------------------------------------------------------ the daemon
class Daemon:
    """One ringwayd with its own socket, log and folder; to be used in a `with` statement."""

    def __init__(self, namespace, config, launcher=(), label=None, wait=True):
        self.namespace = namespace
        self.label = label or namespace.label
        self.folder = tempfile.mkdtemp(prefix="ringway-test-")
        os.chmod(self.folder, 0o777)  # some tests run the daemon as another user
        self.config = os.path.join(self.folder, "ringway.yaml")
        self.socket = os.path.join(self.folder, "control.sock")
        self.log_path = os.path.join(self.folder, "log")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(config)
        with open(self.log_path, "wb") as log:
            self.process = namespace.start(
                [*launcher, ARGUMENTS.ringwayd, "--config", self.config, "--socket", self.socket],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if wait:
            try:
                self.wait_ready()
            except BaseException:
                self.close()
                raise

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_ready(self, seconds=15.0):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"ringwayd of {self.label} ended with status "
                                     f"{self.process.returncode} before it was ready:\n"
                                     f"{self.log()}")
            return any(line.startswith("ringwayd: ready") for line in self.log().splitlines())
        wait_for(ready, f"the ready line of {self.label}", seconds)

    def command(self, *arguments, check=True):
        return self.namespace.run([ARGUMENTS.ringway, "--socket", self.socket, *arguments],
                                  check=check)

    def json(self, *arguments):
        return json.loads(self.command("-j", *arguments)[1])

    def stop(self, number=signal.SIGTERM, seconds=10.0):
        """Sends the signal and returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimedOut(f"ringwayd of {self.label} ran on {seconds:g} s after signal "
                           f"{number}") from None

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        died = self.process.poll()
        log = self.log()
        if kind is None and died is None:
            status = self.stop()
            log = self.log()
            self.close()
            if status != 0:
                raise AssertionError(f"ringwayd of {self.label} ended with status {status} on "
                                     f"SIGTERM; its log:\n{log}")
            return
        self.close()
        if kind is not None:
            print(f"--- log of ringwayd in {self.label} (exit status: {died})\n{log}---")


# ------------------------------------------------------------------ asserting
def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def expect_equal(got, wanted, what):
    """Both values one under the other; of dictionaries and lists only what differs."""
    if got == wanted:
        return
    lines = [what]
    if isinstance(got, dict) and isinstance(wanted, dict):
        for key in sorted(set(got) | set(wanted), key=str):
            if got.get(key) != wanted.get(key):
                lines.append(f"  {key}: got {got.get(key)!r}, wanted {wanted.get(key)!r}")
    elif isinstance(got, bytes) and isinstance(wanted, bytes):
        first = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b),
                     min(len(got), len(wanted)))
        lines += [f"  got    {got.hex(' ')}", f"  wanted {wanted.hex(' ')}",
                  f"  first difference at byte {first}; lengths {len(got)} and {len(wanted)}"]
    else:
        lines += [f"  got    {got!r}", f"  wanted {wanted!r}"]
    raise AssertionError("\n".join(lines))


class Skip(Exception):
    """The machine lacks what a test needs; the reason is the text."""


# ------------------------------------------------------------------ the run
ARGUMENTS = argparse.Namespace()


def engine_line():
    return f"daemon: {{engine: {ARGUMENTS.engine}}}\n"


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--engine", choices=("io_uring", "epoll"), default="io_uring")
    parser.add_argument("--ringwayd", required=True)
    parser.add_argument("--ringway", required=True)
    parser.add_argument("--deny", help="the program deny_io_uring")
    parser.add_argument("--source", default=os.path.join(os.path.dirname(__file__), "../.."),
                        help="the source tree")
    parser.add_argument("-k", dest="only", default="", help="run only tests with this in the name")
    parser.parse_args(namespace=ARGUMENTS)
    for name in ("ringwayd", "ringway", "deny", "source"):
        if getattr(ARGUMENTS, name):
            setattr(ARGUMENTS, name, os.path.abspath(getattr(ARGUMENTS, name)))


def need_root_and_tun():
    """Becomes root of a user namespace if need be, or ends as skipped, with the reason."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("skipped: /dev/net/tun cannot be opened here")
        sys.exit(SKIP)
    if os.geteuid() != 0:
        enter = ["unshare", "--user", "--map-root-user", "--mount", "--net"]
        if subprocess.run([*enter, "true"], check=False, capture_output=True).returncode != 0:
            print("skipped: network tests need root, or a user who may create user namespaces")
            sys.exit(SKIP)
        os.execvp(enter[0], [*enter, sys.executable, "-B", *sys.argv])


def run_tests(module_globals):
    """Runs every function test_* of a module in its order and exits with the verdict."""
    parse_arguments(module_globals["__doc__"])
    need_root_and_tun()
    for number in (signal.SIGTERM, signal.SIGHUP):  # unwind, so that `with` cleans up
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    passed, failed, skipped = [], [], []
    for name, function in list(module_globals.items()):
        if not name.startswith("test_") or ARGUMENTS.only not in name:
            continue
        title = name.removeprefix("test_").replace("_", " ")
        print(f"[ {title} ] engine {ARGUMENTS.engine}", flush=True)
        begin = time.monotonic()
        try:
            function()
            verdict, bucket = "ok", passed
        except Skip as reason:
            verdict, bucket = f"skipped: {reason}", skipped
        except Exception as error:  # pylint: disable=broad-except
            if not isinstance(error, AssertionError):
                traceback.print_exc(file=sys.stdout)
            else:
                frames = traceback.extract_tb(error.__traceback__)
                where = next((f for f in reversed(frames) if f.filename.endswith(
                    os.path.basename(module_globals["__file__"]))), frames[-1])
                print(f"{os.path.basename(where.filename)}:{where.lineno}: {error}")
            verdict, bucket = "FAILED", failed
        bucket.append(title)
        print(f"  {verdict} ({time.monotonic() - begin:.1f} s)", flush=True)
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped"
          + "".join(f"\n  failed: {title}" for title in failed))
    if failed:
        sys.exit(1)
    sys.exit(0 if passed else SKIP)


@contextlib.contextmanager
def closing_all(*things):
    """Closes each of them, whatever happens."""
    try:
        yield
    finally:
        for thing in things:
            thing.close()
