// Runs a kernel of a real code object on buffers the test makes.
#pragma once

#include "machine/machine.h"
#include "support/file.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace asmevo::machine {

/// Kernel arguments, laid out with natural alignment.
class Arguments {
public:
  template <class T> Arguments& add(T value) {
    while (bytes_.size() % sizeof(T)) bytes_.push_back(0);
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof(T));
    return *this;
  }
  /// At a given offset.
  template <class T> Arguments& at(size_t offset, T value) {
    bytes_.resize(std::max(bytes_.size(), offset + sizeof(T)));
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
    return *this;
  }
  const Bytes& bytes() const { return bytes_; }

private:
  Bytes bytes_;
};

class KernelRun {
public:
  Memory memory;
  Dispatch dispatch;
  RunOptions options;

  explicit KernelRun(const std::string& path) {
    auto made = load(path);
    EXPECT_TRUE(made) << made.error().message;
  }
  /// Maps a buffer at a fresh address, far from the others.
  template <class T> uint64_t buffer(const std::string& name, const std::vector<T>& content) {
    const uint64_t base = next_;
    next_ += (content.size() * sizeof(T) + 0x1fffff) & ~uint64_t{0xfffff};
    auto bytes = memory.map(base, content.size() * sizeof(T), Access::read_write, name);
    EXPECT_TRUE(bytes) << bytes.error().message;
    std::memcpy(bytes->data(), content.data(), content.size() * sizeof(T));
    return base;
  }
  template <class T> std::vector<T> read(uint64_t base) const {
    const Region* region = memory.find(base, 1);
    std::vector<T> content(region->size / sizeof(T));
    std::memcpy(content.data(), region->data, region->size);
    return content;
  }

  RunResult run(const Arguments& arguments) {
    Bytes kernarg = arguments.bytes();
    kernarg.resize(std::max<size_t>(512, kernarg.size()));
    dispatch.kernarg_address = buffer("kernarg", kernarg);
    auto result = machine::run(*image_, dispatch, memory, options);
    EXPECT_TRUE(result) << result.error().message;
    if (!result) return {.status = Status::fault};
    EXPECT_EQ(result->status, Status::completed) << (result->fault ? result->fault->message : "");
    return *result;
  }
  const Image& image() const { return *image_; }
  bool ready() const { return image_.has_value(); }

private:
  Result<void> load(const std::string& path) {
    AE_TRY(Bytes bytes, read_file(path));
    AE_TRY(auto object, object::read_code_object(std::move(bytes), path));
    object_ = std::make_shared<const object::CodeObject>(std::move(object));
    AE_TRY(const isa::Target target, isa::target_from_elf(object_->e_flags, object_->abi_version, path));
    AE_TRY(const isa::Codec codec, isa::Codec::create(target));
    AE_TRY(image_, Image::create(object_, codec));
    dispatch.kernel = &object_->kernels.front();
    dispatch.load_base = 0x10000000;
    return image_->load(memory, dispatch.load_base);
  }

  std::shared_ptr<const object::CodeObject> object_;
  std::optional<Image> image_;
  uint64_t next_ = 0x7f0000000000;
};

inline std::vector<float> random_floats(size_t count, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

/// A file of the shared data folder, or empty where that is absent.
inline std::string shared_data(const std::string& name) {
  const char* folder = std::getenv("ASMEVO_DATA");
  const std::string path =
      (folder ? std::string(folder) : std::string(ASMEVO_SOURCE_DIR) + "/../shared/data") + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

inline std::string corpus(const std::string& name) { return std::string(ASMEVO_SOURCE_DIR) + "/corpus/" + name; }

} // namespace asmevo::machine
