package onhost

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/runtime/remote"
)

// In a path of a plug ~ is the home directory of the user here, also where it says what
// others may write to.
func TestLead_Home(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	plug := func(name, path string, readOnly bool) remote.Plug {
		return remote.Plug{Name: name, Path: path, ReadOnly: readOnly}
	}
	for name, c := range map[string]struct {
		home, path, want, fails string
		more                    []remote.Plug
	}{
		"the directory itself":           {home: home, path: "~", want: home},
		"below it":                       {home: home, path: "~/x/y", want: home + "/x/y"},
		"a link":                         {home: home, path: "~/link", want: "/etc"},
		"a link that others may change":  {home: home, path: home + "/link", fails: `in the plug "all"`, more: []remote.Plug{plug("all", "~", false)}},
		"a link that nobody may change":  {home: home, path: home + "/link", want: "/etc", more: []remote.Plug{plug("all", "~", true)}},
		"no home":                        {path: "~/x", fails: "no home directory"},
		"no home, and none is asked for": {path: "/srv", want: "/srv", more: []remote.Plug{plug("all", "~", false)}},
		"the home of another user":       {home: home, path: "/~other", want: "/~other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine := plug("mine", c.path, true)
			got, err := lead(c.home)(mine, append(c.more, mine))
			if got != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
