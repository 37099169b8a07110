#!/usr/bin/env bash
# Makes the commit and the tag of a release: tag.sh FOLDER, where FOLDER holds all its archives.
# The tag's commit differs from the one that was built by the list of checksums alone, so that whoever
# pins the action to that commit gets these archives and no others. Pushes the tag; prints its name.
set -euo pipefail
folder=$(cd "${1:?the folder with the archives}" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tag=v$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
(cd "$folder" && sha256sum -- check-detached-spawns-*.tar.gz) >.github/action/SHA256SUMS
cp .github/action/SHA256SUMS "$folder/SHA256SUMS"

git add .github/action/SHA256SUMS
git commit --quiet --message "Release $tag"
git tag --annotate --message "$tag" "$tag"
git push --quiet origin "refs/tags/$tag" >&2
echo "$tag"
