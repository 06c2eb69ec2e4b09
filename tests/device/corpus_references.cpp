// The kernels of corpus/ against what they are meant to compute, in double precision on the host. This is the one place
// where the simulated device is held against something that is not itself.
#include "device/device.h"
#include "support/file.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace asmevo;

namespace {

using Values = std::vector<double>;

double from_f16(uint16_t h) {
  int exponent = (h >> 10) & 31;
  double mantissa = h & 1023;
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

template <class T> T element(std::span<const uint8_t> bytes, size_t i) {
  T value;
  std::memcpy(&value, &bytes[i * sizeof value], sizeof value);
  return value;
}

double value_of(std::span<const uint8_t> bytes, size_t i, launch::DType dtype) {
  using launch::DType;
  switch (dtype) {
  case DType::f32:
    return element<float>(bytes, i);
  case DType::f16:
    return from_f16(element<uint16_t>(bytes, i));
  case DType::bf16:
    return std::bit_cast<float>(uint32_t{element<uint16_t>(bytes, i)} << 16);
  case DType::u8:
    return bytes[i];
  case DType::i8:
    return int8_t(bytes[i]);
  case DType::u32:
    return element<uint32_t>(bytes, i);
  default:
    ADD_FAILURE() << "no kernel of the corpus has such a buffer";
    return 0;
  }
}

Values values_of(std::span<const uint8_t> bytes, launch::DType dtype) {
  Values values(bytes.size() / launch::size_of(dtype));
  for (size_t i = 0; i < values.size(); ++i) values[i] = value_of(bytes, i, dtype);
  return values;
}

/// A case's inputs as doubles, and its integer arguments by position.
struct Inputs {
  const launch::Case& c;
  Values operator[](const std::string& name) const {
    const launch::Buffer* buffer = c.buffer(name);
    auto bytes = launch::initial_bytes(c, *buffer, 1);
    EXPECT_TRUE(bytes) << bytes.error().message;
    return values_of(*bytes, buffer->dtype);
  }
  int64_t integer(size_t argument) const {
    int32_t value;
    std::memcpy(&value, c.arguments[argument].value.data(), 4);
    return value;
  }
  double real(size_t argument) const {
    float value;
    std::memcpy(&value, c.arguments[argument].value.data(), 4);
    return value;
  }
  uint64_t rows() const { return c.workgroups[0]; }
};

/// Where an element of the output is not defined (columns behind a row's end).
constexpr double untouched = -1e300;

/// Rows of n in `x`, `stride` elements apart.
Values softmax_of(const Values& x, uint64_t rows, int64_t stride, int64_t n) {
  Values y(x.size(), untouched);
  for (uint64_t r = 0; r < rows; ++r) {
    const double* row = &x[r * stride];
    double top = row[0], sum = 0;
    for (int64_t c = 0; c < n; ++c) top = std::max(top, row[c]);
    for (int64_t c = 0; c < n; ++c) sum += std::exp(row[c] - top);
    for (int64_t c = 0; c < n; ++c) y[r * stride + c] = std::exp(row[c] - top) / sum;
  }
  return y;
}
Values softmax(const Inputs& in) { return softmax_of(in["in"], in.rows(), in.integer(2), in.integer(3)); }
Values softmax_rows(const Inputs& in) { return softmax_of(in["x"], in.rows(), in.integer(2), in.integer(2)); }

/// Row-major c = a·b; `stride` is the distance of rows in elements.
struct Matrix {
  Values values;
  int64_t stride;
};
Values matrix_product(const Matrix& a, const Matrix& b, int64_t m, int64_t n, int64_t k, int64_t stride) {
  Values c(size_t(m * stride), untouched);
  for (int64_t i = 0; i < m; ++i) {
    std::fill_n(&c[size_t(i * stride)], n, 0.0);
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        c[size_t(i * stride + j)] += a.values[size_t(i * a.stride + l)] * b.values[size_t(l * b.stride + j)];
  }
  return c;
}
Values matmul(const Inputs& in) {
  return matrix_product({in["a"], in.integer(6)}, {in["b"], in.integer(7)}, in.integer(3), in.integer(4), in.integer(5),
                        in.integer(8));
}
Values sgemm(const Inputs& in) {
  int64_t m = in.integer(3), n = in.integer(4), k = in.integer(5);
  return matrix_product({in["a"], k}, {in["b"], n}, m, n, k, n);
}

Values gelu(const Inputs& in) {
  Values y = in["x"];
  for (double& v : y) v = 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  return y;
}

Values rmsnorm(const Inputs& in) {
  Values x = in["x"], w = in["w"];
  int64_t columns = in.integer(3);
  for (uint64_t r = 0; r < in.rows(); ++r) {
    double* row = &x[r * columns];
    double squares = 0;
    for (int64_t c = 0; c < columns; ++c) squares += row[c] * row[c];
    double scale = 1 / std::sqrt(squares / double(columns) + in.real(4));
    for (int64_t c = 0; c < columns; ++c) row[c] *= scale * w[c];
  }
  return x;
}

Values layernorm(const Inputs& in) {
  Values x = in["x"], w = in["w"], b = in["b"];
  int64_t columns = in.integer(4);
  for (uint64_t r = 0; r < in.rows(); ++r) {
    double* row = &x[r * columns];
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < columns; ++c) mean += row[c] / double(columns);
    for (int64_t c = 0; c < columns; ++c) variance += (row[c] - mean) * (row[c] - mean) / double(columns);
    for (int64_t c = 0; c < columns; ++c) row[c] = (row[c] - mean) / std::sqrt(variance + in.real(5)) * w[c] + b[c];
  }
  return x;
}

Values dwconv3x3(const Inputs& in) {
  Values x = in["x"], w = in["w"], y(x.size(), 0.0);
  int64_t channels = in.integer(3), height = in.integer(4), width = in.integer(5);
  for (size_t i = 0; i < y.size(); ++i) {
    int64_t plane = int64_t(i) / (height * width), row = int64_t(i) / width % height, column = int64_t(i) % width;
    for (int64_t tap = 0; tap < 9; ++tap) {
      int64_t r = row + tap / 3 - 1, c = column + tap % 3 - 1;
      if (r >= 0 && r < height && c >= 0 && c < width)
        y[i] += x[(plane * height + r) * width + c] * w[(plane % channels) * 9 + tap];
    }
  }
  return y;
}

Values rowsum(const Inputs& in) {
  Values x = in["in"], y(in.rows(), 0.0);
  int64_t columns = in.integer(2);
  for (size_t i = 0; i < x.size(); ++i) y[i / size_t(columns)] += x[i];
  return y;
}

Values transpose(const Inputs& in) {
  Values x = in["x"], y(x.size());
  int64_t rows = in.integer(2), columns = in.integer(3);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) y[size_t(c * rows + r)] = x[size_t(r * columns + c)];
  return y;
}

