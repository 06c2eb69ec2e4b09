// The handler is process-wide, so it looks whether this thread is inside contained() and otherwise returns, upon which
// LLVM aborts as it always does.
#include "isa/containment.h"

#include <llvm/Support/ErrorHandling.h>
#include <mutex>

namespace asmevo::isa {
namespace {

struct FatalError {
  std::string message;
};

thread_local int depth = 0;

void on_fatal_error(void*, const char* reason, bool) {
  if (depth > 0) throw FatalError{reason ? reason : "unknown"};
}

struct Inside {
  Inside() { ++depth; }
  ~Inside() { --depth; }
};

} // namespace

std::optional<std::string> contained(const std::function<void()>& work) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(on_fatal_error); });
  Inside inside;
  try {
    work();
  } catch (const FatalError& error) {
    return error.message;
  }
  return std::nullopt;
}

} // namespace asmevo::isa
