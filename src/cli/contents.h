// What an offload bundle, or a program that holds some, has inside: its code objects, by target and kernel.
//
// A code object in a container is named by two numbers, BUNDLE.ENTRY ("3.1"), both from 0 in the order of the file.
#pragma once

#include "cli/verb.h"
#include "object/code_object.h"
#include "object/container.h"

#include <optional>
#include <string>
#include <vector>

namespace asmevo::cli {

/// Which code objects are meant; what is empty does not restrict.
struct Choice {
  std::string target, kernel, entry;
};

/// One code object of a container. `bytes` of the place end with the call that showed it.
struct Content {
  object::Place place;
  std::string id;     // "3.1"
  std::string target; // "gfx90a:xnack-", as far as it is known
  std::vector<std::string> kernels;
  std::optional<std::string> problem; // why it cannot be read as a code object
};

Result<object::Container> open_container(const std::string& path);

/// Shows each code object that is chosen, one unpacked bundle at a time. Errors: as object::each_code_object().
Result<void> each_content(const object::Container& container, const Choice& choice,
                          const std::function<Result<void>(const Content&)>& see);

nlohmann::json to_json(const Content& content);

} // namespace asmevo::cli
