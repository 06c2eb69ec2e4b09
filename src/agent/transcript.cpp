#include "agent/transcript.h"

#include "support/json.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace asmevo::agent {
namespace {

using nlohmann::json;

/// Of a line that this program wrote; a line that was cut off by a crash says nothing.
Usage usage_in(const std::string& line) {
  const json record = json::parse(line, nullptr, false);
  if (!record.is_object()) return {};
  const auto usage = record.find("usage");
  if (usage == record.end() || !usage->is_object()) return {};
  const auto count = [&](const char* key) {
    const auto found = usage->find(key);
    return found != usage->end() && found->is_number_integer() ? std::max<int64_t>(0, found->get<int64_t>()) : 0;
  };
  const auto cost = usage->find("cost");
  return {count("input_tokens"), count("output_tokens"),
          cost != usage->end() && cost->is_number() ? cost->get<double>() : 0.0};
}

/// Every text of the record, however deep.
void remove_secrets(json& value, const Secrets& secrets) {
  if (value.is_string())
    value = secrets.removed_from(value.get_ref<const std::string&>());
  else if (value.is_structured())
    for (json& member : value) remove_secrets(member, secrets);
}

} // namespace

Result<Transcript> Transcript::open(std::string path, Secrets secrets) {
  Transcript transcript(std::move(path), std::move(secrets));
  if (transcript.path_.empty()) return transcript;
  std::ifstream earlier(transcript.path_);
  for (std::string line; std::getline(earlier, line);) transcript.spent_ += usage_in(line);
  return transcript;
}

Result<void> Transcript::add(json record, const Usage& usage) {
  spent_ += usage;
  if (path_.empty()) return {};
  remove_secrets(record, secrets_);
  record["usage"] = {
      {"input_tokens", usage.input_tokens}, {"output_tokens", usage.output_tokens}, {"cost", usage.cost}};
  std::ofstream file(path_, std::ios::app);
  file << write_json(record) << '\n' << std::flush;
  if (!file) return fail("{}: cannot write: {}", path_, std::strerror(errno));
  return {};
}

} // namespace asmevo::agent
