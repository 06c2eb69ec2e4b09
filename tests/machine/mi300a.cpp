// The fourteen MI300A programs of the shared data folder, from their launch specs: initial data, every launch of the
// measured sequence, results against a reference on the host, and the count of wave-instructions that is known for
// them. Small sizes by default; ASMEVO_PROGRAM_INSTRUCTIONS raises the limit (make check-programs).
#include "kernel_fixture.h"
#include "mi300a_data.h"

#include <cmath>
#include <complex>
#include <numbers>

using namespace asmevo;
using namespace asmevo::machine;
using namespace asmevo::machine::mi300a;

namespace {

/// Buffers by name, as bytes; typed views of them.
struct Contents {
  std::map<std::string, Bytes> bytes;
  template <class T> std::vector<T> as(const std::string& name) const {
    const Bytes& raw = bytes.at(name);
    std::vector<T> values(raw.size() / sizeof(T));
    std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
    return values;
  }
};

/// What a program must leave in `buffer`, from the contents before; floats within `tolerance` of 1 + |value|.
struct Expected {
  std::string buffer;
  std::vector<float> floats;
  std::vector<uint32_t> words;
  double tolerance = 0;
};
using Reference = Expected (*)(const Contents&, const json& params);

Expected vectoradd(const Contents& in, const json&) {
  const auto b = in.as<float>("b"), c = in.as<float>("c");
  Expected e{"a"};
  for (size_t i = 0; i < b.size(); ++i) e.floats.push_back(b[i] + c[i]);
  return e;
}

Expected transpose(const Contents& in, const json& params) {
  const auto a = in.as<float>("input");
  const size_t n = params.at("n");
  Expected e{"output"};
  for (size_t y = 0; y < n; ++y)
    for (size_t x = 0; x < n; ++x) e.floats.push_back(a[x * n + y]);
  return e;
}

Expected floydwarshall(const Contents& in, const json& params) {
  const size_t n = params.at("n");
  Expected e{"pathDistance", {}, in.as<uint32_t>("pathDistance")};
  auto& d = e.words;
  for (size_t k = 0; k < n; ++k)
    for (size_t y = 0; y < n; ++y)
      for (size_t x = 0; x < n; ++x)
        d[y * n + x] = uint32_t(std::min(int(d[y * n + x]), int(d[y * n + k] + d[k * n + x])));
  return e;
}

Expected walsh(const Contents& in, const json& params) {
  const size_t n = params.at("n");
  Expected e{"tArray", in.as<float>("tArray")};
  for (size_t step = 1; step < n; step *= 2)
    for (size_t t = 0; t < n / 2; ++t) {
      float &x = e.floats[2 * step * (t / step) + t % step], &y = (&x)[step];
      const float sum = x + y, difference = x - y;
      x = sum, y = difference;
    }
  return e;
}

Expected fir(const Contents& in, const json& params) {
  const auto input = in.as<float>("input"), coeff = in.as<float>("coeff"), history = in.as<float>("history");
  const size_t taps = params.at("taps");
  Expected e{"output"};
  for (size_t t = 0; t < input.size(); ++t) {
    float sum = 0;
    for (size_t i = 0; i < taps; ++i) sum = std::fma(coeff[i], t >= i ? input[t - i] : history[taps - (i - t)], sum);
    e.floats.push_back(sum);
  }
  return e;
}

/// A or its transpose times x, one fused step an element.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& x, size_t n, bool transposed) {
  std::vector<float> y(n, 0.0f);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) y[i] = std::fma(a[transposed ? j * n + i : i * n + j], x[j], y[i]);
  return y;
}

Expected atax(const Contents& in, const json& params) {
  const size_t n = params.at("n");
  const auto a = in.as<float>("A");
  return {"y", product(a, product(a, in.as<float>("x"), n, false), n, true)};
}
Expected bicg(const Contents& in, const json& params) {
  return {"s", product(in.as<float>("A"), in.as<float>("r"), params.at("n"), true)};
}

