// Render: the daemon's JSON documents as text for people.
#pragma once

#include <string>

#include "router/control/status.h"

namespace ringway::router {

// One screen: what runs, degraded tunnels first, each with cause and next step.
[[nodiscard]] std::string render_status(const Json& document, bool color);
[[nodiscard]] std::string render_drops(const Json& document, bool color);
[[nodiscard]] std::string render_tunnels(const Json& document, bool color);
[[nodiscard]] std::string render_ports(const Json& document, bool color);
[[nodiscard]] std::string render_capabilities(const Json& document, bool color);

}  // namespace ringway::router
