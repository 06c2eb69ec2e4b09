// Records against an object: which instruction each one means, and whether it says the same of it.
#pragma once

#include "profile/import.h"
#include "profile/import/record.h"

namespace asmevo::profile {

/// Errors: as import_profile().
Result<Profile> match(const Reading& reading, const Subject& subject, const std::string& path);

} // namespace asmevo::profile
