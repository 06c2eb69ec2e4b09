// Versions, attempts and runs as JSON.
#pragma once

#include "search/lineage.h"

#include <nlohmann/json.hpp>

namespace asmevo::search {

nlohmann::json to_json(const Version& version); // without the listing
nlohmann::json to_json(const Attempt& attempt);
nlohmann::json to_json(const Decision& decision);
nlohmann::json to_json(const RunInfo& info);

} // namespace asmevo::search
