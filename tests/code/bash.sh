#!/usr/bin/env bash
set -euo pipefail

# How many.
readonly MAX=10
NAME="one"
export PATH_LIKE="/bin:$PATH" OTHER=1
declare -r FIXED=3
declare -A TABLE=(
  [a]=1
)
NAME="two"

# Says hello.
hello() {
  local inner=1
  echo "hello $1"
  nested() { :; }
}

function größe { echo 1; }
function both() (
  subshell=1
)
one_line() { echo "x"; }

if [ -n "${X:-}" ]; then
  conditional() { :; }
elif true; then
  IN_ELIF=1
else
  otherwise() { :; }
fi

case "$1" in
  a) in_case() { :; } ;;
esac

cat <<EOF
not_a_function() { }
EOF
hello "$@"
