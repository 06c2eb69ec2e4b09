// What was found about regions, by their content.
//
// A search looks at hundreds of candidates that share most of their edits, so most regions that differ from the
// original have been looked at before. What a proof depends on is little: the instructions of both versions, which
// registers are live where the region begins and ends, what lies behind each barrier, and the policy. Where these are
// the same, so is the answer; numbers of labels, addresses and the rest of the program do not matter.
#pragma once

#include "prove/comparison.h"

namespace asmevo::prove {

/// sha256 of all that Comparison looks at.
std::string region_key(const Version& original, const Version& candidate, const Correspondence& correspondence,
                       const Region& region, const Policy& policy, const Waves& waves);

/// One thread's.
class Cache {
public:
  /// Null where such a region has not been looked at.
  const Proof* find(const std::string& key) const;
  void keep(const std::string& key, Proof proof);

private:
  static constexpr size_t most = 100'000;
  std::unordered_map<std::string, Proof> known_;
};

} // namespace asmevo::prove
