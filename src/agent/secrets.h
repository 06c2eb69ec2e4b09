// Keys that must not be written anywhere.
//
// A program that asks others for proposals runs where keys are: in its environment, in headers that it sends, in error
// messages that come back and quote them. Everything that is stored or printed of a conversation goes through here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace asmevo::agent {

class Secrets {
public:
  /// The values of environment variables whose names speak of keys, tokens, secrets and passwords.
  static Secrets of_environment();

  void add(std::string_view value); // too short ones are ignored: they would be found everywhere
  /// `text` with what is secret or looks like a key replaced by "[removed]".
  std::string removed_from(std::string_view text) const;

private:
  std::vector<std::string> values_; // the longest first
};

} // namespace asmevo::agent
