// What assembly can call a place.
#pragma once

#include <string>
#include <string_view>

namespace asmevo::recover {

/// Letters, digits, '_', '.', '$', not beginning with a digit: needs no quotes anywhere.
bool is_plain_name(std::string_view name);

/// A plain name that an instruction operand can be without being taken for a register or a constant.
bool is_operand_name(std::string_view name);

/// The name as a directive or a label takes it: quoted where it is not plain. Empty where no quoting helps.
std::string as_written(std::string_view name);

} // namespace asmevo::recover
