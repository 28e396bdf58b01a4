package settings

import "testing"

// What is kept is below the home directory of a user who runs nothing here, unless a variable says otherwise.
func TestDirs_OfUsers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		home string
		here bool
		want Dirs
	}{
		"root":                {home: "/root", here: true, want: Dirs{"/var/lib/deployster", "/var/lib/deployster"}},
		"root, who names one": {env: map[string]string{"DEPLOYSTER_DATA_DIR": "/d"}, home: "/root", here: true, want: Dirs{"/d", "/d"}},
		"a user":              {home: "/home/u", want: Dirs{"/home/u/.local/state/deployster", "/home/u/.cache/deployster"}},
		"a user, who names one": {env: map[string]string{"DEPLOYSTER_DATA_DIR": "/d", "XDG_CACHE_HOME": "/c"}, home: "/home/u",
			want: Dirs{"/d", "/d"}},
		"the variables": {env: map[string]string{"XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c"}, home: "/home/u",
			want: Dirs{"/s/deployster", "/c/deployster"}},
		"a relative one is ignored": {env: map[string]string{"XDG_CACHE_HOME": "c"}, home: "/home/u",
			want: Dirs{"/home/u/.local/state/deployster", "/home/u/.cache/deployster"}},
		"no home":                   {},
		"no home, and one variable": {env: map[string]string{"XDG_CACHE_HOME": "/c"}, want: Dirs{"", "/c/deployster"}},
	} {
		if got := Lookup(func(n string) string { return c.env[n] }).Dirs(c.home, c.here); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
