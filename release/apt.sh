#!/bin/sh
# Extracts Debian packages, with all that they depend on, for a machine that has nothing, and
# prints what they are. No package is installed here, and none is configured there.
# Usage: apt.sh ARCH DIR PACKAGE...   The files are in DIR/ARCH/root.
set -eu
arch=$1 dir=$2/$1
shift 2
mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$dir/root"
: >"$dir/status"
apt() {
	apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir" -o Dir::Cache::archives="$dir/archives" -o APT::Sandbox::User=root "$@" >&2
}
[ -e "$dir/updated" ] || apt update # what was fetched before counts: others may have newer packages by now
: >"$dir/updated"
apt -y -d --no-install-recommends install "$@"
rm -rf --one-file-system "$dir/root"
for name in bin sbin lib lib64; do # as the merged /usr of an installation
	mkdir -p "$dir/root/usr/$name"
	ln -sfn "usr/$name" "$dir/root/$name"
done
for package in "$dir"/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$dir/root"
	dpkg-deb -f "$package" Package Version Architecture | awk '{ v[NR] = $2 } END { print v[1], v[2], v[3] }'
done | sort
