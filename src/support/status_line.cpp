#include "support/status_line.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace asmevo {
namespace {

constexpr std::chrono::milliseconds live_interval{100}, first_plain_interval{1000}, longest_plain_interval{60'000};

bool is_terminal(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return isatty(fileno(stream)) && term && std::string_view(term) != "dumb";
}

size_t columns_of(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

} // namespace

bool wants_colour(std::FILE* stream) {
  const char* refused = std::getenv("NO_COLOR");
  return is_terminal(stream) && !(refused && *refused);
}

std::string_view cut_to_columns(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    bool begins_character = (uint8_t(text[at]) & 0xc0) != 0x80;
    if (begins_character && seen++ == columns) break;
  }
  return text.substr(0, at);
}

StatusLine::StatusLine(std::FILE* stream)
    : stream_(stream), live_(is_terminal(stream)), next_(std::chrono::steady_clock::now()),
      interval_(live_ ? live_interval : first_plain_interval) {}

StatusLine::~StatusLine() { finish(); }

void StatusLine::show(std::string_view text) {
  text_ = text;
  pending_ = true;
  if (std::chrono::steady_clock::now() >= next_) draw();
}

void StatusLine::draw() {
  if (live_) {
    fmt::print(stream_, "\r\x1b[K{}", cut_to_columns(text_, columns_of(stream_) - 1));
    drawn_ = true;
  } else {
    fmt::print(stream_, "{}\n", text_);
    interval_ = std::min(interval_ * 2, longest_plain_interval);
  }
  std::fflush(stream_);
  pending_ = false;
  next_ = std::chrono::steady_clock::now() + interval_;
}

void StatusLine::erase() {
  if (drawn_) fmt::print(stream_, "\r\x1b[K");
  drawn_ = false;
}

void StatusLine::print(std::string_view text) {
  erase();
  fmt::print(stream_, "{}\n", text);
  if (live_ && !text_.empty()) draw();
}

void StatusLine::finish() {
  if (pending_) draw();
  if (drawn_) fmt::print(stream_, "\n");
  std::fflush(stream_);
  drawn_ = false;
  text_.clear();
}

} // namespace asmevo
