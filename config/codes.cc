// What every code means, for `ringway help`: what is wrong, an example, the cure.
#include "config/codes.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"

namespace ringway::config {

namespace {

struct Explanation {
  Code code{};
  std::string_view text;  // begins with "RWnnnn: title"
};

constexpr std::array kText = {
    Explanation{Code::cannot_read, R"(RW1000: the file cannot be read

The operating system refused to open or read the configuration file; the message says why.

Cure: check the path and the rights. The daemon reads the file as the user it runs as:
    sudo -u ringway cat /etc/ringway/ringway.yaml
)"},
    Explanation{Code::bad_syntax, R"(RW1001: not valid YAML

The text does not follow the grammar of YAML, so nothing after this place can be understood.
Most often a line is indented by one space too many or too few, a space is missing after ':', or
a bracket is not closed.

Example:
    tunnels:
      paris:
        type: gre
       remote: 192.0.2.1      # one space less than 'type'

Cure: give all keys of one map the same indentation, write 'key: value' with a space, close
brackets. Put a value in quotes if it begins with one of @ ` % or holds ': ' or ' #'.
)"},
    Explanation{Code::unknown_key, R"(RW1002: unknown key

Ringway knows no such key in this place. It is refused and not ignored: a tunnel that silently
lacks the option you wrote would be worse.

Example:
    tunnels:
      paris:
        type: gre
        remote: 192.0.2.1
        mtoo: 1400            # meant: mtu

Cure: follow the suggestion. If the key is right but in the wrong map, move it. ringway.yaml(5)
lists every key.
)"},
    Explanation{Code::wrong_shape, R"(RW1003: a value of another shape is wanted

A list stands where a single value belongs, a single value where a list or a map belongs, or the
other way round.

Example:
    addresses: 10.255.0.1/30        # a list is wanted

Cure:
    addresses: [10.255.0.1/30]
)"},
    Explanation{Code::defined_twice, R"(RW1004: defined twice

The same key stands twice in one map. YAML forbids it, and most readers silently take one of the
two. Two tunnels of one name are such a case.

Example:
    mtu: 1400
    mtu: 9000

Cure: keep the one that is meant.
)"},
    Explanation{Code::several_documents, R"(RW1005: more than one document

The file goes on after the end of its document: a line '---' begins a second one, or something
stands behind the closing bracket of the first.

Cure: put everything into one map. Files for other daemons are files of their own.
)"},
    Explanation{Code::unclosed_quote, R"(RW1006: quote is never closed

A value begins with a quote that does not end on the same line. No value in this file needs a
second line, so the closing quote was forgotten.

Example:
    remote: "paris.example.net

Cure: close the quote, or leave both out: names and addresses need none.
)"},
    Explanation{Code::tab_indentation, R"(RW1007: tab used as indentation

YAML does not allow tabs before the first character of a line, because their width is a matter
of taste.

Cure: replace tabs by spaces, for example with:  expand -t 2 FILE
)"},
    Explanation{Code::bad_character, R"(RW1008: character that cannot stand in a configuration

The file holds bytes that are not UTF-8, a NUL byte, or an invisible control character.

Cure: remove the character; save the file as UTF-8. To find it:
    LC_ALL=C grep -nP '[^\x09\x0a\x20-\x7e]' FILE
)"},
    Explanation{Code::anchor_or_alias, R"(RW1009: anchors and aliases are not supported

A value is marked with &name or repeated with *name. Ringway refuses both: they hide where a value
comes from, and a few lines of them can stand for millions of values.

Cure: put what the tunnels have in common under 'defaults:', and write the rest out.
)"},
    Explanation{Code::explicit_tag, R"(RW1010: types are not written into the file

A tag such as !!int stands before a value. Ringway knows the type of every key; only !!str, which
changes nothing, is let through.

Cure: leave the tag out.
)"},
    Explanation{Code::leading_zero, R"(RW1011: number written with a leading zero

010 is ten to some readers of YAML, eight to others, and a text to others again. Ringway reads
decimal numbers only and refuses those where this could matter.

Example:
    key: 010

Cure: write 10, or 8 if octal was meant.
)"},
    Explanation{Code::merge_key, R"(RW1012: merge keys are not supported

The key '<<' of YAML 1.1 copies entries from another map. It is gone from YAML 1.2, and readers
disagree on which entry wins.

Cure: put what the tunnels have in common under 'defaults:'.
)"},
    Explanation{Code::file_too_large, R"(RW1013: the file is too large

A configuration file has at most 16 MiB.

Cure: check that the path names the configuration. For more routes than fit, use a routing
daemon that installs them on the tunnels' interfaces.
)"},
    Explanation{Code::nested_too_deep, R"(RW1014: nested too deep

Lists and maps stand in each other more than 32 levels deep. A configuration needs five.

Cure: look for brackets that are never closed.
)"},
    Explanation{Code::too_many_values, R"(RW1015: too many values

One file holds at most a million values.

Cure: for so many routes, use a routing daemon that installs them on the tunnels' interfaces.
)"},
    Explanation{Code::missing_key, R"(RW1016: a required key is missing

A file needs 'version' and 'tunnels', a tunnel needs 'type' and 'remote', a route in a map needs
'to', and a route at the top level 'via' as well.

Example, the smallest useful file:
    version: 1
    tunnels:
      paris:
        type: gre
        remote: 192.0.2.1
        addresses: [10.255.0.1/30]
)"},
    Explanation{Code::empty_value, R"(RW1017: key without a value

Nothing stands behind the colon, or '~' or 'null'.

Example:
    mtu:

Cure: write a value, or leave the key out to get its default.
)"},
    Explanation{Code::empty_file, R"(RW1018: the file holds no configuration

The file is empty, or all of its lines are comments.

Cure: see RW1016 for the smallest useful file.
)"},
    Explanation{Code::unknown_version, R"(RW1019: unknown version of the format

The number behind 'version:' says by which rules the file is written. This release knows version
1. The rest of the file was not looked at, since it may mean something else.

Cure: write  version: 1  or install a newer Ringway.
)"},
    Explanation{Code::more_errors, R"(RW1020: more errors than are shown

Fifty messages are enough for one reading.

Cure: mend the first ones; many of the rest may go with them.
)"},
    Explanation{Code::line_too_long, R"(RW1021: line too long

A line has at most 1 MiB. The parser holds a whole bracketed list in memory until its line ends.

Cure: write long lists one item a line:
    routes:
      - 10.0.0.0/8
      - 172.16.0.0/12
)"},
    Explanation{Code::not_a_boolean, R"(RW1101: neither true nor false

Switches are written true or false. YAML 1.1 read yes, no, on and off the same way, YAML 1.2 reads
them as words, so Ringway refuses them.

Example:
    seq: yes

Cure:
    seq: true
)"},
    Explanation{Code::not_a_number, R"(RW1102: not a whole number

The key wants a decimal number without sign, point, unit, or quotes. Some keys take a word
instead: ttl and tos take 'inherit', mtu takes 'auto'.

Example:
    tos: 0xb8

Cure:
    tos: 184
)"},
    Explanation{Code::not_an_address, R"(RW1103: not an address

'remote' is an IPv4 address or a host name. 'local' is an IPv4 address of this host, the name of an
interface, or 'any'. An IPv4 address has four parts of 0..255 without leading zeros.

Example:
    remote: 1.2.3.400

Cure: correct the address. Prefix lengths and ports have no place here.
)"},
    Explanation{Code::out_of_range, R"(RW1104: number out of range

The number is smaller or larger than the key allows; the message shows the range.

Example:
    ttl: 0

Cure: a number within the range. For ttl, 'inherit' copies the TTL of the inner packet.
)"},
    Explanation{Code::unknown_word, R"(RW1105: not one of the words that can stand here

The key takes one of a few words; the message lists them.

Example:
    type: ip6ip

Cure: the kernel's names for the kinds are gre, ipip (IPv4 in IPv4) and sit (IPv6 in IPv4).
)"},
    Explanation{Code::not_a_prefix, R"(RW1106: not a prefix

'addresses' and 'routes' hold prefixes: an IPv4 or IPv6 address, a slash and a length. An address
alone means /32 or /128.

Example:
    routes: [10.0.0/8]

Cure:
    routes: [10.0.0.0/8]
)"},
    Explanation{Code::ipv6_underlay, R"(RW1107: tunnels over IPv6 are not in this release

'local' and 'remote' are the ends of the outer packets, and these are IPv4 in this release. What a
tunnel carries is another matter: gre and sit carry IPv6.

Cure: give the IPv4 addresses of both ends.
)"},
    Explanation{Code::bad_name, R"(RW1108: impossible name

Tunnels and interfaces are named by visible ASCII characters without space, slash, colon, percent
sign, quotes or backslash, and do not begin with '-'. The names lo, all, default, '.' and '..'
belong to the system.

Cure: use letters, digits and . _ - +
)"},
    Explanation{Code::name_too_long, R"(RW1109: name too long

The kernel allows 15 characters for the name of an interface. A tunnel's name may have 63, but its
interface takes this name unless 'interface' gives another.

Example:
    tunnels:
      headquarters-to-branch:
        type: gre
        interface: hq-branch
        remote: 192.0.2.1
)"},
    Explanation{Code::unusable_remote, R"(RW1110: impossible remote

A tunnel has one other end, with a unicast address that is not this host's. Multicast groups, the
broadcast address, loopback addresses and 0.0.0.0 or 'any' cannot be one.

Cure: the address or name of the other end.
)"},
    Explanation{Code::unusable_local, R"(RW1111: impossible local end

Outer packets cannot be sent from this address: it is a multicast, broadcast or loopback address,
or it belongs to the tunnel itself.

Cure: an address of the interface that leads to the remote, the name of this interface, or leave
'local' out and let the host's routes choose.
)"},
    Explanation{Code::unusable_prefix, R"(RW1112: impossible address or destination

An interface has unicast addresses; 0.0.0.0, loopback and multicast addresses are none. A route
cannot lead to loopback addresses, which never leave a host.

Cure: correct the address. 'Everything' is written 0.0.0.0/0 or ::/0.
)"},
    Explanation{Code::not_of_this_kind, R"(RW1113: this kind of tunnel has no such option

GRE has a header of its own with key, checksum and sequence number. ipip and sit have none, so
there is no place for them. ignore_df is about IPv4 inside, which sit does not carry.

Cure: leave the option out, or use type gre at both ends.
)"},
    Explanation{Code::not_a_default, R"(RW1114: this key has no place in 'defaults'

'defaults' holds what can be alike for all tunnels: local, ttl, tos, ecn, pmtudisc, ignore_df and
mtu. Type, ends, keys, addresses and routes make a tunnel what it is.

Cure: write the key into each tunnel.
)"},
    Explanation{Code::not_a_key, R"(RW1115: not a GRE key

A key is a number of 32 bits: decimal, hexadecimal after 0x, or a dotted quad as in ip-tunnel(8).

Example:
    key: office

Cure:
    key: 42            # or 0x2a, or 0.0.0.42
)"},
    Explanation{Code::host_bits, R"(RW1116: bits set behind the prefix length

The destination of a route is a network: all bits behind its length are zero. The kernel refuses
such a route too, because either the address or the length is a slip.

Example:
    routes: [10.20.0.1/16]

Cure: 10.20.0.0/16 for the network, or 10.20.0.1/32 for the one host.
)"},
    Explanation{Code::too_many, R"(RW1201: too many

A file holds at most 1024 tunnels, a tunnel at most 64 addresses and 100000 routes, and the top
level at most 100000 routes.

Cure: for more routes use a routing daemon that installs them on the tunnels' interfaces; for more
tunnels run a second daemon.
)"},
    Explanation{Code::interface_taken, R"(RW1202: two tunnels with one interface

Each tunnel has an interface of its own, named after the tunnel unless 'interface' says otherwise.

Cure: give one of them another interface.
)"},
    Explanation{Code::same_identity, R"(RW1203: two tunnels would receive the same packets

A received packet is given to a tunnel by its protocol, its two addresses and its GRE key. Two
tunnels that agree in all of them cannot be told apart. The kernel refuses the second one too
(File exists). No key and key 0 are different.

Cure: give gre tunnels different keys, or use different local or remote addresses.
)"},
    Explanation{Code::local_is_remote, R"(RW1204: both ends are the same

'local' and 'remote' are one address: the tunnel would end where it begins.

Cure: 'local' is this host's address, 'remote' the other's.
)"},
    Explanation{Code::overridden_twice, R"(RW1205: option without effect

'key' sets the key of both directions; 'ikey' or 'okey' override one of them. With both given
nothing is left for 'key' to set. It is the same with csum, icsum and ocsum, and with seq, iseq and
oseq.

Example:
    key: 1
    ikey: 2
    okey: 3

Cure: keep ikey and okey, or key and one of the two.
)"},
    Explanation{Code::ignore_df_with_pmtudisc, R"(RW1206: ignore_df needs pmtudisc off

'pmtudisc: true' sets DF on every outer packet; 'ignore_df: true' is there to keep DF off although
the inner packet has it. Both cannot hold, and pmtudisc is true unless set. The kernel refuses the
pair as well.

Cure:
    pmtudisc: false
    ignore_df: true
)"},
    Explanation{Code::mtu_out_of_range, R"(RW1207: mtu too large for this kind

An IPv4 packet has at most 65535 bytes, outer headers included: 20 for ipip and sit; 24 for gre,
and 4 more for each of key, checksum and sequence number.

Cure: a smaller mtu, or 'auto'.
)"},
    Explanation{Code::mtu_below_ipv6, R"(RW1208: mtu too small for IPv6

Every link that carries IPv6 must pass packets of 1280 bytes (RFC 8200). The tunnel carries IPv6,
because of its type, an address or a route.

Cure: an mtu of at least 1280, or 'auto'; or no IPv6 in this tunnel.
)"},
    Explanation{Code::family_not_carried, R"(RW1209: this kind does not carry that family

ipip carries IPv4 inside, sit carries IPv6 inside, gre carries both.

Example:
    type: ipip
    addresses: [fd00::1/64]

Cure: the other kind, or gre for both.
)"},
    Explanation{Code::address_twice, R"(RW1210: address stands twice

The same address is given twice for one interface.

Cure: leave one out. One address has one prefix length.
)"},
    Explanation{Code::route_twice, R"(RW1211: route stands twice

Two routes lead to the same destination with the same metric, or through the same tunnel. The
kernel would take the first and refuse the second. IPv6 routes without a metric have 1024.

Example:
    tunnels:
      a: {type: gre, remote: 192.0.2.1, routes: [10.0.0.0/8]}
      b: {type: gre, remote: 192.0.2.2, routes: [10.0.0.0/8]}

Cure: remove one, or make one the reserve by a higher metric:
    routes: [{to: 10.0.0.0/8, metric: 100}]
A route at the top level is installed in the host as well; it needs no twin in the tunnel.
)"},
    Explanation{Code::unknown_tunnel, R"(RW1212: no such tunnel

'via' of a route at the top level names a tunnel of this file.

Cure: correct the name, or add the tunnel.
)"},
    Explanation{Code::route_loop, R"(RW1301: route would carry the tunnel's own remote

Outer packets go to the remote. If the route to the remote leads into the tunnel, each outer packet
is put into another one, and nothing arrives. An address with its prefix length makes such a route
too. A longer route through another tunnel of this file is allowed for: one tunnel may run inside
another.

Example:
    remote: 198.51.100.7
    routes: [0.0.0.0/0]

Cure: route everything but the remote. The message lists the prefixes to write, for example
    routes: [0.0.0.0/1, 128.0.0.0/2, ...]
The remote itself is then reached by the host's own default route, and all other traffic goes
through the tunnel. If a remote's name is given, use its address: the routes must leave it out.
IPv6 routes, ::/0 too, cannot cause this loop, since the remote is an IPv4 address.
)"},
    Explanation{Code::mutual_loop, R"(RW1302: tunnels would carry each other

The way to one tunnel's remote leads through a second tunnel, the way to that one's remote through
the next, and so on back to the first. Nothing would ever leave the host.

Cure: in one of them leave the other's remote out of the routes. RW1301 shows how.
)"},
    Explanation{Code::network_as_address, R"(RW2001: the network is given instead of an address

The address of an interface was given with all host bits zero, which names the network.

Example:
    addresses: [10.255.0.0/30]

Cure: the address of this end, such as 10.255.0.1/30. Both ends of a link take different ones.
)"},
    Explanation{Code::address_shared, R"(RW2002: address given to two tunnels

Two tunnels have the same address with the same network behind it, so the host cannot tell which
one leads to a neighbour. Host prefixes (/32, /128) and link-local addresses may be shared.

Cure: a network of its own for each tunnel, or /32 and routes.
)"},
    Explanation{Code::strict_csum_idle, R"(RW2003: strict_csum without effect

'strict_csum' refuses GRE checksums that 'icsum' does not ask for. Where icsum is true every packet
must carry one, and nothing is left to refuse.

Cure: leave strict_csum out.
)"},
    Explanation{Code::tos_ecn_bits, R"(RW2004: lowest bits of tos are not used

The two lowest bits of the TOS byte carry congestion marks (RFC 3168). They are made by 'ecn' for
each packet, so those given in 'tos' have no effect.

Cure: a multiple of four.
)"},
};

}  // namespace

std::string code_text(Code code) {
  return "RW" + std::to_string(static_cast<unsigned>(code));
}

std::vector<Code> all_codes() {
  std::vector<Code> codes;
  codes.reserve(kText.size());
  for (const Explanation& row : kText) {
    codes.push_back(row.code);
  }
  return codes;
}

std::string_view explain_code(std::string_view code) noexcept {
  for (const Explanation& row : kText) {
    if (!code.empty() && row.text.substr(0, row.text.find(':')) == code) {
      return row.text;
    }
  }
  return {};
}

}  // namespace ringway::config
