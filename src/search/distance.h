// How different two versions are.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace asmevo::search {

/// What a listing is made of: the text of its basic blocks, without names of labels, and the resources that it
/// declares.
using Signature = std::set<std::string>;
Signature signature_of(std::string_view listing);

/// 0 for equal ones, 1 for those that have nothing in common: the share of blocks and resources that only one has.
double distance(const Signature& a, const Signature& b);

} // namespace asmevo::search
