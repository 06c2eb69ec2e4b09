// Errors as values.
//
// Everything here reads files that anyone may have made, so failing is an ordinary outcome and not an exception. A
// message is written for the person who typed the command: it begins with the file (and the place in it), says what is
// wrong with the value that was found, and what to do where that is not obvious.
#pragma once

#include <expected>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace asmevo {

struct Error {
  std::string message;
};

template <class T> using Result = std::expected<T, Error>;

/// An error with a formatted message: `return fail("{}: not an ELF file", path);`
template <class... Args> std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
}

} // namespace asmevo

/// `AE_TRY(auto x, f());` declares x from the Result of f(), or returns its error from the enclosing function.
#define AE_TRY(declaration, ...) AE_TRY_NAMED(AE_JOIN(ae_result_, __LINE__), declaration, __VA_ARGS__)
#define AE_TRY_NAMED(result, declaration, ...)                                                                         \
  auto result = (__VA_ARGS__);                                                                                         \
  if (!result) return std::unexpected(std::move(result).error());                                                      \
  declaration = *std::move(result)
/// `AE_CHECK(f());` returns the error of f(), a Result<void>, from the enclosing function.
#define AE_CHECK(...)                                                                                                  \
  if (auto ae_status = (__VA_ARGS__); !ae_status) return std::unexpected(std::move(ae_status).error())
#define AE_JOIN(a, b) AE_JOIN2(a, b)
#define AE_JOIN2(a, b) a##b