Expected pagerank(const Contents& in, const json& params) {
  const auto offsets = in.as<uint32_t>("rowOffset"), columns = in.as<uint32_t>("col");
  const auto weights = in.as<float>("val"), start = in.as<float>("x");
  std::vector<double> x(start.begin(), start.end());
  for (int round = 0; round < params.at("iterations").get<int>(); ++round) {
    std::vector<double> y(x.size());
    for (size_t row = 0; row < y.size(); ++row)
      for (uint32_t k = offsets[row]; k < offsets[row + 1]; ++k) y[row] += double(weights[k]) * x[columns[k]];
    x = y;
  }
  return {"x", std::vector<float>(x.begin(), x.end()), {}, 1e-6};
}

Expected bfs(const Contents& in, const json&) {
  const auto offsets = in.as<uint32_t>("edgeArray"), columns = in.as<uint32_t>("edgeArrayAux");
  Expected e{"levels", {}, in.as<uint32_t>("levels")};
  std::vector<uint32_t> front{0};
  for (uint32_t level = 1; !front.empty(); ++level) {
    std::vector<uint32_t> next;
    for (const uint32_t v : front)
      for (uint32_t k = offsets[v]; k < offsets[v + 1]; ++k)
        if (e.words[columns[k]] == 0xffffffff) e.words[columns[k]] = level, next.push_back(columns[k]);
    front = next;
  }
  return e;
}

void transform(std::complex<double>* x, size_t n) {
  if (n == 1) return;
  std::vector<std::complex<double>> even, odd;
  for (size_t k = 0; k < n; ++k) (k % 2 ? odd : even).push_back(x[k]);
  transform(even.data(), n / 2);
  transform(odd.data(), n / 2);
  for (size_t k = 0; k < n / 2; ++k) {
    const auto turned = std::polar(1.0, -2 * std::numbers::pi * double(k) / double(n)) * odd[k];
    x[k] = even[k] + turned;
    x[k + n / 2] = even[k] - turned;
  }
}

Expected fft(const Contents& in, const json&) {
  const auto work = in.as<float>("work");
  Expected e{"work", {}, {}, 1e-4};
  for (size_t row = 0; row < work.size(); row += 1024) {
    std::vector<std::complex<double>> x;
    for (size_t k = 0; k < 512; ++k) x.emplace_back(work[row + 2 * k], work[row + 2 * k + 1]);
    transform(x.data(), x.size());
    for (const auto& value : x) e.floats.push_back(float(value.real())), e.floats.push_back(float(value.imag()));
  }
  return e;
}

// The address of the A tile leaves out the block row: the first 32 rows of A serve every block.
Expected matmul(const Contents& in, const json& params) {
  const size_t n = params.at("n");
  const auto a = in.as<float>("matrixA"), b = in.as<float>("matrixB");
  Expected e{"matrixC", {}, {}, 1e-5};
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += double(a[i % 32 * n + k]) * b[k * n + j];
      e.floats.push_back(float(sum));
    }
  return e;
}

Expected nbody(const Contents& in, const json&) {
  const auto pos = in.as<float>("pos"), vel = in.as<float>("vel");
  constexpr double dt = 0.005f, softening = 50;
  Expected e{"newPosition", {}, {}, 1e-5};
  for (size_t i = 0; i < pos.size(); i += 4) {
    double acceleration[3] = {};
    for (size_t j = 0; j < pos.size(); j += 4) {
      double d[3], square = softening;
      for (size_t k = 0; k < 3; ++k) d[k] = double(pos[j + k]) - pos[i + k], square += d[k] * d[k];
      const double scale = pos[j + 3] / (square * std::sqrt(square));
      for (size_t k = 0; k < 3; ++k) acceleration[k] += scale * d[k];
    }
    for (size_t k = 0; k < 3; ++k)
      e.floats.push_back(float(pos[i + k] + vel[i + k] * dt + acceleration[k] * 0.5 * dt * dt));
    e.floats.push_back(pos[i + 3]);
  }
  return e;
}

