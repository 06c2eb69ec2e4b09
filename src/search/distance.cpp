#include "search/distance.h"

#include <algorithm>
#include <vector>

namespace asmevo::search {
namespace {

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : line.substr(first, line.find_last_not_of(" \t") + 1 - first);
}

} // namespace

Signature signature_of(std::string_view listing) {
  Signature signature;
  std::string block;
  const auto end_block = [&] {
    if (!block.empty()) signature.insert(std::move(block));
    block.clear();
  };
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    const std::string_view line = trimmed(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
    const bool branch = line.starts_with("s_cbranch") || line.starts_with("s_branch");
    if (line.ends_with(':')) {
      end_block();
    } else if (line.starts_with(".amdhsa_")) {
      signature.emplace(line);
    } else if (!line.empty() && line[0] != '.') {
      block += branch ? line.substr(0, line.find(' ')) : line;
      block += '\n';
    }
    if (branch) end_block();
  }
  end_block();
  return signature;
}

double distance(const Signature& a, const Signature& b) {
  std::vector<std::string> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  const size_t all = a.size() + b.size() - common.size();
  return all == 0 ? 0 : 1 - double(common.size()) / double(all);
}

} // namespace asmevo::search
