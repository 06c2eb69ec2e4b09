#include "cli/receipts.h"

#include "support/build_id.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/version.h"

#include <cstdlib>
#include <filesystem>

namespace asmevo::cli {
namespace {

namespace fs = std::filesystem;

bool reads_files(const launch::Launch& launch) {
  for (const launch::Case& c : launch.cases)
    for (const launch::Buffer& buffer : c.buffers)
      if (!buffer.fill.path.empty()) return true;
  return false;
}

/// Empty where the environment names no place.
fs::path folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "asmevo/receipts";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/asmevo/receipts";
  return {};
}

} // namespace

std::string receipt_name(const Setting& setting, const device::Loaded& candidate) {
  const std::string build = build_id();
  if (build.empty() || folder().empty() || reads_files(setting.launch)) return {};
  return sha256_hex(fmt::format("{} {}\n{}\n{}\n{}\n{}\n{}\n{}\n", version, build, setting.kernel->name,
                                sha256_hex(setting.input.object->bytes), sha256_hex(candidate.object->bytes),
                                setting.launch.hash, oracle::default_policy().hash(), setting.device->description()));
}

void keep_receipt(const std::string& name, const Verification& verification) {
  if (name.empty() || !verification.holds()) return;
  std::error_code error;
  fs::create_directories(folder(), error);
  // A receipt that cannot be kept only costs the next command its time.
  if (!error) (void)write_text_file((folder() / name).string(), verification.judgement.evidence);
}

std::optional<std::string> kept_receipt(const std::string& name) {
  if (name.empty()) return std::nullopt;
  auto text = read_text_file((folder() / name).string(), 65536);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

} // namespace asmevo::cli