Values histogram(const Inputs& in) {
  Values counts = in["counts"];
  for (double v : in["x"]) counts[size_t(v)] += 1;
  return counts;
}

Values gemm_mfma(const Inputs& in) {
  int64_t m = in.integer(3), n = in.integer(4), k = in.integer(5);
  return matrix_product({in["a"], k}, {in["b"], n}, m, n, k, n);
}

Values rope(const Inputs& in) {
  Values x = in["x"], cosine = in["cosine"], sine = in["sine"];
  int64_t tokens = in.integer(3), heads = in.integer(4), half = in.integer(5);
  for (int64_t head = 0; head < tokens * heads; ++head)
    for (int64_t i = 0; i < half; ++i) {
      double &a = x[size_t(head * 2 * half + i)], &b = x[size_t(head * 2 * half + half + i)];
      size_t angle = size_t(head / heads * half + i);
      double turned = a * cosine[angle] - b * sine[angle];
      b = a * sine[angle] + b * cosine[angle];
      a = turned;
    }
  return x;
}

/// In f32, where division and rounding are exact: results must be equal.
Values quantization_scales(const Inputs& in) {
  Values x = in["x"], scales(in.rows(), 0.0);
  size_t columns = size_t(in.integer(3));
  for (size_t i = 0; i < x.size(); ++i) scales[i / columns] = std::max(scales[i / columns], std::abs(x[i]));
  for (double& s : scales) s = float(s) / 127.0F;
  return scales;
}
Values quantized(const Inputs& in) {
  Values x = in["x"], scales = quantization_scales(in);
  size_t columns = size_t(in.integer(3));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = scales[i / columns] > 0 ? std::nearbyint(float(x[i]) / float(scales[i / columns])) : 0;
  return x;
}

