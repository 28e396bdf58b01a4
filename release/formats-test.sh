#!/bin/bash
# Installs each package by its own tool in a root of its architecture: Debian's dpkg and rpm, for another
# architecture by qemu, and apk if there is one here. Usage: formats-test.sh DIR OLD NEW
# OLD and NEW are the files of two versions. DIR is replaced.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(realpath "$1") old=$(realpath "$2") new=$(realpath "$3")
own=$(dpkg --print-architecture)
for arch in amd64 arm64; do
	ls "$new"/*_"$arch".deb >/dev/null 2>&1 || { echo "formats-test: $arch was not built"; continue; }
	rm -rf --one-file-system "$dir/$arch"
	mkdir -p "$dir/$arch"
	sh "$here/apt.sh" "$arch" "$dir" busybox-static dash dpkg libc-bin tar rpm >"$dir/$arch/packages"
	mkdir "$dir/$arch/files" "$dir/$arch/files/old" "$dir/$arch/files/new"
	case $arch in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
	for version in old new; do
		from=${!version}
		ls "$from"/*_"$arch".deb >/dev/null 2>&1 || from=$new # the old one is of one architecture
		cp "$from"/*_"$arch".deb "$dir/$arch/files/$version/deb"
		cp "$from"/*."$machine".rpm "$dir/$arch/files/$version/rpm"
		cp "$from"/*_"$machine".apk "$dir/$arch/files/$version/apk"
		tar -xzf "$from"/*_linux_"$arch".tar.gz -C "$dir/$arch/files/$version"
	done
	cp "$here/formats-inside.sh" "$dir/$arch/files/"
	echo "formats-test: installing the packages for $arch"
	# In a user namespace, the interpreter of the other architecture is registered there alone.
	unshare --map-root-user --mount --pid --fork bash -eu -c '
		root=$1 files=$2 arch=$3 own=$4
		mkdir -p "$root/var/log" "$root/dev" "$root/proc" "$root/srv" "$root/tmp" "$root/root"
		mount --rbind /dev "$root/dev"
		mount -t proc proc "$root/proc"
		if [ "$arch" != "$own" ]; then
			mount -t binfmt_misc binfmt_misc "$root/srv"
			case $arch in arm64) name=qemu-aarch64 ;; amd64) name=qemu-x86_64 ;; esac
			cat "/usr/lib/binfmt.d/$name.conf" >"$root/srv/register"
		fi
		mount --bind "$files" "$root/srv"
		apk=$(command -v apk || true)
		for format in deb rpm; do
			chroot "$root" /bin/busybox sh /srv/formats-inside.sh $format
		done
		if [ -n "$apk" ]; then
			APK=$apk ROOT=$root /bin/busybox sh "$files/formats-inside.sh" apk
		else
			echo "formats-test: no apk is installed here: the .apk is read, and not installed"
			chroot "$root" /bin/busybox sh /srv/formats-inside.sh apk-read
		fi
	' - "$dir/$arch/root" "$dir/$arch/files" "$arch" "$own"
done
