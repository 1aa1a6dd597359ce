// Commands: what each verb of `ringway` does. Data goes to `out`, words about it to `err`.
#pragma once

#include <iosfwd>
#include <string>

#include "router/cli/exit.h"

namespace ringway::router {

// What holds for every command.
struct Context {
  std::ostream& out;
  std::ostream& err;
  bool json = false;
  bool color = false;       // on `out`
  std::string socket_path;  // empty: the usual one
};

[[nodiscard]] Exit check_command(const Context& context, const std::string& file);
// `name`: only this tunnel; empty: all. `exit_code`: Exit::degraded unless all is well.
[[nodiscard]] Exit status_command(const Context& context, const std::string& name, bool exit_code);
// `topic`: "drops", "tunnels" or "ports"; `name`: only this tunnel or port; empty: all.
[[nodiscard]] Exit show_command(const Context& context, const std::string& topic,
                                const std::string& name);
// Asks the daemon; without one, looks at this process itself.
[[nodiscard]] Exit capabilities_command(const Context& context);
[[nodiscard]] Exit run_command(const Context& context, const std::string& file);
// Explains a code such as RW1002.
[[nodiscard]] Exit explain_command(const Context& context, const std::string& code);
[[nodiscard]] Exit version_command(const Context& context);

}  // namespace ringway::router