struct Kernel {
  const char* name;
  const char* output;
  Values (*reference)(const Inputs&);
  double relative, absolute; // absolute is a fraction of the output's root mean square
};

class CorpusKernel : public testing::TestWithParam<Kernel> {};

constexpr Kernel kernels[] = {
    {"softmax", "out", softmax, 1e-5, 1e-6},
    {"matmul", "c", matmul, 2e-3, 1e-3},
    {"gelu", "y", gelu, 1e-5, 1e-6},
    {"rmsnorm", "y", rmsnorm, 1e-5, 1e-6},
    {"layernorm", "y", layernorm, 2e-5, 2e-5},
    {"sgemm_naive", "c", sgemm, 1e-4, 1e-5},
    {"dwconv3x3", "y", dwconv3x3, 1e-5, 1e-5},
    {"rowsum", "out", rowsum, 1e-5, 1e-4},
    {"softmax_rows", "y", softmax_rows, 1e-5, 1e-6},
    {"transpose", "y", transpose, 0, 0},
    {"histogram", "counts", histogram, 0, 0},
    {"gemm_mfma", "c", gemm_mfma, 2e-3, 1e-3},
    {"rope", "x", rope, 4e-3, 1e-4},
    {"quantize_rows", "q", quantized, 0, 0},
    {"quantize_rows", "scales", quantization_scales, 0, 0},
};

/// Root mean square of the ordinary values.
double typical_magnitude(const Values& values) {
  double squares = 0, count = 0;
  for (double v : values)
    if (v != untouched && std::isfinite(v) && std::abs(v) < 1e30) squares += v * v, ++count;
  return count > 0 ? std::sqrt(squares / count) : 0;
}

void expect_close(const Values& got, const Values& want, const Kernel& kernel, const std::string& name) {
  ASSERT_EQ(got.size(), want.size());
  double scale = typical_magnitude(want);
  int reported = 0;
  for (size_t i = 0; i < want.size() && reported < 5; ++i) {
    // Sums over special values overflow f32 where the double does not, in an order that the kernel decides.
    if (want[i] == untouched || !std::isfinite(want[i]) || std::abs(want[i]) > 1e30) continue;
    if (std::abs(got[i] - want[i]) <= kernel.relative * std::abs(want[i]) + kernel.absolute * scale) continue;
    ADD_FAILURE() << kernel.name << ", case " << name << ": element " << i << " is " << got[i] << ", not " << want[i];
    ++reported;
  }
}

} // namespace

TEST_P(CorpusKernel, ComputesWhatItIsMeantTo) {
  const Kernel& kernel = GetParam();
  std::string base = std::string(ASMEVO_SOURCE_DIR "/corpus/") + kernel.name;
  auto bytes = read_file(base + ".hsaco");
  ASSERT_TRUE(bytes) << bytes.error().message;
  auto object = object::read_code_object(std::move(*bytes), base + ".hsaco");
  ASSERT_TRUE(object) << object.error().message;
  auto launch = launch::read_launch(base + ".json");
  ASSERT_TRUE(launch) << launch.error().message;
  auto target = isa::target_from_elf(object->e_flags, object->abi_version, base);
  ASSERT_TRUE(target) << target.error().message;
  auto device = device::make_simulated(*target, "");
  ASSERT_TRUE(device) << device.error().message;
  auto loaded = (*device)->load(std::make_shared<const object::CodeObject>(std::move(*object)));
  ASSERT_TRUE(loaded) << loaded.error().message;

  for (const launch::Case& c : launch->cases) {
    auto outcome = (*device)->launch(*loaded, c, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->status, machine::Status::completed) << (outcome->fault ? outcome->fault->message : "");
    EXPECT_TRUE(outcome->guard_damage.empty()) << outcome->guard_damage.front();
    EXPECT_TRUE(outcome->read_only_damage.empty()) << outcome->read_only_damage.front();
    Values got = values_of(outcome->buffers.at(kernel.output), c.buffer(kernel.output)->dtype);
    expect_close(got, kernel.reference(Inputs{c}), kernel, c.name);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusKernel, testing::ValuesIn(kernels),
                         [](const auto& info) { return fmt::format("{}_{}", info.param.name, info.param.output); });
