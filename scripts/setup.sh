#!/usr/bin/env bash
# Makes sure that the Debian 12 packages the build needs are there. As root (or with sudo) it installs what is missing,
# else it names it and stops. Silent when there is nothing to do.
#   setup.sh [PACKAGE...]     packages that are wanted besides
set -euo pipefail

packages=(
  cmake ninja-build g++ ccache mold make
  llvm-22-dev llvm-22 liblld-22-dev lld-22 clang-22 clang-tools-22
  libfmt-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev libtbb-dev libzstd-dev zlib1g-dev libssl-dev libz3-dev libcurl4-openssl-dev
  libgtest-dev libbenchmark-dev libmpfr-dev sqlite3 csmith libcsmith-dev
  "$@"
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo)
else
  echo "setup: these packages are missing, and there is neither root nor sudo here to install them:" >&2
  echo "  apt-get install ${missing[*]}" >&2
  exit 2
fi

echo "setup: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
