// What a process may do: read from /proc, tried, and told.
#include "router/control/capabilities.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "netio/open.h"
#include "router/cli/render.h"
#include "router/control/status.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

Capabilities everything() {
  Capabilities out;
  out.kernel = "6.1.0-18-amd64";
  out.machine = "x86_64";
  out.net_admin = out.net_raw = out.tun = true;
  out.memlock_bytes = 8 << 20;
  out.engines = {{netio::Engine::io_uring, true, "", {"SINGLE_ISSUER", "DEFER_TASKRUN"}},
                 {netio::Engine::epoll, true, "", {}}};
  out.automatic = {netio::Engine::io_uring, "the kernel allows it", {}};
  return out;
}

}  // namespace

TEST_CASE("effective capabilities are read from /proc/PID/status") {
  struct Row {
    std::string_view text;
    std::uint64_t bits;
  };
  const std::array<Row, 5> rows{{
      {"Name:\tx\nCapPrm:\t00000000ffffffff\nCapEff:\t0000000000003000\nCapBnd:\t1\n", 0x3000},
      {"Name:\tx\nCapEff:\t000001ffffffffff\n", 0x1ffffffffff},
      {"Name:\tx\nCapEff:\tnonsense\n", 0},
      {"Name:\tx\n", 0},
      {"", 0},
  }};
  for (const Row& row : rows) {
    CHECK(effective_capabilities(row.text) == row.bits);
  }
}

TEST_CASE("each missing right is one sentence with its remedy") {
  CHECK(missing_rights(everything()).empty());
  struct Row {
    const char* name;
    void (*take)(Capabilities&);
    const char* says;
  };
  const std::array<Row, 4> rows{{
      {"no tun",
       [](Capabilities& all) {
         all.tun = false;
         all.tun_reason = "modprobe tun";
       },
       "modprobe tun"},
      {"no admin", [](Capabilities& all) { all.net_admin = false; }, "CAP_NET_ADMIN"},
      {"no raw", [](Capabilities& all) { all.net_raw = false; }, "CAP_NET_RAW"},
      {"no engine", [](Capabilities& all) { all.engines.clear(); }, "io_uring"},
  }};
  Capabilities nothing = everything();
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Capabilities one = everything();
    row.take(one);
    row.take(nothing);
    REQUIRE(missing_rights(one).size() == 1);
    CHECK(missing_rights(one)[0].find(row.says) != std::string::npos);
  }
  CHECK(missing_rights(nothing).size() == rows.size());
}

TEST_CASE("the capabilities screen") {
  Capabilities some = everything();
  some.net_raw = false;
  some.engines[0] = {netio::Engine::io_uring, false, "io_uring_setup: Operation not permitted", {}};
  some.automatic = {netio::Engine::epoll, "io_uring is forbidden", {}};
  const std::string text = render_capabilities(capabilities_document(some), false);
  CHECK(text.find("kernel         6.1.0-18-amd64 x86_64\n"
                  "user           0\n"
                  "CAP_NET_ADMIN  yes\n"
                  "CAP_NET_RAW    no\n"
                  "/dev/net/tun   yes\n"
                  "locked memory  8.4MB\n"
                  "io_uring       no: io_uring_setup: Operation not permitted\n"
                  "epoll          yes\n"
                  "engine: auto   epoll: io_uring is forbidden\n"
                  "missing: no CAP_NET_RAW") == 0);
}

TEST_CASE("the probe agrees with the machine") {
  const Capabilities found = probe_capabilities();
  CHECK(found.kernel + "\n" == test::must("uname -r"));
  CHECK(found.machine + "\n" == test::must("uname -m"));
  CHECK(std::to_string(found.user_id) + "\n" == test::must("id -u"));
  CHECK(found.tun == (test::shell("exec 3<>/dev/net/tun").status == 0));
  CHECK(found.tun == found.tun_reason.empty());
  REQUIRE(found.engines.size() == 2);
  CHECK(found.engines[0].engine == netio::Engine::io_uring);
  CHECK(found.engines[1].available);  // epoll is everywhere
  const bool uring = found.engines[0].available;
  CHECK(found.automatic.engine == (uring ? netio::Engine::io_uring : netio::Engine::epoll));
}

}  // namespace ringway::router
