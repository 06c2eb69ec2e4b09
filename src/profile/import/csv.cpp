#include "profile/import/csv.h"

namespace asmevo::profile {

namespace {

class Scanner {
public:
  Scanner(std::string_view text, const std::string& path) : rest_(text), path_(path) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3); // byte order mark
  }

  bool at_end() const { return rest_.empty(); }
  size_t line() const { return line_; } // of the row that was read last

  Result<Fields> row() {
    line_ = next_line_;
    Fields fields(1);
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\n') {
        ++next_line_;
        break;
      }
      if (c == '"' && fields.back().empty()) {
        AE_CHECK(quoted(fields.back()));
      } else if (c == ',') {
        fields.emplace_back();
      } else if (c != '\r') {
        fields.back() += c;
      }
    }
    return fields;
  }

private:
  Result<void> quoted(std::string& field) {
    for (;;) {
      const size_t end = rest_.find('"');
      if (end == rest_.npos) return fail("{}:{}: a quote is not closed", path_, line_);
      for (char c : rest_.substr(0, end)) next_line_ += c == '\n';
      field += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (!rest_.starts_with('"')) return {};
      field += '"'; // doubled
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
  const std::string& path_;
  size_t line_ = 1, next_line_ = 1;
};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

} // namespace

Result<void> each_row(std::string_view text, const std::string& path,
                      const std::function<Result<void>(const Fields& names)>& header,
                      const std::function<Result<void>(const Fields& fields, size_t line)>& row) {
  Scanner scanner(text, path);
  AE_TRY(Fields names, scanner.row());
  for (std::string& name : names) name = trimmed(name);
  AE_CHECK(header(names));
  while (!scanner.at_end()) {
    AE_TRY(const Fields fields, scanner.row());
    if (fields.size() == 1 && trimmed(fields[0]).empty()) continue; // an empty line
    if (fields.size() != names.size())
      return fail("{}:{}: {} fields, but the header has {}", path, scanner.line(), fields.size(), names.size());
    AE_CHECK(row(fields, scanner.line()));
  }
  return {};
}

} // namespace asmevo::profile
