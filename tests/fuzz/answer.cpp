// What comes back from outside: answers to prompts, and what servers of language models send around them.
#include "agent/provider.h"
#include "agent/reply.h"
#include "agent/secrets.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace asmevo::agent;
  const std::string text(reinterpret_cast<const char*>(data), size);
  constexpr Range shown{10, 20};
  const Reply reply = read_reply(text, shown);
  if (const auto* proposal = std::get_if<asmevo::search::Proposal>(&reply))
    for (const asmevo::recover::Edit& edit : proposal->edits)
      if (edit.first < shown.first || edit.last > shown.last || edit.first > edit.last) std::abort();
  for (const Protocol& protocol : protocols())
    if (const auto completion = protocol.read(text); completion && completion->input_tokens < 0) std::abort();
  read_error({500, text, {}});
  event_data(text);
  const Secrets secrets;
  const std::string clean = secrets.removed_from(text);
  if (secrets.removed_from(clean) != clean) std::abort(); // what is removed stays removed
  return 0;
}
