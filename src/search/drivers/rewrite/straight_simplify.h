// Straight-line code with less in it.
#pragma once

#include "search/drivers/rewrite/straight_code.h"

namespace asmevo::search::rewrite {

/// Vector arithmetic whose results nobody sees in other lanes runs in all of them, what is computed twice is computed
/// once, neighbouring scalar loads become one, and what nobody wants goes.
void simplify(StraightCode& code);

} // namespace asmevo::search::rewrite
