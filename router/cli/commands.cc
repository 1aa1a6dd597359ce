// Each command: get a document, choose from it, show it.
#include "router/cli/commands.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "config/load.h"
#include "netio/base/result.h"
#include "router/cli/client.h"
#include "router/cli/exit.h"
#include "router/cli/render.h"
#include "router/cli/suggest.h"
#include "router/control/capabilities.h"
#include "router/control/daemon.h"
#include "router/control/status.h"

namespace ringway::router {

namespace {

using Render = std::string (*)(const Json&, bool);

// The array of a document that a name selects from is called like the document's kind.
struct Topic {
  std::string_view name;
  Render render;
};
constexpr std::array<Topic, 3> kTopics{
    {{"drops", &render_drops}, {"tunnels", &render_tunnels}, {"ports", &render_ports}}};

Exit exit_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return Exit::ok;
    case Outcome::config_invalid:
      return Exit::config_invalid;
    case Outcome::no_permission:
      return Exit::permission;
    case Outcome::unavailable:
      break;
  }
  return Exit::failed;
}

std::string to_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void show(const Context& context, const Json& document, Render render) {
  context.out << (context.json ? to_text(document) : render(document, context.color));
}

std::string socket_of(const Context& context) {
  if (!context.socket_path.empty()) {
    return context.socket_path;
  }
  return usual_socket_path(::geteuid(),
                           std::getenv("XDG_RUNTIME_DIR"));  // NOLINT(concurrency-mt-unsafe)
}

Exit report(const Context& context, const Error& error) {
  context.err << "ringway: " << error.text() << '\n';
  return exit_for(error);
}

// Keeps the entries of document[array] with this name; false if there is none.
bool select(Json& document, const char* array, const std::string& name) {
  Json kept = Json::array();
  for (const Json& entry : document[array]) {
    if (entry.value("name", "") == name) {
      kept.push_back(entry);
    }
  }
  const bool found = !kept.empty();
  if (found) {
    document[array] = std::move(kept);
  }
  return found;
}

Exit not_found(const Context& context, const Json& document, const char* array,
               const std::string& name) {
  std::vector<std::string> names;
  for (const Json& entry : document[array]) {
    names.push_back(entry.value("name", ""));
  }
  const std::vector<std::string_view> known{names.begin(), names.end()};
  const std::string_view meant = did_you_mean(name, known);
  context.err << "ringway: there is no '" << name << "' among the " << array << " of this daemon";
  if (!meant.empty()) {
    context.err << "; did you mean '" << meant << "'?";
  }
  context.err << "\n      = fix:  list them: ringway show " << array << '\n';
  return Exit::not_found;
}

Json diagnostics_document(const config::Loaded& loaded) {
  Json diagnostics = Json::array();
  for (const config::Diagnostic& one : loaded.diagnostics) {
    diagnostics.push_back(
        Json{{"severity", one.severity == config::Severity::error ? "error" : "warning"},
             {"code", one.code},
             {"line", one.line},
             {"column", one.column},
             {"length", one.length},
             {"message", one.message},
             {"hint", one.hint},
             {"help", one.help}});
  }
  return Json{{"schema", kSchema},
              {"kind", "check"},
              {"file", loaded.file},
              {"ok", loaded.ok()},
              {"tunnels", loaded.ok() ? Json(loaded.config->tunnels.size()) : Json(nullptr)},
              {"diagnostics", std::move(diagnostics)}};
}

}  // namespace

Exit check_command(const Context& context, const std::string& file) {
  if (!context.json) {
    return exit_of(check_config(file, context.out, context.err));
  }
  const config::Loaded loaded = config::load_file(file);
  context.out << to_text(diagnostics_document(loaded));
  return loaded.ok() ? Exit::ok : Exit::config_invalid;
}

Exit status_command(const Context& context, const std::string& name, bool exit_code) {
  auto answer = ask(socket_of(context), "status");
  if (!answer) {
    return report(context, answer.error());
  }
  Json& document = answer.value();
  if (!name.empty() && !select(document, "tunnels", name)) {
    return not_found(context, document, "tunnels", name);
  }
  show(context, document, &render_status);
  const Json& tunnels = document["tunnels"];
  const bool well = std::all_of(tunnels.begin(), tunnels.end(), [](const Json& tunnel) {
    return tunnel.value("state", "") == "up";
  });
  return exit_code && !well ? Exit::degraded : Exit::ok;
}

Exit show_command(const Context& context, const std::string& topic, const std::string& name) {
  const auto* const found = std::find_if(kTopics.begin(), kTopics.end(),
                                         [&](const Topic& one) { return one.name == topic; });
  if (found == kTopics.end()) {
    return Exit::usage;
  }
  auto answer = ask(socket_of(context), topic);
  if (!answer) {
    return report(context, answer.error());
  }
  if (!name.empty() && !select(answer.value(), topic.c_str(), name)) {
    return not_found(context, answer.value(), topic.c_str(), name);
  }
  show(context, answer.value(), found->render);
  return Exit::ok;
}

Exit capabilities_command(const Context& context) {
  auto answer = ask(socket_of(context), "capabilities");
  if (answer) {
    answer.value()["asked"] = "daemon";
    show(context, answer.value(), &render_capabilities);
    return Exit::ok;
  }
  if (!context.socket_path.empty()) {
    return report(context, answer.error());
  }
  context.err << "ringway: no daemon answers; this is what the command itself may do\n";
  Json document = capabilities_document(probe_capabilities());
  document["asked"] = "self";
  show(context, document, &render_capabilities);
  return Exit::ok;
}

Exit run_command(const Context& context, const std::string& file) {
  DaemonOptions options;
  options.program = "ringway";
  options.config_path = file;
  options.socket_path = context.socket_path;
  options.private_socket = true;
  return exit_of(run_daemon(options));
}

Exit explain_command(const Context& context, const std::string& code) {
  std::string wanted = code;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](char letter) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  });
  const std::string_view text = config::explain_code(wanted);
  if (text.empty()) {
    context.err << "ringway: there is no message code '" << code
                << "'\n      = fix:  codes stand in brackets behind messages: [RW1002]\n";
    return Exit::not_found;
  }
  if (context.json) {
    context.out << to_text(
        Json{{"schema", kSchema}, {"kind", "code"}, {"code", wanted}, {"explanation", text}});
  } else {
    context.out << text << (text.back() == '\n' ? "" : "\n");
  }
  return Exit::ok;
}

Exit version_command(const Context& context) {
  if (context.json) {
    context.out << to_text(
        Json{{"schema", kSchema}, {"kind", "version"}, {"version", RINGWAY_VERSION}});
  } else {
    context.out << "ringway " << RINGWAY_VERSION << '\n';
  }
  return Exit::ok;
}

}  // namespace ringway::router
