# Makes a repository of small packages in /srv/repository, and has apt use it alone.
set -eu
mkdir -p /srv/repository
cd /srv/repository

# make NAME VERSION [FIELDS]: a package from the tree in ./tree, which is emptied after it
make() {
	mkdir -p tree/DEBIAN
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: a test\n' "$1" "$2"
		[ -z "${3:-}" ] || printf "$3\n"
	} >tree/DEBIAN/control
	dpkg-deb --build -Znone --root-owner-group tree "$1_$2.deb" >/dev/null
	rm -r tree
}

# script NAME: a script of the next package, from stdin
script() {
	mkdir -p tree/DEBIAN
	{ echo '#!/bin/sh'; cat; } >"tree/DEBIAN/$1"
	chmod 755 "tree/DEBIAN/$1"
}

for version in 1.0 1.1; do make hello $version; done
make hello 2.0 'Depends: hello-data\nRecommends: hello-doc'
make hello-data 2.0
make hello-doc 2.0
make needs-hello 1.0 'Depends: hello'
make rival 1.0 'Conflicts: hello'
make one-greeter 1.0 'Provides: greeter'
make red-paint 1.0 'Provides: paint'
make blue-paint 1.0 'Provides: paint'
make impossible 1.0 'Depends: nothing-has-this'
for version in 1.0 2.0; do # the administrator's change of its file is kept, without a question
	mkdir -p tree/etc tree/DEBIAN
	echo "version $version" >tree/etc/asks.conf
	echo /etc/asks.conf >tree/DEBIAN/conffiles
	script preinst <<'END'
[ "$DEBIAN_FRONTEND" = noninteractive ] || exit 1
END
	make asks $version
done
script postinst <<'END'
[ ! -e /run/fails ]
END
make fails 1.0
script postinst <<'END'
[ ! -e /run/slow ] || sleep 1000
END
make slow 1.0
make first 1.0
make second 1.0
make choosy 1.0 'Depends: first | second' # alone it brings the first one along
make picky 1.0 'Conflicts: first'
for package in many-a many-b many-c many-d; do make $package 1.0; done

for deb in *.deb; do
	dpkg-deb -f "$deb"
	printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$deb" "$(stat -c %s "$deb")" "$(sha256sum "$deb" | cut -d' ' -f1)"
done >Packages
echo 'deb [trusted=yes] copy:/srv/repository ./' >/etc/apt/sources.list
rm -rf /var/lib/apt/lists/*
apt-get update
