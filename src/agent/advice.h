// What a verdict means for the next proposal, in words for a model.
#pragma once

#include "gate/verdict.h"

#include <string_view>

namespace asmevo::agent {

std::string_view advice(gate::Outcome outcome);

} // namespace asmevo::agent
