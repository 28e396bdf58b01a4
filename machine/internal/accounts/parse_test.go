package accounts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/machine/internal/access"
)

func TestDates_AreDaysOfUTC(t *testing.T) {
	for days, date := range map[string]string{"": never, "-1": never, "0": "1970-01-01", "1": "1970-01-02", "20454": "2026-01-01"} {
		if got := dateOf(days); got != date {
			t.Errorf("%q is %s, and must be %s", days, got, date)
		}
		if back, err := daysOf(date); err != nil || days != "-1" && back != days {
			t.Errorf("%s is %q, %v, and must be %q", date, back, err, days)
		}
	}
	for _, bad := range []string{"2026-02-30", "2026-1-1", "1969-12-31", "tomorrow"} {
		if _, err := daysOf(bad); err == nil {
			t.Errorf("%s is a day", bad)
		}
	}
}

const (
	keyA = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo"
	keyB = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo"
)

func TestCheckKey_HasOneSpelling(t *testing.T) {
	t.Parallel()
	if err := checkKey(keyA); err != nil {
		t.Error(err)
	}
	for text, words := range map[string]string{
		keyA + " me@here":                      "options and comment",
		"no-pty " + keyA:                       "options and comment",
		"  " + keyA:                            "one blank",
		strings.Replace(keyA, " ", "  ", 1):    "one blank",
		"ssh-rsa" + keyA[len("ssh-ed25519"):]:  "its text is one of ssh-ed25519",
		"ssh-ed25519 AAAA":                     "not valid",
		"ssh-ed25519 ####":                     "not valid",
		"-----BEGIN OPENSSH PRIVATE KEY-----":  "not a public key",
		keyA[:len(keyA)-2]:                     "not valid",
		keyA + "\n" + keyB:                     "alone",
		"ssh-ed25519\tAAAA" + keyA[len(keyA):]: "not a public key",
	} {
		if err := checkKey(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, and must hold %q", text, err, words)
		}
	}
}

func TestEdited_ChangesItsOwnLineAlone(t *testing.T) {
	t.Parallel()
	others := "# mine\n\nnot a key at all\nno-pty,from=\"10.*\" " + keyB + " b b\n"
	for _, c := range []struct {
		text    string
		config  KeyConfig
		present bool
		want    string
	}{
		{others, KeyConfig{Key: keyA}, true, others + keyA + "\n"},
		{strings.TrimSuffix(others, "\n"), KeyConfig{Key: keyA, Comment: "a"}, true, others + keyA + " a\n"},
		{keyA + " old\n" + others, KeyConfig{Key: keyA, Options: []string{"no-pty", `command="x y"`}}, true,
			`no-pty,command="x y" ` + keyA + " old\n" + others},
		{"restrict " + keyA + "\n" + others + keyA + " again\n", KeyConfig{Key: keyA}, true, keyA + "\n" + others},
		{keyA + "\n" + others + keyA + "\n", KeyConfig{Key: keyA}, false, others},
		{others, KeyConfig{Key: keyA}, false, others},
		{"", KeyConfig{Key: keyA}, true, keyA + "\n"},
	} {
		if got := edited(c.text, c.config, c.present); got != c.want {
			t.Errorf("%q with %+v: %q, and must be %q", c.text, c.config, got, c.want)
		}
	}
}

func TestHashes_AreNotPasswords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"$6$salt$abc./D": true, "$y$j9T$a$b": true, "*": true, "!": true, "!!": true,
		"!$6$salt$abc": true,
		"secret":       false, "": false, "$6$a:b": false, "$6$a\n$b": false, "$secret": false} {
		if got := hashes.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestRead_SkipsWhatIsNotARecord(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"passwd": "root:x:0:0:root:/root:/bin/bash\n\n+::::::\nann:x:1000:100:Ann A:/home/ann:/bin/sh\nbad:x:y:0::/:/\n",
		"shadow": "root:*:1:0:9:7:::\nann:$6$a$b:1:0:9:7::20454:\n",
		"group":  "users:x:100:\nwheel:x:10:root,ann\nbad\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := read(&access.Machine{Root: root})
	if err != nil || len(d.users) != 2 || len(d.groups) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	u := d.user("ann")
	if u.hash != "$6$a$b" || dateOf(u.expires) != "2026-01-01" || u.comment != "Ann A" {
		t.Errorf("%+v", u)
	}
	if got := d.groupText(100, ""); got != "users" || d.groupText(100, "100") != "100" || d.groupText(7, "") != "7" {
		t.Errorf("the group is %s", got)
	}
	if got := d.groupsOf("ann"); !slices.Equal(got, []string{"wheel"}) {
		t.Errorf("its groups are %q", got)
	}
}
