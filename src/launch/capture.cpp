#include "launch/capture.h"

#include "launch/captured_content.h"
#include "launch/limits.h"
#include "support/hash.h"
#include "support/json.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace asmevo::launch {

namespace {

constexpr std::string_view format_name = "asmevo capture";
constexpr uint64_t format_version = 1;

std::string hex(uint64_t value) { return fmt::format("{:#x}", value); }

Result<nlohmann::json> region_json(const CapturedRegion& region, const std::string& content) {
  nlohmann::json json = {{"name", region.name},
                         {"address", hex(region.address)},
                         {"role", std::string(name_of(region.role))},
                         {"dtype", std::string(name_of(region.dtype))},
                         {"shape", region.shape}};
  if (region.role != Role::out && region.role != Role::scratch) {
    AE_TRY(std::string hash, write_content(content, region.content));
    json["sha256"] = hash;
  }
  return json;
}

class Reader {
public:
  Reader(JsonView manifest, std::string directory) : manifest_(std::move(manifest)), directory_(std::move(directory)) {}

  Result<Launch> run() {
    AE_CHECK(check_format());
    AE_CHECK(code_object());
    AE_CHECK(dispatch());
    AE_CHECK(kernarg());
    AE_CHECK(regions());
    AE_CHECK(tolerance());
    launch_.path = directory_;
    case_.name = "captured";
    case_.kernel = launch_.kernel;
    case_.where = manifest_.where();
    launch_.cases.push_back(std::move(case_));
    return std::move(launch_);
  }

private:
  Result<void> check_format() {
    AE_CHECK(manifest_.expect_keys(
        "the manifest", {"format", "version", "code_object", "dispatch", "kernarg", "device", "regions", "tolerance"}));
    for (std::string_view key : {"format", "version", "code_object", "dispatch", "kernarg", "regions"})
      if (!manifest_.has(key)) return manifest_.fail("the manifest needs \"{}\"", key);
    AE_TRY(std::string format, manifest_.at("format").string("\"format\""));
    AE_TRY(uint64_t version, manifest_.at("version").unsigned_integer("\"version\""));
    if (format != format_name || version != format_version)
      return manifest_.fail("is \"{}\" version {}, known is \"{}\" version {}", format, version, format_name,
                            format_version);
    return {};
  }

  Result<void> code_object() {
    JsonView view = manifest_.at("code_object");
    AE_CHECK(view.expect_keys("\"code_object\"", {"file", "sha256"}));
    if (!view.has("file") || !view.has("sha256")) return view.fail("\"code_object\" needs \"file\" and \"sha256\"");
    AE_TRY(std::string file, view.at("file").string("\"file\""));
    AE_TRY(std::string hash, view.at("sha256").string("\"sha256\""));
    if (file.find('/') != file.npos)
      return view.at("file").fail("\"file\" must be a file of the capture, not {}", file);
    AE_TRY(Bytes bytes, read_file(directory_ + "/" + file));
    if (std::string found = sha256_hex(bytes); found != hash)
      return fail("{}/{}: is damaged: its hash is {}, the manifest says {}", directory_, file, found, hash);
    return {};
  }

  Result<uint64_t> number(const JsonView& view, const std::string& what, uint64_t most) {
    AE_TRY(uint64_t value, view.unsigned_integer(what));
    if (value > most) return view.fail("{} is {}, at most {} is possible", what, value, most);
    return value;
  }

  template <class T>
  Result<void> three(const JsonView& object, std::string_view key, std::array<T, 3>& out, uint64_t most) {
    std::string what = fmt::format("\"{}\"", key);
    if (!object.has(key)) return object.fail("\"dispatch\" needs {}", what);
    JsonView view = object.at(key);
    AE_CHECK(view.expect_array(what));
    if (view.size() != 3) return view.fail("{} must have three numbers, not {}", what, view.size());
    for (size_t i = 0; i < 3; ++i) {
      AE_TRY(uint64_t n, number(view.at(i), what, most));
      if (n == 0) return view.at(i).fail("{} must not be 0", what);
      out[i] = T(n);
    }
    return {};
  }