std::vector<float> columns_of(const std::vector<float>& image, size_t n, size_t mask) {
  const size_t field = n - mask + 1;
  std::vector<float> out;
  for (size_t i = 0; i < mask * mask; ++i)
    for (size_t t = 0; t < field * field; ++t) out.push_back(image[(t / field + i / mask) * n + t % field + i % mask]);
  return out;
}
Expected im2col(const Contents& in, const json& params) {
  return {"im2col", columns_of(in.as<float>("input"), params.at("n"), params.at("mask"))};
}
Expected conv2d(const Contents& in, const json& params) {
  const size_t depth = params.at("gemm_k"), width = params.at("gemm_n"), rows = params.at("gemm_m");
  const auto columns = columns_of(in.as<float>("input"), params.at("n"), params.at("mask")),
             weight = in.as<float>("weight");
  // Each workgroup first zeroes whole tiles, without a look at the row's end: the last one of a row, which runs after
  // the others, takes the beginning of the next row with it.
  const size_t zeroed = width > 16 ? params.at("column_pad").get<size_t>() : 0;
  Expected e{"output", {}, {}, 1e-6};
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < width; ++j) {
      float sum = 0;
      if (i > 0 && j < zeroed) {
        e.floats.push_back(sum);
        continue;
      }
      for (size_t k = 0; k < depth; ++k) sum = std::fma(weight[i * depth + k], columns[k * width + j], sum);
      e.floats.push_back(sum);
    }
  return e;
}

struct ProgramCase {
  const char* name;
  Reference reference;
};
constexpr ProgramCase programs[] = {{"vectoradd", vectoradd},
                                    {"matrixtranspose", transpose},
                                    {"floydwarshall", floydwarshall},
                                    {"fastwalshtransform", walsh},
                                    {"fir", fir},
                                    {"atax", atax},
                                    {"bicg", bicg},
                                    {"pagerank", pagerank},
                                    {"bfs", bfs},
                                    {"fft1D_512", fft},
                                    {"matrixmultiplication", matmul},
                                    {"nbody", nbody},
                                    {"conv2d", conv2d},
                                    {"im2col", im2col}};

class Programs : public testing::TestWithParam<ProgramCase> {
public:
  static uint64_t instruction_limit() {
    const char* limit = std::getenv("ASMEVO_PROGRAM_INSTRUCTIONS");
    return limit ? std::strtoull(limit, nullptr, 10) : 300'000;
  }

  void run_size(const std::string& folder, const json& spec, const json& size) {
    SCOPED_TRACE(size.at("problem_size").get<std::string>());
    auto run = bench::read_run(spec, size, ~0u);
    ASSERT_TRUE(run) << run.error().message;
    Memory memory;
    Contents before;
    for (const bench::SpecBuffer& b : run->buffers) {
      const json& described = size.at("buffers").at(b.name);
      Bytes content = initial(described);
      content.resize(described.at("bytes").get<size_t>());
      auto mapped = memory.map(b.address, b.bytes, Access::read_write, b.name);
      ASSERT_TRUE(mapped) << mapped.error().message;
      std::ranges::copy(content, mapped->begin());
      before.bytes[b.name] = std::move(content);
    }
    uint64_t instructions = 0;
    for (const bench::SpecLaunch& launch : run->launches) instructions += run_launch(folder, launch, memory);
    if (HasFailure()) return;
    const json& derived = size.at("derived");
    if (derived.at("wave_instructions_exact").get<bool>()) {
      EXPECT_EQ(instructions, derived.at("wave_instructions_per_measurement").get<uint64_t>());
    }
    compare(GetParam().reference(before, size.at("params")), *run, memory);
  }

private:
  uint64_t run_launch(const std::string& folder, const bench::SpecLaunch& launch, Memory& memory) {
    constexpr uint64_t load_base = 0x10000000, kernarg_base = 0x20000000;
    const Image* image = load(folder + "/objects/" + launch.code_object);
    if (!image) return 0;
    auto kernel = object::choose_kernel(image->object(), launch.kernel);
    EXPECT_TRUE(kernel) << kernel.error().message;
    EXPECT_TRUE(image->load(memory, load_base));
    auto kernarg = memory.map(kernarg_base, launch.kernarg.size(), Access::read_only, "kernarg");
    EXPECT_TRUE(kernarg) << kernarg.error().message;
    std::ranges::copy(launch.kernarg, kernarg->begin());
    const Dispatch dispatch{.kernel = *kernel,
                            .load_base = load_base,
                            .kernarg_address = kernarg_base,
                            .workgroups = launch.workgroups,
                            .workgroup_size = launch.workgroup_size,
                            .dynamic_lds = launch.dynamic_lds};
    // Two of the programs share a scratch buffer between workgroups: right only when these run one after the other. How
    // often bfs finds a vertex that another wave is about to mark depends on the order of waves.
    auto result = machine::run(*image, dispatch, memory, {.schedule = Schedule::run_to_barrier, .threads = 1});
    EXPECT_TRUE(result) << result.error().message;
    std::vector<uint64_t> loaded;
    for (const Region& region : memory.regions())
      if (region.base < 0x7f0000000000) loaded.push_back(region.base);
    for (const uint64_t base : loaded) memory.unmap(base);
    if (!result) return 0;
    EXPECT_EQ(result->status, Status::completed) << (result->fault ? result->fault->message : "");
    return result->instructions;
  }

