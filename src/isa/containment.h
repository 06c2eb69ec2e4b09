// LLVM reports what it did not expect by ending the process. On bytes and text that anyone may have made, that is an
// ordinary outcome here: inside contained(), a fatal error of this thread unwinds to the caller instead. What LLVM was
// working on is left as it was and must be thrown away.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace asmevo::isa {

/// Runs `work`; returns LLVM's fatal error message where it raised one.
std::optional<std::string> contained(const std::function<void()>& work);

} // namespace asmevo::isa
