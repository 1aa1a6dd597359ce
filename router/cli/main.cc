// ringway: the command.
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include "router/cli/cli.h"
#include "router/control/daemon.h"

int main(int argc, char** argv) {
  return ringway::router::run_cli(std::vector<std::string>{argv + 1, argv + argc}, std::cout,
                                  std::cerr, ringway::router::wants_color(STDOUT_FILENO));
}
