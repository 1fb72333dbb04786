#!/bin/sh
# Installs Bailiwick for the current user: downloads a release, verifies its checksum and puts the program into
# ~/.local/bin.
#
#   sh install.sh [--version VERSION] [--dry-run]
#
# BAILIWICK_INSTALL_DIR     the folder to install into (default ~/.local/bin)
# BAILIWICK_DOWNLOAD_URL    the folder with the archives and SHA256SUMS (default: the release on GitHub)
#
# Needs tar, curl or wget, and sha256sum, shasum or openssl. Needs no root. Changes nothing but that folder.
set -eu

# scripts/release fills these in.
repository=
version=

# fail MESSAGE [HINT]: prints an error and ends.
fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

usage() {
  printf 'Usage: install.sh [--version VERSION] [--dry-run]\n\n'
  printf '  --version VERSION  Install this version instead of %s\n' "${version:-the newest}"
  printf '  --dry-run          Show what would be installed, and where; download nothing\n\n'
  printf 'BAILIWICK_INSTALL_DIR is the folder to install into (default ~/.local/bin).\n'
}

# Sets `target` to the Rust target of this computer.
find_target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $machine in
  x86_64 | amd64) cpu=x86_64 ;;
  aarch64 | arm64) cpu=aarch64 ;;
  *) cpu= ;;
  esac
  target=
  case $system in
  Linux) target=${cpu:+$cpu-unknown-linux-$(find_libc)} ;;
  Darwin)
    # Under Rosetta, uname prints x86_64.
    [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" != 1 ] || cpu=aarch64
    target=${cpu:+$cpu-apple-darwin}
    ;;
  MINGW* | MSYS* | CYGWIN*)
    fail 'this script does not install on Windows' "download the .zip archive from $page"
    ;;
  esac
  [ -n "$target" ] || fail "there is no Bailiwick for $system on $machine" "build it from source: https://github.com/$repository"
}

# Prints `gnu` where the glibc is one that the program was built for (2.35 or newer), else `musl`.
find_libc() {
  glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=
  minor=${glibc#glibc 2.}
  minor=${minor%%[!0-9]*}
  if [ "${minor:-0}" -ge 35 ]; then printf gnu; else printf musl; fi
}

# download NAME: downloads a file of the release into the temporary folder.
download() {
  if has curl; then
    curl --proto "=$protocol" --tlsv1.2 --fail --location --silent --show-error --retry 2 --output "$temporary/$1" "$url/$1"
  else
    wget -q -O "$temporary/$1" "$url/$1"
  fi || fail "$url/$1 could not be downloaded; nothing was installed" "see which files the release has: $page"
}

# Prints the SHA-256 of a file.
sha256() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  fi
}

clean_up() {
  rm -rf "$temporary"
  [ -z "$new" ] || rm -f "$new"
}

main() {
  dry_run=
  while [ $# -gt 0 ]; do
    case $1 in
    --version)
      [ $# -ge 2 ] || fail '--version needs a version'
      version=${2#v}
      shift
      ;;
    --version=*) version=${1#--version=} version=${version#v} ;;
    --dry-run) dry_run=yes ;;
    -h | --help)
      usage
      exit
      ;;
    *)
      usage >&2
      exit 2
      ;;
    esac
    shift
  done
  [ -n "$repository" ] && [ -n "$version" ] ||
    fail 'this copy of install.sh is not from a release' 'download install.sh from the page of a release'
  case $version in *[!0-9A-Za-z.+-]*) fail "\`$version\` is not a version" ;; esac
  page=https://github.com/$repository/releases/tag/v$version
  url=${BAILIWICK_DOWNLOAD_URL:-https://github.com/$repository/releases/download/v$version}
  url=${url%/}
  case $url in
  https://*) protocol=https ;;
  http://127.0.0.1[:/]* | http://localhost[:/]*) protocol=http ;;
  *) fail "$url is not an https URL" 'set BAILIWICK_DOWNLOAD_URL to an https URL' ;;
  esac
  [ -n "${BAILIWICK_INSTALL_DIR:-${HOME:-}}" ] || fail 'HOME is not set' 'set BAILIWICK_INSTALL_DIR to the folder to install into'
  folder=${BAILIWICK_INSTALL_DIR:-$HOME/.local/bin}
  case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
  program=$folder/bailiwick
  find_target
  name=bailiwick-$version-$target

  old=
  if [ -e "$program" ] || [ -L "$program" ]; then
    old=$("$program" --version </dev/null 2>/dev/null) || old=
    case $old in
    'bailiwick '*) ;;
    *) fail "$program exists and is not Bailiwick" 'move it away, or set BAILIWICK_INSTALL_DIR to another folder' ;;
    esac
  fi
  if [ -n "$dry_run" ]; then
    printf 'Would download %s/%s.tar.gz\n' "$url" "$name"
    printf 'Would install  %s%s\n' "$program" "${old:+ (now $old)}"
    exit
  fi
  for tool in tar mktemp awk; do
    has "$tool" || fail "$tool is missing" "install $tool"
  done
  has curl || has wget || fail 'curl and wget are missing' 'install one of them'
  has sha256sum || has shasum || has openssl || fail 'sha256sum, shasum and openssl are missing' 'install one of them'
  { mkdir -p "$folder" && [ -w "$folder" ]; } 2>/dev/null ||
    fail "$folder is not writable" 'set BAILIWICK_INSTALL_DIR to a folder of yours'

  new=
  temporary=$(mktemp -d)
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  download SHA256SUMS
  expected=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$temporary/SHA256SUMS")
  [ -n "$expected" ] || fail "version $version has no archive for $target" "see which files the release has: $page"
  printf 'Downloading %s/%s.tar.gz\n' "$url" "$name"
  download "$name.tar.gz"
  actual=$(sha256 "$temporary/$name.tar.gz")
  [ "$actual" = "$expected" ] ||
    fail "$name.tar.gz has the checksum $actual, not $expected as in SHA256SUMS; nothing was installed" 'try again later'
  tar -xzf "$temporary/$name.tar.gz" -C "$temporary" "$name/bailiwick" || fail "$name.tar.gz could not be unpacked"

  # Beside the old program first, so that the step that replaces it is atomic.
  new=$(mktemp "$folder/.bailiwick.XXXXXX")
  cp "$temporary/$name/bailiwick" "$new"
  chmod 755 "$new"
  [ "$("$new" --version)" = "bailiwick $version" ] ||
    fail "the program for $target does not start on this computer; nothing was installed" \
      "build it from source: https://github.com/$repository"
  mv -f "$new" "$program"

  printf 'Installed bailiwick %s: %s\n' "$version" "$program"
  [ -z "$old" ] || printf 'It replaces %s. If its service is running: bailiwick service stop && bailiwick service start\n' "$old"
  found=$(command -v bailiwick) || found=
  if [ -z "$found" ]; then
    printf "\n%s is not on your PATH. Add it:\n  export PATH=\"%s:\$PATH\"\n" "$folder" "$folder"
  elif [ "$found" != "$program" ]; then
    printf '\nwarning: another bailiwick comes first on your PATH: %s\n' "$found"
  fi
  printf '\nNext:\n  bailiwick setup FOLDER    open a folder to an AI client\n'
}

# Last, so that a part of this script does nothing.
main "$@"
