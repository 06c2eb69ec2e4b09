// Content addresses: SHA-256 in lower-case hex.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace asmevo {

std::string sha256_hex(std::span<const uint8_t> bytes);
std::string sha256_hex(std::string_view text);

} // namespace asmevo