  const Image* load(const std::string& path) {
    if (const auto at = images_.find(path); at != images_.end()) return &at->second;
    auto bytes = read_file(path);
    EXPECT_TRUE(bytes) << bytes.error().message;
    if (!bytes) return nullptr;
    auto object = object::read_code_object(std::move(*bytes), path);
    EXPECT_TRUE(object) << object.error().message;
    auto codec = isa::Codec::create({.processor = isa::Processor::gfx942});
    if (!object || !codec) return nullptr;
    auto image = Image::create(std::make_shared<const object::CodeObject>(std::move(*object)), *codec);
    EXPECT_TRUE(image) << image.error().message;
    return image ? &images_.emplace(path, std::move(*image)).first->second : nullptr;
  }

  static void compare(const Expected& want, const bench::SpecRun& run, const Memory& memory) {
    const auto buffer = std::ranges::find(run.buffers, want.buffer, &bench::SpecBuffer::name);
    ASSERT_NE(buffer, run.buffers.end()) << want.buffer;
    const uint8_t* data = memory.find(buffer->address, 1)->data;
    size_t wrong = 0;
    for (size_t i = 0; i < want.words.size(); ++i) {
      uint32_t got;
      std::memcpy(&got, data + 4 * i, 4);
      if (got != want.words[i] && wrong++ < 3)
        ADD_FAILURE() << want.buffer << "[" << i << "] " << got << " instead of " << want.words[i];
    }
    for (size_t i = 0; i < want.floats.size(); ++i) {
      float got;
      std::memcpy(&got, data + 4 * i, 4);
      const double allowed = want.tolerance * (1 + std::abs(double(want.floats[i])));
      if (!(std::abs(double(got) - want.floats[i]) <= allowed) && wrong++ < 3)
        ADD_FAILURE() << want.buffer << "[" << i << "] " << got << " instead of " << want.floats[i];
    }
    EXPECT_EQ(wrong, 0u);
  }

  std::map<std::string, Image> images_;
};

} // namespace

TEST_P(Programs, GiveTheReferencesResultsInTheKnownNumberOfInstructions) {
  const std::string folder = shared_data("mi300a");
  if (folder.empty()) GTEST_SKIP() << "the MI300A objects are not here: set ASMEVO_DATA to the shared data folder";
  auto text = read_text_file(folder + "/launch/" + GetParam().name + ".json");
  ASSERT_TRUE(text) << text.error().message;
  const json spec = json::parse(*text);
  unsigned sizes = 0;
  for (const json& size : spec.at("sizes")) {
    if (size.at("derived").at("wave_instructions_per_measurement").get<uint64_t>() > instruction_limit()) continue;
    run_size(folder, spec, size);
    ++sizes;
  }
  EXPECT_GE(sizes, 2u);
}

INSTANTIATE_TEST_SUITE_P(Mi300a, Programs, testing::ValuesIn(programs),
                         [](const auto& each) { return std::string(each.param.name); });
