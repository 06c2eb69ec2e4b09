#pragma once

#include <string_view>

namespace asmevo {

inline constexpr std::string_view version = "0.1.0";

} // namespace asmevo
