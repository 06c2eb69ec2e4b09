// One line of a terminal that is written again and again, or a few plain lines where there is no terminal.
//
// A person wants to see at each moment what goes on; a log file wants to hold a hundred lines and not a hundred
// thousand, and no control codes. Which one is there is asked once.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace asmevo {

/// Whether `stream` is a terminal that understands colour (NO_COLOR and TERM=dumb say no).
bool wants_colour(std::FILE* stream);

class StatusLine {
public:
  explicit StatusLine(std::FILE* stream);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool live() const { return live_; }
  /// The newest state. On a terminal it replaces the line, at most ten times a second; elsewhere it is printed as a
  /// line of its own at growing intervals (1 s, 2 s, 4 s, ... at most a minute).
  void show(std::string_view text);
  /// A line that stays, above the status.
  void print(std::string_view text);
  /// Leaves the status where it is, complete, and ends its line.
  void finish();

private:
  void draw();
  void erase();

  std::FILE* stream_;
  bool live_;
  std::string text_;
  bool drawn_ = false, pending_ = false;
  std::chrono::steady_clock::time_point next_;
  std::chrono::milliseconds interval_;
};

/// `text` cut to `columns` characters of UTF-8.
std::string_view cut_to_columns(std::string_view text, size_t columns);

} // namespace asmevo
