// deny_io_uring: runs a program in a sandbox without io_uring, as container runtimes do.
//
//   deny_io_uring EPERM|ENOSYS|ENOMEM setup|register|enter PROGRAM [ARGUMENT...]
//
// The named system call fails with the error given, for the program and all its children.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <seccomp.h>
#include <unistd.h>

namespace {

struct Word {
  std::string_view text;
  int value;
};

constexpr std::array<Word, 3> kErrors{{{"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"ENOMEM", ENOMEM}}};
constexpr std::array<Word, 3> kCalls{{{"setup", SCMP_SYS(io_uring_setup)},
                                      {"register", SCMP_SYS(io_uring_register)},
                                      {"enter", SCMP_SYS(io_uring_enter)}}};

const Word* find(const std::array<Word, 3>& words, std::string_view text) {
  for (const Word& word : words) {
    if (word.text == text) {
      return &word;
    }
  }
  return nullptr;
}

bool deny(int call, int error) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) {
    return false;
  }
  const bool loaded =
      seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, 0) == 0 &&
      seccomp_load(filter) == 0;
  seccomp_release(filter);
  return loaded;
}

}  // namespace

int main(int argc, char** argv) {
  const Word* error = argc > 1 ? find(kErrors, argv[1]) : nullptr;
  const Word* call = argc > 2 ? find(kCalls, argv[2]) : nullptr;
  if (error == nullptr || call == nullptr || argc < 4) {
    std::fputs("usage: deny_io_uring EPERM|ENOSYS|ENOMEM setup|register|enter PROGRAM...\n",
               stderr);
    return 2;
  }
  if (!deny(call->value, error->value)) {
    std::perror("deny_io_uring: seccomp");
    return 125;
  }
  ::execvp(argv[3], argv + 3);
  std::perror(argv[3]);
  return 127;
}
