#!/bin/sh
# Unpacks a real MySQL server under FOLDER and installs nothing: fetch_mysql.sh FOLDER
#
# Debian keeps MySQL in its unstable suite only. Its packages and the libraries they were built against are
# unpacked side by side and run through their own loader (databases.py), so this machine's own stay as they are.
# Needs apt and Debian's keyring. Exits non-zero, leaving nothing behind, where the suite cannot be reached.
set -eu

folder=$1
[ ! -x "$folder/usr/sbin/mysqld" ] || exit 0

draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
mkdir -p "$draft/lists/partial" "$draft/packages" "$draft/files"

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
keyring=$(ls /usr/share/keyrings/debian-archive-keyring.* | head -n 1)
echo "deb [signed-by=$keyring] $mirror sid main" > "$draft/sources.list"

set -- -qq -o APT::Sandbox::User=root \
    -o "Dir::Etc::sourcelist=$draft/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o "Dir::State::lists=$draft/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=

apt-get "$@" update
wanted=$(apt-cache "$@" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances mysql-server-core | grep -E '^[a-z0-9]' | grep -vE '^(adduser|cdebconf|debconf|passwd|perl|systemd)' \
    | sort -u)
# shellcheck disable=SC2086  # one word per package
(cd "$draft/packages" && apt-get "$@" download $wanted)
for package in "$draft"/packages/*.deb; do dpkg -x "$package" "$draft/files"; done

mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mv "$draft/files" "$folder"
