// Where models are, and what opens the door.
//
// `--provider NAME` is one of the protocols, or an entry of the configuration file, which may give a server of one's
// own, where its key is, how often it may be asked, and what it costs. Keys come from the environment or that file and
// stay in memory; what a run stores is the name of the provider, and no more.
#pragma once

#include "agent/provider.h"
#include "agent/secrets.h"
#include "support/result.h"

#include <optional>

namespace asmevo::agent {

/// Of a million tokens, in a currency of one's own.
struct Price {
  double input = 0, output = 0;
};

struct Provider {
  const Protocol* protocol = nullptr;
  std::string name, url;          // of requests
  std::string key;                // may be empty on servers of one's own
  bool own_service = false;       // the one that the protocol is named after
  double requests_per_minute = 0; // 0: unlimited
  std::optional<Price> price;     // of the model that was asked for
};

/// $XDG_CONFIG_HOME/asmevo/config.json, or the same in ~/.config; empty where there is no such place.
std::string config_path();

/// Errors: no such provider; no key where one is needed; what is wrong in the configuration file, with its line.
Result<Provider> find_provider(const std::string& name, const std::string& model, const std::string& config_file);

} // namespace asmevo::agent
