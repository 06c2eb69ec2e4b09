#include "launch/kerncap.h"

#include "launch/limits.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/json.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::launch {

namespace {

constexpr uint64_t largest_kernarg = 1 << 16, largest_description = uint64_t{64} << 20;

Result<uint64_t> number(const JsonView& object, std::string_view key, uint64_t least, uint64_t most) {
  if (!object.has(key)) return object.fail("needs \"{}\"", key);
  AE_TRY(uint64_t value, object.at(key).unsigned_integer(fmt::format("\"{}\"", key)));
  if (value < least || value > most)
    return object.at(key).fail("\"{}\" is {}, allowed is {} to {}", key, value, least, most);
  return value;
}

class Importer {
public:
  explicit Importer(std::string directory) : directory_(std::move(directory)) {}

  Result<Launch> run() {
    AE_CHECK(dispatch());
    AE_CHECK(kernarg());
    AE_CHECK(regions());
    case_.name = "captured";
    case_.kernel = launch_.kernel;
    launch_.path = directory_;
    launch_.hash = sha256_hex(identity_);
    launch_.cases.push_back(std::move(case_));
    return std::move(launch_);
  }

private:
  std::string path(std::string_view file) const { return fmt::format("{}/{}", directory_, file); }

  Result<JsonView> document(std::string_view file) {
    AE_TRY(std::string text, read_text_file(path(file), largest_description));
    identity_ += sha256_hex(text);
    AE_TRY(auto document, parse_json(text, path(file)));
    JsonView view(document);
    AE_CHECK(view.expect_object("a description"));
    return view;
  }

  Result<void> dispatch() {
    AE_TRY(JsonView view, document("dispatch.json"));
    case_.where = view.where();
    AE_CHECK(three(view, "grid", 0xffffffff, case_.work_items));
    AE_CHECK(three(view, "block", 1024, case_.workgroup_size));
    const auto& size = case_.workgroup_size;
    if (uint64_t{size[0]} * size[1] * size[2] > 1024)
      return view.at("block").fail("a workgroup of more than 1024 work-items");
    for (size_t i = 0; i < 3; ++i) case_.workgroups[i] = uint32_t((case_.work_items[i] + size[i] - 1) / size[i]);
    case_.where_workgroups = view.at("grid").where();
    case_.where_workgroup_size = view.at("block").where();
    return kernel(view);
  }

  template <class T>
  Result<void> three(const JsonView& object, std::string_view key, uint64_t most, std::array<T, 3>& out) {
    const std::string what = fmt::format("\"{}\"", key);
    if (!object.has(key)) return object.fail("needs {}", what);
    JsonView list = object.at(key);
    AE_CHECK(list.expect_array(what));
    if (list.size() < 1 || list.size() > 3) return list.fail("{} must have 1 to 3 numbers, not {}", what, list.size());
    out = {1, 1, 1};
    for (size_t i = 0; i < list.size(); ++i) {
      AE_TRY(uint64_t n, list.at(i).unsigned_integer(what));
      if (n < 1 || n > most) return list.at(i).fail("{} is {}, allowed is 1 to {}", what, n, most);
      out[i] = T(n);
    }
    return {};
  }

  /// LDS is given as a whole; what the kernel's descriptor does not ask for was asked for by the launch.
  Result<void> kernel(const JsonView& view) {
    if (!view.has("mangled_name")) return view.fail("needs \"mangled_name\"");
    AE_TRY(std::string name, view.at("mangled_name").string("\"mangled_name\""));
    if (name.ends_with(".kd")) name.resize(name.size() - 3);
    AE_TRY(Bytes bytes, read_file(path("kernel.hsaco")));
    identity_ += sha256_hex(bytes);
    AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), path("kernel.hsaco")));
    auto kernel = object::choose_kernel(object, name);
    if (!kernel) return view.at("mangled_name").fail("{}", kernel.error().message);
    launch_.kernel = (*kernel)->name;
    if (!view.has("group_segment_size")) return {};
    AE_TRY(uint64_t lds, number(view, "group_segment_size", 0, 1 << 20));
    const uint64_t fixed = (*kernel)->descriptor.group_segment_fixed_size();
    case_.dynamic_lds = uint32_t(lds > fixed ? lds - fixed : 0);
    case_.where_dynamic_lds = view.at("group_segment_size").where();
    return {};
  }

  Result<void> kernarg() {
    AE_TRY(case_.kernarg, read_file(path("kernarg.bin"), largest_kernarg));
    if (case_.kernarg.empty()) return fail("{}: is empty", path("kernarg.bin"));
    identity_ += sha256_hex(case_.kernarg);
    case_.where_arguments = path("kernarg.bin");
    return {};
  }

  Result<void> regions() {
    AE_TRY(JsonView view, document("memory_regions.json"));
    if (!view.has("regions")) return view.fail("needs \"regions\"");
    JsonView list = view.at("regions");
    AE_CHECK(list.expect_array("\"regions\""));
    if (list.size() == 0) return list.fail("there is no region");
    uint64_t total = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      AE_TRY(Buffer buffer, region(list.at(i)));
      total += buffer.bytes();
      if (total > largest_memory) return list.at(i).fail("more than {} bytes of memory", largest_memory);
      case_.buffers.push_back(std::move(buffer));
    }
    std::ranges::sort(case_.buffers, {}, [](const Buffer& b) { return *b.address; });
    for (size_t i = 1; i < case_.buffers.size(); ++i)
      if (*case_.buffers[i - 1].address + case_.buffers[i - 1].bytes() > *case_.buffers[i].address)
        return fail("{}: overlaps {}", case_.buffers[i].where, case_.buffers[i - 1].name);
    std::ranges::sort(case_.buffers, {}, &Buffer::name);
    return {};
  }

  Result<Buffer> region(const JsonView& view) {
    AE_CHECK(view.expect_object("a region"));
    AE_TRY(uint64_t base, number(view, "base", 1, address_limit - 1));
    AE_TRY(uint64_t size, number(view, "size", 1, std::min(largest_memory, address_limit - base)));
    Buffer buffer{.name = fmt::format("region_{:x}", base), .dtype = DType::u8, .shape = {size}, .role = Role::inout};
    buffer.where = view.where();
    buffer.address = base;
    buffer.fill = {.kind = FillKind::file, .path = path(fmt::format("memory/{}.bin", buffer.name))};
    AE_TRY(Bytes content, read_file(buffer.fill.path, largest_memory));
    if (content.size() != size)
      return view.fail("the region has {} bytes, {} has {}", size, buffer.fill.path, content.size());
    identity_ += sha256_hex(content);
    return buffer;
  }

  std::string directory_;
  std::string identity_; // hashes of everything that was read
  Launch launch_;
  Case case_;
};

} // namespace

bool is_kerncap(const std::string& directory) {
  std::error_code ignored;
  return std::filesystem::exists(directory + "/dispatch.json", ignored) &&
         !std::filesystem::exists(directory + "/manifest.json", ignored);
}

Result<Launch> read_kerncap(const std::string& directory) { return Importer(directory).run(); }

} // namespace asmevo::launch
