#include "launch/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace asmevo::launch {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t most_dimensions = 32;

/// The Python dictionary of the header: three known keys in any order.
class Header {
public:
  Header(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::string descr;
  bool fortran_order = false;
  std::vector<uint64_t> shape;

  Result<void> parse() {
    bool seen[3] = {};
    if (!take('{')) return damaged();
    while (!take('}')) {
      AE_TRY(std::string key, quoted());
      if (!take(':')) return damaged();
      if (key == "descr") {
        AE_TRY(descr, quoted());
        seen[0] = true;
      } else if (key == "fortran_order") {
        AE_TRY(fortran_order, boolean());
        seen[1] = true;
      } else if (key == "shape") {
        AE_TRY(shape, tuple());
        seen[2] = true;
      } else {
        return fail("{}: header key '{}' is unknown", path_, key);
      }
      take(',');
    }
    if (!seen[0] || !seen[1] || !seen[2]) return damaged();
    return {};
  }

private:
  std::unexpected<Error> damaged() const {
    return fail("{}: the array header is damaged at byte {} of it", path_, at_);
  }

  bool take(char c) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<std::string> quoted() {
    char quote = take('\'') ? '\'' : take('"') ? '"' : 0;
    size_t end = quote ? text_.find(quote, at_) : text_.npos;
    if (end == text_.npos) return damaged();
    std::string word(text_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
  }

  Result<bool> boolean() {
    take(' '); // skips spaces
    for (auto [word, value] : {std::pair{"True", true}, std::pair{"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        return value;
      }
    return damaged();
  }

  Result<std::vector<uint64_t>> tuple() {
    std::vector<uint64_t> numbers;
    if (!take('(')) return damaged();
    while (!take(')')) {
      take(' ');
      uint64_t number = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc{} || numbers.size() >= most_dimensions) return damaged();
      at_ = size_t(end - text_.data());
      numbers.push_back(number);
      take(',');
    }
    return numbers;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

struct Element {
  std::optional<DType> dtype;
  uint32_t size = 0;
  bool big_endian = false;
};

Result<Element> element_of(const std::string& descr, const std::string& path) {
  constexpr std::pair<std::string_view, DType> types[] = {{"u1", DType::u8},  {"i1", DType::i8},  {"b1", DType::u8},
                                                          {"u2", DType::u16}, {"i2", DType::i16}, {"u4", DType::u32},
                                                          {"i4", DType::i32}, {"u8", DType::u64}, {"i8", DType::i64},
                                                          {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}};
  if (descr.size() > 1 && std::string_view("<>|=").contains(descr[0])) {
    std::string_view kind = std::string_view(descr).substr(1);
    for (auto [name, dtype] : types)
      if (name == kind) return Element{dtype, size_of(dtype), descr[0] == '>'};
    if (kind == "V1" || kind == "V2") return Element{std::nullopt, uint32_t(kind[1] - '0')};
  }
  return fail("{}: arrays of '{}' cannot be used as a buffer", path, descr);
}

/// Column-major elements in row-major order.
Bytes row_major(std::span<const uint8_t> data, const std::vector<uint64_t>& shape, uint32_t size) {
  Bytes out(data.size());
  uint64_t count = data.size() / size;
  std::vector<uint64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * shape[d - 1];
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d) from += index[d] * stride[d];
    std::memcpy(&out[i * size], &data[from * size], size);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return out;
}

} // namespace

Result<NpyArray> parse_npy(std::span<const uint8_t> file, const std::string& path) {
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(magic) || file.size() < 12) return fail("{}: not a NumPy array file", path);
  if (file[6] < 1 || file[6] > 3) return fail("{}: format version {}.{} is unknown", path, file[6], file[7]);
  uint64_t start = file[6] == 1 ? 10 : 12, length = file[8] | file[9] << 8;
  if (file[6] > 1) length |= uint64_t{file[10]} << 16 | uint64_t{file[11]} << 24;
  if (length > file.size() - start)
    return fail("{}: the header of {} bytes goes beyond the end of the file", path, length);
  Header header(text.substr(start, length), path);
  AE_CHECK(header.parse());
  AE_TRY(Element element, element_of(header.descr, path));
  auto data = file.subspan(start + length);
  unsigned __int128 bytes = element.size;
  for (uint64_t n : header.shape) {
    bytes *= n;
    if (bytes > data.size()) break;
  }
  if (bytes != data.size())
    return fail("{}: the header says {} elements of {} bytes ({}), the file has {} bytes of data", path,
                fmt::join(header.shape, " x "), element.size, header.descr, data.size());
  NpyArray array{element.dtype, element.size, std::move(header.shape), Bytes(data.begin(), data.end())};
  if (header.fortran_order) array.data = row_major(data, array.shape, element.size);
  if (element.big_endian)
    for (size_t i = 0; i < array.data.size(); i += element.size)
      std::reverse(array.data.begin() + ptrdiff_t(i), array.data.begin() + ptrdiff_t(i + element.size));
  return array;
}

Bytes format_npy(DType dtype, const std::vector<uint64_t>& shape, std::span<const uint8_t> data) {
  if (is_packed(dtype)) return format_npy(DType::u8, {data.size()}, data);
  const Format& f = format_of(dtype);
  bool known = !f.floating || dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64;
  char kind = !known ? 'V' : f.floating ? 'f' : f.is_signed ? 'i' : 'u';
  std::string header =
      fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}{}), }}", known && f.size > 1 ? '<' : '|',
                  kind, f.size, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::string start(magic);
  start += {char(1), char(0), char(header.size()), char(header.size() >> 8)};
  start += header;
  Bytes file(start.size() + data.size());
  std::ranges::copy(start, file.begin());
  std::ranges::copy(data, file.begin() + ptrdiff_t(start.size()));
  return file;
}

} // namespace asmevo::launch
