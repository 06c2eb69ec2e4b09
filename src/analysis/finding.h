// What the static gate finds, whichever rule finds it.
#pragma once

#include "recover/program.h"

namespace asmevo::analysis {

/// A finding of the static gate. `rule` is a stable id ("W001"); items index the program.
struct Finding {
  std::string rule;
  size_t item = 0;     // where it goes wrong
  size_t cause = 0;    // the other end: the load, the producer
  std::string message; // with both addresses
};

/// Address and text of an item, for messages; inserted items have no address.
std::string place_of(const recover::Item& item);

} // namespace asmevo::analysis
