#!/usr/bin/env bash
# What the action does: gets the program, runs it once, hands on annotations, summary and outputs.
# Inputs arrive as INPUT_* in the environment, so that no input is ever read as a program. bash 3.2 will do.
set -euo pipefail

name=check-detached-spawns
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
cache=${RUNNER_TOOL_CACHE:-${RUNNER_TEMP:?}}/$name
work=$(mktemp -d "${RUNNER_TEMP:?}/$name.XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() {
    echo "::error title=$name::$1"
    exit 2
}

# The name of the release that runs here; nothing where there is none.
target() {
    case "${RUNNER_OS:-}-${RUNNER_ARCH:-}" in
    Linux-X64) echo x86_64-unknown-linux-musl ;;
    Linux-ARM64) echo aarch64-unknown-linux-musl ;;
    macOS-X64) echo x86_64-apple-darwin ;;
    macOS-ARM64) echo aarch64-apple-darwin ;;
    Windows-X64) echo x86_64-pc-windows-msvc ;;
    esac
}

sha256() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1" | cut -d ' ' -f 1
    else
        shasum -a 256 "$1" | cut -d ' ' -f 1
    fi
}

# Sets `program` to a verified release. Fails where none fits or none can be had; a file that is not
# what this version's list says ends the run.
download() {
    local archive sum folder url
    archive=$name-$(target).tar.gz
    sum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$root/.github/action/SHA256SUMS")
    [ -n "$sum" ] || return 1
    folder=$cache/$version-$sum
    program=$folder/$name
    [ ! -f "$folder/complete" ] || return 0
    url=${INPUT_BASE_URL:-${GITHUB_SERVER_URL:-}/${GITHUB_ACTION_REPOSITORY:-}/releases/download}
    curl --fail --silent --show-error --location --retry 3 --max-time 300 \
        --output "$work/$archive" "$url/v$version/$archive" || return 1
    [ "$(sha256 "$work/$archive")" = "$sum" ] ||
        fail "$archive is not the file that version $version was published with; nothing was run"
    mkdir -p "$folder"
    tar -xzf "$work/$archive" -C "$folder"
    chmod +x "$program"
    : >"$folder/complete"
}

# Sets `program` to a build of the action's own tree.
build() {
    command -v cargo >/dev/null ||
        fail "no release of $name $version fits this runner, and there is no cargo to build it with: set the input 'binary'"
    echo "::group::Building $name $version"
    cargo build --release --locked --manifest-path "$root/Cargo.toml" --package "$name" --target-dir "$cache/build"
    echo "::endgroup::"
    program=$cache/build/release/$name
}

# The lines of an input as the array `lines`; blank ones are dropped.
split() {
    lines=()
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        line=${line%$'\r'}
        [ -z "${line//[[:space:]]/}" ] || lines+=("$line")
    done <<<"$1"
}

count() {
    sed -n "\$s/.*\"$1\":\([0-9]*\).*/\1/p" "$work/report.jsonl"
}

if [ -n "${INPUT_BINARY:-}" ]; then
    program=$INPUT_BINARY
    [ -f "$program" ] || fail "the input 'binary' names no file: $program"
else
    download || build
fi

cd "${INPUT_WORKING_DIRECTORY:-.}" 2>/dev/null || fail "the input 'working-directory' cannot be entered: $INPUT_WORKING_DIRECTORY"

formats=(
    --output-format full
    --output-format "jsonl=$work/report.jsonl"
    --output-format "github=$work/annotations"
    --output-format "markdown=$work/summary.md"
    --max-annotations "${INPUT_MAX_ANNOTATIONS:-10}"
)
[ -z "${INPUT_SARIF_FILE:-}" ] || formats+=(--output-format "sarif=$INPUT_SARIF_FILE")
[ -z "${INPUT_JSON_FILE:-}" ] || formats+=(--output-format "json=$INPUT_JSON_FILE")
split "${INPUT_ARGS:-}"
args=(${lines[@]+"${lines[@]}"})
[ -z "${INPUT_CONFIG:-}" ] || args+=(--config "$INPUT_CONFIG")
if [ "${INPUT_DIFF_ONLY:-false}" = true ]; then
    base=${INPUT_DIFF_BASE:-${PULL_REQUEST_BASE:-}}
    [ -n "$base" ] || fail "'diff-only' needs the input 'diff-base' where the run is for no pull request"
    args+=("--diff-base=$base")
fi
split "${INPUT_PATHS:-.}"
paths=(${lines[@]+"${lines[@]}"})

# The log is no terminal, but shows colours.
export FORCE_COLOR="${FORCE_COLOR-1}"

# The report shows sources, and a source may hold what the runner would take for a command.
token=$name-$RANDOM$RANDOM$RANDOM
echo "::stop-commands::$token"
status=0
"$program" "${formats[@]}" ${args[@]+"${args[@]}"} -- ${paths[@]+"${paths[@]}"} || status=$?
echo "::$token::"

if [ "${INPUT_ANNOTATIONS:-true}" = true ] && [ -f "$work/annotations" ]; then
    cat "$work/annotations"
fi
if [ "${INPUT_SUMMARY:-true}" = true ] && [ -f "$work/summary.md" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    # The runner refuses a summary of more than a mebibyte.
    if [ "$(wc -c <"$work/summary.md")" -le 921600 ]; then
        cat "$work/summary.md" >>"$GITHUB_STEP_SUMMARY"
    else
        {
            head -c 921600 "$work/summary.md" | sed '$d'
            printf '\n**%s**\n' "The rest is cut, for GitHub shows no longer summary: the log and the inputs sarif-file and json-file have all."
        } >>"$GITHUB_STEP_SUMMARY"
    fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    {
        if [ -f "$work/report.jsonl" ]; then
            echo "findings=$(count findings)"
            echo "justified=$(count justified)"
            echo "problems=$(count problems)"
        fi
        echo "exit-code=$status"
        echo "sarif-file=${INPUT_SARIF_FILE:-}"
        echo "version=$version"
    } >>"$GITHUB_OUTPUT"
fi

case $status in
0) ;;
1) [ "${INPUT_FAIL_ON_FINDINGS:-true}" != true ] || exit 1 ;;
*) fail "$name ended with status $status; see the log above" ;;
esac
