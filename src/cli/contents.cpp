#include "cli/contents.h"

#include "isa/target.h"

#include <algorithm>

namespace asmevo::cli {
namespace {

Content content_of(const object::Container& container, const object::Place& place) {
  Content content{.place = place,
                  .id = fmt::format("{}.{}", place.bundle, place.entry),
                  .target = place.processor,
                  .kernels = {},
                  .problem = {}};
  std::string where = container.bundles[place.bundle].packing == object::Packing::bare
                          ? container.path
                          : fmt::format("{}: entry {}", container.path, content.id);
  auto object = object::read_code_object(Bytes(place.bytes.begin(), place.bytes.end()), where);
  if (!object) {
    content.problem = object.error().message;
    return content;
  }
  for (const object::Kernel& kernel : object->kernels) content.kernels.push_back(kernel.name);
  if (content.target.empty())
    if (auto target = isa::target_from_elf(object->e_flags, object->abi_version, where))
      content.target = object::entry_processor({.target = isa::target_id(*target)});
  return content;
}

bool is_chosen(const Content& content, const Choice& choice) {
  if (!choice.target.empty() && !object::is_for(content.target, choice.target)) return false;
  return choice.kernel.empty() || std::ranges::find(content.kernels, choice.kernel) != content.kernels.end();
}

} // namespace

Result<object::Container> open_container(const std::string& path) {
  AE_TRY(FileBytes bytes, FileBytes::map(path));
  return object::read_container(std::move(bytes), path);
}

Result<void> each_content(const object::Container& container, const Choice& choice,
                          const std::function<Result<void>(const Content&)>& see) {
  return object::each_code_object(container, [&](const object::Place& place) -> Result<void> {
    // What the table of the bundle can answer is asked before the object is read.
    if (!choice.entry.empty() && choice.entry != fmt::format("{}.{}", place.bundle, place.entry)) return {};
    if (!choice.target.empty() && !place.processor.empty() && !object::is_for(place.processor, choice.target))
      return {};
    Content content = content_of(container, place);
    return is_chosen(content, choice) ? see(content) : Result<void>{};
  });
}

nlohmann::json to_json(const Content& content) {
  nlohmann::json document = {{"entry", content.id},
                             {"target", content.target},
                             {"bytes", content.place.bytes.size()},
                             {"kernels", content.kernels}};
  if (content.problem) document["problem"] = *content.problem;
  return document;
}

} // namespace asmevo::cli
