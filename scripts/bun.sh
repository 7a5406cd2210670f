# Sourced by start and test. `ensure_bun` makes sure that Bun is on PATH in the version that package.json names, and that
# the dependencies of bun.lock are in node_modules. If the machine has no Bun, npm installs it into .tools/.
# Expects: set -euo pipefail, the current directory at the root of the checkout.

say() { printf '%s\n' "$*" >&2; }

# The version of devDependencies.bun.
wanted_bun() { sed -n 's/^ *"bun": "\([0-9.]*\)".*/\1/p' package.json; }

is_bun() { [ -x "$1" ] && [ "$("$1" --version 2>/dev/null)" = "$2" ]; }

# The program itself: bun's install script moves it; if npm runs no install scripts, it stays in the package for this
# processor and C library.
bun_in_tools() {
  local candidate
  for candidate in .tools/node_modules/bun/bin/bun.exe .tools/node_modules/@oven/bun-*/bin/bun; do
    if is_bun "$candidate" "$1"; then
      printf '%s\n' "$PWD/$candidate"
      return 0
    fi
  done
  return 1
}

install_bun() {
  local version=$1 found
  if ! command -v npm >/dev/null; then
    say "Bun $version is not here, and npm, which would bring it, is not either: apt-get install nodejs npm"
    return 1
  fi
  if ! found=$(bun_in_tools "$version"); then
    say "Bun $version: installing from the npm registry into .tools/"
    mkdir -p .tools
    [ -e .tools/package.json ] || printf '{ "private": true }\n' >.tools/package.json
    npm install --prefix .tools --no-save --no-package-lock --include=optional --no-audit --no-fund --loglevel=error \
      "bun@$version" >&2
    if ! found=$(bun_in_tools "$version"); then
      say "Bun $version was installed but does not run on this machine ($(uname -sm))"
      return 1
    fi
  fi
  mkdir -p .tools/bin
  ln -sfn "$found" .tools/bin/bun
  ln -sfn "$found" .tools/bin/bunx
}

ensure_bun() {
  local version
  version=$(wanted_bun)
  if ! is_bun "$(command -v bun || true)" "$version"; then
    is_bun .tools/bin/bun "$version" || install_bun "$version"
    export PATH="$PWD/.tools/bin:$PATH"
  fi
  install_dependencies
}

# Once per content of package.json and bun.lock.
install_dependencies() {
  local stamp=node_modules/.installed-for sum printed
  sum=$(cat package.json bun.lock | cksum)
  [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ] && return 0
  say 'Dependencies: installing from bun.lock'
  if ! printed=$(bun install --frozen-lockfile 2>&1); then
    say "$printed"
    return 1
  fi
  # If install scripts are disabled, the dependency `bun` is a stub, which `bun run` would mistake for Bun.
  is_bun node_modules/.bin/bun "$(bun --version)" || ln -sf "$(command -v bun)" node_modules/bun/bin/bun.exe
  printf '%s\n' "$sum" >"$stamp"
}
