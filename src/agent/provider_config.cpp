#include "agent/provider_config.h"

#include "support/json.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

namespace asmevo::agent {
namespace {

std::string variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value ? value : "";
}

const Protocol* protocol_named(std::string_view name) {
  const auto found = std::ranges::find(protocols(), name, &Protocol::name);
  return found == protocols().end() ? nullptr : &*found;
}

/// One entry of "providers", as it is written.
struct Entry {
  std::string kind, base_url, api_key, api_key_env;
  double requests_per_minute = 0;
  std::optional<Price> price;
};

Result<Price> price_of(const JsonView& view) {
  Price price;
  AE_CHECK(view.expect_keys("price", {"input", "output"}));
  for (const char* key : {"input", "output"})
    if (!view.has(key)) return view.fail("a price has \"input\" and \"output\", of a million tokens");
  AE_TRY(price.input, view.at("input").number("input"));
  AE_TRY(price.output, view.at("output").number("output"));
  if (price.input < 0 || price.output < 0) return view.fail("a price is not negative");
  return price;
}

Result<Entry> entry_of(const JsonView& view, const std::string& model, const std::string& file) {
  Entry entry;
  AE_CHECK(view.expect_object("a provider"));
  AE_CHECK(
      view.expect_keys("a provider", {"kind", "base_url", "api_key", "api_key_env", "requests_per_minute", "prices"}));
  for (const auto& [key, member] : {std::pair{"kind", &Entry::kind},
                                    {"base_url", &Entry::base_url},
                                    {"api_key", &Entry::api_key},
                                    {"api_key_env", &Entry::api_key_env}})
    if (view.has(key)) {
      AE_TRY(entry.*member, view.at(key).string(key));
    }
  if (view.has("requests_per_minute")) {
    AE_TRY(entry.requests_per_minute, view.at("requests_per_minute").number("requests_per_minute"));
    if (entry.requests_per_minute <= 0) return view.at("requests_per_minute").fail("it must be positive");
  }
  if (view.has("prices")) {
    AE_CHECK(view.at("prices").expect_object("prices"));
    if (view.at("prices").has(model)) {
      AE_TRY(entry.price, price_of(view.at("prices").at(model)));
    }
  }
  struct stat status{};
  if (!entry.api_key.empty() && stat(file.c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    return fail("{}: holds a key and can be read by others: chmod 600 {}", file, file);
  return entry;
}

struct Found {
  Entry entry;
  bool there = false;
};

/// The entry of the file; a built-in provider needs none.
Result<Found> read_entry(const std::string& name, const std::string& model, const std::string& file) {
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return Found{};
  AE_TRY(auto document, read_json(file));
  const JsonView root(document);
  AE_CHECK(root.expect_object("the configuration"));
  AE_CHECK(root.expect_keys("the configuration", {"providers"}));
  if (!root.has("providers")) return Found{};
  AE_CHECK(root.at("providers").expect_object("providers"));
  if (!root.at("providers").has(name)) return Found{};
  AE_TRY(Entry entry, entry_of(root.at("providers").at(name), model, file));
  return Found{std::move(entry), true};
}

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

Result<void> check(const Provider& provider, const std::string& key_variable) {
  const std::string& url = provider.url;
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail("provider {}: the base URL must begin with https:// or http://", provider.name);
  if (!printable(url) || url.find('@') != std::string::npos)
    return fail("provider {}: the base URL may hold no blanks and no user or password", provider.name);
  if (!printable(provider.key)) return fail("provider {}: the key has characters that no key has", provider.name);
  if (provider.key.empty() && provider.own_service)
    return fail("provider {}: needs a key: set {}", provider.name, key_variable);
  if (!provider.key.empty() && url.starts_with("http://") && !is_local(url))
    return fail("provider {}: a key is not sent unencrypted to another machine; use https", provider.name);
  return {};
}

} // namespace

std::string config_path() {
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty()) return folder + "/asmevo/config.json";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.config/asmevo/config.json";
  return {};
}

Result<Provider> find_provider(const std::string& name, const std::string& model, const std::string& config_file) {
  AE_TRY(const Found found, read_entry(name, model, config_file));
  const Entry& entry = found.entry;
  Provider provider{.protocol = protocol_named(entry.kind.empty() ? name : entry.kind), .name = name};
  if (!provider.protocol) {
    std::string known;
    for (const Protocol& protocol : protocols()) known += (known.empty() ? "" : ", ") + std::string(protocol.name);
    if (found.there) return fail("{}: provider {} needs a \"kind\": {}", config_file, name, known);
    return fail("--provider {}: no such provider; there are {}, and what {} defines", name, known,
                config_file.empty() ? "a configuration file" : config_file);
  }
  const Protocol& protocol = *provider.protocol;
  std::string base = entry.base_url.empty() ? variable(protocol.base_url_variable) : entry.base_url;
  if (base.empty()) base = protocol.base_url;
  while (base.ends_with('/')) base.pop_back();
  provider.own_service = base == protocol.base_url;
  provider.url = base + std::string(protocol.path);
  // The key of the service is for the service, and for a server that the environment puts in its place.
  const std::string key_variable = entry.api_key_env.empty() ? std::string(protocol.key_variable) : entry.api_key_env;
  provider.key = entry.api_key;
  if (provider.key.empty() && (!entry.api_key_env.empty() || entry.base_url.empty()))
    provider.key = variable(key_variable);
  provider.requests_per_minute = entry.requests_per_minute;
  provider.price = entry.price;
  AE_CHECK(check(provider, key_variable));
  return provider;
}

} // namespace asmevo::agent
