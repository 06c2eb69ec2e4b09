// What analysis says of the addresses of a kernel, one line a memory instruction, to be read beside its listing.
#pragma once

#include "recover/program.h"

#include <nlohmann/json.hpp>
#include <string>

namespace asmevo::cli {

struct AddressView {
  std::string text;
  nlohmann::json json;
};

AddressView addresses_of(const recover::Program& program, const recover::Function& function);

} // namespace asmevo::cli
