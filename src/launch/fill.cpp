// Initial contents of buffers, whatever they come from.
#include "launch/captured_content.h"
#include "launch/npy.h"
#include "launch/random_fill.h"

#include <algorithm>
#include <cstring>

namespace asmevo::launch {

namespace {

void fill_constant(const Buffer& buffer, std::span<uint8_t> into) {
  const uint32_t size = size_of(buffer.dtype);
  for (uint64_t i = 0; i < (is_packed(buffer.dtype) ? 2 : 1); ++i)
    store_element(buffer.dtype, into.data(), i, bits_of(buffer.dtype, buffer.fill.a));
  for (size_t done = size; done < into.size();) { // doubling what is there already
    size_t more = std::min(done, into.size() - done);
    std::memcpy(into.data() + done, into.data(), more);
    done += more;
  }
}

Result<void> fill_from_file(const Buffer& buffer, std::span<uint8_t> into) {
  AE_TRY(Bytes content, read_file(buffer.fill.path));
  if (content.size() != into.size())
    return fail("{}: buffer \"{}\" has {} bytes, {} has {}", buffer.where, buffer.name, into.size(), buffer.fill.path,
                content.size());
  std::ranges::copy(content, into.begin());
  return {};
}

Result<void> fill_from_array(const Buffer& buffer, std::span<uint8_t> into) {
  AE_TRY(Bytes content, read_file(buffer.fill.path));
  auto array = parse_npy(content, buffer.fill.path);
  if (!array) return fail("{}: buffer \"{}\": {}", buffer.where, buffer.name, array.error().message);
  bool same_type = array->dtype ? *array->dtype == buffer.dtype : array->element_size == size_of(buffer.dtype);
  // NumPy has no elements of half a byte: their bytes stand for them.
  const bool packed = is_packed(buffer.dtype) && array->dtype == DType::u8 && array->data.size() == into.size();
  if (is_packed(buffer.dtype) && !packed)
    return fail("{}: buffer \"{}\" of {} needs an array of {} bytes (u1), {} has {}[{}]", buffer.where, buffer.name,
                name_of(buffer.dtype), into.size(), buffer.fill.path, array->dtype ? name_of(*array->dtype) : "raw",
                fmt::join(array->shape, ","));
  if (!packed && (!same_type || array->shape != buffer.shape))
    return fail("{}: buffer \"{}\" is {}[{}], {} has {}[{}]", buffer.where, buffer.name, name_of(buffer.dtype),
                fmt::join(buffer.shape, ","), buffer.fill.path, array->dtype ? name_of(*array->dtype) : "raw",
                fmt::join(array->shape, ","));
  std::ranges::copy(array->data, into.begin());
  return {};
}

Result<void> fill_from_capture(const Buffer& buffer, std::span<uint8_t> into) {
  AE_TRY(Bytes content, read_content(buffer.fill.path, buffer.fill.sha256, into.size()));
  std::ranges::copy(content, into.begin());
  return {};
}

} // namespace

void fill_pointers(const Buffer& buffer, const std::map<std::string, uint64_t>& address_of, std::span<uint8_t> into) {
  for (size_t i = 0; i < buffer.fill.pointers.size() && (i + 1) * 8 <= into.size(); ++i) {
    const PointerTo& to = buffer.fill.pointers[i];
    auto found = address_of.find(to.buffer);
    store_bits(DType::u64, found == address_of.end() ? 0 : found->second + to.offset, &into[i * 8]);
  }
}

bool is_random(FillKind kind) {
  return kind == FillKind::uniform || kind == FillKind::normal || kind == FillKind::integers ||
         kind == FillKind::special || kind == FillKind::nonfinite || kind == FillKind::permutation ||
         kind == FillKind::offsets;
}

Result<void> fill_bytes(const Case& c, const Buffer& buffer, uint64_t poison_seed, std::span<uint8_t> into) {
  switch (buffer.fill.kind) {
  case FillKind::zero:
    std::ranges::fill(into, uint8_t(0));
    return {};
  case FillKind::constant:
    fill_constant(buffer, into);
    return {};
  case FillKind::poison:
    fill_poison(poison_seed, buffer.name, 0, into);
    return {};
  case FillKind::file:
    return fill_from_file(buffer, into);
  case FillKind::npy:
    return fill_from_array(buffer, into);
  case FillKind::captured:
    return fill_from_capture(buffer, into);
  case FillKind::pointers:
    std::ranges::fill(into, uint8_t(0)); // fill_pointers, when addresses are known
    return {};
  default:
    fill_random(buffer, c.seed, into);
    return {};
  }
}

Result<Bytes> initial_bytes(const Case& c, const Buffer& buffer, uint64_t poison_seed) {
  Bytes bytes(buffer.bytes());
  AE_CHECK(fill_bytes(c, buffer, poison_seed, bytes));
  return bytes;
}

} // namespace asmevo::launch