  Result<void> dispatch() {
    JsonView view = manifest_.at("dispatch");
    AE_CHECK(
        view.expect_keys("\"dispatch\"", {"kernel", "workgroup_size", "work_items", "dynamic_lds", "queue", "index"}));
    if (!view.has("kernel")) return view.fail("\"dispatch\" needs \"kernel\"");
    AE_TRY(launch_.kernel, view.at("kernel").string("\"kernel\""));
    AE_CHECK(three(view, "workgroup_size", case_.workgroup_size, 1024));
    AE_CHECK(three(view, "work_items", case_.work_items, 0xffffffff));
    if (view.has("dynamic_lds")) {
      AE_TRY(uint64_t bytes, number(view.at("dynamic_lds"), "\"dynamic_lds\"", 1 << 20));
      case_.dynamic_lds = uint32_t(bytes);
    }
    const auto& size = case_.workgroup_size;
    if (uint64_t{size[0]} * size[1] * size[2] > 1024)
      return view.at("workgroup_size").fail("a workgroup of more than 1024 work-items");
    for (size_t i = 0; i < 3; ++i) case_.workgroups[i] = uint32_t((case_.work_items[i] + size[i] - 1) / size[i]);
    case_.where_workgroups = view.at("work_items").where();
    case_.where_workgroup_size = view.at("workgroup_size").where();
    return {};
  }

  std::string content_path(const std::string& hash) const { return fmt::format("{}/content/{}.zst", directory_, hash); }

  /// A sha256 that is a file name and nothing else.
  Result<std::string> hash_in(const JsonView& object, const std::string& what) {
    if (!object.has("sha256")) return object.fail("{} needs \"sha256\"", what);
    AE_TRY(std::string hash, object.at("sha256").string("\"sha256\""));
    bool good = hash.size() == 64 && std::ranges::all_of(hash, [](char c) { return std::isxdigit(uint8_t(c)); });
    if (!good) return object.at("sha256").fail("{}: \"sha256\" must be 64 hexadecimal digits", what);
    if (std::error_code error; !std::filesystem::exists(content_path(hash), error))
      return object.at("sha256").fail("{}: {} is missing", what, content_path(hash));
    return hash;
  }

  Result<void> kernarg() {
    JsonView view = manifest_.at("kernarg");
    AE_CHECK(view.expect_keys("\"kernarg\"", {"sha256", "size"}));
    if (!view.has("size")) return view.fail("\"kernarg\" needs \"size\"");
    AE_TRY(uint64_t size, number(view.at("size"), "\"size\"", 1 << 16));
    AE_TRY(std::string hash, hash_in(view, "\"kernarg\""));
    AE_TRY(case_.kernarg, read_content(content_path(hash), hash, size));
    case_.where_arguments = view.where();
    return {};
  }

  Result<void> regions() {
    JsonView list = manifest_.at("regions");
    AE_CHECK(list.expect_array("\"regions\""));
    uint64_t total = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      AE_TRY(Buffer buffer, region(list.at(i), fmt::format("region {}", i)));
      total += buffer.bytes();
      if (total > largest_memory)
        return list.at(i).fail("with region \"{}\" the capture has more than {} bytes of memory", buffer.name,
                               largest_memory);
      if (case_.buffer(buffer.name)) return list.at(i).fail("an earlier region is also named \"{}\"", buffer.name);
      case_.buffers.push_back(std::move(buffer));
    }
    std::ranges::sort(case_.buffers, {}, [](const Buffer& b) { return *b.address; });
    for (size_t i = 1; i < case_.buffers.size(); ++i) {
      const Buffer &before = case_.buffers[i - 1], &after = case_.buffers[i];
      if (*before.address + before.bytes() > *after.address)
        return fail("{}: region \"{}\" overlaps \"{}\"", after.where, after.name, before.name);
    }
    std::ranges::sort(case_.buffers, {}, &Buffer::name);
    return {};
  }

  Result<Buffer> region(const JsonView& view, const std::string& what) {
    AE_CHECK(view.expect_keys(what, {"name", "address", "role", "dtype", "shape", "sha256"}));
    for (std::string_view key : {"name", "address", "role", "dtype", "shape"})
      if (!view.has(key)) return view.fail("{} needs \"{}\"", what, key);
    Buffer buffer;
    buffer.where = view.where();
    AE_TRY(buffer.name, view.at("name").string(what + ": \"name\""));
    AE_TRY(buffer.address, address(view.at("address"), what));
    AE_TRY(std::string dtype, view.at("dtype").string(what + ": \"dtype\""));
    auto known = dtype_from_name(dtype);
    if (!known) return view.at("dtype").fail("{}: no dtype \"{}\"{}", what, dtype, suggestion(dtype, dtype_names()));
    buffer.dtype = *known;
    AE_TRY(std::string role, view.at("role").string(what + ": \"role\""));
    auto known_role = role_from_name(role);
    if (!known_role) return view.at("role").fail("{}: no role \"{}\"", what, role);
    buffer.role = *known_role;
    AE_CHECK(shape(view.at("shape"), what, buffer));
    bool filled = buffer.role == Role::in || buffer.role == Role::inout;
    buffer.fill.kind = filled ? FillKind::captured : FillKind::poison;
    if (!filled) return buffer;
    AE_TRY(buffer.fill.sha256, hash_in(view, what));
    buffer.fill.path = content_path(buffer.fill.sha256);
    return buffer;
  }

