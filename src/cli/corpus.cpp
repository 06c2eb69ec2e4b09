#include "cli/corpus.h"

#include "isa/target.h"
#include "object/container.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::cli {
namespace {

bool is_supported(std::string_view processor) {
  std::string name(processor.substr(0, processor.find(':')));
  return name.empty() || name == "gfx9-4-generic" || isa::processor_from_name(name);
}

class Walk {
public:
  Walk(const std::string& target, const std::function<void(Specimen)>& see) : target_(target), see_(see) {}

  Result<void> path(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) return file(path, false);
    std::vector<std::string> files;
    for (auto entry = std::filesystem::recursive_directory_iterator(path, error);
         !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error))
      if (entry->is_regular_file()) files.push_back(entry->path().string());
    if (error) return fail("{}: cannot read: {}", path, error.message());
    std::ranges::sort(files);
    for (const std::string& name : files) AE_CHECK(file(name, true));
    return {};
  }

  PassedOver passed_over;

private:
  Result<void> file(const std::string& path, bool in_folder) {
    AE_TRY(FileBytes bytes, FileBytes::map(path));
    if (object::holds_code_objects(bytes.span())) return container(std::move(bytes), path);
    static constexpr uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
    if (in_folder && !std::ranges::equal(bytes.span().first(std::min<size_t>(bytes.span().size(), 4)), magic)) {
      passed_over.other_files++;
      return {};
    }
    see_({path, Bytes(bytes.span().begin(), bytes.span().end())});
    return {};
  }

  Result<void> container(FileBytes bytes, const std::string& path) {
    AE_TRY(object::Container container, object::read_container(std::move(bytes), path));
    return object::each_code_object(container, [&](const object::Place& place) -> Result<void> {
      if (!target_.empty() && !object::is_for(place.processor, target_)) return {};
      if (!is_supported(place.processor)) {
        passed_over.unsupported[place.processor.substr(0, place.processor.find(':'))]++;
        return {};
      }
      see_({fmt::format("{}: entry {}.{}", path, place.bundle, place.entry),
            Bytes(place.bytes.begin(), place.bytes.end())});
      return {};
    });
  }

  const std::string& target_;
  const std::function<void(Specimen)>& see_;
};

} // namespace

Result<PassedOver> each_specimen(std::span<const std::string> paths, const std::string& target,
                                 const std::function<void(Specimen)>& see) {
  Walk walk(target, see);
  for (const std::string& path : paths) AE_CHECK(walk.path(path));
  return std::move(walk.passed_over);
}

} // namespace asmevo::cli
