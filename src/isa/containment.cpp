// Both handlers are process-wide, so they look whether this thread is inside contained() and otherwise leave, upon
// which the process ends as it always would.
//
// A fault cannot be thrown: the code it happens in is LLVM's, compiled without exceptions. The handler jumps back to
// contained() on the spot, past every destructor; what those would have freed is lost, which is the price of surviving.
// It runs on a stack of its own, since the thread's may be what has run out.
#include "isa/containment.h"

#include <array>
#include <csetjmp>
#include <csignal>
#include <llvm/Support/ErrorHandling.h>
#include <memory>
#include <mutex>

namespace asmevo::isa {
namespace {

struct FatalError {
  std::string message;
};

struct Fault {
  int signal;
  const char* name;
};
constexpr std::array faults = {Fault{SIGSEGV, "SIGSEGV"}, Fault{SIGBUS, "SIGBUS"}, Fault{SIGILL, "SIGILL"},
                               Fault{SIGFPE, "SIGFPE"}, Fault{SIGABRT, "SIGABRT"}}; // the last from assertions
std::array<struct sigaction, faults.size()> earlier;                                // what was there before

thread_local sigjmp_buf* innermost = nullptr; // of the contained() that this thread is in

void on_fatal_error(void*, const char* reason, bool) {
  if (innermost) throw FatalError{reason ? reason : "unknown"};
}

void on_fault(int signal) {
  if (innermost) siglongjmp(*innermost, signal);
  for (size_t i = 0; i < faults.size(); ++i)
    if (faults[i].signal == signal) sigaction(signal, &earlier[i], nullptr);
  raise(signal);
}

void install() {
  llvm::install_fatal_error_handler(on_fatal_error);
  struct sigaction action{};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK | SA_NODEFER; // the jump does not come back through the kernel
  for (size_t i = 0; i < faults.size(); ++i) sigaction(faults[i].signal, &action, &earlier[i]);
}

/// A stack for the handler, one a thread.
class FaultStack {
public:
  FaultStack() {
    stack_t current{};
    if (sigaltstack(nullptr, &current) == 0 && !(current.ss_flags & SS_DISABLE)) return; // somebody's already
    memory_ = std::make_unique<char[]>(size);
    stack_t own{.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = size};
    sigaltstack(&own, nullptr);
  }
  ~FaultStack() {
    stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    if (memory_) sigaltstack(&none, nullptr);
  }
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;

private:
  static constexpr size_t size = size_t{64} << 10;
  std::unique_ptr<char[]> memory_;
};

std::string describe(int signal) {
  for (const Fault& fault : faults)
    if (fault.signal == signal) return std::string("LLVM has failed with ") + fault.name;
  return "LLVM has failed";
}

std::optional<std::string> caught(const std::function<void()>& work) {
  try {
    work();
  } catch (const FatalError& error) {
    return error.message;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> contained(const std::function<void()>& work) {
  static std::once_flag once;
  std::call_once(once, install);
  static thread_local FaultStack stack;
  sigjmp_buf* const outer = innermost;
  sigjmp_buf here;
  if (const int signal = sigsetjmp(here, 0)) {
    innermost = outer;
    return describe(signal);
  }
  innermost = &here;
  auto message = caught(work);
  innermost = outer;
  return message;
}

} // namespace asmevo::isa
