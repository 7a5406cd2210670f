# Sourced by test. `ensure_packages NAME:PROBE...` installs the Debian packages whose probe (a program, or a path that may
# hold wildcards) is missing. The tests need only their programs: no service is started and no database cluster is
# created. Expects `say` and set -euo pipefail.

is_present() {
  case $1 in
    */*) compgen -G "$1" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

ensure_packages() {
  local entry missing=() as_root=()
  for entry in "$@"; do
    is_present "${entry#*:}" || missing+=("${entry%%:*}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "Missing, and apt-get is not here to install it: ${missing[*]}"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      say "Missing packages. Ask the administrator for: apt-get install ${missing[*]}"
      return 1
    fi
    as_root=(sudo -n)
  fi
  say "Debian packages: installing ${missing[*]}"
  "${as_root[@]}" bash -euo pipefail -c "$(declare -f install_quietly); install_quietly \"\$@\"" - "${missing[@]}" >&2
}

# Runs as root in a shell of its own. policy-rc.d keeps services from starting, and createcluster.conf keeps PostgreSQL
# from creating its main cluster; both files exist only while this runs.
install_quietly() {
  policy=/usr/sbin/policy-rc.d clusters=/etc/postgresql-common/createcluster.conf
  made_policy='' made_clusters='' log=$(mktemp)
  undo() {
    [ -z "$made_policy" ] || rm -f "$policy"
    if [ -n "$made_clusters" ]; then
      rm -f "$clusters" "$clusters".ucf-*
      cp /usr/share/postgresql-common/createcluster.conf "$clusters" 2>/dev/null || true
    fi
    rm -f "$log"
  }
  trap undo EXIT
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made_policy=yes
  fi
  if [ ! -e "$clusters" ]; then
    mkdir -p "$(dirname "$clusters")"
    printf 'create_main_cluster = false\n' >"$clusters"
    made_clusters=yes
  fi
  export DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1
  if ! { apt-get -qq update && apt-get -qq -o Dpkg::Use-Pty=0 install --no-install-recommends "$@"; } >"$log" 2>&1; then
    cat "$log"
    return 1
  fi
  # Services must not start at the next boot of the machine either.
  if command -v systemctl >/dev/null; then
    local name
    for name in "$@"; do
      systemctl disable --quiet "$name" >/dev/null 2>&1 || true
    done
  fi
}
