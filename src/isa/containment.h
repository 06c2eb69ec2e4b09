// LLVM reports what it did not expect by ending the process, or by not expecting it and running into memory that is not
// its own. On bytes and text that anyone may have made, that is an ordinary outcome here: inside contained(), a fatal
// error or a fault of this thread comes back to the caller instead. What LLVM was working on is left as it was and must
// be thrown away.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace asmevo::isa {

/// Runs `work`; returns LLVM's fatal error message where it raised one, or the name of the fault (SIGSEGV, SIGBUS,
/// SIGILL, SIGFPE; a stack that has run out too). Faults outside of contained() end the process as ever, and so does
/// SIGABRT: it says that the heap is damaged, and nothing after that can be trusted.
std::optional<std::string> contained(const std::function<void()>& work);

} // namespace asmevo::isa
