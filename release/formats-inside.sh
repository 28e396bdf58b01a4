#!/bin/sh
# Installs, checks, upgrades and removes deployster by one package format: formats-inside.sh deb|rpm|apk|apk-read
# It runs in a root that is used for nothing else; ROOT and APK name that root and apk for one that runs outside of it.
set -eu
format=$1 root=${ROOT:-}
fail() { echo "formats-test: $format: $*" >&2; exit 1; }
inside() { if [ -n "$root" ]; then chroot "$root" "$@"; else "$@"; fi; }
apk() { "$APK" --root "$root" --no-network --allow-untrusted --arch "$(inside /bin/busybox uname -m)" "$@"; }
rpm() { /usr/bin/rpm --dbpath /var/lib/rpm "$@"; }
[ -n "$root" ] || /bin/busybox --install -s /bin
# Directories of this root that it lacked before are no files of deployster's.
files() {
	find "$root/" -xdev \( -path "$root/srv" -o -path "$root/proc" -o -path "$root/dev" -o -path "$root/var/lib/dpkg" -o -path "$root/var/lib/rpm" \
		-o -path "$root/var/log" -o -path "$root/var/cache" -o -path "$root/lib/apk" -o -path "$root/usr/lib/apk" -o -path "$root/etc/apk" \) -prune -o \( ! -type d -o -path '*deployster*' \) -print | sort
}
case $format in
deb)
	export PATH=/usr/sbin:/usr/bin:/sbin:/bin
	mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates
	: >/var/lib/dpkg/status
	: >/var/lib/dpkg/available
	install() { /usr/bin/dpkg -i "$1"; }
	list() { /usr/bin/dpkg -L deployster; }
	remove() { /usr/bin/dpkg -P deployster; }
	;;
rpm)
	rm -rf /var/lib/rpm
	mkdir -p /var/lib/rpm
	rpm --initdb
	# What runs its scripts, /bin/sh, is of no package here.
	install() { rpm --force-debian -U --replacepkgs --nodeps "$1" && rpm -V --nodeps deployster; }
	list() { rpm -ql deployster; }
	remove() { rpm --force-debian -e deployster; }
	;;
apk)
	mkdir -p "$root/etc/apk"
	cp "$root/srv/old/apk" "$root/srv/old.apk"
	cp "$root/srv/new/apk" "$root/srv/new.apk"
	install() { if apk info -e deployster 2>/dev/null; then apk add "$1.apk"; else apk add --initdb "$1.apk"; fi; }
	list() { apk info -L deployster | sed -n 's|^usr/|/usr/|p'; }
	remove() { apk del deployster; }
	;;
apk-read)
	# As apk does: the control files are hidden, and its scripts are run from the root.
	package=
	names() { tar -tzf "$package" | sed -n 's|^usr/|/usr/|p'; }
	unpacked() {
		[ -z "$package" ] || names | grep -v '/$' | while read -r name; do rm -f "$name"; done
	}
	install() { unpacked; package=$1; tar -C / -xzf "$1" && sh /.post-install; }
	list() { names; }
	remove() {
		sh /.pre-deinstall 0
		unpacked
		find /usr/lib/deployster /usr/share/doc/deployster -depth -type d -exec rmdir {} + 2>/dev/null || true
	}
	;;
esac
# check VERSION: every file of the archive is installed, with its bytes, mode and owner, and its programs run
check() {
	(cd "$root"/srv/"$1"/deployster_*/ && find . -type f) | sort >"$root/srv/expected"
	for name in $(cat "$root/srv/expected"); do
		at=$root/usr/${name#./}
		cmp "$at" "$root"/srv/"$1"/deployster_*/"$name" || fail "$name has other bytes"
		case $name in *.zst) mode=644 ;; ./bin/* | ./lib/deployster/deployster-* | ./lib/deployster/runc) mode=755 ;; *) mode=644 ;; esac
		[ "$(stat -c '%u:%g %a' "$at")" = "0:0 $mode" ] || fail "$at is $(stat -c '%u:%g %a' "$at")"
	done
	for name in /usr/lib/deployster /usr/lib/deployster/images; do
		[ "$(stat -c '%u:%g %a' "$root$name")" = '0:0 755' ] || fail "$name is $(stat -c '%u:%g %a' "$root$name")"
	done
	for name in $(list); do
		[ -d "$root$name" ] || echo ".${name#/usr}"
	done | sort >"$root/srv/listed"
	diff "$root/srv/expected" "$root/srv/listed" || fail 'it lists other files'
	version=$(cd "$root/srv/$1" && echo deployster_*)
	version=${version#deployster_}
	inside /usr/bin/deployster version >"$root/srv/version"
	grep -q "^deployster ${version%%_linux*} linux/" "$root/srv/version" || fail "it prints $(cat "$root/srv/version")"
	grep -q 'runc .*/usr/lib/deployster/runc' "$root/srv/version" || fail "its runc is not found: $(cat "$root/srv/version")"
	for program in deployster-agent deployster-shim deployster-kube deployster-terraform deployster-lsp; do
		inside "/usr/lib/deployster/$program" -nothing </dev/null >"$root/srv/printed" 2>&1 && code=0 || code=$?
		[ $code -lt 126 ] || fail "$program does not run: $(cat "$root/srv/printed")"
	done
}
files >"$root/srv/before"
install "$root/srv/old$([ "$format" = apk ] || echo "/${format%-read}")"
check old
install "$root/srv/new$([ "$format" = apk ] || echo "/${format%-read}")"
check new
remove
rm -f "$root"/.PKGINFO "$root"/.SIGN* "$root"/.post-install "$root"/.pre-deinstall
files >"$root/srv/after"
diff "$root/srv/before" "$root/srv/after" || fail 'files are left'
cat "$root/srv/version" | head -n 1
echo "formats-test: $format is installed, checked, upgraded and removed"
