// Cli: the command line of `ringway`, from words to a command and an exit code.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace ringway::router {

// `arguments` without the program's name. Returns the exit code (router/cli/exit.h); throws
// nothing. `color`: whether `out` is a terminal that wants colours.
[[nodiscard]] int run_cli(const std::vector<std::string>& arguments, std::ostream& out,
                          std::ostream& err, bool color);

}  // namespace ringway::router
