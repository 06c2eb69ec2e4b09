// A block in a better order.
#pragma once

#include "analysis/addresses.h"
#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

/// By longest latency path, or with loads and what computes their addresses as early as possible and the rest as it
/// was.
enum class Order : uint8_t { critical_path, loads_first };

struct Apart;

/// The edits that put a block in that order; none where it stays as it is. `addresses`, of the whole function, lets
/// more accesses pass each other, and so do `pairs` (apart.h).
std::vector<recover::Edit> scheduled(const Facts& facts, const analysis::Block& block, Order order,
                                     const analysis::Addresses* addresses = nullptr,
                                     const std::vector<Apart>& pairs = {});

} // namespace asmevo::search::rewrite
