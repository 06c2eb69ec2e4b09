// bundle: a changed code object back into a copy of what the original came in.
#include "cli/contents.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "recover/recover.h"
#include "support/hash.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string object, into, output, entry;
};

// The entries whose original this object could be: the same target and the same kernels, or the one that was named.
Result<Content> place_of(const Input& changed, const object::Container& container, const std::string& entry,
                         Bytes& original) {
  std::vector<std::string> kernels;
  for (const object::Kernel& kernel : changed.object->kernels) kernels.push_back(kernel.name);
  std::ranges::sort(kernels);
  std::string target = object::entry_processor({.target = isa::target_id(changed.codec.target())});
  std::vector<Content> found;
  AE_CHECK(each_content(container, {.target = "", .kernel = "", .entry = entry}, [&](const Content& c) -> Result<void> {
    Content content = c;
    std::ranges::sort(content.kernels);
    if (entry.empty() && (!object::is_for(content.target, target) || content.kernels != kernels)) return {};
    original.assign(c.place.bytes.begin(), c.place.bytes.end());
    found.push_back(std::move(content));
    return {};
  }));
  if (found.empty() && !entry.empty()) return fail("{}: no code object {}", container.path, entry);
  if (found.empty())
    return fail("{}: no code object for {} with the kernels of {}", container.path, target, changed.object->path);
  if (found.size() == 1) return found.front();
  std::string ids;
  for (const Content& content : found) ids += (ids.empty() ? "" : ", ") + content.id;
  return fail("{}: {} could go to {}: say which with --entry", container.path, changed.object->path, ids);
}

// Reads the new file back: the entry is what was given, all others are what they were.
Result<void> check_copy(const object::Container& before, const Bytes& after, const Content& at,
                        std::span<const uint8_t> object, const std::string& path) {
  AE_TRY(object::Container copy, object::read_container(FileBytes(after), path));
  AE_TRY(object::OpenBundle old_bundle, object::open_bundle(before, at.place.bundle));
  AE_TRY(object::OpenBundle new_bundle, object::open_bundle(copy, at.place.bundle));
  bool same = copy.bundles.size() == before.bundles.size() && new_bundle.entries.size() == old_bundle.entries.size();
  for (size_t e = 0; same && e < old_bundle.entries.size(); e++)
    same = std::ranges::equal(new_bundle.data(new_bundle.entries[e]),
                              e == at.place.entry ? object : old_bundle.data(old_bundle.entries[e]));
  for (size_t b = 0; same && b < before.bundles.size(); b++) {
    if (b == at.place.bundle) continue;
    const object::Bundle &was = before.bundles[b], &is = copy.bundles[b];
    same = std::ranges::equal(before.bytes.span().subspan(was.offset, was.size),
                              copy.bytes.span().subspan(is.offset, is.size));
  }
  return same ? Result<void>{} : fail("{}: not written: reading the copy back gives other contents", path);
}

Result<ExitStatus> run(const Options& options) {
  AE_CHECK(check_writable(options.output));
  AE_TRY(Input changed, open_input(options.object));
  AE_TRY(object::Container container, open_container(options.into));
  Bytes original;
  AE_TRY(Content at, place_of(changed, container, options.entry, original));
  AE_TRY(object::CodeObject like, object::read_code_object(std::move(original), options.into + ": entry " + at.id));
  if (auto difference = recover::abi_difference(like, *changed.object))
    return fail("{}: not a drop-in replacement of entry {} of {}: {}", options.object, at.id, options.into,
                *difference);
  const Bytes& object = changed.object->bytes;
  AE_TRY(Bytes copy, object::replace_entry(container, at.place.bundle, at.place.entry, object));
  AE_CHECK(check_copy(container, copy, at, object, options.output));
  AE_CHECK(write_file(options.output, copy));
  std::error_code ignored; // a program stays one that can be run
  std::filesystem::permissions(options.output, std::filesystem::status(options.into, ignored).permissions(), ignored);
  return answer(options, fmt::format("{}: entry {} ({}) replaced\n", options.output, at.id, at.target),
                {{"output", options.output},
                 {"entry", at.id},
                 {"target", at.target},
                 {"bytes", copy.size()},
                 {"sha256", sha256_hex(copy)}});
}

} // namespace

const Verb bundle_verb = {
    "bundle", "put a changed code object into a copy of its bundle, program or library",
    "  asmevo bundle faster.hsaco --into libkernels.so -o faster/libkernels.so\n"
    "  asmevo bundle faster.hsaco --into kernels.hipfb --entry 0.2 -o faster.hipfb\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            file_option(a, o.object, "OBJECT", "the changed code object");
            a.add_option("--into", o.into, "what the original came in")->required()->type_name("FILE");
            a.add_option("--entry", o.entry, "which one it replaces, where that is not clear (as extract numbers them)")
                ->type_name("B.E");
            output_option(a, o.output, "the copy to write");
            a.get_option("--output")->required();
          },
          run);
    }};

} // namespace asmevo::cli
