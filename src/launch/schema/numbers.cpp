#include "launch/schema/numbers.h"

#include <cmath>

namespace asmevo::launch {

namespace {

/// An error of asmevo::launch::evaluate_* at the place of the text.
template <class T> Result<T> placed(const JsonView& view, Result<T> result) {
  if (!result) return view.fail("{}", result.error().message);
  return result;
}

} // namespace

Result<int64_t> integer_in(const JsonView& view, const Sizes& sizes, std::string_view what) {
  if (!view.is_string()) return view.integer(what);
  AE_TRY(std::string text, view.string(what));
  return placed(view, evaluate_integer(text, sizes));
}

Result<double> real_in(const JsonView& view, const Sizes& sizes, std::string_view what) {
  if (!view.is_string()) return view.number(what);
  AE_TRY(std::string text, view.string(what));
  if (text == "nan") return std::nan("");
  if (text == "inf" || text == "-inf") return text == "inf" ? HUGE_VAL : -HUGE_VAL;
  return placed(view, evaluate_real(text, sizes));
}

Result<uint64_t> bounded_in(const JsonView& view, const Sizes& sizes, std::string_view what, uint64_t low,
                            uint64_t high) {
  AE_TRY(int64_t value, integer_in(view, sizes, what));
  if (value < 0 || uint64_t(value) < low || uint64_t(value) > high)
    return view.fail("{} is {}, allowed is {} to {}", what, value, low, high);
  return uint64_t(value);
}

Result<void> SizeTable::add(const JsonView& object) {
  AE_CHECK(object.expect_object("\"sizes\""));
  for (const std::string& name : object.member_names()) {
    bool good = !name.empty() && !std::isdigit(uint8_t(name[0]));
    for (char c : name) good &= std::isalnum(uint8_t(c)) || c == '_';
    if (!good)
      return asmevo::fail("{}: size \"{}\" must be a name of letters, digits and _", object.where_key(name), name);
    views_.insert_or_assign(name, object.at(name));
  }
  return {};
}

Result<Sizes> SizeTable::resolve() {
  // Each round resolves every size whose own references are known; what is left after as many rounds is a cycle.
  for (size_t round = 0; round <= views_.size() && resolved_.size() < views_.size(); ++round)
    for (auto& [name, view] : views_)
      if (!resolved_.contains(name))
        if (auto value = integer_in(view, resolved_, fmt::format("size \"{}\"", name))) resolved_[name] = *value;
  for (auto& [name, view] : views_)
    if (!resolved_.contains(name)) {
      auto value = integer_in(view, resolved_, fmt::format("size \"{}\"", name));
      return std::unexpected(value.error());
    }
  return resolved_;
}

} // namespace asmevo::launch
