#include "object/msgpack.h"

#include <algorithm>
#include <bit>

namespace asmevo::object::msgpack {

namespace {

constexpr int deepest_nesting = 64;
constexpr size_t most_values = size_t{1} << 24; // a value takes a hundred bytes here, and one in the document

class Parser {
public:
  explicit Parser(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  Result<Value> document() {
    AE_TRY(Value value, parse(0));
    for (size_t i = at_; i < bytes_.size(); i++)
      if (bytes_[i] != 0) return fail("bytes behind the document at +{:#x}", i);
    return value;
  }

private:
  Result<Value> parse(int depth) {
    if (depth > deepest_nesting) return fail("nested deeper than {} at +{:#x}", deepest_nesting, at_);
    if (++values_ > most_values) return fail("more than {} values", most_values);
    size_t begin = at_;
    AE_TRY(uint64_t tag, number(1));
    AE_TRY(Value value, tagged(uint8_t(tag), depth));
    value.begin = begin;
    value.end = at_;
    return value;
  }

  Result<Value> tagged(uint8_t tag, int depth) {
    if (tag <= 0x7f) return unsigned_value(tag);
    if (tag <= 0x8f) return map(tag & 15, depth);
    if (tag <= 0x9f) return array(tag & 15, depth);
    if (tag <= 0xbf) return text(Kind::string, tag & 31);
    if (tag >= 0xe0) return signed_value(int8_t(tag));
    switch (tag) {
    case 0xc0:
      return Value{};
    case 0xc2:
    case 0xc3:
      return Value{.kind = Kind::boolean, .integer = tag == 0xc3};
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return sized(1u << (tag - 0xc4), [&](uint64_t n) { return text(Kind::binary, n); });
    case 0xca:
      return sized(4, [&](uint64_t n) { return real(std::bit_cast<float>(uint32_t(n))); });
    case 0xcb:
      return sized(8, [&](uint64_t n) { return real(std::bit_cast<double>(n)); });
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return sized(1u << (tag - 0xcc), [&](uint64_t n) { return unsigned_value(n); });
    case 0xd0:
      return sized(1, [&](uint64_t n) { return signed_value(int8_t(n)); });
    case 0xd1:
      return sized(2, [&](uint64_t n) { return signed_value(int16_t(n)); });
    case 0xd2:
      return sized(4, [&](uint64_t n) { return signed_value(int32_t(n)); });
    case 0xd3:
      return sized(8, [&](uint64_t n) { return signed_value(int64_t(n)); });
    case 0xd9:
    case 0xda:
    case 0xdb:
      return sized(1u << (tag - 0xd9), [&](uint64_t n) { return text(Kind::string, n); });
    case 0xdc:
    case 0xdd:
      return sized(tag == 0xdc ? 2 : 4, [&](uint64_t n) { return array(n, depth); });
    case 0xde:
    case 0xdf:
      return sized(tag == 0xde ? 2 : 4, [&](uint64_t n) { return map(n, depth); });
    default:
      return fail("value of type {:#x} at +{:#x} is not used in AMDGPU metadata", tag, at_ - 1);
    }
  }

  template <class Make> Result<Value> sized(size_t bytes, Make make) {
    AE_TRY(uint64_t n, number(bytes));
    return make(n);
  }

  static Result<Value> unsigned_value(uint64_t n) { return Value{.kind = Kind::unsigned_integer, .number = n}; }
  static Result<Value> real(double x) { return Value{.kind = Kind::real, .real = x}; }
  static Result<Value> signed_value(int64_t n) {
    if (n >= 0) return unsigned_value(uint64_t(n));
    return Value{.kind = Kind::integer, .integer = n};
  }

  Result<Value> text(Kind kind, uint64_t length) {
    if (length > bytes_.size() - at_) return fail("string of {} bytes at +{:#x} is cut off", length, at_);
    Value value{.kind = kind};
    value.text.assign(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return value;
  }

  // No reserve(): the count is a claim, each element proves itself with at least one byte.
  Result<Value> array(uint64_t count, int depth) {
    Value value{.kind = Kind::array};
    for (uint64_t i = 0; i < count; i++) {
      AE_TRY(Value item, parse(depth + 1));
      value.items.push_back(std::move(item));
    }
    return value;
  }

  Result<Value> map(uint64_t count, int depth) {
    Value value{.kind = Kind::map};
    for (uint64_t i = 0; i < count; i++) {
      AE_TRY(Value key, parse(depth + 1));
      if (!key.is_string()) return fail("map key at +{:#x} is not a string", key.begin);
      AE_TRY(Value item, parse(depth + 1));
      value.items.push_back(std::move(key));
      value.items.push_back(std::move(item));
    }
    return value;
  }

  Result<uint64_t> number(size_t size) {
    if (size > bytes_.size() - at_) return fail("cut off at +{:#x}", at_);
    uint64_t n = 0;
    for (size_t i = 0; i < size; i++) n = n << 8 | bytes_[at_++];
    return n;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0, values_ = 0;
};

void append_number(Bytes& out, uint64_t n) {
  if (n <= 0x7f) return out.push_back(uint8_t(n));
  int log = n <= 0xff ? 0 : n <= 0xffff ? 1 : n <= 0xffffffff ? 2 : 3;
  out.push_back(uint8_t(0xcc + log));
  for (int shift = (8 << log) - 8; shift >= 0; shift -= 8) out.push_back(uint8_t(n >> shift));
}

} // namespace

const Value* Value::find(std::string_view key) const {
  if (kind != Kind::map) return nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].text == key) return &items[i + 1];
  return nullptr;
}

Result<Value> parse(std::span<const uint8_t> bytes) { return Parser(bytes).document(); }

Bytes replace(std::span<const uint8_t> bytes, std::vector<Replacement> replacements) {
  std::ranges::sort(replacements, {}, &Replacement::begin);
  Bytes out;
  size_t at = 0;
  for (const Replacement& r : replacements) {
    out.insert(out.end(), bytes.begin() + at, bytes.begin() + r.begin);
    append_number(out, r.number);
    at = r.end;
  }
  out.insert(out.end(), bytes.begin() + at, bytes.end());
  return out;
}

} // namespace asmevo::object::msgpack
