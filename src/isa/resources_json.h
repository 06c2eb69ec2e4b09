// Resources and occupancy as JSON.
#pragma once

#include "isa/resources.h"

#include <nlohmann/json.hpp>

namespace asmevo::isa {

nlohmann::json to_json(const Resources& resources);
nlohmann::json to_json(const Occupancy& occupancy);

} // namespace asmevo::isa
