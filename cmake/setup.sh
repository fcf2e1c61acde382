# shellcheck shell=bash
# Shared by ./jari and ./test.sh, which source it: packages, configuring, building. bash; prints to stderr only.
#
#   jari_setup TARGET ...   builds targets under build/$preset; returns 1 after having said why it could not
#   is_fresh TARGET         whether there is nothing to build

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
preset=${JARI_PRESET:-release}
build=$root/build/$preset
log=$root/build/setup.log

package_lists=("$root/cmake/packages.txt")  # a script may add its own

say() { printf 'jari: %s\n' "$*" >&2; }

# The packages of the lists that dpkg does not know as installed, on one line.
missing_packages() {
  local wanted installed
  wanted=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "${package_lists[@]}" | sort -u)
  # dpkg-query fails when it has never heard of a package; what it prints of the others is what we want.
  # shellcheck disable=SC2086
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' | sort) || true
  comm -23 <(echo "$wanted") <(echo "$installed") | tr '\n' ' ' | sed 's/ *$//'
}

# Installs what is missing where it can. Where it can not, it says how and goes on: what is missing may not be needed,
# and if it is, configuring fails and $hint is said again.
install_packages() {
  hint=""
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    hint="this is no Debian system: install what matches these packages yourself: $(sed 's/#.*//' "${package_lists[@]}" | xargs)"
    return
  fi
  local missing as_root=()
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  hint="packages are missing; as root, type: apt-get install --no-install-recommends $missing"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { say "$hint"; return 0; }
    as_root=(sudo)
  fi
  say "installing packages: $missing"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=600)
  # shellcheck disable=SC2086
  if { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends $missing; } >>"$log" 2>&1; then
    hint=""
  else
    say "apt-get did not install them (see $log)"
  fi
}

# On a terminal, ninja's [12/345] on one line that is written over; everything goes to the log.
show_progress() {
  if [ -t 2 ]; then
    awk -v log_file="$log" '{ print >> log_file } match($0, /^\[[0-9]+\/[0-9]+\]/) { printf "\rjari: building %s ", substr($0, RSTART, RLENGTH) > "/dev/stderr" }
                            END { printf "\r\033[K" > "/dev/stderr" }'
  else
    cat >>"$log"
  fi
}

# Whether target $1 is built and no source of the program is newer. The stamp bears the time at which that build began.
is_fresh() {
  [ -e "$build/.built_$1" ] &&
    [ -z "$(cd "$root" && find CMakeLists.txt CMakePresets.json cmake framework plugins tools \
      -newer "$build/.built_$1" -print -quit)" ]
}

jari_setup() {
  mkdir -p "$build"
  (
    flock 9  # a second process waits here, then finds everything built
    begun=$(mktemp "$build/.begun.XXXXXX")
    trap 'rm -f "$begun"' EXIT
    : >"$log"
    install_packages
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1  # so that checkouts in other folders share the cache
    say "building $* (preset $preset, log in ${log#"$PWD"/})"
    started=$SECONDS
    if ! { command -v cmake >>"$log" &&
           cmake -S "$root" --preset "$preset" >>"$log" 2>&1 &&
           cmake --build "$build" --parallel "${JARI_JOBS:-$(nproc)}" --target "$@" 2>&1 | show_progress; }; then
      tail -n 100 "$log" >&2
      say "the build failed; what you see above is the end of $log"
      [ -z "$hint" ] || say "$hint"
      exit 1
    fi
    for target in "$@"; do cp -p "$begun" "$build/.built_$target"; done
    say "built in $((SECONDS - started)) s"
  ) 9>"$root/build/.lock"
}
