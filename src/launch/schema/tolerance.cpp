// How closely results of a case are compared.
#include "launch/schema/case_builder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace asmevo::launch {

Result<void> CaseBuilder::tolerances(const JsonView& object) {
  AE_CHECK(object.expect_object("\"tolerance\""));
  for (const std::string& name : object.member_names()) {
    JsonView view = object.at(name);
    std::string what = fmt::format("tolerance of \"{}\"", name);
    AE_CHECK(view.expect_keys(what, {"absolute", "relative", "scaled", "cosine"}));
    Tolerance& out = result.tolerance[name];
    tolerance_places_[name] = object.where_key(name);
    for (auto [key, field] : {std::pair{"absolute", &Tolerance::absolute}, std::pair{"relative", &Tolerance::relative},
                              std::pair{"scaled", &Tolerance::scaled}, std::pair{"cosine", &Tolerance::cosine}}) {
      if (!view.has(key)) continue;
      AE_TRY(out.*field, real_in(view.at(key), sizes_, what));
      bool above = field == &Tolerance::cosine && out.*field > 1;
      if (!(out.*field >= 0) || above || !std::isfinite(out.*field))
        return view.at(key).fail("{}: \"{}\" is {}, allowed is 0 to {}", what, key, out.*field,
                                 field == &Tolerance::cosine ? "1" : "any finite number");
    }
  }
  return {};
}

Result<void> CaseBuilder::check_tolerances() {
  for (auto& [name, tolerance] : result.tolerance) {
    const Buffer* buffer = result.buffer(name);
    const std::string& where = tolerance_places_[name];
    if (!buffer) return asmevo::fail("{}: tolerance of \"{}\": no such buffer", where, name);
    if (!is_result(buffer->role))
      return asmevo::fail("{}: tolerance of \"{}\": its role is \"{}\", only out and inout are compared", where, name,
                          name_of(buffer->role));
    if (!is_floating(buffer->dtype) && tolerance != Tolerance{})
      return asmevo::fail("{}: tolerance of \"{}\": {} is compared exactly", where, name, name_of(buffer->dtype));
  }
  return {};
}

} // namespace asmevo::launch
