// The command line: what is understood, what is refused, and the exit codes.
#include "router/cli/cli.h"

#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "router/control/status.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

struct Run {
  int exit = -1;
  std::string out;
  std::string err;
};

Run run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Run result;
  result.exit = run_cli(arguments, out, err, false);
  result.out = out.str();
  result.err = err.str();
  return result;
}

constexpr const char* kGoodFile =
    "version: 1\n"
    "tunnels:\n"
    "  paris: {type: gre, local: 192.0.2.1, remote: 198.51.100.7, mtu: 1400}\n"
    "  rome: {type: ipip, local: 192.0.2.1, remote: 198.51.100.7}\n";
constexpr const char* kBadFile =
    "version: 1\n"
    "tunnels:\n"
    "  paris: {type: gre, remote: 198.51.100.7, mtoo: 1400}\n"
    "  rome: {type: ipip}\n";

}  // namespace

TEST_CASE("what the command line understands and what it refuses") {
  const test::ScratchDirectory directory;
  const std::string absent = directory / "absent.sock";
  struct Row {
    std::vector<std::string> arguments;
    int exit;
    const char* out;  // stands in it; empty: nothing at all
    const char* err;
  };
  const std::vector<Row> rows{
      {{"--version"}, 0, "ringway 0.", ""},
      {{"version"}, 0, "ringway 0.", ""},
      {{"version", "-j"}, 0, "\"schema\": \"ringway/1\"", ""},
      {{"-j", "version"}, 0, "\"version\": \"0.", ""},
      {{"--help"}, 0, "Usage: ringway", ""},
      {{"help"}, 0, "Usage: ringway", ""},
      {{"status", "--help"}, 0, "--exit-code", ""},
      {{"help", "RW1002"}, 0, "RW1002", ""},
      {{"help", "rw1002", "-j"}, 0, "\"code\": \"RW1002\"", ""},
      {{"help", "RW0000"}, 7, "", "no message code 'RW0000'"},
      {{}, 2, "", "a command is missing"},
      {{"stauts"}, 2, "", "no command 'stauts'; did you mean 'status'?"},
      {{"--socket", "status", "chekc"}, 2, "", "did you mean 'check'?"},
      {{"-j", "xyzzy"}, 2, "", "no command 'xyzzy': status, show, check, run, help, version"},
      {{"show"}, 2, "", "ringway: "},
      {{"show", "drop"}, 2, "", "did you mean 'drops'?"},
      {{"--jsn", "status"}, 2, "", "--jsn"},
      {{"status", "a", "b"}, 2, "", "b"},
      {{"run"}, 2, "", "FILE"},
      {{"--socket"}, 2, "", "--socket"},
      {{"status", "--socket", absent}, 4, "", "no daemon listens there"},
      {{"--socket", absent, "show", "tunnels"}, 4, "", "no daemon listens there"},
      {{"show", "capabilities", "--socket", absent}, 4, "", "no daemon listens there"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    const Run result = run(row.arguments);
    CAPTURE(result.out);
    CAPTURE(result.err);
    CHECK(result.exit == row.exit);
    CHECK(result.out.find(row.out) != std::string::npos);
    CHECK(result.err.find(row.err) != std::string::npos);
    CHECK(result.out.empty() == (*row.out == '\0'));
    CHECK(result.err.empty() == (*row.err == '\0'));
  }
}

TEST_CASE("check says ok, or all that is wrong") {
  const test::ScratchDirectory directory;
  const std::string good = directory.write("good.yaml", kGoodFile);
  const std::string bad = directory.write("bad.yaml", kBadFile);
  Run result = run({"check", good});
  CHECK(result.exit == 0);
  CHECK(result.out == good + ": ok, 2 tunnels\n");
  CHECK(result.err.empty());

  result = run({"check", bad});
  CHECK(result.exit == 3);
  CHECK(result.out.empty());
  CHECK(result.err.find(bad + ":3:") == 0);
  CHECK(result.err.find("mtoo") != std::string::npos);
  CHECK(result.err.find(bad + ":4:") != std::string::npos);

  result = run({"check", directory / "absent.yaml"});
  CHECK(result.exit == 3);
  CHECK(result.err.find("RW1000") != std::string::npos);
}

TEST_CASE("check -j lists the same, for programs") {
  const test::ScratchDirectory directory;
  Run result = run({"check", "-j", directory.write("good.yaml", kGoodFile)});
  CHECK(result.exit == 0);
  Json document = Json::parse(result.out);
  CHECK(document["schema"] == "ringway/1");
  CHECK(document["ok"] == true);
  CHECK(document["tunnels"] == 2);
  CHECK(document["diagnostics"].empty());

  result = run({"-j", "check", directory.write("bad.yaml", kBadFile)});
  CHECK(result.exit == 3);
  CHECK(result.err.empty());
  document = Json::parse(result.out);
  CHECK(document["ok"] == false);
  CHECK(document["tunnels"].is_null());
  REQUIRE(document["diagnostics"].size() >= 2);
  CHECK(document["diagnostics"][0]["severity"] == "error");
  CHECK(document["diagnostics"][0]["line"] == 3);
  CHECK(document["diagnostics"][0]["code"] == "RW1002");
}

TEST_CASE("run does not start what is invalid") {
  const test::ScratchDirectory directory;
  const std::string bad = directory.write("bad.yaml", kBadFile);
  const std::string errors = directory / "errors";
  test::Child child{[&] { return run({"run", bad}).exit; }, errors};
  CHECK(child.wait() == 3);
  CHECK(test::must("cat " + errors).find("mtoo") != std::string::npos);
}

TEST_CASE("capabilities need no daemon") {
  // No daemon of this user: an empty directory stands for the usual place.
  const test::ScratchDirectory directory;
  const Run result = run({"show", "capabilities", "-j"});
  CHECK(result.exit == 0);
  const Json document = Json::parse(result.out);
  CHECK(document["schema"] == "ringway/1");
  CHECK(document["engines"].size() == 2);
  CHECK(document["kernel"].get<std::string>() + "\n" == test::must("uname -r"));
}

TEST_CASE("an output that takes nothing is an error") {
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);
  CHECK(run_cli({"version"}, out, err, false) == 1);
  CHECK(err.str().find("standard output") != std::string::npos);
}

}  // namespace ringway::router
