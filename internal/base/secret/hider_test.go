package secret

import (
	"encoding/base64"
	"fmt"
	"testing"
)

func TestHider_HidesEveryForm(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----"
	hider := NewHider([]string{"", "abc", "hunter2", "hunter2-long", "a\"b&c", key})
	for name, c := range map[string]struct{ text, want string }{
		"empty":                   {"", ""},
		"nothing":                 {"hello", "hello"},
		"whole":                   {"hunter2", Masked},
		"short, whole":            {"abc", Masked},
		"short, embedded":         {"abcd", "abcd"},
		"embedded":                {"db://hunter2@x", "db://" + Masked + "@x"},
		"part of another":         {"x hunter2-long", "x " + Masked},
		"in JSON":                 {`{"p":"a\"b&c"}`, `{"p":"` + Masked + `"}`},
		"in JSON fit for HTML":    {`{"p":"a\"b\u0026c"}`, `{"p":"` + Masked + `"}`},
		"in base64":               {base64.StdEncoding.EncodeToString([]byte("hunter2")), Masked},
		"in an address":           {"?p=a%22b%26c", "?p=" + Masked},
		"one of many lines":       {"read MIIEvQIBADANBg", "read " + Masked},
		"all lines, one by one":   {"-----BEGIN KEY-----", Masked},
		"beside what is public":   {"hunter3", "hunter3"},
		"twice":                   {"hunter2hunter2", Masked + Masked},
		"what masks is no secret": {Masked, Masked},
	} {
		if got := hider.Hide(c.text); got != c.want {
			t.Errorf("%s: %q became %q, want %q", name, c.text, got, c.want)
		}
	}
}

// What was learned is hidden until the second day after it, and what was added for ever; a
// set does not grow with the secrets that there were.
func TestSet_Age(t *testing.T) {
	t.Parallel()
	var s Set
	s.Add([]string{"passphrase"})
	hidden := func(text string) bool { return s.Hide("a "+text) == "a "+Masked }
	for day := range 1000 {
		today, kept := fmt.Sprintf("token-of-day-%d", day), "password-of-the-state"
		s.Learn([]string{today, kept, "passphrase"})
		yesterday, before := fmt.Sprintf("token-of-day-%d", day-1), fmt.Sprintf("token-of-day-%d", day-2)
		if !hidden(today) || !hidden(kept) || !hidden("passphrase") || day > 0 && !hidden(yesterday) || day > 1 && hidden(before) {
			t.Fatalf("day %d", day)
		}
		if n := len(s.all()); n > 6 {
			t.Fatalf("%d secrets on day %d", n, day)
		}
		if s.Age(); !hidden(today) || !hidden(kept) || !hidden("passphrase") {
			t.Fatalf("after day %d", day)
		}
	}
	s.Learn([]string{"abc"})
	if s.Age(); !s.Private("nothing") {
		t.Error("a short secret is known, and may be in any text")
	}
	if s.Age(); s.Private("nothing") || s.Hide("abc") != "abc" {
		t.Error("a short secret is forgotten")
	}
}

func TestSet_HidesAddedSecrets(t *testing.T) {
	t.Parallel()
	var s Set
	if s.Hiding() != nil || s.Hide("hunter2") != "hunter2" || s.Private("hunter2") {
		t.Error("an empty set hides something")
	}
	s.Add([]string{"", "hunter2"})
	if got := s.Hide("a hunter2"); got != "a "+Masked {
		t.Errorf("%q", got)
	}
	if !s.Private("a hunter2") || s.Private("nothing") {
		t.Error("a text is private if a secret is in it")
	}
	s.Add([]string{"abc"})
	if s.Hide("abc") != Masked || !s.Private("nothing") {
		t.Error("a short secret is hidden where it is the whole text, and may be in any")
	}
}

// A plan learns of secrets one by one, and what it prints meanwhile is hidden.
func TestSet_ManySecretsCostAsMuchEach(t *testing.T) {
	cost := func(n int) float64 {
		return testing.AllocsPerRun(3, func() {
			var s Set
			for i := range n {
				word := fmt.Sprintf("password-%d", i)
				s.Add([]string{word})
				if s.Hide("it is "+word) != "it is "+Masked || s.Hide("password-x") != "password-x" {
					t.Fatal(word)
				}
			}
		}) / float64(n)
	}
	few, many := cost(100), cost(3000)
	if many > 1.5*few {
		t.Errorf("%.0f allocations for each of 3000 secrets, %.0f for each of 100", many, few)
	}
}