  Result<uint64_t> address(const JsonView& view, const std::string& what) {
    AE_TRY(std::string text, view.string(what + ": \"address\""));
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data() + (text.starts_with("0x") ? 2 : 0), end, value, 16);
    if (error != std::errc{} || stop != end || value == 0 || value >= address_limit)
      return view.fail("{}: \"address\" must be a hexadecimal address below 2^48, not \"{}\"", what, text);
    return value;
  }

  Result<void> shape(const JsonView& view, const std::string& what, Buffer& buffer) {
    AE_CHECK(view.expect_array(what + ": \"shape\""));
    double bytes = width_of(buffer.dtype) / 8.0;
    for (size_t i = 0; i < view.size(); ++i) {
      AE_TRY(uint64_t n, number(view.at(i), what + ": \"shape\"", uint64_t{1} << 40));
      buffer.shape.push_back(n);
      bytes *= double(n);
    }
    if (bytes == 0 || view.size() == 0 || bytes > double(largest_memory) ||
        double(*buffer.address) + bytes > double(address_limit))
      return view.fail("{}: {} bytes at {} cannot be mapped", what, bytes, hex(*buffer.address));
    return {};
  }

  Result<void> tolerance() {
    if (!manifest_.has("tolerance")) return {};
    JsonView object = manifest_.at("tolerance");
    AE_CHECK(object.expect_object("\"tolerance\""));
    for (const std::string& name : object.member_names()) {
      JsonView view = object.at(name);
      AE_CHECK(view.expect_keys("a tolerance", {"absolute", "relative", "scaled", "cosine"}));
      if (!case_.buffer(name)) return view.fail("tolerance of \"{}\": no such region", name);
      Tolerance& t = case_.tolerance[name];
      for (auto [key, field] :
           {std::pair{"absolute", &Tolerance::absolute}, std::pair{"relative", &Tolerance::relative},
            std::pair{"scaled", &Tolerance::scaled}, std::pair{"cosine", &Tolerance::cosine}})
        if (view.has(key)) {
          AE_TRY(t.*field, view.at(key).number(key));
          if (!(t.*field >= 0)) return view.at(key).fail("\"{}\" must not be negative", key);
        }
    }
    return {};
  }

  JsonView manifest_;
  std::string directory_;
  Launch launch_;
  Case case_;
};

} // namespace

Result<void> write_capture(const std::string& directory, const Capture& capture) {
  std::string content = directory + "/content";
  std::error_code error;
  std::filesystem::create_directories(content, error);
  if (error) return fail("{}: cannot make the directory: {}", directory, error.message());
  AE_CHECK(write_file(directory + "/code_object.hsaco", capture.code_object));
  AE_TRY(std::string kernarg, write_content(content, capture.kernarg));
  nlohmann::json manifest = {
      {"format", std::string(format_name)},
      {"version", format_version},
      {"code_object", {{"file", "code_object.hsaco"}, {"sha256", sha256_hex(capture.code_object)}}},
      {"dispatch",
       {{"kernel", capture.kernel},
        {"workgroup_size", capture.workgroup_size},
        {"work_items", capture.work_items},
        {"dynamic_lds", capture.dynamic_lds},
        {"queue", capture.queue},
        {"index", capture.index}}},
      {"kernarg", {{"sha256", kernarg}, {"size", capture.kernarg.size()}}},
      {"device", {{"target", capture.target}, {"product", capture.product}}},
      {"regions", nlohmann::json::array()}};
  for (const CapturedRegion& region : capture.regions) {
    AE_TRY(nlohmann::json json, region_json(region, content));
    manifest["regions"].push_back(std::move(json));
  }
  for (const auto& [name, t] : capture.tolerance)
    manifest["tolerance"][name] = {
        {"absolute", t.absolute}, {"relative", t.relative}, {"scaled", t.scaled}, {"cosine", t.cosine}};
  return write_text_file(directory + "/manifest.json", manifest.dump(2) + "\n");
}

Result<Launch> read_capture(const std::string& directory) {
  std::string path = directory + "/manifest.json";
  AE_TRY(std::string text, read_text_file(path, uint64_t{64} << 20));
  AE_TRY(auto document, parse_json(text, path));
  AE_TRY(Launch launch, Reader(JsonView(document), directory).run());
  launch.hash = sha256_hex(text); // the manifest names every content by its hash
  return launch;
}

} // namespace asmevo::launch
