#include "launch/expression.h"

#include "support/json.h"

#include <charconv>
#include <cmath>
#include <vector>

namespace asmevo::launch {

namespace {

constexpr int deepest_nesting = 32;

// Arithmetic of the two number types. Each operation says why it cannot be done.
struct Integers {
  using Number = int64_t;

  static Result<int64_t> checked(bool overflow, int64_t value) {
    if (overflow) return fail("the result does not fit 64 bits");
    return value;
  }
  static Result<int64_t> add(int64_t a, int64_t b) {
    int64_t r = 0;
    bool overflow = __builtin_add_overflow(a, b, &r);
    return checked(overflow, r);
  }
  static Result<int64_t> subtract(int64_t a, int64_t b) {
    int64_t r = 0;
    bool overflow = __builtin_sub_overflow(a, b, &r);
    return checked(overflow, r);
  }
  static Result<int64_t> multiply(int64_t a, int64_t b) {
    int64_t r = 0;
    bool overflow = __builtin_mul_overflow(a, b, &r);
    return checked(overflow, r);
  }
  static Result<void> check_divisor(int64_t a, int64_t b) {
    if (b == 0) return fail("division by zero");
    if (a == INT64_MIN && b == -1) return fail("the result does not fit 64 bits");
    return {};
  }
  static Result<int64_t> divide(int64_t a, int64_t b) {
    AE_CHECK(check_divisor(a, b));
    if (a % b) return fail("{0} is not a multiple of {1}; ceildiv({0}, {1}) rounds up", a, b);
    return a / b;
  }
  static Result<int64_t> remainder(int64_t a, int64_t b) {
    AE_CHECK(check_divisor(a, b));
    return a % b;
  }
  static Result<int64_t> ceildiv(int64_t a, int64_t b) {
    AE_CHECK(check_divisor(a, b));
    return a / b + (a % b != 0 && (a % b > 0) == (b > 0));
  }
  static Result<int64_t> align(int64_t a, int64_t b) {
    AE_TRY(int64_t units, ceildiv(a, b));
    return multiply(units, b);
  }
  static Result<int64_t> parse(std::string_view digits) {
    int64_t value = 0;
    bool hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (error != std::errc{} || end != digits.data() + digits.size()) return fail("\"{}\" is no whole number", digits);
    return value;
  }
};

struct Reals {
  using Number = double;

  static Result<double> add(double a, double b) { return a + b; }
  static Result<double> subtract(double a, double b) { return a - b; }
  static Result<double> multiply(double a, double b) { return a * b; }
  static Result<double> divide(double a, double b) {
    if (b == 0) return fail("division by zero");
    return a / b;
  }
  static Result<double> remainder(double a, double b) {
    if (b == 0) return fail("division by zero");
    return std::fmod(a, b);
  }
  static Result<double> ceildiv(double a, double b) {
    AE_TRY(double quotient, divide(a, b));
    return std::ceil(quotient);
  }
  static Result<double> align(double a, double b) {
    AE_TRY(double units, ceildiv(a, b));
    return units * b;
  }
  static Result<double> parse(std::string_view digits) {
    double value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return fail("\"{}\" is no number", digits);
    return value;
  }
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class A> class Parser {
public:
  using Number = typename A::Number;

  Parser(std::string_view text, const Sizes& sizes) : text_(text), sizes_(sizes) {}

  Result<Number> run() {
    AE_TRY(Number value, sum());
    if (skip_space(); at_ < text_.size()) return fail("unexpected \"{}\"", text_.substr(at_, 16));
    return value;
  }

private:
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<Number> sum() {
    AE_TRY(Number left, product());
    for (;;) {
      bool plus = take('+');
      if (!plus && !take('-')) return left;
      AE_TRY(Number right, product());
      AE_TRY(left, plus ? A::add(left, right) : A::subtract(left, right));
    }
  }

  Result<Number> product() {
    AE_TRY(Number left, unary());
    for (;;) {
      char operation = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : 0;
      if (!operation) return left;
      AE_TRY(Number right, unary());
      AE_TRY(left, operation == '*'   ? A::multiply(left, right)
                   : operation == '/' ? A::divide(left, right)
                                      : A::remainder(left, right));
    }
  }

  Result<Number> unary() {
    if (!take('-')) return primary();
    if (++depth_ > deepest_nesting) return fail("nested too deeply");
    AE_TRY(Number value, unary());
    --depth_;
    return A::subtract(Number(0), value);
  }

  Result<Number> primary() {
    if (take('(')) {
      if (++depth_ > deepest_nesting) return fail("nested too deeply");
      AE_TRY(Number value, sum());
      --depth_;
      if (!take(')')) return fail("a \")\" is missing");
      return value;
    }
    if (at_ >= text_.size()) return fail("it ends where a number or a size was expected");
    if (is_letter(text_[at_])) return name();
    size_t start = at_;
    auto in_number = [&](char c) {
      bool exponent_sign =
          (c == '-' || c == '+') && at_ > start && text_[at_ - 1] == 'e' && !text_.substr(start).starts_with("0x");
      return is_digit(c) || is_letter(c) || c == '.' || exponent_sign;
    };
    while (at_ < text_.size() && in_number(text_[at_])) ++at_;
    if (at_ == start) return fail("unexpected \"{}\"", text_.substr(at_, 16));
    return A::parse(text_.substr(start, at_ - start));
  }

  Result<Number> name() {
    size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string_view word = text_.substr(start, at_ - start);
    if (take('(')) return call(word);
    if (auto found = sizes_.find(word); found != sizes_.end()) return Number(found->second);
    std::vector<std::string_view> known;
    for (auto& [size, value] : sizes_) known.push_back(size);
    return fail("no size \"{}\"{}", word, suggestion(word, known));
  }

  Result<Number> call(std::string_view function) {
    if (++depth_ > deepest_nesting) return fail("nested too deeply");
    AE_TRY(Number a, sum());
    if (!take(',')) return fail("{} takes two values", function);
    AE_TRY(Number b, sum());
    if (!take(')')) return fail("{} takes two values", function);
    --depth_;
    if (function == "ceildiv") return A::ceildiv(a, b);
    if (function == "align") return A::align(a, b);
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    constexpr std::string_view known[] = {"ceildiv", "align", "min", "max"};
    return fail("no function \"{}\"{}", function, suggestion(function, known));
  }

  std::string_view text_;
  const Sizes& sizes_;
  size_t at_ = 0;
  int depth_ = 0;
};

template <class A> Result<typename A::Number> evaluate(std::string_view text, const Sizes& sizes) {
  auto value = Parser<A>(text, sizes).run();
  if (!value) return fail("in \"{}\": {}", text.substr(0, 80), value.error().message);
  return value;
}

} // namespace

Result<int64_t> evaluate_integer(std::string_view text, const Sizes& sizes) { return evaluate<Integers>(text, sizes); }
Result<double> evaluate_real(std::string_view text, const Sizes& sizes) { return evaluate<Reals>(text, sizes); }

} // namespace asmevo::launch
