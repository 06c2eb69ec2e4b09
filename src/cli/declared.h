// What a kernel's descriptor reserves, and how many waves fit then.
#pragma once

#include "isa/resources.h"
#include "object/code_object.h"

#include <nlohmann/json.hpp>
#include <string>

namespace asmevo::cli {

struct Declared {
  isa::Resources resources;
  uint32_t workgroup_size = 0; // the largest that metadata allows; 64 where it does not say
  isa::Occupancy occupancy;
};

Declared declared_by(const object::Kernel& kernel, const isa::Target& target);

std::string to_text(const Declared& declared); // one line
nlohmann::json to_json(const Declared& declared);

} // namespace asmevo::cli
