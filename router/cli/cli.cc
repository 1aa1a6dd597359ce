// The grammar of the command line (CLI11), and words for those who slip.
#include "router/cli/cli.h"

#include <cstddef>
#include <exception>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "router/cli/commands.h"
#include "router/cli/exit.h"
#include "router/cli/suggest.h"

namespace ringway::router {

namespace {

constexpr const char* kUsualConfig = "/etc/ringway/ringway.yaml";

// What the arguments ask for.
struct Request {
  bool json = false;
  bool version = false;
  bool exit_code = false;
  std::string socket_path;
  std::string file = kUsualConfig;
  std::string name;
  std::string code;
};

class Grammar {
 public:
  Grammar();

  void parse(const std::vector<std::string>& arguments);
  // Precondition: parse() has not thrown.
  [[nodiscard]] Exit execute(std::ostream& out, std::ostream& err, bool color) const;
  // A sentence for words that parse() did not understand.
  [[nodiscard]] std::string explain(const std::vector<std::string>& arguments,
                                    const CLI::ParseError& error) const;
  [[nodiscard]] const CLI::App& app() const noexcept { return app_; }

 private:
  CLI::App* add(CLI::App& parent, const char* name, const char* text);
  void add_show();

  Request request_;
  CLI::App app_{"Asks and runs Ringway: tunnels and routes in user space.", "ringway"};
  CLI::App* check_ = nullptr;
  CLI::App* status_ = nullptr;
  CLI::App* show_ = nullptr;
  CLI::App* run_ = nullptr;
  CLI::App* help_ = nullptr;
  CLI::App* version_ = nullptr;
};

// Options of the program may stand before and after the verb.
CLI::App* Grammar::add(CLI::App& parent, const char* name, const char* text) {
  CLI::App* const command = parent.add_subcommand(name, text);
  command->fallthrough();
  return command;
}

Grammar::Grammar() {
  app_.add_flag("-j,--json", request_.json, "JSON instead of text");
  app_.add_option("--socket", request_.socket_path, "the daemon's control socket")
      ->type_name("PATH");
  app_.set_help_flag("-h,--help", "show this help and exit");
  app_.add_flag("--version", request_.version, "show the version and exit");
  app_.require_subcommand(0, 1);
  app_.footer(
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 configuration invalid, 4 daemon "
      "unreachable,\n5 permission, 6 degraded, 7 not found. See ringway(1).");

  status_ = add(app_, "status", "one screen: what runs, and what is wrong");
  status_->add_option("NAME", request_.name, "only this tunnel");
  status_->add_flag("--exit-code", request_.exit_code, "exit with 6 unless all is well");
  add_show();
  check_ = add(app_, "check", "check a configuration; needs no daemon and no rights");
  check_->add_option("FILE", request_.file, std::string{"default: "} + kUsualConfig);
  run_ = add(app_, "run", "run a configuration in the foreground");
  run_->add_option("FILE", request_.file, "configuration file")->required();
  help_ = add(app_, "help", "show this help, or explain a message code");
  help_->add_option("CODE", request_.code, "the code behind a message: RW1002");
  version_ = add(app_, "version", "show the version");
}

void Grammar::add_show() {
  show_ = add(app_, "show", "details");
  show_->require_subcommand(1);
  add(*show_, "drops", "dropped packets by place and reason");
  add(*show_, "tunnels", "every tunnel with all options in effect")
      ->add_option("NAME", request_.name, "only this tunnel");
  add(*show_, "ports", "interfaces and sockets: packets, bytes, system calls")
      ->add_option("NAME", request_.name, "only this port");
  add(*show_, "capabilities", "what this machine and process allow");
}

void Grammar::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};  // as CLI11 wants them
  app_.parse(reversed);
}

Exit Grammar::execute(std::ostream& out, std::ostream& err, bool color) const {
  const Context context{out, err, request_.json, color, request_.socket_path};
  if (request_.version || version_->parsed()) {
    return version_command(context);
  }
  if (check_->parsed()) {
    return check_command(context, request_.file);
  }
  if (status_->parsed()) {
    return status_command(context, request_.name, request_.exit_code);
  }
  if (show_->parsed()) {
    const std::string topic = show_->get_subcommands().front()->get_name();
    return topic == "capabilities" ? capabilities_command(context)
                                   : show_command(context, topic, request_.name);
  }
  if (run_->parsed()) {
    return run_command(context, request_.file);
  }
  if (help_->parsed()) {
    if (request_.code.empty()) {
      out << Grammar{}.app().help();  // of the program: our own app_ would show that of `help`
      return Exit::ok;
    }
    return explain_command(context, request_.code);
  }
  err << "ringway: a command is missing\n" << app_.help();
  return Exit::usage;
}

std::string Grammar::explain(const std::vector<std::string>& arguments,
                             const CLI::ParseError& error) const {
  const CLI::App* level = &app_;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--socket") {
      ++i;  // its value is no verb
      continue;
    }
    if (word.empty() || word.front() == '-') {
      continue;
    }
    const CLI::App* next = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* command : level->get_subcommands({})) {
      names.push_back(command->get_name());
      next = command->get_name() == word ? command : next;
    }
    if (names.empty()) {
      break;  // the verb is complete; what follows is for CLI11 to judge
    }
    if (next == nullptr) {
      const std::string_view meant = did_you_mean(word, {names.begin(), names.end()});
      return fmt::format("there is no command '{}'{}", word,
                         meant.empty() ? fmt::format(": {}", fmt::join(names, ", "))
                                       : fmt::format("; did you mean '{}'?", meant));
    }
    level = next;
  }
  return error.what();
}

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
        bool color) {
  Grammar grammar;
  try {
    grammar.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      out << grammar.app().help();
      return static_cast<int>(Exit::ok);
    }
    err << "ringway: " << grammar.explain(arguments, error)
        << "\n      = fix:  see: ringway --help\n";
    return static_cast<int>(Exit::usage);
  }
  Exit exit = grammar.execute(out, err, color);
  out.flush();
  if (!out && exit == Exit::ok) {
    err << "ringway: cannot write to the standard output\n";
    exit = Exit::failed;
  }
  return static_cast<int>(exit);
}

}  // namespace

int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
            bool color) {
  try {
    return run(arguments, out, err, color);
  } catch (const std::exception& exception) {
    err << "ringway: " << exception.what() << '\n';
    return static_cast<int>(Exit::failed);
  }
}

}  // namespace ringway::router
