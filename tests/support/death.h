// Checking that a broken invariant stops the process.
#pragma once

#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

namespace ringway::test {

// True if `action` ends the process by abort(), tried in a child whose standard error is closed.
template <class Action>
[[nodiscard]] bool aborts(const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);  // doctest reports the signal itself otherwise
    ::close(STDERR_FILENO);
    action();
    ::_exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGABRT;
}

}  // namespace ringway::test
